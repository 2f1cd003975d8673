"""JSON values: reading and bounded showing. All are safe on values of any depth."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Mapping
from typing import Any, NoReturn

from abs_gate.findings import Json

SHOWN_CHARACTERS = 160
"""How much of a value a reason quotes."""
MAX_DEPTH = 100
"""Levels of nesting of JSON text that is read as JSON; deeper text stays text."""

_HALF_CHARACTER = re.compile(r"\\u[dD][89a-fA-F]")


def parse_json_text(text: str) -> tuple[bool, Json]:
    """Read JSON text: (True, value), or (False, None) when it is not JSON (NaN and bottomless nesting included)."""
    stripped = text.strip()
    if not stripped or stripped[0] not in '{["-0123456789tfn':
        return False, None
    try:
        value = json.loads(stripped, parse_constant=_refuse, parse_float=_finite)
    except (ValueError, RecursionError):
        return False, None
    may_be_deep = stripped.count("[") + stripped.count("{") > MAX_DEPTH
    if may_be_deep and _is_deeper(value, MAX_DEPTH):
        return False, None
    return True, _mended(value) if _HALF_CHARACTER.search(stripped) else value


def canonical_text(value: Json) -> str:
    """The same text for equal values (see `json_equal`) and only for them, in one pass over the value."""
    try:
        return json.dumps(_with_whole_numbers(value), sort_keys=True, default=_plain)
    except (RecursionError, ValueError, TypeError):
        return json_text(value)


def json_text(value: Json) -> str:
    """Compact JSON text of a value, in full; values nested too deep to write give a note instead."""
    try:
        return json.dumps(value, ensure_ascii=False, default=_plain)
    except (RecursionError, ValueError, TypeError):
        return "(a value nested too deep to show)"


def as_text(value: Json) -> str:
    """A text as it is; anything else as JSON text; nothing as the empty text."""
    if isinstance(value, str):
        return value
    return "" if value is None else json_text(value)


def show(value: Json, limit: int = SHOWN_CHARACTERS) -> str:
    """A value for a reason: JSON text on one line, cut in the middle of nowhere but never silently."""
    return clip(json_text(value), limit)


def clip(text: str, limit: int = SHOWN_CHARACTERS) -> str:
    """At most `limit` characters on one line, with an ellipsis where something is left out."""
    if len(text) > 4 * limit:
        text = text[: 4 * limit]
    line = " ".join(text.split())
    return line if len(line) <= limit else line[: limit - 1] + "…"


def is_finite_number(value: Json) -> bool:
    """True for an int or float that is neither bool, NaN nor infinite."""
    if isinstance(value, float):
        return math.isfinite(value)
    return isinstance(value, int) and not isinstance(value, bool)


def _with_whole_numbers(value: Json) -> Json:
    """1.0 written as 1: they are one JSON number."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, list | tuple):
        return [_with_whole_numbers(item) for item in value]
    return {key: _with_whole_numbers(item) for key, item in value.items()} if isinstance(value, Mapping) else value


def _is_deeper(value: Json, limit: int) -> bool:
    level = [value]
    for _ in range(limit):
        level = [child for item in level if isinstance(item, list | dict) for child in _children(item)]
        if not level:
            return False
    return any(isinstance(item, list | dict) for item in level)


def _children(value: list[Json] | dict[str, Json]) -> Iterable[Json]:
    return value.values() if isinstance(value, dict) else value


def _plain(value: Any) -> Any:
    return dict(value) if isinstance(value, Mapping) else str(value)


def _mended(value: Json) -> Json:
    """Halves of characters (lone surrogates) replaced, since no UTF-8 text can hold them."""
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, list):
        return [_mended(item) for item in value]
    return {_mended(key): _mended(item) for key, item in value.items()} if isinstance(value, dict) else value


def _refuse(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def _finite(text: str) -> float:
    number = float(text)
    return number if math.isfinite(number) else _refuse(text)
