"""Schemas and their differences in a few lines, readable without opening the schema."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence

from abs_gate.findings import Json
from abs_gate.reports.untrusted import cut, visible

_ABSENT = object()
_MAX_VALUE = 160
_MAX_LINES = 12
_MAX_DEPTH = 12
_SET_KEYWORDS = ("required", "enum", "type", "required_scopes", "dependentRequired")
"""Arrays whose order means nothing: shown as what was added and removed."""


def value_text(value: Json, limit: int = _MAX_VALUE) -> str:
    """One value on one line: compact JSON, bounded, safe to look at."""
    return cut(visible(json.dumps(value, ensure_ascii=False, default=str)), limit)


def describe_difference(before: Json, after: Json) -> list[str]:
    """The difference of two values, one line for each place: `minLength: 1 -> 5`, `required: added "reason"`.

    Objects are walked key by key, arrays that are sets are compared as sets. At most twelve lines; the
    last says how many places are left out.
    """
    lines = list(_walk(before, after, "", 0))
    if len(lines) > _MAX_LINES:
        left = len(lines) - _MAX_LINES + 1
        lines = [*lines[: _MAX_LINES - 1], f"and {left} more places"]
    return lines


def _walk(before: Json, after: Json, path: str, depth: int) -> Iterator[str]:
    if _same(before, after):
        return
    if isinstance(before, Mapping) and isinstance(after, Mapping) and depth < _MAX_DEPTH:
        for key in [*before, *(key for key in after if key not in before)]:
            inner = f"{path}.{visible(str(key))}" if path else visible(str(key))
            yield from _walk(before.get(key, _ABSENT), after.get(key, _ABSENT), inner, depth + 1)
        return
    keyword = path.rpartition(".")[2]
    lead = f"{path}: " if path else ""
    if before is _ABSENT:
        yield f"{lead}added {value_text(after)}"
    elif after is _ABSENT:
        yield f"{lead}removed {value_text(before)}"
    elif keyword in _SET_KEYWORDS and _is_list(before) and _is_list(after):
        gone = [value_text(item) for item in before if not any(_same(item, other) for other in after)]
        come = [value_text(item) for item in after if not any(_same(item, other) for other in before)]
        parts = [f"removed {', '.join(gone)}"] if gone else []
        parts += [f"added {', '.join(come)}"] if come else []
        yield f"{lead}{'; '.join(parts) or 'same values in another order or number'}"
    else:
        yield f"{lead}{value_text(before)} -> {value_text(after)}"


def _same(one: Json, other: Json) -> bool:
    """JSON equality: `true` is not 1, and 1 is 1.0."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return one.keys() == other.keys() and all(_same(one[key], other[key]) for key in one)
    if _is_list(one) and _is_list(other):
        return len(one) == len(other) and all(_same(a, b) for a, b in zip(one, other, strict=True))
    return bool(one == other)


def _is_list(value: Json) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str)
