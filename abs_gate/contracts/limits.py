"""Reads runtime limits: deadlines, rates, sizes, whatever they are written as."""

from __future__ import annotations

import re
from collections.abc import Mapping

from abs_gate.findings import Json

_QUANTITY = re.compile(r"^\s*(?P<number>\d+(?:\.\d+)?)\s*(?P<unit>[a-zA-Z]*)\s*(?:(?:/|per)\s*(?P<per>[a-zA-Z]+))?\s*$")
_UNITS = {
    **{"": 1.0, "ms": 0.001, "millisecond": 0.001, "s": 1.0, "sec": 1.0, "second": 1.0},
    **{"m": 60.0, "min": 60.0, "minute": 60.0, "h": 3600.0, "hour": 3600.0, "d": 86400.0, "day": 86400.0},
    **{"b": 1.0, "byte": 1.0, "kb": 1e3, "kib": 1024.0, "mb": 1e6, "mib": 1024.0**2, "gb": 1e9, "gib": 1024.0**3},
    **{"request": 1.0, "req": 1.0, "call": 1.0, "token": 1.0, "item": 1.0, "usd": 1.0, "eur": 1.0},
}
_COUNT_KEYS = ("requests", "limit", "count", "max", "calls", "value", "amount")
_PERIOD_KEYS = ("per", "window", "period", "interval", "per_seconds", "window_s", "seconds")


def read_limit(value: Json) -> float | None:
    """Return a limit as one number, in seconds, bytes or per second; None where it cannot be read."""
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, int | float):
        return float(value)
    if isinstance(value, str):
        return _read_text(value)
    if isinstance(value, Mapping):
        count = next((value[key] for key in _COUNT_KEYS if key in value), None)
        period = next((value[key] for key in _PERIOD_KEYS if key in value), 1)
        number, length = read_limit(count), _period(period)
        known = {*_COUNT_KEYS, *_PERIOD_KEYS}
        return None if number is None or not length or value.keys() - known else number / length
    return None


def _read_text(text: str) -> float | None:
    match = _QUANTITY.match(text)
    if match is None:
        return None
    unit = _UNITS.get(_singular(match["unit"]))
    per = _UNITS.get(_singular(match["per"])) if match["per"] else 1.0
    return None if unit is None or not per else float(match["number"]) * unit / per


def _period(value: Json) -> float | None:
    if isinstance(value, str):
        return _UNITS.get(_singular(value)) or _read_text(value)
    return read_limit(value)


def _singular(word: str) -> str:
    word = word.lower()
    return word.removesuffix("s") if len(word) > 2 else word
