"""Equality and types of JSON values, one meaning everywhere: in `with`, in evaluators, in `when`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from abs_gate.findings import Json


def json_equal(left: Json, right: Json) -> bool:
    """Deep equality as JSON has it: 1 equals 1.0, true is not 1, strings never equal numbers, key order is free."""
    pending: list[tuple[Any, Any]] = [(left, right)]
    while pending:
        a, b = pending.pop()
        if isinstance(a, Mapping):
            if not isinstance(b, Mapping) or a.keys() != b.keys():
                return False
            pending.extend((value, b[key]) for key, value in a.items())
        elif isinstance(a, list | tuple):
            if not isinstance(b, list | tuple) or len(a) != len(b):
                return False
            pending.extend(zip(a, b, strict=True))
        elif json_type(a) != json_type(b) or a != b:
            return False
    return True


def json_type(value: Json) -> str:
    """`object`, `array`, `string`, `boolean`, `null` or `number`: integers and reals are one type."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, str):
        return "string"
    if isinstance(value, int | float):
        return "number"
    return "object" if isinstance(value, Mapping) else "array"
