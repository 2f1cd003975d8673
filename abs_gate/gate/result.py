"""The result document: the one record of a run, which every report renders and shards merge.

These types are the static half of `abs_gate/gate/result.schema.json` (schema_version 1); a test keeps
the two in step. Fields may be added, never renamed or removed. Durations are milliseconds, rates and
scores 0..1, times RFC 3339 UTC, lines count from 1.
"""

from __future__ import annotations

from typing import Literal, NotRequired, TypeAlias, TypedDict

from abs_gate.findings import Json

OutcomeText: TypeAlias = Literal["passed", "failed", "skipped", "inconclusive", "unverified"]
VerdictText: TypeAlias = Literal["passed", "failed", "unverified", "cancelled"]
ClassificationText: TypeAlias = Literal["unchanged", "compatible", "behavior_sensitive", "breaking", "safety_breaking"]


class FindingRecord(TypedDict):
    """A finding as a record."""

    rule: str
    severity: Literal["error", "warning", "info"]
    message: str
    subject: str
    hint: str
    file: str | None
    line: int | None
    column: int | None
    fingerprint: str
    action: NotRequired[Literal["block", "review", "note", "ignore", "acknowledged"]]
    """What policy makes of a contract lint finding whose rule it names."""


class ChangeRecord(TypedDict):
    """A contract change as `abs-gate diff --format json` prints it."""

    path: str
    kind: str
    classification: ClassificationText
    affects: list[str]
    message: str
    before: Json
    after: Json
    proof: Literal["witness", "proved", "not proven", "convention"]
    witness: NotRequired[Json]
    """Present only where there is one."""
    file: str | None
    line: int | None
    notes: list[str]
    action: NotRequired[Literal["block", "review", "note", "ignore", "cleared", "acknowledged"]]
    """What policy made of it; absent in `diff`."""


class ToolDiffRecord(TypedDict):
    """One tool's changes."""

    tool_id: str
    baseline: int | str | None
    candidate: int | str | None
    baseline_fingerprint: str | None
    candidate_fingerprint: str | None
    classification: ClassificationText
    changes: list[ChangeRecord]
    cleared: NotRequired[str]
    """Why a breaking change does not block, when it does not."""


class ContractsRecord(TypedDict):
    """The contract layer."""

    base: str | None
    """What the head was compared with, in words (`commit 1a2b3c4`, a path); None when nothing was compared."""
    tools: list[ToolDiffRecord]
    lint: list[FindingRecord]
    toolset_fingerprint: str | None
    fingerprints: dict[str, str]
    """`tool_id@version` (or tool_id) to fingerprint, of the candidate set."""
    error: NotRequired[str]
    """Why the comparison could not be made."""
    fail_on_lint: NotRequired[Literal["error", "warning", "info", "none"]]
    """Lowest severity of a lint finding that fails the gate."""


class VerificationCheck(TypedDict):
    """One check of a verification case."""

    name: str
    outcome: OutcomeText
    reason: str


class VerificationRecord(TypedDict):
    """One verification case."""

    id: str
    tool_id: str
    kind: str
    """input, provider, retry, adapter, effect, claim."""
    name: str
    outcome: OutcomeText
    reason: str
    checks: list[VerificationCheck]
    file: str | None
    line: int | None
    duration_ms: int


class Trials(TypedDict):
    """Counts of trials over all cases of a session."""

    planned: int
    run: int
    passed: int
    failed: int
    unverified: int
    saved: int


class BehaviorRecord(TypedDict):
    """One behavior or session-level evaluation over all rows and trials of its session."""

    index: int
    id: str | None
    file: str
    line: int | None
    label: str
    passed: int
    failed: int
    skipped: int
    inconclusive: int
    unverified: int
    pass_rate: float | None
    """passed / (passed + failed); None when nothing was verified."""
    interval: list[float] | None
    """Wilson, two-sided 95 %, for display."""
    coverage: float | None
    """(passed + failed) / all that should have been verified."""
    reasons: list[str]
    """Distinct reasons of what did not pass, most frequent first, bounded."""
    outcome: OutcomeText
    """Worst over trials: failed, unverified, inconclusive, passed, skipped."""


class StepRecord(TypedDict):
    """One observed step of a transcript."""

    index: int
    turn: int
    kind: Literal["sent", "text", "call", "result"]
    actor: str
    action: str
    target: str | None
    content: Json
    arguments: Json
    behavior: int | None
    expected: bool
    supplied: bool
    is_error: bool
    notes: list[str]


class MismatchRecord(TypedDict):
    """Expected beside observed for one thing that did not pass in a trial."""

    where: str
    """`behavior 3` or `evaluation 1 of behavior 3` or `session evaluation 2`."""
    label: str
    line: int | None
    outcome: OutcomeText
    expected: str
    observed: str
    reason: str


class TrialRecord(TypedDict):
    """One trial."""

    outcome: Literal["passed", "failed", "unverified"]
    reason: str
    duration_ms: int
    agent_calls: int
    unexpected_calls: list[str]
    warnings: list[str]
    steps: int
    """How many steps were observed."""
    mismatches: list[MismatchRecord]
    transcript: list[StepRecord] | None
    """None where the transcript policy does not keep it."""
    after_decision: NotRequired[bool]
    """Finished after the outcome was decided; recorded, changes nothing."""


