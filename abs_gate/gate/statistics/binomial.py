"""Binomial tails, and exact comparison of a tail with a level where floats cannot tell."""

from __future__ import annotations

from fractions import Fraction
from math import comb, exp, lgamma, log, log1p

from abs_gate.gate.statistics.beta import regularised_beta

_UNSURE = 1e-9
"""Relative distance from the level below which a float tail is computed again in integers."""


def probability_of(k: int, n: int, p: float) -> float:
    """P(X = k) for n trials at rate p."""
    if p <= 0 or p >= 1:
        return float(k == (0 if p <= 0 else n))
    return exp(lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1) + k * log(p) + (n - k) * log1p(-p))


def at_least(k: int, n: int, p: float) -> float:
    """P(X >= k) for n trials at rate p."""
    if k <= 0:
        return 1.0
    if k > n:
        return 0.0
    return regularised_beta(p, k, n - k + 1)


def at_most(k: int, n: int, p: float) -> float:
    """P(X <= k) for n trials at rate p."""
    if k < 0:
        return 0.0
    if k >= n:
        return 1.0
    return regularised_beta(1 - p, n - k, k + 1)


def proves_at_least(k: int, n: int, p0: Fraction, alpha: Fraction) -> bool:
    """Whether the one-sided Clopper-Pearson lower bound of k of n reaches p0: P(X >= k | p0) <= alpha."""
    if n == 0 or k == 0:
        return p0 <= 0
    return _tail_within(at_least(k, n, float(p0)), range(k, n + 1), n, p0, alpha)


def proves_below(k: int, n: int, p0: Fraction, alpha: Fraction) -> bool:
    """Whether the one-sided Clopper-Pearson upper bound of k of n lies below p0: P(X <= k | p0) < alpha."""
    if n == 0 or k >= n or p0 <= 0:
        return False
    return not _tail_within(1 - at_most(k, n, float(p0)), range(k + 1, n + 1), n, p0, 1 - alpha)


def _tail_within(tail: float, terms: range, n: int, p: Fraction, level: Fraction) -> bool:
    if abs(tail - float(level)) > _UNSURE * float(level):
        return tail <= float(level)
    top, bottom = p.numerator, p.denominator
    exact: int = sum(comb(n, i) * top**i * (bottom - top) ** (n - i) for i in terms)
    scale: int = bottom**n
    return exact * level.denominator <= level.numerator * scale
