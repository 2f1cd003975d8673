"""Threshold arithmetic in integers: never a rounded float, never a rounded percentage."""

from __future__ import annotations

from fractions import Fraction
from math import floor


def passes_needed(rate: Fraction, n: int) -> int:
    """The smallest k with k / n >= rate, exactly: ceil(rate * n)."""
    return -(-rate.numerator * n // rate.denominator)


def floor_percent(rate: Fraction, digits: int = 1) -> str:
    """A percentage cut, not rounded, so that 79.96 % never reads 80.0 %. Whole numbers have no decimals: `80 %`."""
    scale = 10**digits
    units = floor(rate * 100 * scale)
    if units % scale == 0 and rate * 100 == units // scale:
        return f"{units // scale} %"
    return f"{units // scale}.{units % scale:0{digits}d} %"
