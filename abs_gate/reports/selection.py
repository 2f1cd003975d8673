"""What a reader should see first: failures and changes of a result, chosen and ordered once for all reports.

Every report reads its order from here, so that the first thing named in a terminal is the first row of the
comment and the first annotation.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from abs_gate.gate.result import (
    BehaviorRecord,
    CaseRecord,
    ChangeRecord,
    ContractsRecord,
    FindingRecord,
    MismatchRecord,
    ResultDocument,
    SessionRecord,
    ToolDiffRecord,
    TrialRecord,
    VerificationRecord,
)

Action: TypeAlias = Literal["block", "review", "note", "ignore", "cleared", "acknowledged"]

_SEVERITIES = ("error", "warning", "info")
_OUTCOME_ORDER = ("failed", "unverified", "inconclusive", "passed", "skipped")
_ACTION_ORDER = ("block", "review", "acknowledged", "cleared", "note", "ignore")
_CLASSIFICATION_ORDER = ("safety_breaking", "breaking", "behavior_sensitive", "compatible", "unchanged")
_DEFAULT_ACTION: dict[str, Action] = {
    "safety_breaking": "block",
    "breaking": "block",
    "behavior_sensitive": "review",
    "compatible": "note",
    "unchanged": "ignore",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """One trial in which something did not pass."""

    case: CaseRecord
    number: int
    """Which trial of its case, from 1."""
    trial: TrialRecord
    mismatch: MismatchRecord | None
    turn: int | None
    """The turn of the conversation, from 1, where the transcript tells it."""

    @property
    def place(self) -> str:
        """`turn 2, row 3, trial 1`: as much as is known."""
        parts = [f"turn {self.turn}"] if self.turn is not None else []
        if self.case["row"] is not None:
            parts.append(f"row {self.case['row']}")
        parts.append(f"trial {self.number}")
        return ", ".join(parts)


@dataclass(frozen=True, slots=True, kw_only=True)
class BehaviorFailure:
    """A behavior or session-level evaluation that did not always pass."""

    session: SessionRecord
    behavior: BehaviorRecord
    is_evaluation: bool
    """True for a session-level evaluation."""
    example: Example | None

    @property
    def gates(self) -> bool:
        """Whether it counts: its session did not pass and is not quarantined."""
        return does_gate(self.session)

    @property
    def reason(self) -> str:
        """The commonest reason, or the example's."""
        if self.behavior["reasons"]:
            return self.behavior["reasons"][0]
        if self.example and self.example.mismatch:
            return self.example.mismatch["reason"]
        return self.session["reason"]


def does_gate(session: SessionRecord) -> bool:
    """Whether a session holds the verdict back: it did not pass and no quarantine covers it."""
    return session["outcome"] in ("failed", "unverified", "inconclusive") and not session["quarantined"]


def sort_sessions(sessions: Iterable[SessionRecord]) -> list[SessionRecord]:
    """Worst first: what gates before what does not, critical first, then lowest rate, then file and name."""
    return sorted(
        sessions,
        key=lambda s: (
            not does_gate(s),
            _OUTCOME_ORDER.index(s["outcome"]),
            not s["critical"],
            s["pass_rate"] if s["pass_rate"] is not None else 1.0,
            s["path"],
            s["name"],
        ),
    )


def behaviors_of(session: SessionRecord) -> Iterator[tuple[BehaviorRecord, bool]]:
    """Every behavior, then every session-level evaluation; the flag tells the latter."""
    for behavior in session["behaviors"]:
        yield behavior, False
    for evaluation in session["evaluations"]:
        yield evaluation, True


def find_failures(document: ResultDocument) -> list[BehaviorFailure]:
    """Every behavior and evaluation that failed or could not be checked at least once, worst session first."""
    failures: list[BehaviorFailure] = []
    for session in sort_sessions(document["sessions"]):
        of_session = [
            BehaviorFailure(
                session=session,
                behavior=behavior,
                is_evaluation=is_evaluation,
                example=find_example(session, behavior, is_evaluation),
            )
            for behavior, is_evaluation in behaviors_of(session)
            if behavior["failed"] or behavior["unverified"]
        ]
        of_session.sort(key=lambda f: (not f.behavior["failed"], f.is_evaluation, f.behavior["index"]))
        failures += of_session
    return failures


