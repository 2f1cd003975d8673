"""Puts a part of one schema document into another without breaking its references."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from abs_gate.contracts.keywords import map_subschemas
from abs_gate.contracts.plain import Pointer
from abs_gate.findings import Json

_DONOR = "@other"
"""Definition under which the other document stands in the host, when something put into it refers back."""
_NOTHING: Mapping[Pointer, Mapping[str, Json]] = MappingProxyType({})


def grafted(
    host: Json,
    donor: Json,
    edits: Mapping[Pointer, Mapping[str, Json]],
    properties: Mapping[Pointer, Mapping[str, Json]] = _NOTHING,
) -> Json:
    """Return the host with keywords and properties of some of its schemas replaced by the donor's.

    `edits` gives the new value of each keyword by the pointer of its schema, `properties` schemas by name in the same
    way; None takes one away. What the host says besides stays. What comes from the donor and refers to definitions
    goes on meaning the donor's.
    """
    is_tied = False
    result = host
    for pointer, keywords in edits.items():
        result = _edited(result, pointer, {key: _moved_keyword(key, value) for key, value in keywords.items()})
        is_tied = is_tied or any(map(has_reference, keywords.values()))
    for pointer, schemas in properties.items():
        if not schemas:
            continue
        moved = {name: _moved(schema) for name, schema in schemas.items()}
        result = _edited(result, (*pointer, "properties"), moved)
        is_tied = is_tied or any(map(has_reference, schemas.values()))
    if is_tied and isinstance(result, dict):
        definitions = result.get("$defs")
        kept = definitions if isinstance(definitions, dict) else {}
        return {**result, "$defs": {**kept, _DONOR: _moved(_without_identity(donor))}}
    return result


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
        changed = {key: item for key, item in base.items() if key not in keywords}
        return {**changed, **{key: item for key, item in keywords.items() if item is not None}}
    step, rest = pointer[0], pointer[1:]
    if isinstance(value, dict):
        return {**value, step: _edited(value.get(step), rest, keywords)}
    if isinstance(value, list) and step.isdigit() and int(step) < len(value):
        index = int(step)
        return [*value[:index], _edited(value[index], rest, keywords), *value[index + 1 :]]
    return value


def _moved(value: Json) -> Json:
    """Point the references of a schema into the definition the donor stands under."""
    if not isinstance(value, Mapping):
        return value
    moved = map_subschemas(value, _moved)
    reference = moved.get("$ref")
    if isinstance(reference, str) and reference.startswith("#") and (reference == "#" or reference[1] == "/"):
        moved["$ref"] = f"#/$defs/{_DONOR}{reference[1:]}"
    return moved


def _moved_keyword(keyword: str, value: Json) -> Json:
    return map_subschemas({keyword: value}, _moved)[keyword]


def _without_identity(donor: Json) -> Json:
    if not isinstance(donor, Mapping):
        return donor
    return {key: value for key, value in donor.items() if key not in ("$schema", "$id", "id", "$anchor")}
