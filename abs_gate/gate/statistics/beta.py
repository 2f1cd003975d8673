"""The regularised incomplete beta function and its inverse.

Everything about binomial rates rests on it: P(X >= k) = I_p(k, n - k + 1).
"""

from __future__ import annotations

from math import exp, isnan, lgamma, log, log1p

_TINY = 1e-300
_CONVERGED = 1e-16


def regularised_beta(x: float, a: float, b: float) -> float:
    """I_x(a, b), the probability that a Beta(a, b) variable is at most x. Needs a > 0 and b > 0."""
    if isnan(x) or a <= 0 or b <= 0:
        raise ValueError(f"I_x(a, b) needs a and b above 0, not a={a}, b={b}, x={x}")
    if x <= 0:
        return 0.0
    if x >= 1:
        return 1.0
    front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x))
    if x < (a + 1) / (a + b + 2):
        return front * _continued_fraction(x, a, b) / a
    return 1 - front * _continued_fraction(1 - x, b, a) / b


def inverse_regularised_beta(probability: float, a: float, b: float) -> float:
    """The x with I_x(a, b) = probability: Newton steps kept inside a shrinking bracket."""
    if not 0 <= probability <= 1:
        raise ValueError(f"a probability lies between 0 and 1, not {probability}")
    if probability in (0, 1):
        return float(probability)
    low, high = 0.0, 1.0
    x = a / (a + b)
    log_scale = lgamma(a + b) - lgamma(a) - lgamma(b)
    for _ in range(200):
        error = regularised_beta(x, a, b) - probability
        if error > 0:
            high = x
        else:
            low = x
        density = exp(log_scale + (a - 1) * log(x) + (b - 1) * log1p(-x))
        step = error / density if density > _TINY else 0.0
        following = x - step
        if not low < following < high or step == 0:
            following = (low + high) / 2
        if abs(following - x) <= 1e-15 * max(following, 1e-15) or high - low < 1e-16:
            return following
        x = following
    return x


def _continued_fraction(x: float, a: float, b: float) -> float:
    """Lentz's evaluation of the continued fraction of I_x(a, b); converges in O(sqrt(max(a, b))) steps."""
    c = 1.0
    d = _away_from_zero(1 - (a + b) * x / (a + 1))
    d = 1 / d
    value = d
    m = 0
    while True:
        m += 1
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        d = 1 / _away_from_zero(1 + even * d)
        c = _away_from_zero(1 + even / c)
        value *= d * c
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        d = 1 / _away_from_zero(1 + odd * d)
        c = _away_from_zero(1 + odd / c)
        value *= d * c
        if abs(d * c - 1) < 4 * _CONVERGED or m > 100_000:
            return value


def _away_from_zero(value: float) -> float:
    return value if abs(value) > _TINY else _TINY
