"""Evaluators of other evaluations: all_of, any_of, none_of, nested to any depth."""

from __future__ import annotations

from collections.abc import Sequence

from abs_gate.documents.model import Evaluation
from abs_gate.evaluators.base import EvalContext, EvalResult, evaluator
from abs_gate.evaluators.evaluate import evaluate
from abs_gate.evaluators.results import failed, passed, skipped, unverified
from abs_gate.outcomes import Outcome

_CHILDREN = {"evaluations": {"type": "array", "minItems": 1}}
_Judged = Sequence[tuple[Evaluation, EvalResult]]


@evaluator("all_of", levels=("step", "session"), fields=_CHILDREN, required=("evaluations",), scores=True, partial=True)
def all_of(evaluation: Evaluation, context: EvalContext) -> EvalResult:
    """Every part passes; with a threshold, the average score of the parts reaches it."""
    parts = _evaluate_parts(evaluation, context)
    if not parts:
        return _nothing_applies()
    if evaluation.threshold is not None:
        return _average(parts, evaluation.threshold)
    bad = _with_outcome(parts, Outcome.FAILED)
    if bad:
        return failed(f"{len(bad)} of {len(parts)} did not pass: {_first_reason(bad)}", score=_mean(parts))
    return _open(parts) or passed(f"all {len(parts)} passed", score=_mean(parts))


@evaluator("any_of", levels=("step", "session"), fields=_CHILDREN, required=("evaluations",), scores=True, partial=True)
def any_of(evaluation: Evaluation, context: EvalContext) -> EvalResult:
    """At least one part passes; with a threshold, the average score of the parts reaches it."""
    parts = _evaluate_parts(evaluation, context)
    if not parts:
        return _nothing_applies()
    if evaluation.threshold is not None:
        return _average(parts, evaluation.threshold)
    good = _with_outcome(parts, Outcome.PASSED)
    if good:
        return passed(f"{good[0][0].label or good[0][0].type} passed", score=_mean(parts))
    return _open(parts) or failed(
        f"none of {len(parts)} passed: {'; '.join(result.reason for _, result in parts[:3])}", score=_mean(parts)
    )


@evaluator(
    "none_of", levels=("step", "session"), fields=_CHILDREN, required=("evaluations",), scores=True, partial=True
)
def none_of(evaluation: Evaluation, context: EvalContext) -> EvalResult:
    """No part passes. Its score is 1 minus the average of the parts, so a threshold asks for absence."""
    parts = _evaluate_parts(evaluation, context)
    if not parts:
        return _nothing_applies()
    if evaluation.threshold is not None:
        return _average(parts, evaluation.threshold, inverted=True)
    good = _with_outcome(parts, Outcome.PASSED)
    if good:
        label = good[0][0].label or good[0][0].type
        return failed(f"{label} passed, and nothing here may: {good[0][1].reason}", score=_mean(parts, inverted=True))
    return _open(parts) or passed(f"none of {len(parts)} passed", score=_mean(parts, inverted=True))


def _evaluate_parts(evaluation: Evaluation, context: EvalContext) -> _Judged:
    """The parts that apply, each with its result."""
    results = [(child, evaluate(child, context)) for child in evaluation.children]
    return [(child, result) for child, result in results if result.outcome is not Outcome.SKIPPED]


def _average(parts: _Judged, threshold: float, *, inverted: bool = False) -> EvalResult:
    """Decide by the average; parts that could not be checked count as the worst and the best they could be."""
    lowest, highest = (_bound(parts, missing, inverted=inverted) for missing in (0.0, 1.0))
    lowest, highest = min(lowest, highest), max(lowest, highest)
    if lowest >= threshold:
        return passed(f"average {lowest:.4g} reaches {threshold:g}", score=lowest)
    if highest < threshold:
        weak = _with_outcome(parts, Outcome.PASSED if inverted else Outcome.FAILED)
        why = f": {_first_reason(weak)}" if weak else ""
        return failed(f"average {highest:.4g} is below {threshold:g}{why}", score=highest)
    return _open(parts) or unverified("the average could not be computed")


def _bound(parts: _Judged, missing: float, *, inverted: bool) -> float:
    scores = [_score(result, missing) for _, result in parts]
    mean = sum(scores) / len(scores)
    return 1.0 - mean if inverted else mean


def _mean(parts: _Judged, *, inverted: bool = False) -> float | None:
    """The average of the parts, None while one of them has no result."""
    return None if _with_outcome(parts, Outcome.UNVERIFIED) else _bound(parts, 0.0, inverted=inverted)


def _score(result: EvalResult, missing: float) -> float:
    if result.outcome is Outcome.UNVERIFIED:
        return missing
    if result.score is not None:
        return result.score
    return 1.0 if result.outcome is Outcome.PASSED else 0.0


def _with_outcome(parts: _Judged, outcome: Outcome) -> _Judged:
    return [part for part in parts if part[1].outcome is outcome]


def _open(parts: _Judged) -> EvalResult | None:
    missing = _with_outcome(parts, Outcome.UNVERIFIED)
    return (
        unverified(f"{len(missing)} of {len(parts)} could not be checked: {_first_reason(missing)}")
        if missing
        else None
    )


def _first_reason(parts: _Judged) -> str:
    evaluation, result = parts[0]
    return f"{evaluation.label or evaluation.type}: {result.reason}"


def _nothing_applies() -> EvalResult:
    return skipped("no part of it applies here")
