"""What is kept of one finished trial: enough to count it, to show it, and to go on after an interruption."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypedDict

from abs_gate.documents.model import Case
from abs_gate.findings import Json
from abs_gate.gate.plan import session_key
from abs_gate.gate.result import MismatchRecord, OutcomeText, StepRecord, TrialRecord
from abs_gate.outcomes import Outcome
from abs_gate.runner.result import BehaviorResult, EvaluationResult, Mismatch, TrialResult
from abs_gate.runner.transcript import TranscriptStep, find_mismatches, transcribe
from abs_gate.verification.model import Check

LONGEST_TEXT = 4_000
"""Characters kept of a reason."""


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
    model: str | None
    """As the agent reported it."""
    input_tokens: int
    output_tokens: int
    record: TrialRecord


def note_trial(
    case: Case,
    trial: int,
    result: TrialResult,
    *,
    transcripts: str = "failures",
    forbidden: Sequence[str] = (),
    effects: Sequence[Check] = (),
) -> TrialNote:
    """The note of a trial. `transcripts` is the policy: failures, all or none.

    `forbidden` are the violations of the policy's safety slice; a trial with one has failed, whatever else it shows.
    `effects` are the checks of what it changed.
    """
    at_fault = [check for check in effects if check.outcome in (Outcome.FAILED, Outcome.UNVERIFIED)]
    outcome = _outcome(result, forbidden, at_fault)
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
        "model": result.model,
        "input_tokens": result.usage.input_tokens,
        "output_tokens": result.usage.output_tokens,
        "record": {
            "outcome": outcome.value,  # type: ignore[typeddict-item]
            "reason": _shorten(_reason(result, forbidden, at_fault, outcome)),
            "duration_ms": result.duration_ms,
            "agent_calls": result.agent_calls,
            "unexpected_calls": list(result.unexpected_calls),
            "warnings": list(result.warnings),
            "steps": len(result.trace.steps),
            "mismatches": [
                *map(_forbidden, forbidden),
                *map(_effect, at_fault),
                *map(_mismatch, find_mismatches(result)),
            ],
            "transcript": [_step(step) for step in transcribe(result.trace)] if keep else None,
        },
    }


def _part(part: BehaviorResult | EvaluationResult) -> PartNote:
    return {"index": part.index, "outcome": part.outcome.value, "reason": _shorten(part.reason)}


def _mismatch(mismatch: Mismatch) -> MismatchRecord:
    return {
        "where": mismatch.where,
        "label": mismatch.label,
        "line": mismatch.line,
        "outcome": mismatch.outcome.value,
        "expected": mismatch.expected,
        "observed": mismatch.observed,
        "reason": mismatch.reason,
    }


def _forbidden(reason: str) -> MismatchRecord:
    return {
        "where": "the whole session",
        "label": "forbidden call",
        "line": None,
        "outcome": "failed",
        "expected": "",
        "observed": "",
        "reason": _shorten(reason),
    }


def _outcome(result: TrialResult, forbidden: Sequence[str], at_fault: Sequence[Check]) -> Outcome:
    """The worst of the conversation, of forbidden calls and of what was changed."""
    outcomes = {result.outcome, *(check.outcome for check in at_fault)}
    if forbidden or Outcome.FAILED in outcomes:
        return Outcome.FAILED
    return Outcome.UNVERIFIED if Outcome.UNVERIFIED in outcomes else Outcome.PASSED


def _reason(result: TrialResult, forbidden: Sequence[str], at_fault: Sequence[Check], outcome: Outcome) -> str:
    """What decided the outcome."""
    if forbidden:
        return forbidden[0]
    if result.outcome is outcome:
        return result.reason
    return next(check.reason or check.name for check in at_fault if check.outcome is outcome)


def _effect(check: Check) -> MismatchRecord:
    return {
        "where": "the whole session",
        "label": check.name,
        "line": None,
        "outcome": check.outcome.value,
        "expected": "",
        "observed": "",
        "reason": _shorten(check.reason),
    }


def _step(step: TranscriptStep) -> StepRecord:
    return {
        "index": step.index,
        "turn": step.turn,
        "kind": step.kind.value,
        "actor": step.actor,
        "action": step.action,
        "target": step.target,
        "content": step.content,
        "arguments": step.arguments,
        "behavior": step.behavior,
        "expected": step.expected,
        "supplied": step.supplied,
        "is_error": step.is_error,
        "notes": list(step.notes),
    }


def _shorten(text: str) -> str:
    """A text cut to a limit, saying how much is missing."""
    return (
        text if len(text) <= LONGEST_TEXT else f"{text[:LONGEST_TEXT]}… ({len(text) - LONGEST_TEXT:,} more characters)"
    )
