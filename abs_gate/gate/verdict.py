"""The one verdict over contracts, verification, sessions and budgets, with its reasons in words.

Failed beats unverified, and unverified beats passed. Nothing checked is never passed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from enum import IntEnum
from typing import Literal

from msgspec import Struct

from abs_gate.gate.acknowledgements import Acknowledgement, unused
from abs_gate.gate.baseline import compare_with_baseline
from abs_gate.gate.contract_policy import apply_contract_policy
from abs_gate.gate.elsewhere import runs_elsewhere
from abs_gate.gate.lint_policy import lint_gates
from abs_gate.gate.result import (
    ChangeRecord,
    ContractsRecord,
    Metadata,
    ResultDocument,
    SessionRecord,
    ToolDiffRecord,
    VerificationRecord,
)
from abs_gate.outcomes import Verdict
from abs_gate.settings.model import Settings

MOST_REASONS = 50


class Weight(IntEnum):
    """How important a reason is, most important first."""

    SAFETY_BREAKING = 0
    BREAKING = 1
    VERIFICATION_FAILED = 2
    CRITICAL_SESSION_FAILED = 3
    SESSION_FAILED = 4
    BLOCKED = 5
    REVIEW = 6
    LINT = 7
    WEAKER_POLICY = 8
    UNVERIFIED = 9


class Reason(Struct, frozen=True, kw_only=True):
    """One thing that keeps the gate from passing."""

    weight: Weight
    text: str

    @property
    def verdict(self) -> Verdict:
        """What it makes of the whole."""
        return Verdict.UNVERIFIED if self.weight is Weight.UNVERIFIED else Verdict.FAILED


def decide(
    *,
    contracts: ContractsRecord | None,
    verification: Sequence[VerificationRecord],
    sessions: Sequence[SessionRecord],
    settings: Settings,
    metadata: Metadata,
    acknowledgements: Sequence[Acknowledgement] = (),
    review_label: bool = False,
    baseline: ResultDocument | None = None,
    weakened: Sequence[str] = (),
    threshold_policy: Literal["note", "block"] | None = None,
    cancelled: int | None = None,
) -> ResultDocument:
    """The result of a run.

    `sessions` are records of `SessionTally.record`. `weakened` says how the change under test made the policy
    weaker, and `threshold_policy` what that does (the base branch's word where there is one). `cancelled` is the
    signal that ended the run, if one did.
    """
    expected = [kind for kind, paths, found in _layers(contracts, sessions, settings) if paths and not found]
    stale = unused(acknowledgements, contracts["tools"]) if contracts is not None else ()
    document: ResultDocument = {
        "schema_version": 1,
        "verdict": "unverified",
        "exit_code": 3,
        "reasons": [],
        "contracts": None
        if contracts is None
        else apply_contract_policy(
            contracts, settings.contracts, acknowledgements=acknowledgements, review_label=review_label
        ),
        "verification": list(verification),
        "sessions": list(sessions) if baseline is None else compare_with_baseline(sessions, baseline),
        "metadata": {
            **metadata,
            "weakened": list(weakened),
            "threshold_policy": threshold_policy or settings.threshold_policy,  # type: ignore[typeddict-item]
            "notices": [*metadata.get("notices", ()), *map(str, stale)],
        },
        "evidence": [],
    }
    return conclude(document, missing=expected, cancelled=cancelled)


def conclude(document: ResultDocument, *, missing: Sequence[str] = (), cancelled: int | None = None) -> ResultDocument:
    """The document with its verdict, exit code and reasons, from the records in it alone.

    `missing` names layers that were configured and found nothing to check.
    """
    reasons = sorted(_reasons(document, missing), key=lambda reason: reason.weight)
    if cancelled is not None:
        verdict, exit_code = Verdict.CANCELLED, 128 + cancelled
        texts = ["The run was cancelled before it was done."]
    elif reasons:
        verdict = reasons[0].verdict
        exit_code, texts = verdict.exit_code, []
    else:
        verdict = Verdict.PASSED
        exit_code, texts = verdict.exit_code, [_summary(document)]
    texts += [reason.text for reason in reasons[:MOST_REASONS]]
    if len(reasons) > MOST_REASONS:
        texts.append(f"And {len(reasons) - MOST_REASONS} more.")
    texts += list(_asides(document))
    return {**document, "verdict": verdict.value, "exit_code": exit_code, "reasons": texts}


def _layers(
    contracts: ContractsRecord | None, sessions: Sequence[SessionRecord], settings: Settings
) -> Iterator[tuple[str, bool, bool]]:
    yield "contract", bool(settings.contracts.paths), contracts is not None
    yield "session", bool(settings.sessions.paths), bool(sessions)


def _reasons(document: ResultDocument, missing: Sequence[str]) -> Iterator[Reason]:
    contracts, metadata = document["contracts"], document["metadata"]
    if contracts is not None:
        yield from _contract_reasons(contracts)
    yield from _verification_reasons(document["verification"])
    for session in document["sessions"]:
        yield from _session_reasons(session)
    if metadata.get("threshold_policy") == "block":
        for text in metadata.get("weakened", ()):
            yield Reason(weight=Weight.WEAKER_POLICY, text=f"This change makes the policy weaker: {text}")
    for kind in missing:
        yield Reason(weight=Weight.UNVERIFIED, text=f"The configuration names {kind}s, and not one was checked.")
    if not missing and not _anything_checked(document):
        yield Reason(weight=Weight.UNVERIFIED, text=_nothing_checked(document))


def _contract_reasons(contracts: ContractsRecord) -> Iterator[Reason]:
    if error := contracts.get("error"):
        yield Reason(weight=Weight.UNVERIFIED, text=f"Contracts could not be compared: {error}")
    for tool in contracts["tools"]:
        for change in tool["changes"]:
            action = change.get("action")
            if action == "block":
                yield Reason(weight=_blocking_weight(change), text=_change_text(tool, change))
            elif action == "review":
                yield Reason(weight=Weight.REVIEW, text=f"Needs review: {_change_text(tool, change)}")
    for finding in contracts["lint"]:
        if lint_gates(contracts, finding):
            place = f"{finding['file']}:{finding['line']}: " if finding["file"] else ""
            yield Reason(weight=Weight.LINT, text=f"{place}{finding['message']} ({finding['rule']})")


def _blocking_weight(change: ChangeRecord) -> Weight:
    by_class = {"safety_breaking": Weight.SAFETY_BREAKING, "breaking": Weight.BREAKING}
    return by_class.get(change["classification"], Weight.BLOCKED)


def _change_text(tool: ToolDiffRecord, change: ChangeRecord) -> str:
    classification = change["classification"].replace("_", "-")
    return f"{tool['tool_id']}: {classification} change of {change['path']}: {change['message']} ({change['kind']})"


def _verification_reasons(records: Iterable[VerificationRecord]) -> Iterator[Reason]:
    for record in records:
        text = f"{record['tool_id']}: {record['name']}: {record['reason']}"
        if record["outcome"] == "failed":
            yield Reason(weight=Weight.VERIFICATION_FAILED, text=text)
        elif record["outcome"] in ("unverified", "inconclusive"):
            yield Reason(weight=Weight.UNVERIFIED, text=f"{text} (could not be verified)")


def _session_reasons(session: SessionRecord) -> Iterator[Reason]:
    if session["quarantined"] or session["outcome"] == "passed" or runs_elsewhere(session):
        return
    if session["outcome"] == "failed":
        weight = Weight.CRITICAL_SESSION_FAILED if session["critical"] else Weight.SESSION_FAILED
        critical = "Critical session" if session["critical"] else "Session"
        yield Reason(weight=weight, text=f'{critical} "{session["name"]}" failed: {session["reason"]}')
    else:
        text = f'Session "{session["name"]}" could not be verified: {session["reason"]}'
        yield Reason(weight=Weight.UNVERIFIED, text=text)


def _anything_checked(document: ResultDocument) -> bool:
    contracts = document["contracts"]
    return (
        (contracts is not None and bool(contracts["tools"] or contracts["fingerprints"] or contracts.get("error")))
        or any(record["outcome"] != "skipped" for record in document["verification"])
        or any(not session["quarantined"] for session in document["sessions"])
    )


def _nothing_checked(document: ResultDocument) -> str:
    if document["sessions"]:
        return "Every session is quarantined and nothing else was checked, so nothing was decided."
    return "Nothing was checked: there is no contract, no verification case and no session."


def _summary(document: ResultDocument) -> str:
    gating = [session for session in document["sessions"] if not session["quarantined"]]
    sessions = [session for session in gating if session["trials"]["planned"]]
    contracts = document["contracts"]
    parts = []
    if gating and not sessions:
        parts.append("no case of a session falls into this shard")
    if sessions:
        passed = sum(session["trials"]["passed"] for session in sessions)
        verified = passed + sum(session["trials"]["failed"] for session in sessions)
        parts.append(f"{_number(len(sessions), 'session')} passed ({passed:,} of {_number(verified, 'trial')})")
    if document["verification"]:
        passed = sum(record["outcome"] == "passed" for record in document["verification"])
        parts.append(f"{_number(passed, 'verification case')} passed")
    if contracts is not None:
        changes = sum(len(tool["changes"]) for tool in contracts["tools"])
        compared = f"compared with {contracts['base']}" if contracts["base"] else "checked, with no base to compare"
        parts.append(f"{_number(len(contracts['fingerprints']), 'tool')} {compared}: {_number(changes, 'change')}")
    text = "; ".join(parts) + "."
    return text[0].upper() + text[1:]


def _asides(document: ResultDocument) -> Iterator[str]:
    """What does not decide and must still be read: quarantined failures, a weaker policy."""
    metadata = document["metadata"]
    for session in document["sessions"]:
        if session["quarantined"] and session["outcome"] != "passed" and not runs_elsewhere(session):
            note = session.get("quarantine_note", "Quarantined.")
            yield f'Not gating: session "{session["name"]}" is {session["outcome"]}. {note}'
    if metadata.get("threshold_policy") != "block":
        for text in metadata.get("weakened", ()):
            yield f"Notice: this change makes the policy weaker: {text}"


def _number(count: int, noun: str) -> str:
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"
