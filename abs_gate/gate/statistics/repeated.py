"""pass^k and pass@k over cases, and intervals that respect that trials of one row belong together."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from math import comb, sqrt
from typing import TypeAlias

from abs_gate.gate.statistics.beta import inverse_regularised_beta

RowCounts: TypeAlias = Mapping[tuple[int, int], int]
"""(passed, verified) of a row to how many rows came out so. All that rates over rows need, in bounded space."""


def pass_hat_k(passed: int, n: int, k: int) -> Fraction:
    """C(passed, k) / C(n, k): the chance that k of this row's trials all pass (Yao et al. 2024).

    Raises ValueError for k > n, where it is undefined.
    """
    _check(n, k)
    return Fraction(comb(passed, k), comb(n, k))


def pass_at_k(passed: int, n: int, k: int) -> Fraction:
    """1 - C(n - passed, k) / C(n, k): the chance that at least one of k passes (Chen et al. 2021)."""
    _check(n, k)
    return 1 - Fraction(comb(n - passed, k), comb(n, k))


def mean_pass_hat_k(rows: RowCounts, k: int) -> Fraction | None:
    """pass^k averaged over rows; None without rows or where one has fewer than k verified trials."""
    return _mean(rows, k, pass_hat_k)


def mean_pass_at_k(rows: RowCounts, k: int) -> Fraction | None:
    """pass@k averaged over rows; None without rows or where one has fewer than k verified trials."""
    return _mean(rows, k, pass_at_k)


def pass_hat_k_error(rows: RowCounts, k: int) -> float | None:
    """The standard error of the mean pass^k over rows; None below two rows."""
    total = sum(rows.values())
    mean = mean_pass_hat_k(rows, k)
    if mean is None or total < 2:
        return None
    squares = sum(count * (pass_hat_k(c, n, k) - mean) ** 2 for (c, n), count in rows.items())
    return sqrt(squares / (total * (total - 1)))


def clustered_error(rows: RowCounts) -> float | None:
    """The standard error of the pooled rate with rows as clusters (Miller 2024); None below two rows."""
    clusters, verified, rate = _totals(rows)
    if clusters < 2:
        return None
    squares = sum(count * (c - rate * n) ** 2 for (c, n), count in rows.items() if n)
    return sqrt(squares * Fraction(clusters, clusters - 1)) / verified


def clustered_interval(rows: RowCounts, alpha: float = 0.05) -> tuple[float, float] | None:
    """The rate with the larger of the naive and the row-clustered error, by Student's t with rows - 1 degrees."""
    error = clustered_error(rows)
    if error is None:
        return None
    clusters, verified, rate = _totals(rows)
    naive = sqrt(rate * (1 - rate) / verified)
    half = student_quantile(1 - alpha / 2, clusters - 1) * max(error, naive)
    return (max(0.0, float(rate) - half), min(1.0, float(rate) + half))


def intraclass_correlation(rows: RowCounts) -> float | None:
    """How alike trials of one row are, by one-way analysis of variance: 1 always alike, 0 not at all.

    None below two rows, without repeated trials, or where every trial came out the same.
    """
    clusters, verified, rate = _totals(rows)
    if clusters < 2 or verified <= clusters:
        return None
    between = sum(count * n * (Fraction(c, n) - rate) ** 2 for (c, n), count in rows.items() if n) / (clusters - 1)
    within = sum(count * Fraction(c * (n - c), n) for (c, n), count in rows.items() if n) / (verified - clusters)
    squares = sum(count * n * n for (_, n), count in rows.items())
    size = Fraction(verified * verified - squares, verified * (clusters - 1))
    spread = between + (size - 1) * within
    return float((between - within) / spread) if spread else None


def effective_trials(rows: RowCounts) -> float | None:
    """How many independent trials these clustered ones are worth: n / (1 + (m - 1) ICC)."""
    correlation = intraclass_correlation(rows)
    if correlation is None:
        return None
    clusters, verified, _ = _totals(rows)
    return verified / (1 + (verified / clusters - 1) * max(0.0, correlation))


def student_quantile(probability: float, degrees: int) -> float:
    """The quantile of Student's t for a probability of at least one half."""
    x = inverse_regularised_beta(2 * (1 - probability), degrees / 2, 0.5)
    return sqrt(degrees * (1 - x) / x)


def _totals(rows: RowCounts) -> tuple[int, int, Fraction]:
    clusters = sum(count for (_, n), count in rows.items() if n)
    verified = sum(count * n for (_, n), count in rows.items())
    passed = sum(count * c for (c, _), count in rows.items())
    return clusters, verified, Fraction(passed, verified) if verified else Fraction(0)


def _mean(rows: RowCounts, k: int, estimate: Callable[[int, int, int], Fraction]) -> Fraction | None:
    total = sum(rows.values())
    if not total or any(n < k for _, n in rows):
        return None
    return sum((count * estimate(c, n, k) for (c, n), count in rows.items()), Fraction(0)) / total


def _check(n: int, k: int) -> None:
    if not 1 <= k <= n:
        raise ValueError(f"k = {k} needs at least {max(k, 1)} trials, and there are {n}")
