"""A transcript as numbered lines of text, for the terminal and for fenced blocks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from abs_gate.findings import Json
from abs_gate.gate.result import StepRecord
from abs_gate.reports.schema_text import json_text
from abs_gate.reports.terminal import wrap
from abs_gate.reports.untrusted import cut, visible

_MAX_VALUE = 400


def step_text(step: StepRecord, limit: int = _MAX_VALUE) -> str:
    """What happened in one step: `assistant calls get_order {"order_id": "ORD-1"}`. May hold line ends of a text."""
    target = visible(step["target"]) if step["target"] else ""
    if step["kind"] == "call":
        arguments = json_text(step["arguments"] if step["arguments"] is not None else step["content"], limit)
        said = f"{visible(step['actor'])} calls {cut(target, 120)} {arguments}"
    elif step["kind"] == "result":
        failed = " error" if step["is_error"] else ""
        said = f"{cut(target, 120) or 'tool'}{failed} answers {_content(step['content'], limit)}"
    else:
        said = f"{visible(step['actor'])} {visible(step['action'])}: {_content(step['content'], limit)}"
    marks = step_marks(step)
    return f"{said} [{', '.join(marks)}]" if marks else said


def step_marks(step: StepRecord) -> list[str]:
    """What to notice about a step: an unexpected call, a result the gate supplied, and its notes."""
    marks = [] if step["expected"] else ["no behavior asked for this"]
    if step["supplied"]:
        marks.append("given by the gate")
    return marks + [cut(visible(note), 200) for note in step["notes"]]


def _content(content: Json, limit: int) -> str:
    if isinstance(content, str):
        return cut(visible(content, keep_lines=True), limit)
    return json_text(content, limit)


def transcript_lines(transcript: Sequence[StepRecord], width: int, *, indent: str = "") -> Iterator[str]:
    """The steps in order, numbered from 1, a blank line before each new turn but the first."""
    turn: int | None = None
    for step in transcript:
        if turn is not None and step["turn"] != turn:
            yield ""
        turn = step["turn"]
        yield from wrap(step_text(step), width, first=f"{indent}{step['index'] + 1}. ")
