"""Puts a part of one schema document into another without breaking its references."""

from __future__ import annotations

from collections.abc import Mapping

from abs_gate.contracts.keywords import map_subschemas
from abs_gate.contracts.plain import Pointer
from abs_gate.contracts.schemas.values import same
from abs_gate.findings import Json

_DONOR = "@other"
"""Definition under which the other document stands in the host, when something put into it refers back."""


def grafted(host: Json, donor: Json, edits: Mapping[Pointer, Mapping[str, Json]]) -> Json:
    """Return the host with keywords of some of its schemas replaced by the donor's.

    `edits` gives the new value of each keyword by the pointer of its schema; None takes the keyword away. `properties`
    are given by name: the host's others stay, and None takes one away. A value that refers to definitions goes on
    meaning the donor's.
    """
    is_tied = False
    result = host
    for pointer, keywords in edits.items():
        moved = {}
        for keyword, value in keywords.items():
            tied = has_reference(value)
            is_tied = is_tied or tied
            moved[keyword] = _moved_keyword(keyword, value) if tied else value
        result = _edited(result, pointer, moved)
    if is_tied and isinstance(result, dict):
        definitions = result.get("$defs")
        kept = definitions if isinstance(definitions, dict) else {}
        return {**result, "$defs": {**kept, _DONOR: _moved(_without_identity(donor))}}
    return result


def is_unchanged(old: Json, new: Json) -> bool:
    """Tell whether two schemas say the same for certain: they are written alike and refer to nothing."""
    return same(old, new) and not has_reference(old)


def has_reference(value: Json) -> bool:
    """Tell whether a schema refers to definitions anywhere."""
    queue = [value]
    while queue:
        item = queue.pop()
        if isinstance(item, Mapping):
            if "$ref" in item or "$dynamicRef" in item:
                return True
            queue += item.values()
        elif isinstance(item, list):
            queue += item
    return False


def without(schema: Json, pointer: Pointer) -> Json:
    """Return a schema with nothing said at a pointer."""
    if not pointer:
        return True
    step, rest = pointer[0], pointer[1:]
    if isinstance(schema, dict) and step in schema:
        return {**schema, step: without(schema[step], rest)}
    if isinstance(schema, list) and step.isdigit() and int(step) < len(schema):
        return [*schema[: int(step)], without(schema[int(step)], rest), *schema[int(step) + 1 :]]
    return schema


def _edited(value: Json, pointer: Pointer, keywords: Mapping[str, Json]) -> Json:
    if not pointer:
        base = value if isinstance(value, dict) else {}
        given = keywords.get("properties")
        if given is not None:
            own = base.get("properties")
            keywords = {**keywords, "properties": _replaced(own if isinstance(own, Mapping) else {}, given)}
        return _replaced(base, keywords)
    step, rest = pointer[0], pointer[1:]
    if isinstance(value, dict):
        return {**value, step: _edited(value.get(step), rest, keywords)}
    if isinstance(value, list) and step.isdigit() and int(step) < len(value):
        index = int(step)
        return [*value[:index], _edited(value[index], rest, keywords), *value[index + 1 :]]
    return value


def _replaced(own: Mapping[str, Json], given: Mapping[str, Json]) -> dict[str, Json]:
    kept = {key: item for key, item in own.items() if key not in given}
    return {**kept, **{key: item for key, item in given.items() if item is not None}}


def _moved(value: Json) -> Json:
    """Point the references of a schema into the definition the donor stands under."""
    if not isinstance(value, dict):
        return value
    moved = map_subschemas(value, _moved)
    reference = moved.get("$ref")
    if isinstance(reference, str) and reference.startswith("#") and (reference == "#" or reference[1] == "/"):
        return {**moved, "$ref": f"#/$defs/{_DONOR}{reference[1:]}"}
    return moved


def _moved_keyword(keyword: str, value: Json) -> Json:
    return map_subschemas({keyword: value}, _moved)[keyword]


def _without_identity(donor: Json) -> Json:
    if not isinstance(donor, Mapping):
        return donor
    return {key: value for key, value in donor.items() if key not in ("$schema", "$id", "id", "$anchor")}
