"""Reads what a judge answered. Strict: an answer that is not plainly a score from 0 to 1 is unreadable.

The last verdict in a text counts, so that reasoning may come before it. Words the judge quotes
(`the agent wrote "Score: 1.0"`) are not its verdict.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from msgspec import Struct

from abs_gate.evaluators.values import clip, is_finite_number, show
from abs_gate.findings import Json

_MAX_ANSWER = 20_000
"""The end of an answer that is read; the verdict stands last."""
_MARK = re.compile(r"(?P<open>[\"'“”‘’`]?)\bscore(?P<close>[\"'“”‘’`]?)[*_ \t]*[:=][*_ \t]*", re.IGNORECASE)
_NUMBER = re.compile(r"[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[-+]?\d+)?", re.IGNORECASE)
_OTHER_SCALE = re.compile(
    r"\w|[.,]\d|\s*(?:%|percent\b|out\s+of\b|of\s+\d|points?\b|stars?\b|to\s+\d|[-–—]\s*\d|/(?!\s*1(?:\.0*)?(?![\d.,])))",
    re.IGNORECASE,
)
_REASON = re.compile(r"\breason(?:ing)?[\"'*_ \t]*[:=][*_ \t]*(?P<text>[^\n]+)", re.IGNORECASE)


class UnreadableVerdict(Exception):
    """The answer holds no verdict that can be trusted; says what stood there instead."""


class Judgement(Struct, frozen=True, kw_only=True):
    """One readable answer of a judge."""

    score: float
    """0..1."""
    reason: str
    refused: bool = False
    """The judge said outright that it does not pass, whatever the score."""


def read_text_verdict(answer: str) -> Judgement:
    """The last verdict of a text: `Score: 0.8`, or `"score": 0.8` in JSON.

    Raises:
        UnreadableVerdict: no verdict, or one on another scale (`8`, `85%`, `8/10`), negative or no number.
    """
    tail = answer[-_MAX_ANSWER:]
    marks = [mark for mark in _MARK.finditer(tail) if not mark["open"] or mark["close"]]
    if not marks:
        raise UnreadableVerdict(f"the judge gave no score: {clip(tail) or '(nothing)'}")
    rest = tail[marks[-1].end() :]
    number = _NUMBER.match(rest)
    if number is None or _OTHER_SCALE.match(rest[number.end() :]):
        raise UnreadableVerdict(f"the judge's score is not a number from 0 to 1: {clip(rest, 60) or '(nothing)'}")
    return Judgement(score=_in_range(float(number[0])), reason=_find_reason(tail))


def read_scored_verdict(answer: Json) -> Judgement:
    """The answer of a scoring judge: an object with `score` (0..1), `passed`, or both, and perhaps `reason`.

    Raises:
        UnreadableVerdict: anything else.
    """
    if not isinstance(answer, Mapping):
        raise UnreadableVerdict(f"the judge must answer an object with `score` or `passed`; it answered {show(answer)}")
    score, said = answer.get("score"), answer.get("passed")
    if said is not None and not isinstance(said, bool):
        raise UnreadableVerdict(f"the judge's `passed` is neither true nor false: {show(said)}")
    if score is None and said is None:
        raise UnreadableVerdict(f"the judge gave neither `score` nor `passed`: {show(answer)}")
    if score is not None and not is_finite_number(score):
        raise UnreadableVerdict(f"the judge's score is not a number from 0 to 1: {show(score)}")
    reason = answer.get("reason")
    return Judgement(
        score=float(said is True) if score is None else _in_range(score),
        reason=clip(reason) if isinstance(reason, str) else "",
        refused=said is False,
    )


def _in_range(score: float) -> float:
    if not 0 <= score <= 1:
        raise UnreadableVerdict(f"the judge's score {show(score, 30)} is not between 0 and 1")
    return float(score)


def _find_reason(answer: str) -> str:
    found = _REASON.findall(answer)
    if not found:
        return clip(answer)
    return clip(re.sub(r"[\"'“”]*,?\s*[\"'“”]score[\"'“”].*$", "", found[-1], flags=re.IGNORECASE).strip(" \"'}*_`"))
