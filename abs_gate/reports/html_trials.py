"""HTML of one trial: where it was seen, expected beside observed, its timeline and its steps."""

from __future__ import annotations

from collections.abc import Sequence

from abs_gate.gate.result import StepRecord
from abs_gate.reports.failures import Example
from abs_gate.reports.figures import count_of
from abs_gate.reports.html_text import code, esc, esc_block, joined, within
from abs_gate.reports.schema_text import json_text
from abs_gate.reports.svg import timeline
from abs_gate.reports.transcript_text import step_marks

_STEPS_BUDGET = 40_000


def example_html(example: Example, *, with_transcript: bool) -> str:
    """Expected beside observed, the place, and the transcript where it was kept."""
    variables = example.case["variables"]
    row = ", ".join(f"{name}={value}" for name, value in sorted(variables.items()))
    parts = [f"<p>The check that did not pass: {code(example.check)}</p>"] if example.check else []
    parts += [_sides(example)] if example.sides else []
    parts.append(f'<p class="muted">Seen in {esc(example.place)}{f" with {code(row, 160)}" if row else ""}.</p>')
    if example.trial["transcript"] and with_transcript:
        parts.append(transcript_html(example.trial["transcript"], "Transcript of this trial"))
    return joined(parts)


def _sides(example: Example) -> str:
    """What was expected beside what was observed."""
    sides = "".join(
        f'<div class="side"><h4>{word.title()}</h4><pre>{esc_block(text, 1200)}</pre></div>'
        for word, text in example.sides.items()
    )
    return f'<div class="sides">{sides}</div>'


def transcript_html(transcript: Sequence[StepRecord], title: str) -> str:
    """A collapsed transcript: the timeline, then every step in words."""
    steps, left = within(transcript, _step, _STEPS_BUDGET)
    more = f'<p class="muted">{count_of(left, "more step")} in the result file.</p>' if left else ""
    return (
        f"<details><summary>{title} ({count_of(len(transcript), 'step')})</summary>"
        f'{timeline(transcript)}<ol class="steps">{joined(steps)}</ol>{more}</details>'
    )


def _step(step: StepRecord) -> str:
    marks = "".join(f' <span class="mark-note">{esc(mark, 200)}</span>' for mark in step_marks(step))
    bad = " bad" if step["is_error"] or not step["expected"] else ""
    if step["kind"] == "call":
        arguments = step["arguments"] if step["arguments"] is not None else step["content"]
        said = f"calls {code(step['target'] or '', 120)} <code>{esc(json_text(arguments, 600), 700)}</code>"
        actor = step["actor"]
    else:
        actor = (step["target"] or "tool") if step["kind"] == "result" else step["actor"]
        verb = "answers" if step["kind"] == "result" else step["action"]
        content = step["content"] if isinstance(step["content"], str) else json_text(step["content"], 800)
        error = " with an error" if step["is_error"] else ""
        said = f'{esc(verb, 40)}{error}: <span class="said">{esc_block(content, 1000)}</span>'
    return f'<li value="{step["index"] + 1}" class="{step["kind"]}{bad}"><b>{esc(actor, 80)}</b> {said}{marks}</li>'
