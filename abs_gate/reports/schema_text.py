"""Schemas and their differences in a few lines, readable without opening the schema."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from abs_gate.contracts.records import MAX_TEXT
from abs_gate.findings import Json
from abs_gate.reports.untrusted import cut, one_line, visible

if TYPE_CHECKING:
    from abs_gate.gate.result import ChangeRecord

_ABSENT = object()
_MAX_VALUE = 200
_MAX_PAIR = 100
"""Two arrays that take no more characters are shown whole."""
_MAX_LINES = 12
_MAX_DEPTH = 8
_SETS = ("required", "enum", "type", "required_scopes", "consumes")
"""Arrays whose order means nothing: shown as what was added and removed."""
_SCHEMA_KEYWORDS = frozenset(
    ["type", "enum", "const", "properties", "items", "anyOf", "oneOf", "allOf", "$ref", "not", "prefixItems"]
)
_PROSE = frozenset(["title", "description", "examples", "example", "$schema", "$id", "$comment"])


def value_text(value: Json, limit: int = _MAX_VALUE) -> str:
    """One value on one line: a schema in its short form, anything else as JSON; bounded, safe to look at."""
    if isinstance(value, Mapping) and _is_schema(value):
        return one_line(schema_summary(value), limit)
    if isinstance(value, str) and len(value) == MAX_TEXT and value.endswith("…") and value.startswith(("[", "{")):
        return cut(visible(value), limit)  # the JSON of a larger value, cut short in the record
    return json_text(value, limit)


def json_text(value: Json, limit: int = _MAX_VALUE) -> str:
    """One value as JSON on one line, bounded, safe to look at."""
    return cut(visible(json.dumps(value, ensure_ascii=False, default=str)), limit)


def _is_schema(value: Mapping[str, Any]) -> bool:
    """Whether an object reads as a schema: it has a telling keyword, and `type`, when there, names types."""
    named = value.get("type", "string")
    types = named if isinstance(named, list) else [named]
    known = ("string", "number", "integer", "boolean", "object", "array", "null")
    return bool(_SCHEMA_KEYWORDS & value.keys()) and all(name in known for name in types)


def schema_summary(schema: Json, depth: int = 0) -> str:
    """A schema the way one would write a type: `{order_id: string, reason?: "a" | "b"}`, `string (minLength 1)`."""
    if isinstance(schema, bool):
        return "anything" if schema else "nothing"
    if not isinstance(schema, Mapping):
        return json_text(schema)
    if depth >= _MAX_DEPTH:
        return "..."
    shape = _shape(schema, depth)
    used = {"type", "enum", "const", "properties", "required", "items", "$ref", "anyOf", "oneOf", "allOf"} | _PROSE
    limits = [f"{key} {json_text(schema[key], 60)}" for key in schema if key not in used]
    return f"{shape} ({', '.join(limits)})" if limits else shape


def _shape(schema: Mapping[str, Any], depth: int) -> str:
    if "const" in schema:
        return json_text(schema["const"], 60)
    if isinstance(schema.get("enum"), list):
        values = [json_text(value, 40) for value in schema["enum"][:8]]
        more = [f"{len(schema['enum']) - 8} more"] if len(schema["enum"]) > 8 else []
        return " | ".join(values + more) or "nothing"
    if isinstance(schema.get("$ref"), str):
        return visible(schema["$ref"])
    for keyword, joint in (("anyOf", " | "), ("oneOf", " | "), ("allOf", " & ")):
        branches = schema.get(keyword)
        if isinstance(branches, list) and branches:
            return joint.join(schema_summary(branch, depth + 1) for branch in branches[:8])
    properties = schema.get("properties")
    if isinstance(properties, Mapping):
        required = schema.get("required")
        needed = required if isinstance(required, list) else []
        parts = [
            f"{visible(str(name))}{'' if name in needed else '?'}: {schema_summary(inner, depth + 1)}"
            for name, inner in list(properties.items())[:20]
        ]
        if len(properties) > 20:
            parts.append(f"{len(properties) - 20} more")
        return "{" + ", ".join(parts) + "}"
    if "items" in schema:
        return f"array of {schema_summary(schema['items'], depth + 1)}"
    named = schema.get("type", "anything")
    return " | ".join(str(name) for name in named) if isinstance(named, list) else visible(str(named))


def difference_of(change: ChangeRecord) -> list[str]:
    """What changed, in lines to follow the change's message; none where the message shows each word that changed."""
    if change["message"].startswith("The text changed: ["):
        return []
    return describe_difference(change["before"], change["after"])


def describe_difference(before: Json, after: Json) -> list[str]:
    """The difference of two values, one line for each place: `minLength: 1 -> 5`, `required: added "reason"`.

    Objects are walked key by key, arrays that are sets or too long to be held against each other are compared as
    sets; None stands for absent. At most twelve lines; the last says how many places are left out.
    """
    lines = list(_walk(_ABSENT if before is None else before, _ABSENT if after is None else after, "", 0))
    if len(lines) > _MAX_LINES:
        left = len(lines) - _MAX_LINES + 1
        lines = [*lines[: _MAX_LINES - 1], f"and {left} more places"]
    return lines


def _walk(before: Any, after: Any, path: str, depth: int) -> Iterator[str]:
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
    elif _is_list(before) and _is_list(after) and (keyword in _SETS or _are_long(before, after)):
        gone = [value_text(item) for item in _without(before, after)]
        come = [value_text(item) for item in _without(after, before)]
        parts = [f"removed {', '.join(gone)}"] if gone else []
        parts += [f"added {', '.join(come)}"] if come else []
        yield f"{lead}{'; '.join(parts) or 'same values in another order or number'}"
    else:
        yield f"{lead}{value_text(before)} -> {value_text(after)}"


def _are_long(before: Sequence[Any], after: Sequence[Any]) -> bool:
    """Whether two arrays differ in their values and take more than a line."""
    is_short = len(json_text(before)) + len(json_text(after)) <= _MAX_PAIR
    return not is_short and bool(_without(before, after) or _without(after, before))


def _without(items: Sequence[Any], others: Sequence[Any]) -> list[Any]:
    return [item for item in items if not any(_same(item, other) for other in others)]


def _same(one: Any, other: Any) -> bool:
    """JSON equality: `true` is not 1, and 1 is 1.0."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return one.keys() == other.keys() and all(_same(one[key], other[key]) for key in one)
    if _is_list(one) and _is_list(other):
        return len(one) == len(other) and all(_same(a, b) for a, b in zip(one, other, strict=True))
    return bool(one == other)


def _is_list(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str)