def find_example(session: SessionRecord, behavior: BehaviorRecord, is_evaluation: bool) -> Example | None:
    """The first trial, failed before unverified, whose mismatches name this behavior."""
    found: Example | None = None
    for case in session["cases"]:
        for number, trial in enumerate(case["trials"], start=1):
            if trial["outcome"] == "passed":
                continue
            for mismatch in trial["mismatches"]:
                if not _is_about(mismatch, behavior, is_evaluation):
                    continue
                turn = _turn_of(behavior, trial) if not is_evaluation else None
                example = Example(case=case, number=number, trial=trial, mismatch=mismatch, turn=turn)
                if mismatch["outcome"] == "failed":
                    return example
                found = found or example
    return found


def _is_about(mismatch: MismatchRecord, behavior: BehaviorRecord, is_evaluation: bool) -> bool:
    """Whether a mismatch belongs to this record, by the number in its `where`, counted from 1."""
    where = mismatch["where"]
    if is_evaluation:
        found = re.fullmatch(r"session evaluation (\d+)", where)
    else:
        found = re.search(r"\bbehavior (\d+)$", where)
    return bool(found) and found is not None and int(found[1]) == behavior["index"] + 1


def _turn_of(behavior: BehaviorRecord, trial: TrialRecord) -> int | None:
    """The turn a behavior belongs to: that of the last step an earlier or the same behavior matched or sent."""
    turn: int | None = None
    for step in trial["transcript"] or ():
        matched = step["behavior"]
        if matched is not None and matched <= behavior["index"]:
            turn = step["turn"]
    return turn


def action_of(change: ChangeRecord) -> Action:
    """What policy made of a change; `diff` output, which has no policy, goes by classification."""
    return change.get("action") or _DEFAULT_ACTION[change["classification"]]


def sort_tools(tools: Iterable[ToolDiffRecord]) -> list[ToolDiffRecord]:
    """Tools with changes, worst classification first, then by id."""
    changed = [tool for tool in tools if tool["changes"]]
    return sorted(changed, key=lambda t: (_CLASSIFICATION_ORDER.index(t["classification"]), t["tool_id"]))


def sort_changes(changes: Iterable[ChangeRecord]) -> list[ChangeRecord]:
    """What blocks first, then by classification, path and kind."""
    return sorted(
        changes,
        key=lambda c: (
            _ACTION_ORDER.index(action_of(c)),
            _CLASSIFICATION_ORDER.index(c["classification"]),
            c["path"],
            c["kind"],
        ),
    )


def changes_with(document: ResultDocument, actions: Sequence[Action]) -> list[tuple[ToolDiffRecord, ChangeRecord]]:
    """Every change that policy gave one of these actions, worst tool first."""
    contracts = document["contracts"]
    if contracts is None:
        return []
    return [
        (tool, change)
        for tool in sort_tools(contracts["tools"])
        for change in sort_changes(tool["changes"])
        if action_of(change) in actions
    ]


def lint_gates(contracts: ContractsRecord, finding: FindingRecord) -> bool:
    """Whether a lint finding holds the verdict back: it is as severe as the policy asks for."""
    limit = contracts.get("fail_on_lint", "error")
    return limit != "none" and _SEVERITIES.index(finding["severity"]) <= _SEVERITIES.index(limit)


def notices_of(document: ResultDocument) -> list[str]:
    """What a reader must know besides, loudest first: a policy made weaker in this change, then the run's notices."""
    metadata = document["metadata"]
    weaker = [f"This change makes the policy weaker: {text}" for text in metadata.get("weakened", [])]
    return weaker + metadata.get("notices", [])


def sort_lint(findings: Iterable[FindingRecord]) -> list[FindingRecord]:
    """Errors, then warnings, then notes; by place within each."""
    return sorted(
        findings,
        key=lambda f: (_SEVERITIES.index(f["severity"]), f["file"] or "", f["line"] or 0, f["column"] or 0, f["rule"]),
    )


def sort_verification(cases: Iterable[VerificationRecord]) -> list[VerificationRecord]:
    """Failed, then unverified, then the rest; by tool, kind and id within each."""
    return sorted(cases, key=lambda c: (_OUTCOME_ORDER.index(c["outcome"]), c["tool_id"], c["kind"], c["id"]))


def place_of(file: str | None, line: int | None) -> str:
    """`file:line`, `file`, or nothing."""
    if not file:
        return ""
    return f"{file}:{line}" if line else file
