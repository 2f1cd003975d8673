"""Icons, limits and figures that the Markdown sections share."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from abs_gate.reports.figures import NO_RATE, rate_of

if TYPE_CHECKING:
    from abs_gate.gate.result import BehaviorRecord

ICONS = {
    "passed": "✅",
    "failed": "❌",
    "unverified": "❓",
    "inconclusive": "❓",
    "skipped": "➖",
}
"""An outcome as a picture; its word always stands beside it."""

ACTION_ICONS = {"block": "❌", "review": "👀", "acknowledged": "☑️", "cleared": "☑️", "note": "➖", "ignore": "➖"}
SEVERITY_ICONS = {"error": "❌", "warning": "⚠️", "info": "ℹ️"}
TOLERATED_ICON = "⚠️"


class Caps(Struct, frozen=True, kw_only=True):
    """How many of each thing a page shows before it counts the rest."""

    reasons: int
    failures: int
    """Behaviors in the table of what did not pass; with more, the table shows causes instead."""
    groups: int
    """Causes looked at closely."""
    changes: int
    full_changes: int
    """Contract changes shown in full; the others get a line each."""
    lint: int
    verification: int
    sessions: int
    behaviors: int
    transcript: int
    """Characters of one transcript."""


def passed_text(behavior: BehaviorRecord) -> str:
    """`4 of 5 (80 %), 1 unverified`."""
    verified = behavior["passed"] + behavior["failed"]
    parts = [rate_of(behavior["passed"], verified)] if verified else [NO_RATE]
    if behavior["unverified"]:
        parts.append(f"{behavior['unverified']:,} unverified")
    return ", ".join(parts)


def upper_first(text: str) -> str:
    """The text with a capital at its beginning."""
    return text[:1].upper() + text[1:]