class CaseRecord(TypedDict):
    """One session with one row."""

    id: str
    row: int | None
    variables: dict[str, Json]
    trials: list[TrialRecord]


class PassHatKRecord(TypedDict):
    """A demand on pass^k: the mean over cases must reach `min`, a quotient as text."""

    k: int
    min: str


class SequentialRecord(TypedDict):
    """Parameters of a sequential test, as quotients."""

    p0: str
    p1: str
    alpha: str
    beta: str


class PolicyRecord(TypedDict):
    """What a session was decided by, exact enough to decide again. Rates are quotients as text (`9/10`)."""

    trials: int
    """Trials of each case."""
    pass_rate: str
    pass_rate_text: str
    """As the user wrote it."""
    decide: Literal["observed", "demonstrated", "not_worse", "sequential"]
    confidence: str | None
    per: Literal["session", "row"]
    pass_hat_k: PassHatKRecord | None
    min_coverage: str
    max_unverified: int | None
    sequential: SequentialRecord | None
    baseline: Literal["report", "gate"]
    forbid: NotRequired[dict[str, list[str]]]
    """Calls that fail the session whatever the rate: `tools`, `effects`, `without_approval`."""


class RowCountRecord(TypedDict):
    """How many rows came out with these counts, over the trials that decide."""

    passed: int
    failed: int
    unverified: int
    rows: int


class SessionRecord(TypedDict):
    """One session over all its cases and trials."""

    name: str
    path: str
    line: int | None
    critical: bool
    quarantined: bool
    quarantine_note: NotRequired[str]
    outcome: OutcomeText
    reason: str
    decide: str
    trials: Trials
    pass_rate: float | None
    unbiased_rate: NotRequired[float | None]
    """The unbiased estimate after an early stop."""
    interval: list[float] | None
    """Wilson, two-sided 95 %, for display."""
    anytime_interval: NotRequired[list[float]]
    """After an early stop: a 95 % confidence sequence, which holds whenever one stops (Robbins 1970)."""
    clustered_interval: NotRequired[list[float] | None]
    """95 % with rows as clusters; None with fewer than two rows."""
    effective_trials: NotRequired[float | None]
    """How many independent trials those of clustered rows are worth."""
    lowest_row: NotRequired[dict[str, Json] | None]
    coverage: float | None
    pass_hat_k: dict[str, float]
    """pass^k by k as text; empty after an early stop, which would bias it."""
    pass_hat_k_error: NotRequired[dict[str, float]]
    """Its standard error over cases, by k as text; absent with fewer than two cases."""
    pass_at_k: dict[str, float]
    required: str
    """The threshold in words: `4 of 5 (80 %)`."""
    decided_after: int | None
    behaviors: list[BehaviorRecord]
    evaluations: list[BehaviorRecord]
    cases: list[CaseRecord]
    unexpected_calls: dict[str, int]
    """Calls no behavior consumed, by tool name."""
    forbidden_calls: NotRequired[dict[str, int]]
    """Calls that the policy forbids, in words, with how many trials made them."""
    policy: PolicyRecord
    planned_total: int
    """Trials planned over all shards; the same as `trials.planned` where there are none."""
    row_counts: list[RowCountRecord]
    """Rates over rows rest on these. Trials that finished after the decision are not in them."""
    stopped_by: NotRequired[Literal["pass", "failure"] | None]
    """The outcome of the trial that decided early."""
    stop_reason: NotRequired[str]
    """Why planned trials did not run though nothing was decided: a spent budget, a cancelled run."""
    trials_omitted: NotRequired[int]
    """Trials that are counted but have no record under `cases`, because there were too many."""
    baseline: NotRequired[dict[str, Json]]
    """Against the base result: state (new_failure, fixed, still_failing, flaky, same), p, interval, detectable."""


class Metadata(TypedDict):
    """What was run, on what."""

    abs_gate_version: str
    started: str
    duration_ms: int
    agent_url: str | None
    """Without credentials."""
    agent_format: str | None
    model: str | None
    toolset_fingerprint: str | None
    policy_fingerprint: str | None
    session_hashes: dict[str, str]
    dataset_hashes: NotRequired[dict[str, str]]
    """Of sessions with a data set: over the identities of all their rows."""
    commit: str | None
    base: str | None
    agent_calls: int
    usage: dict[str, int]
    versions: dict[str, str]
    shard: NotRequired[str | None]
    weakened: NotRequired[list[str]]
    """How the policy was made weaker in the change that is gated."""
    threshold_policy: NotRequired[Literal["note", "block"]]
    """Whether a weaker policy only shows or fails the gate."""
    notices: NotRequired[list[str]]
    """Things a reader must know: thresholds lowered in this change, budget spent, warnings."""


class ResultDocument(TypedDict):
    """`result.json`."""

    schema_version: Literal[1]
    verdict: VerdictText
    exit_code: int
    reasons: list[str]
    contracts: ContractsRecord | None
    verification: list[VerificationRecord]
    sessions: list[SessionRecord]
    metadata: Metadata
    evidence: list[dict[str, Json]]
