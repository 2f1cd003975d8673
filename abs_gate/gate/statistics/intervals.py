"""Intervals and bounds of a pass rate: Wilson to show, Clopper-Pearson to decide, Robbins for open-ended looking."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import cache
from math import lgamma, log, log1p, sqrt
from statistics import NormalDist

from abs_gate.gate.statistics.beta import inverse_regularised_beta
from abs_gate.gate.statistics.binomial import proves_at_least, proves_below

Interval = tuple[float, float]


@cache
def normal_quantile(probability: float) -> float:
    """The standard normal quantile."""
    return NormalDist().inv_cdf(probability)


def wilson(k: int, n: int, alpha: float = 0.05) -> Interval:
    """The two-sided Wilson score interval of k of n (Brown, Cai and DasGupta 2001). Needs n > 0."""
    z = normal_quantile(1 - alpha / 2)
    rate = k / n
    spread = 1 + z * z / n
    centre = (rate + z * z / (2 * n)) / spread
    half = z / spread * sqrt(rate * (1 - rate) / n + z * z / (4 * n * n))
    return (0.0 if k == 0 else max(0.0, centre - half), 1.0 if k == n else min(1.0, centre + half))


def lower_bound(k: int, n: int, alpha: float = 0.05) -> float:
    """The one-sided exact lower bound at confidence 1 - alpha (Clopper and Pearson 1934)."""
    return 0.0 if k == 0 else inverse_regularised_beta(alpha, k, n - k + 1)


def upper_bound(k: int, n: int, alpha: float = 0.05) -> float:
    """The one-sided Clopper-Pearson upper bound at confidence 1 - alpha."""
    return 1.0 if k == n else 1 - inverse_regularised_beta(alpha, n - k, k + 1)


def confidence_sequence(k: int, n: int, alpha: float = 0.05) -> Interval:
    """An interval that stays valid however often it is looked at (Robbins 1970, uniform mixture).

    {p : B(k+1, n-k+1) / (p^k (1-p)^(n-k)) < 1/alpha}, whose ends are found by bisection on each side of k/n.
    """
    level = log(alpha) + lgamma(k + 1) + lgamma(n - k + 1) - lgamma(n + 2)

    def inside(p: float) -> bool:
        passes = k * log(p) if k else 0.0
        failures = (n - k) * log1p(-p) if n > k else 0.0
        return passes + failures > level

    mode = k / n
    low = 0.0 if k == 0 else _edge(inside, 0.0, mode)
    high = 1.0 if k == n else _edge(inside, 1.0, mode)
    return (low, high)


def _edge(inside: Callable[[float], bool], outer: float, inner: float) -> float:
    for _ in range(200):
        middle = (outer + inner) / 2
        if middle in (outer, inner):
            break
        if inside(middle):
            inner = middle
        else:
            outer = middle
    return (outer + inner) / 2


def trials_to_prove(p0: Fraction, alpha: Fraction, failures: int = 0) -> int:
    """The smallest n for which n trials with this many failures prove a rate of p0. Needs p0 < 1.

    Raises ValueError for p0 = 1, which no number of trials can prove.
    """
    if p0 >= 1:
        raise ValueError("no number of trials proves a rate of 100 %")
    return _smallest(failures + 1, lambda n: proves_at_least(n - failures, n, p0, alpha))


def trials_to_refute(p0: Fraction, alpha: Fraction) -> int:
    """The smallest n for which n trials that all fail prove a rate below p0. Needs p0 > 0."""
    if p0 <= 0:
        raise ValueError("no number of trials refutes a rate of 0 %")
    return _smallest(1, lambda n: proves_below(0, n, p0, alpha))


def _smallest(start: int, holds: Callable[[int], bool]) -> int:
    high = start
    while not holds(high):
        high *= 2
    low = max(start, high // 2)
    while low < high:
        middle = (low + high) // 2
        if holds(middle):
            high = middle
        else:
            low = middle + 1
    return low
