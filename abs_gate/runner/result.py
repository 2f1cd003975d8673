"""What one trial gives. Pure values; rates over trials belong to `gate`."""

from __future__ import annotations

from msgspec import Struct, field

from abs_gate.conversation import Usage
from abs_gate.findings import Location
from abs_gate.outcomes import Outcome
from abs_gate.trace import Trace


class EvaluationResult(Struct, frozen=True, kw_only=True):
    """One evaluation's outcome in one trial."""

    index: int
    type: str
    label: str
    outcome: Outcome
    reason: str
    score: float | None = None
    threshold: float | None = None
    blocking: bool = False
    location: Location
    details: dict[str, object] = field(default_factory=dict)
    """What the evaluator measured beside its score (votes, precision, ...)."""


class BehaviorResult(Struct, frozen=True, kw_only=True):
    """One behavior's outcome in one trial: its match and its step-level evaluations together."""

    index: int
    id: str | None
    label: str
    outcome: Outcome
    reason: str
    """In words, for anything that is not passed: what was expected, what was observed instead, which key differed."""
    location: Location
    step: int | None = None
    """Index of the observed step it matched, sent or supplied."""
    expected: str = ""
    """What was expected, in words, where something else was observed."""
    observed: str = ""
    """What was observed instead."""
    evaluations: tuple[EvaluationResult, ...] = ()


class TrialResult(Struct, frozen=True, kw_only=True):
    """One trial of one case."""

    outcome: Outcome
    """passed, failed or unverified only."""
    reason: str
    """The first thing that decided a failed or unverified outcome; empty when passed."""
    behaviors: tuple[BehaviorResult, ...]
    evaluations: tuple[EvaluationResult, ...]
    """Session-level evaluations."""
    trace: Trace
    duration_ms: int
    agent_calls: int
    usage: Usage = field(default_factory=Usage)
    unexpected_calls: tuple[str, ...] = ()
    """Tool names of calls that no behavior consumed, in order."""
    warnings: tuple[str, ...] = ()
    call_faults: tuple[str, ...] = ()
    """What `unexpected_calls: fail` found, in words; empty under `allow`."""
    model: str | None = None
    """The model the agent said it used, when it said so."""


class Mismatch(Struct, frozen=True, kw_only=True):
    """Expected beside observed for one thing that did not pass in a trial."""

    where: str
    """`behavior 3`, `evaluation 1 of behavior 3`, `session evaluation 2` or `the whole session`; counted from 1."""
    label: str
    line: int | None
    outcome: Outcome
    expected: str
    observed: str
    reason: str
