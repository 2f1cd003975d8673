"""Every subschema of a schema as it is written, with where it stands: what provider profiles look at."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import TypeAlias
from urllib.parse import unquote

from msgspec import Struct

from abs_gate.contracts.keywords import DATA, SCHEMA_MAPS
from abs_gate.findings import Json

MAX_DEPTH = 100
"""Deeper subschemas are not listed; providers refuse far shallower ones."""
_DEEPER = frozenset({"properties", "patternProperties", "additionalProperties", "items", "prefixItems"})
_DEFINITIONS = ("$defs", "definitions")
_REFERENCES = frozenset({"$ref", "$dynamicRef", "$recursiveRef"})
_Pointer: TypeAlias = tuple[str | int, ...]
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
    definition: tuple[str | int, ...] = ()
    """Pointer of the definition of the whole schema it stands in; empty outside of those."""

    @property
    def name(self) -> str:
        """The property it describes, or the last step to it."""
        return str(self.pointer[-1]) if self.pointer else ""

    @property
    def where(self) -> str:
        """Where it stands, for a sentence."""
        names = names_in(self.pointer)
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
        is_definition = key in _DEFINITIONS
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
                        is_definition=is_definition,
                        level=level,
                        definition=node.definition or ((*at, name) if is_definition and not node.pointer else ()),
                    )
        elif isinstance(value, Mapping):
            yield SchemaNode(pointer=at, schema=value, level=level, definition=node.definition)
        elif isinstance(value, list):
            for index, sub in enumerate(value):
                if isinstance(sub, Mapping):
                    yield SchemaNode(
                        pointer=(*at, index),
                        schema=sub,
                        is_branch=key in ("anyOf", "oneOf", "allOf"),
                        level=level,
                        definition=node.definition,
                    )


def names_in(pointer: Iterable[str | int]) -> list[str]:
    """Return the steps of a pointer without the keywords that hold subschemas by name."""
    found: list[str] = []
    steps = iter(pointer)
    for step in steps:
        name = next(steps, None) if step in SCHEMA_MAPS else step
        found += [] if name is None else [str(name)]
    return found


def used_nodes(nodes: Sequence[SchemaNode], *, in_place: bool = False) -> tuple[SchemaNode, ...]:
    """Return the nodes without those of definitions that no reference leads to.

    Args:
        nodes: All nodes of one schema.
        in_place: Only references that speak about the same instance as the root count.
    """
    definitions = {node.definition for node in nodes if node.definition}
    edges: dict[_Pointer, set[_Pointer]] = {}
    for node in nodes if definitions else ():
        for keyword in _REFERENCES & node.schema.keys():
            pointer = _pointer_of(node.schema[keyword])
            if pointer is None:
                return tuple(nodes)
            if not in_place or node.level == 0:
                edges.setdefault(node.definition, set()).add(pointer[:2])
    used: set[_Pointer] = {()}
    queue: list[_Pointer] = [()]
    while queue:
        for target in edges.get(queue.pop(), set()) & definitions - used:
            used.add(target)
            queue.append(target)
    return tuple(node for node in nodes if node.definition in used)


def _pointer_of(reference: Json) -> _Pointer | None:
    """Return the pointer a reference gives; None for anchors, other documents and references by name at run time."""
    if not isinstance(reference, str) or not reference.startswith("#"):
        return None
    if reference != "#" and reference[1] != "/":
        return None
    return tuple(unquote(step).replace("~1", "/").replace("~0", "~") for step in reference.split("/")[1:])


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
