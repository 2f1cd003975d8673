"""Deciding before all trials have run: curtailment, which changes no decision, and Wald's sequential test."""

from __future__ import annotations

from fractions import Fraction
from math import log

from msgspec import Struct


class Bounds(Struct, frozen=True, kw_only=True):
    """What decides a fixed number of trials: enough passes, or enough failures; in between nothing is shown."""

    passes: int | None
    """Passes from which the outcome is passed; None where no count can."""
    failures: int | None
    """Failures from which the outcome is failed; None where no count can."""

    def standing(self, passed: int, failed: int) -> bool | None:
        """True passed, False failed, None neither yet."""
        if self.passes is not None and passed >= self.passes:
            return True
        if self.failures is not None and failed >= self.failures:
            return False
        return None

    def is_decided(self, passed: int, failed: int, remaining: int) -> bool:
        """Whether no outcome of the remaining trials can change the standing."""
        if self.standing(passed, failed) is not None:
            return True
        can_pass = self.passes is not None and passed + remaining >= self.passes
        can_fail = self.failures is not None and failed + remaining >= self.failures
        return not can_pass and not can_fail


def unbiased_rate(passed: int, run: int, *, stopped_by_pass: bool) -> Fraction | None:
    """The unbiased estimate of the rate after curtailment (Girshick, Mosteller and Savage 1946).

    (s-1)/(N-1) when a pass was what stopped it, s/(N-1) when a failure was; None after a single trial.
    """
    if run < 2:
        return None
    return Fraction(passed - 1 if stopped_by_pass else passed, run - 1)


class SequentialTest(Struct, frozen=True, kw_only=True):
    """Wald's sequential probability ratio test of p0 against p1 (Wald 1945).

    `alpha` bounds a false pass at p0, `beta` a false failure at p1.
    """

    p0: float
    p1: float
    alpha: float
    beta: float

    @property
    def pass_step(self) -> float:
        """What one pass adds to the log likelihood ratio."""
        return log(self.p1 / self.p0)

    @property
    def fail_step(self) -> float:
        """What one failure adds; negative."""
        return log((1 - self.p1) / (1 - self.p0)) if self.p1 < 1 else float("-inf")

    @property
    def upper(self) -> float:
        """At or above it: passed."""
        return log((1 - self.beta) / self.alpha)

    @property
    def lower(self) -> float:
        """At or below it: failed."""
        return log(self.beta / (1 - self.alpha))

    def ratio(self, passed: int, failed: int) -> float:
        """The log likelihood ratio after so many passes and failures, in whatever order."""
        return passed * self.pass_step + (failed * self.fail_step if failed else 0.0)

    def standing(self, passed: int, failed: int) -> bool | None:
        """True passed, False failed, None go on."""
        ratio = self.ratio(passed, failed)
        if ratio >= self.upper:
            return True
        return False if ratio <= self.lower else None

    def shortest_pass(self) -> int:
        """How many passes in a row it takes to pass."""
        count = 1
        while self.standing(count, 0) is not True:
            count += 1
        return count
