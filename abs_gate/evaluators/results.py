"""The four ways an evaluation ends, and what a score means."""

from __future__ import annotations

from abs_gate.documents.model import Evaluation
from abs_gate.evaluators.base import EvalResult
from abs_gate.outcomes import Outcome


def passed(reason: str, *, score: float | None = None, **details: object) -> EvalResult:
    """It held."""
    return EvalResult(outcome=Outcome.PASSED, reason=reason, score=score, details=details)


def failed(reason: str, *, score: float | None = None, **details: object) -> EvalResult:
    """It did not hold; the reason says what was expected and what was observed."""
    return EvalResult(outcome=Outcome.FAILED, reason=reason, score=score, details=details)


def skipped(reason: str) -> EvalResult:
    """It did not apply; counts neither way."""
    return EvalResult(outcome=Outcome.SKIPPED, reason=reason)


def unverified(reason: str) -> EvalResult:
    """It could not be checked; never a pass."""
    return EvalResult(outcome=Outcome.UNVERIFIED, reason=reason)


DEFAULT_THRESHOLD = 0.5
"""Least score that passes where an evaluation with a score sets none (EVALUATIONS.md, common fields)."""


def scored(evaluation: Evaluation, score: float, reason: str, **details: object) -> EvalResult:
    """Passed when the score (0..1) reaches the evaluation's threshold, else failed."""
    threshold = DEFAULT_THRESHOLD if evaluation.threshold is None else evaluation.threshold
    if score < threshold:
        return failed(f"score {score:.4g} is below {threshold:g}: {reason}", score=score, **details)
    return passed(f"score {score:.4g}: {reason}", score=score, **details)
