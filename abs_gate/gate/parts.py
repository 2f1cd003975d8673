"""Counting one behavior or session-level evaluation over all rows and trials."""

from __future__ import annotations

from collections import Counter
from typing import get_args

from abs_gate.gate.result import BehaviorRecord, OutcomeText
from abs_gate.gate.statistics.intervals import wilson
from abs_gate.sources.excerpt import cut_at_word

MOST_DISTINCT_REASONS = 50
"""Distinct reasons counted of one part; texts of an agent may differ every time."""
SHOWN_REASONS = 5
LONGEST_REASON = 600
_WORST_FIRST: tuple[OutcomeText, ...] = ("failed", "unverified", "inconclusive", "passed", "skipped")


class PartCount:
    """The counts of one part; what it is called comes from the session document."""

    def __init__(self, index: int, *, id: str | None, file: str, line: int | None, label: str) -> None:
        self.index, self.id, self.file, self.line, self.label = index, id, file, line, label
        self.outcomes: Counter[OutcomeText] = Counter()
        self.reasons: Counter[str] = Counter()

    def add(self, outcome: OutcomeText, reason: str) -> None:
        """Count one trial."""
        self.outcomes[outcome] += 1
        if outcome in ("passed", "skipped") or not reason:
            return
        key = cut_at_word(reason, LONGEST_REASON)
        if key in self.reasons or len(self.reasons) < MOST_DISTINCT_REASONS:
            self.reasons[key] += 1

    def record(self) -> BehaviorRecord:
        """The record with its rate, interval and coverage."""
        record: BehaviorRecord = {
            "index": self.index,
            "id": self.id,
            "file": self.file,
            "line": self.line,
            "label": self.label,
            "passed": self.outcomes["passed"],
            "failed": self.outcomes["failed"],
            "skipped": self.outcomes["skipped"],
            "inconclusive": self.outcomes["inconclusive"],
            "unverified": self.outcomes["unverified"],
            "pass_rate": None,
            "interval": None,
            "coverage": None,
            "reasons": [reason for reason, _ in self.reasons.most_common(SHOWN_REASONS)],
            "outcome": "skipped",
        }
        return with_rates(record)


def with_rates(record: BehaviorRecord) -> BehaviorRecord:
    """The same counts with what follows from them."""
    verified = record["passed"] + record["failed"]
    due = verified + record["inconclusive"] + record["unverified"]
    return {
        **record,
        "pass_rate": record["passed"] / verified if verified else None,
        "interval": list(wilson(record["passed"], verified)) if verified else None,
        "coverage": verified / due if due else None,
        "outcome": next((word for word in _WORST_FIRST if _count(record, word)), "skipped"),
    }


def add_parts(first: BehaviorRecord, second: BehaviorRecord) -> BehaviorRecord:
    """The counts of two shards together."""
    reasons = list(dict.fromkeys((*first["reasons"], *second["reasons"])))[:SHOWN_REASONS]
    return with_rates(
        {
            **first,
            "passed": first["passed"] + second["passed"],
            "failed": first["failed"] + second["failed"],
            "skipped": first["skipped"] + second["skipped"],
            "inconclusive": first["inconclusive"] + second["inconclusive"],
            "unverified": first["unverified"] + second["unverified"],
            "reasons": reasons,
        }
    )


def _count(record: BehaviorRecord, outcome: OutcomeText) -> int:
    counts: dict[str, int] = {word: record[word] for word in get_args(OutcomeText)}  # type: ignore[literal-required]
    return counts[outcome]
