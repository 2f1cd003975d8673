"""What a reader should see first: sessions, changes and findings of a result, ordered once for all reports.

Every report reads its order from here, so that the first thing named in a terminal is the first row of the
comment and the first annotation.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Literal, TypeAlias

from abs_gate.gate.elsewhere import runs_elsewhere

if TYPE_CHECKING:
    from abs_gate.gate.result import (
        ChangeRecord,
        FindingRecord,
        ResultDocument,
        SessionRecord,
        ToolDiffRecord,
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


def does_gate(session: SessionRecord) -> bool:
    """Whether a session holds the verdict back: it did not pass and no quarantine covers it."""
    open_or_failed = session["outcome"] in ("failed", "unverified", "inconclusive")
    return open_or_failed and not session["quarantined"] and not runs_elsewhere(session)


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


def notices_of(document: ResultDocument) -> list[str]:
    """What a reader must know besides, loudest first: a policy made weaker in this change, then the run's notices."""
    metadata = document["metadata"]
    weaker = [f"This change makes the policy weaker: {text}" for text in metadata.get("weakened", [])]
    return weaker + metadata.get("notices", [])


def sort_lint(findings: Iterable[FindingRecord]) -> list[FindingRecord]:
    """What policy blocks, then errors, then warnings, then notes, by place within each; not what policy ignores."""
    return sorted(
        (finding for finding in findings if finding.get("action") != "ignore"),
        key=lambda f: (
            f.get("action") not in ("block", "review"),
            _SEVERITIES.index(f["severity"]),
            f["file"] or "",
            f["line"] or 0,
            f["column"] or 0,
            f["rule"],
        ),
    )


def sort_verification(cases: Iterable[VerificationRecord]) -> list[VerificationRecord]:
    """Failed, then unverified, then the rest; by tool, kind and id within each."""
    return sorted(cases, key=lambda c: (_OUTCOME_ORDER.index(c["outcome"]), c["tool_id"], c["kind"], c["id"]))


def place_of(file: str | None, line: int | None) -> str:
    """`file:line`, `file`, or nothing."""
    if not file:
        return ""
    return f"{file}:{line}" if line else file
