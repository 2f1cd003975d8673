"""Where schemas stand inside a schema, and where plain data does."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import NoneType

from abs_gate.findings import Json

SCHEMA_MAPS = frozenset({"properties", "patternProperties", "$defs", "definitions", "dependentSchemas", "dependencies"})
"""Keywords whose values are schemas by name."""
DATA = frozenset({"const", "enum", "default", "examples", "example"})
"""Keywords whose values are data, whatever they look like."""
_SCALARS = (str, int, float, NoneType)


def map_subschemas(schema: Mapping[str, Json], change: Callable[[Json], Json]) -> dict[str, Json]:
    """Return a schema with each of its direct subschemas passed through a function, all else as it was."""
    changed: dict[str, Json] = {}
    for key, value in schema.items():
        if key in DATA or isinstance(value, _SCALARS):
            changed[key] = value
        elif isinstance(value, Mapping):
            named = key in SCHEMA_MAPS
            changed[key] = {name: _item(sub, change) for name, sub in value.items()} if named else change(value)
        else:
            changed[key] = _item(value, change)
    return changed


def subschemas(schema: Mapping[str, Json]) -> list[Json]:
    """Return the direct subschemas of a schema."""
    found: list[Json] = []

    def keep(sub: Json) -> Json:
        found.append(sub)
        return sub

    map_subschemas(schema, keep)
    return found


def _item(value: Json, change: Callable[[Json], Json]) -> Json:
    if isinstance(value, Mapping):
        return change(value)
    if isinstance(value, list):
        return [change(item) if isinstance(item, Mapping) else item for item in value]
    return value
