"""JSON values compared as JSON Schema compares them: `1` is `1.0`, and neither is `true`."""

from __future__ import annotations

import json
from fractions import Fraction

from abs_gate.findings import Json

NULL, BOOLEAN, NUMBER, STRING, ARRAY, OBJECT = "null", "boolean", "number", "string", "array", "object"
TYPES = frozenset({NULL, BOOLEAN, NUMBER, STRING, ARRAY, OBJECT})
"""The types that share no value; an integer is a number."""
_ENCODER = json.JSONEncoder(sort_keys=True, separators=(",", ":"), allow_nan=False)


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
    """Return a copy with `1` for `1.0`, made without recursion."""
    holder = [value]
    pending: list[list[Json] | dict[str, Json]] = [holder]
    while pending:
        place = pending.pop()
        for key, item in place.items() if isinstance(place, dict) else enumerate(place):
            if isinstance(item, float) and item.is_integer():
                place[key] = int(item)  # type: ignore[index]  # a key of a dict, an index of a list
            elif isinstance(item, dict | list):
                place[key] = copy = item.copy()  # type: ignore[index]
                pending.append(copy)
    return holder[0]


def canonical(value: Json) -> str:
    """Return one text for all spellings of a value; equal text is equal value.

    Raises RecursionError when the value is nested too deep, ValueError or TypeError when it is not JSON.
    """
    text = _written(value)
    return _written(_whole(value)) if ".0" in text or "e+" in text else text


def same(left: Json, right: Json) -> bool:
    """Return whether two values have one canonical text. Raises what `canonical` raises."""
    return left is right or bool(left == right and canonical(left) == canonical(right))


def _written(value: Json) -> str:
    return _ENCODER.encode(value)


def is_json(value: Json) -> bool:
    """Return whether a value can be written as JSON."""
    try:
        _written(value)
    except (RecursionError, TypeError, ValueError):
        return False
    return True


def size_of(value: Json) -> int:
    """Return how many values a value is made of, itself included."""
    total = 0
    pending = [value]
    while pending:
        part = pending.pop()
        total += 1
        if isinstance(part, dict):
            pending.extend(part.values())
        elif isinstance(part, list):
            pending.extend(part)
    return total
