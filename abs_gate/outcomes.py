"""The words for how something ended: an outcome for a part, a verdict for the whole."""

from __future__ import annotations

from enum import StrEnum


class Outcome(StrEnum):
    """How a behavior, evaluation, verification case or trial ended.

    `unverified` means it could not be checked; it is never folded into `failed` or `passed`.
    `inconclusive` stands behind a failed blocking evaluation. A trial is only ever
    passed, failed or unverified.
    """

    PASSED = "passed"
    FAILED = "failed"
    SKIPPED = "skipped"
    INCONCLUSIVE = "inconclusive"
    UNVERIFIED = "unverified"


class Verdict(StrEnum):
    """The gate's decision over everything."""

    PASSED = "passed"
    FAILED = "failed"
    UNVERIFIED = "unverified"
    CANCELLED = "cancelled"

    @property
    def exit_code(self) -> int:
        """0 passed, 1 failed, 3 could not be verified; a cancelled run exits by its signal (130 by default)."""
        return {"passed": 0, "failed": 1, "unverified": 3, "cancelled": 130}[self.value]
