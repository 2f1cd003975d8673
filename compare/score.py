"""Counts right answers."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from compare.asking import Answer
from compare.cases import Question

BLOCKING = frozenset({"breaking", "safety_breaking"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """How one tool did on one set of questions."""

    asked: int
    right: int
    """Answers that mean the right verdict."""
    blocks_right: int
    """Answers that block what should be blocked and nothing else, whatever they are called."""
    silent: int
    """Breaks that were let through, without an error."""
    false_alarms: int
    """Harmless changes that were called breaking."""
    no_answer: int
    """Errors, crashes and waits that were given up."""
    not_tried: int
    """Questions that the tool does not claim to answer."""
    milliseconds: float
    """Median CPU time of an answer."""


def score(questions: Sequence[Question], answers: Sequence[Answer]) -> Score:
    """Hold answers against what is right."""
    pairs = list(zip(questions, answers, strict=True))
    given = [(question, answer) for question, answer in pairs if answer.verdicts]
    times = [answer.seconds for _, answer in given if answer.seconds is not None]
    return Score(
        asked=len(pairs),
        right=sum(is_right(question, answer) for question, answer in given),
        blocks_right=sum(_must(question, blocks=_blocks(answer)) for question, answer in given),
        silent=sum(question.right <= BLOCKING and not _blocks(answer) for question, answer in given),
        false_alarms=sum(not question.right & BLOCKING and _blocks(answer) for question, answer in given),
        no_answer=sum(bool(answer.error) for _, answer in pairs),
        not_tried=sum(answer.not_tried for _, answer in pairs),
        milliseconds=statistics.median(times) * 1000 if times else 0.0,
    )


def is_right(question: Question, answer: Answer) -> bool:
    """Whether a right verdict is among what the answer can mean."""
    return bool(question.right & answer.verdicts)


def _blocks(answer: Answer) -> bool:
    return bool(answer.verdicts & BLOCKING)


def _must(question: Question, *, blocks: bool) -> bool:
    return bool(question.right & BLOCKING) if blocks else bool(question.right - BLOCKING)
