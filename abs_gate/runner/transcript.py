"""A trial as a report shows it: what happened, step by step, and what did not pass. Bounded in size."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from abs_gate.evaluators.values import as_text, json_text
from abs_gate.findings import Json
from abs_gate.outcomes import Outcome
from abs_gate.runner.result import BehaviorResult, EvaluationResult, Mismatch, TrialResult
from abs_gate.trace import ObservedStep, StepKind, Trace

MAX_STEPS = 200
"""Steps kept of one trial, the first and last halves."""
MAX_CONTENT = 4_000
"""Characters kept of one content or set of arguments."""
MAX_MISMATCHES = 50
MAX_REASON = 1_000
_NOT_PASSED = (Outcome.FAILED, Outcome.UNVERIFIED, Outcome.INCONCLUSIVE)


class TranscriptStep(Struct, frozen=True, kw_only=True):
    """One observed step as a report shows it."""

    index: int
    turn: int
    kind: StepKind
    actor: str
    action: str
    target: str | None
    content: Json
    arguments: Json
    behavior: int | None
    expected: bool
    supplied: bool
    is_error: bool
    notes: tuple[str, ...] = ()


def transcribe(trace: Trace) -> tuple[TranscriptStep, ...]:
    """The steps of a trace, long contents cut and, past `MAX_STEPS`, the middle left out."""
    steps = trace.steps
    if len(steps) <= MAX_STEPS:
        return tuple(_step(step) for step in steps)
    half = MAX_STEPS // 2
    kept = [*steps[:half], *steps[-half:]]
    note = f"{len(steps) - 2 * half} steps left out before this one"
    return tuple(_step(step, note if position == half else "") for position, step in enumerate(kept))


def find_mismatches(trial: TrialResult) -> tuple[Mismatch, ...]:
    """Everything that did not pass in a trial, in the session's order, expected beside observed."""
    return tuple(mismatch for mismatch, _ in zip(_mismatches(trial), range(MAX_MISMATCHES), strict=False))


def _mismatches(trial: TrialResult) -> Iterator[Mismatch]:
    for behavior in trial.behaviors:
        where = f"behavior {behavior.index + 1}"
        broken = [e for e in behavior.evaluations if e.outcome in _NOT_PASSED]
        if behavior.outcome in _NOT_PASSED and not _comes_from(behavior, broken):
            yield Mismatch(
                where=where,
                label=behavior.label,
                line=behavior.location.line,
                outcome=behavior.outcome,
                expected=_cut(behavior.expected),
                observed=_cut(behavior.observed),
                reason=_cut(behavior.reason),
            )
        for evaluation in broken:
            yield _evaluation_mismatch(evaluation, f"evaluation {evaluation.index + 1} of {where}")
    for evaluation in trial.evaluations:
        if evaluation.outcome in _NOT_PASSED:
            yield _evaluation_mismatch(evaluation, f"session evaluation {evaluation.index + 1}")
    for fault in trial.call_faults:
        yield Mismatch(
            where="the whole session",
            label="unexpected call",
            line=None,
            outcome=Outcome.FAILED,
            expected="only calls that a behavior expects",
            observed=_cut(fault),
            reason=_cut(fault),
        )


def _comes_from(behavior: BehaviorResult, broken: list[EvaluationResult]) -> bool:
    """True when the behavior itself matched and only its evaluations did not pass."""
    return bool(broken) and any(behavior.reason == f"{e.label}: {e.reason}" for e in broken)


def _evaluation_mismatch(evaluation: EvaluationResult, where: str) -> Mismatch:
    return Mismatch(
        where=where,
        label=evaluation.label,
        line=evaluation.location.line,
        outcome=evaluation.outcome,
        expected="",
        observed="",
        reason=_cut(evaluation.reason),
    )


def _step(step: ObservedStep, note: str = "") -> TranscriptStep:
    notes = [note] if note else []
    notes += [word for word, holds in (("cut short", step.truncated), ("refusal", step.refusal)) if holds]
    content, is_cut = _bounded(step.content)
    arguments, arguments_cut = _bounded(None if step.arguments is None else dict(step.arguments))
    if step.kind is StepKind.CALL and step.arguments is None:
        notes.append("arguments are not a JSON object")
        arguments, arguments_cut = _bounded(step.raw_arguments)
    if is_cut or arguments_cut:
        notes.append("shortened")
    return TranscriptStep(
        index=step.index,
        turn=step.turn,
        kind=step.kind,
        actor=step.actor,
        action=step.action,
        target=None if step.target is None else _cut(step.target),
        content=content,
        arguments=arguments,
        behavior=step.behavior,
        expected=step.expected,
        supplied=step.supplied,
        is_error=step.is_error,
        notes=tuple(notes),
    )


def _bounded(value: Json) -> tuple[Json, bool]:
    """A value as it is, or the beginning of its text when that is too long; and whether it was cut."""
    text = value if isinstance(value, str) else json_text(value)
    if len(text) <= MAX_CONTENT:
        return value, False
    return as_text(value)[: MAX_CONTENT - 1] + "…", True


def _cut(text: str) -> str:
    return text if len(text) <= MAX_REASON else text[: MAX_REASON - 1] + "…"
