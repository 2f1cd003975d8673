"""What is kept of one finished trial: enough to count it, to show it, and to go on after an interruption."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import TypedDict

from abs_gate.documents.model import Case
from abs_gate.findings import Json
from abs_gate.gate.plan import session_key
from abs_gate.gate.result import MismatchRecord, OutcomeText, StepRecord, TrialRecord
from abs_gate.outcomes import Outcome
from abs_gate.runner.result import BehaviorResult, EvaluationResult, TrialResult
from abs_gate.trace import ObservedStep

LONGEST_TEXT = 4_000
"""Characters kept of one text or payload in a transcript, and of a reason."""
MOST_STEPS = 400
"""Steps kept of one transcript."""
MOST_MISMATCHES = 50


class PartNote(TypedDict):
    """How one behavior or session-level evaluation ended in a trial."""

    index: int
    outcome: OutcomeText
    reason: str


class TrialNote(TypedDict):
    """One finished trial."""

    session: str
    """Key of its session, as in its plan."""
    case: str
    row: int | None
    variables: dict[str, Json]
    trial: int
    """Counts from 0 within its case."""
    behaviors: list[PartNote]
    evaluations: list[PartNote]
    forbidden: list[str]
    """Calls that the policy forbids, in words."""
    input_tokens: int
    output_tokens: int
    record: TrialRecord


def note_trial(
    case: Case, trial: int, result: TrialResult, *, transcripts: str = "failures", forbidden: Sequence[str] = ()
) -> TrialNote:
    """The note of a trial. `transcripts` is the policy: failures, all or none.

    `forbidden` are the violations of the policy's safety slice; a trial with one has failed, whatever else it shows.
    """
    outcome = Outcome.FAILED if forbidden else result.outcome
    keep = transcripts == "all" or (transcripts == "failures" and outcome is not Outcome.PASSED)
    return {
        "session": session_key(case.session),
        "case": case.id,
        "row": case.row,
        "variables": dict(case.values),
        "trial": trial,
        "behaviors": [_part(part) for part in result.behaviors],
        "evaluations": [_part(part) for part in result.evaluations],
        "forbidden": list(forbidden),
        "input_tokens": result.usage.input_tokens,
        "output_tokens": result.usage.output_tokens,
        "record": {
            "outcome": outcome.value,  # type: ignore[typeddict-item]
            "reason": shorten(forbidden[0] if forbidden else result.reason),
            "duration_ms": result.duration_ms,
            "agent_calls": result.agent_calls,
            "unexpected_calls": list(result.unexpected_calls),
            "warnings": list(result.warnings),
            "steps": len(result.trace.steps),
            "mismatches": [*_faults(forbidden, "forbidden call"), *_mismatches(result)][:MOST_MISMATCHES],
            "transcript": [_step(step) for step in result.trace.steps[:MOST_STEPS]] if keep else None,
        },
    }


def shorten(text: str, limit: int = LONGEST_TEXT) -> str:
    """A text cut to a limit, saying how much is missing."""
    return text if len(text) <= limit else f"{text[:limit]}… ({len(text) - limit:,} more characters)"


def _part(part: BehaviorResult | EvaluationResult) -> PartNote:
    return {"index": part.index, "outcome": part.outcome.value, "reason": shorten(part.reason)}


def _mismatches(result: TrialResult) -> Iterable[MismatchRecord]:
    for behavior in result.behaviors:
        place = f"behavior {behavior.index + 1}"
        at_fault = [part for part in behavior.evaluations if _is_fault(part.outcome)]
        if _is_fault(behavior.outcome) and (behavior.expected or not at_fault):
            yield {**_mismatch(place, behavior), "expected": behavior.expected, "observed": behavior.observed}
        for part in at_fault:
            yield _mismatch(f"evaluation {part.index + 1} of {place}", part)
    for evaluation in result.evaluations:
        if _is_fault(evaluation.outcome):
            yield _mismatch(f"session evaluation {evaluation.index + 1}", evaluation)
    yield from _faults(result.call_faults, "unexpected call")


def _faults(reasons: Sequence[str], label: str) -> Iterable[MismatchRecord]:
    for reason in reasons:
        yield {
            "where": "the whole session",
            "label": label,
            "line": None,
            "outcome": "failed",
            "expected": "",
            "observed": "",
            "reason": shorten(reason),
        }


def _is_fault(outcome: Outcome) -> bool:
    return outcome not in (Outcome.PASSED, Outcome.SKIPPED)


def _mismatch(where: str, part: BehaviorResult | EvaluationResult) -> MismatchRecord:
    return {
        "where": where,
        "label": part.label,
        "line": part.location.line,
        "outcome": part.outcome.value,
        "expected": "",
        "observed": "",
        "reason": shorten(part.reason),
    }


def _step(step: ObservedStep) -> StepRecord:
    notes = []
    if step.truncated:
        notes.append("truncated")
    if step.refusal:
        notes.append("refusal")
    if step.arguments is None and step.raw_arguments:
        notes.append(f"arguments are not a JSON object: {shorten(step.raw_arguments, 200)}")
    return {
        "index": step.index,
        "turn": step.turn,
        "kind": step.kind.value,
        "actor": step.actor,
        "action": step.action,
        "target": step.target,
        "content": _bounded(step.content, notes),
        "arguments": None if step.arguments is None else _bounded(dict(step.arguments), notes),
        "behavior": step.behavior,
        "expected": step.expected,
        "supplied": step.supplied,
        "is_error": step.is_error,
        "notes": notes,
    }


def _bounded(value: Json, notes: list[str]) -> Json:
    """The value, or the start of its text when it is too long to keep."""
    if value is None or isinstance(value, (bool, int, float)):
        return value
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    if len(text) <= LONGEST_TEXT:
        return value
    notes.append("cut")
    return shorten(text)
