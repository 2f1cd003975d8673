"""JSON from agents: bounded, NaN and Infinity refused, never a RecursionError."""

from __future__ import annotations

import json
import math
import re
from typing import NoReturn

from abs_gate.findings import Json

MAX_DEPTH = 100
"""Deepest nesting accepted in anything an agent sends."""
MAX_DIGITS = 1000
_SURROGATE_ESCAPE = re.compile(r"\\u[dD][89a-fA-F]")


def parse_json(text: str | bytes) -> Json:
    """The value of a JSON text.

    Raises:
        ValueError: it is not JSON, or nested deeper than 100 levels; the message says which.
    """
    if isinstance(text, bytes):
        text = text.decode("utf-8-sig", "replace")
    try:
        value = json.loads(text, parse_constant=_refuse_constant, parse_float=_finite, parse_int=_whole)
    except RecursionError:
        raise ValueError(f"it is nested deeper than {MAX_DEPTH} levels") from None
    except json.JSONDecodeError as error:
        raise ValueError(f"it is not JSON ({error.msg.lower()} at line {error.lineno})") from None
    if text.count("[") + text.count("{") > MAX_DEPTH and _depth(value) > MAX_DEPTH:
        raise ValueError(f"it is nested deeper than {MAX_DEPTH} levels")
    return _mend(value) if _SURROGATE_ESCAPE.search(text) else value


def to_text(value: Json, *, sort_keys: bool = False) -> str:
    """A value as the text of a message: text as it is, anything else as compact JSON."""
    if isinstance(value, str):
        return value
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False, sort_keys=sort_keys, default=dict)


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"it holds {name}, which is not a JSON value")


def _finite(text: str) -> float:
    number = float(text)
    if math.isinf(number):
        raise ValueError("it holds a number too large for JSON")
    return number


def _whole(text: str) -> int:
    if len(text) > MAX_DIGITS:
        raise ValueError("it holds a number of too many digits")
    return int(text)


def _mend(value: Json) -> Json:
    """Halves of characters (lone surrogates) replaced, since no UTF-8 text can hold them."""
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, list):
        return [_mend(item) for item in value]
    if isinstance(value, dict):
        return {_mend(key): _mend(item) for key, item in value.items()}
    return value


def _depth(value: Json) -> int:
    depth = 0
    level = [value]
    while level:
        depth += 1
        if depth > MAX_DEPTH:
            return depth
        inner: list[Json] = []
        for item in level:
            if isinstance(item, dict):
                inner.extend(item.values())
            elif isinstance(item, list):
                inner.extend(item)
        level = inner
    return depth
