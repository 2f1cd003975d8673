"""Threshold arithmetic in integers: never a rounded float, never a rounded percentage."""

from __future__ import annotations

from fractions import Fraction
from math import ceil, floor


def passes_needed(rate: Fraction, n: int) -> int:
    """The smallest k with k / n >= rate, exactly: ceil(rate * n)."""
    return -(-rate.numerator * n // rate.denominator)


def floor_percent(rate: Fraction, digits: int = 1) -> str:
    """A percentage cut, not rounded, so that 79.96 % never reads 80.0 %. Whole numbers have no decimals: `80 %`."""
    return _percent(rate, floor(rate * 100 * 10**digits), digits)


def ceil_percent(rate: Fraction, digits: int = 1) -> str:
    """A percentage raised to the next decimal, for what holds at most."""
    return _percent(rate, ceil(rate * 100 * 10**digits), digits)


def _percent(rate: Fraction, units: int, digits: int) -> str:
    scale = 10**digits
    if rate * 100 == units // scale:
        return f"{units // scale} %"
    return f"{units // scale}.{units % scale:0{digits}d} %"
