"""Every subschema of a schema as it is written, with where it stands: what provider profiles look at."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType

from msgspec import Struct

from abs_gate.contracts.keywords import DATA, SCHEMA_MAPS
from abs_gate.findings import Json

MAX_DEPTH = 100
"""Deeper subschemas are not listed; providers refuse far shallower ones."""
_DEEPER = frozenset({"properties", "patternProperties", "additionalProperties", "items", "prefixItems"})
_NOTHING: Mapping[str, Json] = MappingProxyType({})


class SchemaNode(Struct, frozen=True, kw_only=True):
    """One subschema."""

    pointer: tuple[str | int, ...]
    schema: Mapping[str, Json]
    """Empty for a boolean schema."""
    is_property: bool = False
    is_branch: bool = False
    is_definition: bool = False
    level: int = 0
    """Objects around it."""

    @property
    def name(self) -> str:
        """The property it describes, or the last step to it."""
        return str(self.pointer[-1]) if self.pointer else ""

    @property
    def where(self) -> str:
        """Where it stands, for a sentence."""
        names = [str(step) for step in self.pointer if step not in ("properties", "$defs", "definitions")]
        return f"`{'.'.join(names)[:120]}`" if names else "the root"

    @property
    def types(self) -> tuple[str, ...]:
        """The declared types."""
        kind = self.schema.get("type")
        kinds = kind if isinstance(kind, list) else [kind]
        return tuple(each for each in kinds if isinstance(each, str))

    @property
    def properties(self) -> Mapping[str, Json]:
        """The declared properties."""
        properties = self.schema.get("properties")
        return properties if isinstance(properties, Mapping) else _NOTHING

    @property
    def required(self) -> tuple[str, ...]:
        """The names of required properties."""
        required = self.schema.get("required")
        return tuple(name for name in required if isinstance(name, str)) if isinstance(required, list) else ()

    @property
    def is_object(self) -> bool:
        """Whether it describes an object."""
        return "object" in self.types or (not self.types and "properties" in self.schema)


def schema_nodes(schema: Json) -> Iterator[SchemaNode]:
    """Yield every subschema, outer ones first. Boolean schemas are listed for properties only."""
    stack = [SchemaNode(pointer=(), schema=schema if isinstance(schema, Mapping) else _NOTHING)]
    while stack:
        node = stack.pop()
        yield node
        if len(node.pointer) < MAX_DEPTH * 2:
            stack += reversed(list(_children(node)))


def _children(node: SchemaNode) -> Iterator[SchemaNode]:
    for key, value in node.schema.items():
        if key in DATA:
            continue
        at = (*node.pointer, key)
        level = node.level + (
            key in ("properties", "patternProperties", "additionalProperties", "items", "prefixItems")
        )
        if key in SCHEMA_MAPS and isinstance(value, Mapping):
            for name, sub in value.items():
                if isinstance(sub, Mapping | bool):
                    yield SchemaNode(
                        pointer=(*at, name),
                        schema=sub if isinstance(sub, Mapping) else _NOTHING,
                        is_property=key == "properties",
                        is_definition=key in ("$defs", "definitions"),
                        level=level,
                    )
        elif isinstance(value, Mapping):
            yield SchemaNode(pointer=at, schema=value, level=level)
        elif isinstance(value, list):
            for index, sub in enumerate(value):
                if isinstance(sub, Mapping):
                    yield SchemaNode(
                        pointer=(*at, index), schema=sub, is_branch=key in ("anyOf", "oneOf", "allOf"), level=level
                    )


def recursive_references(schema: Json) -> tuple[str, ...]:
    """Return the local references that lead back to where they stand, each once."""
    if not isinstance(schema, Mapping):
        return ()
    edges: dict[str, set[str]] = {}
    for node in schema_nodes(schema):
        reference = node.schema.get("$ref")
        if isinstance(reference, str) and reference.startswith("#"):
            edges.setdefault("#" + "".join(f"/{step}" for step in node.pointer), set()).add(reference)
    found = []
    for target in sorted({reference for targets in edges.values() for reference in targets}):
        if _reaches(target, target, edges):
            found.append(target)
    return tuple(found)


def _reaches(start: str, goal: str, edges: Mapping[str, set[str]]) -> bool:
    seen: set[str] = set()
    queue = [start]
    while queue:
        here = queue.pop()
        for place, targets in edges.items():
            if place == here or place.startswith(f"{here}/") or here == "#":
                if goal in targets:
                    return True
                queue += targets - seen
                seen |= targets
    return False
