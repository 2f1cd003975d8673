"""Comparing a head with its baseline: Boschloo, Fisher, McNemar, Newcombe's interval, and what could have been seen."""

from __future__ import annotations

from collections.abc import Callable
from math import comb, exp, lgamma, log, log1p, pi, sin, sqrt

from abs_gate.gate.statistics.binomial import at_least, at_most, probability_of
from abs_gate.gate.statistics.intervals import Interval, wilson

LARGEST_BOSCHLOO = 500
"""Trials of both sides together up to which Boschloo's test is computed; above it Fisher's, exact and stricter."""


def fisher_less(head: int, head_n: int, base: int, base_n: int) -> float:
    """One-sided exact p that the head's rate is below the baseline's, given the margins (Fisher 1935)."""
    passes = head + base
    term = exp(_log_comb(head_n, head) + _log_comb(base_n, base) - _log_comb(head_n + base_n, passes))
    total = term
    for x in range(head, max(0, passes - base_n), -1):
        term *= x * (base_n - passes + x) / ((head_n - x + 1) * (passes - x + 1))
        total += term
        if term < total * 1e-18:
            break
    return min(1.0, total)


def boschloo_less(head: int, head_n: int, base: int, base_n: int) -> float:
    """One-sided exact p that the head's rate is below the baseline's (Boschloo 1970).

    The largest probability, over every common rate, of a table whose Fisher p is no larger than this one's.
    Tables are compared in integers, so ties are never lost to rounding.
    """
    sizes = _region_sizes(head, head_n, base, base_n)
    total = head_n + base_n
    terms = [(log(size) + _log_comb(total, s), s) for s, size in enumerate(sizes) if size > 0]

    def probability(angle: float) -> float:
        p = sin(angle) ** 2
        if p <= 0 or p >= 1:
            return sizes[0] if p <= 0 else sizes[-1]
        log_p, log_q = log(p), log1p(-p)
        return sum(exp(weight + s * log_p + (total - s) * log_q) for weight, s in terms)

    return min(1.0, _maximum(probability, steps=64 + int(8 * pi * sqrt(total))))


def mcnemar(fixed: int, broken: int) -> float:
    """Two-sided exact p of rows that changed: `fixed` went from fail to pass, `broken` the other way."""
    n = fixed + broken
    return 1.0 if n == 0 else min(1.0, 2 * at_most(min(fixed, broken), n, 0.5))


def mcnemar_mid_p(fixed: int, broken: int) -> float:
    """Two-sided mid-p of rows that changed (Fagerland, Lydersen and Laake 2013)."""
    n = fixed + broken
    return 1.0 if n == 0 else min(1.0, mcnemar(fixed, broken) - probability_of(min(fixed, broken), n, 0.5))


def mcnemar_less(fixed: int, broken: int) -> float:
    """One-sided exact p that more rows were broken than fixed."""
    n = fixed + broken
    return 1.0 if n == 0 else at_least(broken, n, 0.5)


def newcombe(head: int, head_n: int, base: int, base_n: int, alpha: float = 0.05) -> Interval:
    """The interval of head rate minus base rate (Newcombe 1998, method 10)."""
    p1, p2 = head / head_n, base / base_n
    low1, high1 = wilson(head, head_n, alpha)
    low2, high2 = wilson(base, base_n, alpha)
    difference = p1 - p2
    return (
        difference - sqrt((p1 - low1) ** 2 + (high2 - p2) ** 2),
        difference + sqrt((high1 - p1) ** 2 + (p2 - low2) ** 2),
    )


def regression_p(head: int, head_n: int, base: int, base_n: int) -> float:
    """The one-sided p for separate trials: Boschloo's, or Fisher's where there are very many trials."""
    if head_n + base_n > LARGEST_BOSCHLOO:
        return fisher_less(head, head_n, base, base_n)
    return boschloo_less(head, head_n, base, base_n)


def detectable_passes(head_n: int, base: int, base_n: int, alpha: float = 0.05) -> int | None:
    """The most passes of the head that would still be shown as a regression; None when not even 0 would."""
    if regression_p(0, head_n, base, base_n) > alpha:
        return None
    low, high = 0, head_n
    while low < high:
        middle = (low + high + 1) // 2
        if regression_p(middle, head_n, base, base_n) <= alpha:
            low = middle
        else:
            high = middle - 1
    return low


def _log_comb(n: int, k: int) -> float:
    return lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1)


def _region_sizes(head: int, head_n: int, base: int, base_n: int) -> list[float]:
    """For each number of passes s, the hypergeometric weight of the tables at least as extreme as the observed."""
    total = head_n + base_n
    observed = head + base
    limit = sum(
        comb(head_n, x) * comb(base_n, observed - x) for x in range(max(0, observed - base_n), min(head, observed) + 1)
    )
    limit_scale = comb(total, observed)
    sizes = []
    for s in range(total + 1):
        scale = comb(total, s)
        inside = weight = 0
        for x in range(max(0, s - base_n), min(head_n, s) + 1):
            weight += comb(head_n, x) * comb(base_n, s - x)
            if weight * limit_scale > limit * scale:
                break
            inside = weight
        sizes.append(inside / scale)
    return sizes


def _maximum(function: Callable[[float], float], steps: int) -> float:
    """The largest value on angles 0..pi/2, where binomial curves are equally wide everywhere."""
    width = pi / 2 / steps
    grid = [function(i * width) for i in range(steps + 1)]
    peaks = [
        i for i in range(steps + 1) if (i == 0 or grid[i] >= grid[i - 1]) and (i == steps or grid[i] >= grid[i + 1])
    ]
    best = sorted(peaks, key=lambda i: -grid[i])[:4]
    return max(_golden(function, max(0.0, (i - 1) * width), min(pi / 2, (i + 1) * width)) for i in best)


def _golden(function: Callable[[float], float], low: float, high: float) -> float:
    ratio = (sqrt(5) - 1) / 2
    a, b = high - ratio * (high - low), low + ratio * (high - low)
    left, right = function(a), function(b)
    for _ in range(45):
        if left >= right:
            high, b, right = b, a, left
            a = high - ratio * (high - low)
            left = function(a)
        else:
            low, a, left = a, b, right
            b = low + ratio * (high - low)
            right = function(b)
    return max(left, right, function(low), function(high))
