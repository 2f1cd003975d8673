"""The verdict and what lies behind it in one sentence, the same at the head of every report."""

from __future__ import annotations

from abs_gate.gate.elsewhere import runs_elsewhere
from abs_gate.gate.lint_policy import lint_gates
from abs_gate.gate.result import ResultDocument, VerdictText
from abs_gate.reports.figures import count_of
from abs_gate.reports.selection import changes_with

VERDICT_WORDS: dict[VerdictText, str] = {
    "passed": "ready to merge",
    "failed": "not ready to merge",
    "unverified": "could not be verified",
    "cancelled": "cancelled before a verdict",
}
"""What is decided about the change. `failed` alone would read as though the tool had."""

VERDICT_ICONS: dict[VerdictText, str] = {"passed": "✅", "failed": "❌", "unverified": "⚠️", "cancelled": "🛑"}
"""The verdict as a picture; its words always stand beside it."""

VERDICT_MEANING: dict[VerdictText, str] = {
    "passed": "Everything that was asked for was checked and holds.",
    "failed": "At least one check that decides about this change did not pass.",
    "unverified": "Something needed for a verdict could not be checked, so this is not a pass.",
    "cancelled": "The run was stopped before it was done; what follows is what was known by then.",
}


NO_RESULT_WORDS = {2: "wrong configuration", 3: "could not be verified", 70: "stopped by a fault of its own"}
"""Why a run gave no result, by its exit code; any other was cancelled."""


def title(verdict: VerdictText) -> str:
    """`abs-gate: not ready to merge`: the title of every report, without a picture."""
    return f"abs-gate: {VERDICT_WORDS[verdict]}"


def title_without_result(exit_code: int) -> str:
    """The title where a run ended before it had a result."""
    return f"abs-gate: {NO_RESULT_WORDS.get(exit_code, VERDICT_WORDS['cancelled'])}"


def headline(document: ResultDocument) -> str:
    """`2 of 5 sessions failed, 1 could not be verified; 1 contract change blocks`. Never empty, no full stop."""
    parts = [*_sessions(document), *_contracts(document), *_verification(document)]
    return "; ".join(parts) if parts else "nothing was checked"


def _sessions(document: ResultDocument) -> list[str]:
    sessions = document["sessions"]
    if not sessions:
        return []
    here = [session for session in sessions if not runs_elsewhere(session)]
    total, elsewhere = len(here), len(sessions) - len(here)
    gating = [session for session in here if not session["quarantined"]]
    failed = sum(1 for session in gating if session["outcome"] == "failed")
    unverified = sum(1 for session in gating if session["outcome"] in ("unverified", "inconclusive"))
    quarantined = total - len(gating)
    parts: list[str] = []
    if failed:
        parts.append(f"{failed:,} of {count_of(total, 'session')} failed")
    if unverified:
        parts.append(
            f"{unverified:,} could not be verified"
            if failed
            else f"{unverified:,} of {count_of(total, 'session')} could not be verified"
        )
    if not parts and here:
        passed = sum(1 for session in gating if session["outcome"] == "passed")
        parts.append(f"{passed:,} of {count_of(total, 'session')} passed")
    if quarantined:
        parts.append(f"{quarantined:,} quarantined")
    if elsewhere:
        parts.append(f"{count_of(elsewhere, 'session')} {'belongs' if elsewhere == 1 else 'belong'} to other shards")
    return [", ".join(parts)]


def _contracts(document: ResultDocument) -> list[str]:
    contracts = document["contracts"]
    if contracts is None:
        return []
    if contracts.get("error"):
        return ["the contracts could not be compared"]
    parts: list[str] = []
    blocking = len(changes_with(document, ["block"]))
    review = len(changes_with(document, ["review"]))
    lint = sum(1 for finding in contracts["lint"] if lint_gates(contracts, finding))
    if blocking:
        parts.append(f"{count_of(blocking, 'contract change')} {'blocks' if blocking == 1 else 'block'}")
    if review:
        parts.append(f"{count_of(review, 'contract change')} {'needs' if review == 1 else 'need'} review")
    if lint:
        parts.append(f"{count_of(lint, 'lint finding')} {'blocks' if lint == 1 else 'block'}")
    if not parts and contracts["base"] is not None:
        parts.append("no contract change blocks")
    return parts


def _verification(document: ResultDocument) -> list[str]:
    cases = document["verification"]
    if not cases:
        return []
    failed = sum(1 for case in cases if case["outcome"] == "failed")
    unverified = sum(1 for case in cases if case["outcome"] in ("unverified", "inconclusive"))
    total = count_of(len(cases), "verification case")
    if failed and unverified:
        return [f"{failed:,} of {total} failed, {unverified:,} could not be verified"]
    if failed:
        return [f"{failed:,} of {total} failed"]
    if unverified:
        return [f"{unverified:,} of {total} could not be verified"]
    passed = sum(1 for case in cases if case["outcome"] == "passed")
    return [f"{passed:,} of {total} passed"]
