"""JSON values compared as JSON Schema compares them: `1` is `1.0`, and neither is `true`."""

from __future__ import annotations

import json
from fractions import Fraction

from abs_gate.findings import Json

NULL, BOOLEAN, NUMBER, STRING, ARRAY, OBJECT = "null", "boolean", "number", "string", "array", "object"
TYPES = frozenset({NULL, BOOLEAN, NUMBER, STRING, ARRAY, OBJECT})
"""The types that share no value; an integer is a number."""


def type_of(value: Json) -> str:
    """Return the JSON type of a value."""
    if value is None:
        return NULL
    if isinstance(value, bool):
        return BOOLEAN
    if isinstance(value, int | float):
        return NUMBER
    if isinstance(value, str):
        return STRING
    return ARRAY if isinstance(value, list) else OBJECT


def exact(number: float) -> Fraction:
    """Return a number as it is written, `0.1` as one tenth. Raises ValueError for NaN and the infinities."""
    return Fraction(number) if isinstance(number, int) else Fraction(repr(number))


def plain(number: Fraction) -> int | float:
    """Return the JSON number nearest to an exact one."""
    return number.numerator if number.denominator == 1 else float(number)


def _whole(value: Json) -> Json:
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, dict):
        return {key: _whole(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_whole(item) for item in value]
    return value


def canonical(value: Json) -> str:
    """Return one text for all spellings of a value; equal text is equal value. Raises RecursionError when too deep."""
    return json.dumps(_whole(value), sort_keys=True, separators=(",", ":"))


def same(left: Json, right: Json) -> bool:
    """Return whether two values are equal as JSON."""
    return type_of(left) == type_of(right) and canonical(left) == canonical(right)
