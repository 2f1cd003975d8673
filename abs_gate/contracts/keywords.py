"""Where schemas stand inside a schema, and where plain data does."""

from __future__ import annotations

from collections.abc import Callable
from operator import is_not

from abs_gate.findings import Json

SCHEMA_MAPS = frozenset({"properties", "patternProperties", "$defs", "definitions", "dependentSchemas", "dependencies"})
"""Keywords whose values are schemas by name."""
DATA = frozenset({"const", "enum", "default", "examples", "example"})
"""Keywords whose values are data, whatever they look like."""
TEXTS = frozenset({"title", "description", "examples", "default", "$comment"})
"""Keywords that only readers read."""
_CONTAINERS = (dict, list)


def map_subschemas(schema: dict[str, Json], change: Callable[[Json], Json]) -> dict[str, Json]:
    """Return a schema with each of its direct subschemas passed through a function, all else as it was.

    The schema itself where the function changed none of them, else a copy.
    """
    changes: dict[str, Json] = {}
    mapped: Json
    for key, value in schema.items():
        if not isinstance(value, _CONTAINERS) or key in DATA:
            continue
        if isinstance(value, list):
            mapped = _listed(value, change)
        else:
            mapped = _named(value, change) if key in SCHEMA_MAPS else change(value)
        if mapped is not value:
            changes[key] = mapped
    return {**schema, **changes} if changes else schema


def subschemas(schema: dict[str, Json]) -> list[Json]:
    """Return the direct subschemas of a schema."""
    found: list[Json] = []

    def keep(sub: Json) -> Json:
        found.append(sub)
        return sub

    map_subschemas(schema, keep)
    return found


def _named(members: dict[str, Json], change: Callable[[Json], Json]) -> dict[str, Json]:
    changes: dict[str, Json] = {}
    mapped: Json
    for name, value in members.items():
        if isinstance(value, dict):
            mapped = change(value)
        else:
            mapped = _listed(value, change) if isinstance(value, list) else value
        if mapped is not value:
            changes[name] = mapped
    return {**members, **changes} if changes else members


def _listed(items: list[Json], change: Callable[[Json], Json]) -> list[Json]:
    mapped = [change(item) if isinstance(item, dict) else item for item in items]
    return mapped if any(map(is_not, mapped, items)) else items
