"""What counts of passed and failed trials decide under a policy, before or after all of them have run."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from msgspec import Struct

from abs_gate.gate.policy import DecidingPolicy
from abs_gate.gate.statistics.binomial import proves_at_least, proves_below
from abs_gate.gate.statistics.stopping import Bounds, SequentialTest
from abs_gate.gate.statistics.thresholds import passes_needed
from abs_gate.outcomes import Outcome


class Counts(Struct, frozen=True):
    """Trials that decide, by outcome."""

    passed: int = 0
    failed: int = 0
    unverified: int = 0

    @property
    def verified(self) -> int:
        """Trials with a verdict."""
        return self.passed + self.failed

    @property
    def run(self) -> int:
        """All of them."""
        return self.passed + self.failed + self.unverified

    @classmethod
    def of(cls, outcome: Outcome) -> Counts:
        """One trial."""
        return cls(int(outcome is Outcome.PASSED), int(outcome is Outcome.FAILED), int(outcome is Outcome.UNVERIFIED))

    def __add__(self, other: Counts) -> Counts:
        return Counts(self.passed + other.passed, self.failed + other.failed, self.unverified + other.unverified)


class Rule:
    """How many passes or failures decide, for one policy. Remembers the bounds of each number of trials."""

    def __init__(self, deciding: DecidingPolicy) -> None:
        self.deciding = deciding
        self._bounds: Callable[[int], Bounds] = cache(self._compute)
        test = deciding.policy.sequential
        self._test = (
            None
            if test is None
            else SequentialTest(p0=float(test.p0), p1=float(test.p1), alpha=float(test.alpha), beta=float(test.beta))
        )

    def standing(self, counts: Counts, n: int) -> bool | None:
        """True passed, False failed, None neither, for `n` trials with a verdict of which these have come in."""
        if self.deciding.policy.critical and counts.failed:
            return False
        if self._test is not None:
            return self._test.standing(counts.passed, counts.failed)
        return self._bounds(n).standing(counts.passed, counts.failed)

    def is_decided(self, counts: Counts, n: int) -> bool:
        """Whether verdicts of the trials still to come can change nothing.

        An unverified trial that policy does not tolerate leaves only a failure to be decided early.
        """
        if not counts.verified:
            return False
        standing = self.standing(counts, n)
        if standing is False:
            return True
        if standing is True:
            return self.may_pass_early and self.tolerates(counts, n)
        if self._test is not None:
            return False
        return self.may_pass_early and self._bounds(n).is_decided(counts.passed, counts.failed, n - counts.verified)

    @property
    def may_pass_early(self) -> bool:
        """False where more than the pass rate decides, so that every trial is needed."""
        policy = self.deciding.policy
        more = policy.critical or policy.forbid or policy.pass_hat_k is not None or policy.baseline == "gate"
        return not more

    def tolerates(self, counts: Counts, n: int) -> bool:
        """Whether policy tolerates these unverified trials among `n`."""
        policy = self.deciding.policy
        if policy.max_unverified is not None and counts.unverified > policy.max_unverified:
            return False
        return n - counts.unverified >= policy.min_coverage * n

    def bounds(self, n: int) -> Bounds:
        """What decides `n` trials with a verdict; not for sequential tests."""
        return self._bounds(n)

    def _compute(self, n: int) -> Bounds:
        policy, alpha = self.deciding.policy, self.deciding.alpha
        if n == 0:
            return Bounds(passes=None, failures=None)
        if policy.decide == "observed":
            need = passes_needed(policy.pass_rate, n)
            return Bounds(passes=need, failures=n - need + 1 if need > 0 else None)
        refuted = _last(n, lambda k: proves_below(k, n, policy.pass_rate, alpha))
        failures = None if refuted is None else n - refuted
        if policy.decide == "not_worse":
            # Where not even failures throughout would show anything, nothing is shown by passing either.
            return Bounds(passes=None if refuted is None else refuted + 1, failures=failures)
        proven = _last(n, lambda k: proves_at_least(n - k, n, policy.pass_rate, alpha))
        return Bounds(passes=None if proven is None else n - proven, failures=failures)


def _last(n: int, holds: Callable[[int], bool]) -> int | None:
    """The largest k of 0..n that holds, for what holds for every smaller k too."""
    if not holds(0):
        return None
    low, high = 0, n
    while low < high:
        middle = (low + high + 1) // 2
        if holds(middle):
            low = middle
        else:
            high = middle - 1
    return low
