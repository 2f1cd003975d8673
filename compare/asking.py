"""Puts questions to a tool in a process of its own, which may hang or die without spoiling the rest."""

from __future__ import annotations

import json
import queue
import subprocess
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import IO

from compare.cases import Question
from compare.tools import Tool

PATIENCE_S = 20
"""Longest wait for one answer, in seconds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What one tool said to one question."""

    verdicts: frozenset[str] = frozenset()
    """Everything its own words can mean here."""
    error: str = ""
    not_tried: bool = False
    seconds: float | None = None
    """CPU seconds from the texts to the verdict."""


def ask(tool: Tool, questions: Sequence[Question]) -> list[Answer]:
    """One answer for each question, in order."""
    answers: list[Answer] = []
    while len(answers) < len(questions):
        answers += _ask_until_it_fails(tool, questions[len(answers) :])
    return answers


def _ask_until_it_fails(tool: Tool, questions: Sequence[Question]) -> list[Answer]:
    process = subprocess.Popen(
        tool.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    assert process.stdin and process.stdout
    lines: queue.Queue[str] = queue.Queue()
    threading.Thread(target=_pump, args=(process.stdout, lines), daemon=True).start()
    answers: list[Answer] = []
    try:
        for question in questions:
            asked = {"id": question.id, "side": question.side, "old": question.old, "new": question.new}
            process.stdin.write(json.dumps(asked) + "\n")
            process.stdin.flush()
            line = lines.get(timeout=PATIENCE_S)
            if not line:
                return [*answers, Answer(error="its process ended")]
            answers.append(_read(line))
    except queue.Empty:
        return [*answers, Answer(error=f"nothing within {PATIENCE_S} s")]
    except BrokenPipeError:
        return [*answers, Answer(error="its process ended")]
    finally:
        process.kill()
        process.wait()
    return answers


def _pump(output: IO[str], lines: queue.Queue[str]) -> None:
    for line in output:
        lines.put(line)
    lines.put("")


def _read(line: str) -> Answer:
    reply = json.loads(line)
    return Answer(
        verdicts=frozenset(reply.get("verdicts", ())),
        error=reply.get("error", ""),
        not_tried=reply.get("not_tried", False),
        seconds=reply["seconds"],
    )
