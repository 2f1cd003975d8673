"""Figures in words: rates, intervals, durations and counts, the same in every report.

Percentages are floored to a tenth, so 79.96 % never reads 80.0 %.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import ROUND_FLOOR, Decimal
from fractions import Fraction

NO_RATE = "no rate"
"""What stands where nothing was verified: 0 of 0 is not a rate."""


def percent(rate: float | Fraction) -> str:
    """A rate 0..1 as a percentage floored to a tenth: `66.6 %`, `80 %`."""
    if isinstance(rate, Fraction):
        tenths = (rate * 1000).__floor__()
    else:
        tenths = int((Decimal(repr(float(rate))) * 1000).to_integral_value(ROUND_FLOOR))
    whole, tenth = divmod(tenths, 10)
    return f"{whole}.{tenth} %" if tenth else f"{whole} %"


def rate_of(passed: int, verified: int) -> str:
    """`4 of 5 (80 %)`; `0 of 0` has no percentage."""
    if verified == 0:
        return "0 of 0"
    return f"{passed} of {verified} ({percent(Fraction(passed, verified))})"


def interval_text(interval: Sequence[float] | None) -> str:
    """`37.5 % to 96.3 %`, or a dash where there is none."""
    if not interval or len(interval) != 2:
        return "-"
    return f"{percent(interval[0])} to {percent(interval[1])}"


def duration_text(milliseconds: int) -> str:
    """`850 ms`, `12.3 s`, `4 min 05 s`, `2 h 03 min`."""
    if milliseconds < 1000:
        return f"{milliseconds} ms"
    tenths, _ = divmod(milliseconds, 100)
    if tenths < 600:
        return f"{tenths // 10}.{tenths % 10} s"
    minutes, seconds = divmod(milliseconds // 1000, 60)
    if minutes < 60:
        return f"{minutes} min {seconds:02d} s"
    return f"{minutes // 60} h {minutes % 60:02d} min"


def count_of(number: int, noun: str, plural: str | None = None) -> str:
    """`1 session`, `2 sessions`, `3 cases`."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def join_words(words: Sequence[str], last: str = "and") -> str:
    """`a`, `a and b`, `a, b and c`."""
    if len(words) < 2:
        return "".join(words)
    return f"{', '.join(words[:-1])} {last} {words[-1]}"
