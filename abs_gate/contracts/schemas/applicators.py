"""Reads the keywords that hold subschemas."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from msgspec import Struct

from abs_gate.contracts.schemas import build
from abs_gate.contracts.schemas.dialects import Dialect
from abs_gate.contracts.schemas.facts import Malformed, count, pattern, requires
from abs_gate.contracts.schemas.nodes import Node
from abs_gate.contracts.schemas.references import Pointer
from abs_gate.contracts.schemas.tasks import Task
from abs_gate.findings import Json

if TYPE_CHECKING:
    from abs_gate.contracts.schemas.reader import Reader


class Reading(Struct, frozen=True, kw_only=True):
    """One schema object while its keywords are read."""

    reader: Reader
    schema: dict[str, Json]
    pointer: Pointer
    depth: int

    @property
    def dialect(self) -> Dialect:
        """The dialect of the document."""
        return self.reader.dialect

    def inside(self, *tokens: str | int) -> Task[Node]:
        """Read the subschema further down that speaks about a part of the instance."""
        return self.reader.subschema(self._at(tokens), self.depth + 1, self.pointer)

    def in_place(self, *tokens: str | int) -> Task[Node]:
        """Read the subschema further down that speaks about the same instance."""
        return self.reader.subschema(self._at(tokens), self.depth + 1, self.pointer, in_place=True)

    def _at(self, tokens: tuple[str | int, ...]) -> Pointer:
        return (*self.pointer, *(str(token) for token in tokens))

    def mapping(self, keyword: str) -> dict[str, Json]:
        """Return the members of a keyword; none when it is absent. Raises Malformed."""
        members = self.schema.get(keyword, {})
        if not isinstance(members, dict) or not all(isinstance(name, str) for name in members):
            raise Malformed("an object of schemas")
        return members

    def list_length(self, keyword: str) -> int:
        """Return how many schemas a keyword lists. Raises Malformed."""
        listed = self.schema[keyword]
        if not isinstance(listed, list) or not listed:
            raise Malformed("a list of schemas, at least one")
        return len(listed)


def _branches(reading: Reading, keyword: str) -> Task[list[Node]]:
    nodes = []
    for index in range(reading.list_length(keyword)):
        nodes.append((yield reading.in_place(keyword, index)))
    return nodes


def _all_of(reading: Reading) -> Task[Node]:
    return build.every((yield from _branches(reading, "allOf")))


def _any_of(reading: Reading) -> Task[Node]:
    return build.some((yield from _branches(reading, "anyOf")))


def _one_of(reading: Reading) -> Task[Node]:
    return build.exactly_one((yield from _branches(reading, "oneOf")))


def _not(reading: Reading) -> Task[Node]:
    return build.negation((yield reading.in_place("not")))


def _if(reading: Reading) -> Task[Node]:
    then = otherwise = build.EVERYTHING
    condition = yield reading.in_place("if")
    if "then" in reading.schema:
        then = yield reading.in_place("then")
    if "else" in reading.schema:
        otherwise = yield reading.in_place("else")
    return build.choice(condition, then, otherwise)


def _elsewhere(reading: Reading) -> Task[Node]:
    """Nothing by itself: a companion keyword reads it, and without one it says nothing."""
    return build.EVERYTHING
    yield  # pragma: no cover  # makes this a task


def _properties(reading: Reading) -> Task[Node]:
    nodes = []
    for name in reading.mapping("properties"):
        nodes.append(build.member(name, (yield reading.inside("properties", name))))
    return build.every(nodes)


def _pattern_properties(reading: Reading) -> Task[Node]:
    nodes = []
    for name in reading.mapping("patternProperties"):
        nodes.append(build.matching_members(pattern(name), (yield reading.inside("patternProperties", name))))
    return build.every(nodes)


def _additional_properties(reading: Reading) -> Task[Node]:
    names = frozenset(reading.mapping("properties"))
    patterns = frozenset(reading.mapping("patternProperties"))
    return build.other_members(names, patterns, (yield reading.inside("additionalProperties")))


def _property_names(reading: Reading) -> Task[Node]:
    return build.member_names((yield reading.inside("propertyNames")))


def _dependent_schemas(reading: Reading) -> Task[Node]:
    nodes = []
    for name in reading.mapping("dependentSchemas"):
        nodes.append(build.dependency(name, (yield reading.in_place("dependentSchemas", name))))
    return build.every(nodes)


def _dependencies(reading: Reading) -> Task[Node]:
    nodes = []
    for name, dependency in reading.mapping("dependencies").items():
        if isinstance(dependency, list):
            nodes.append(requires(name, dependency))
        else:
            nodes.append(build.dependency(name, (yield reading.in_place("dependencies", name))))
    return build.every(nodes)


def _tuple(reading: Reading, keyword: str) -> Task[Node]:
    nodes = []
    for index in range(len(reading.schema[keyword])):
        nodes.append(build.item(index, (yield reading.inside(keyword, index))))
    return build.every(nodes)


def _prefix_items(reading: Reading) -> Task[Node]:
    reading.list_length("prefixItems")
    return (yield from _tuple(reading, "prefixItems"))


def _items(reading: Reading) -> Task[Node]:
    if reading.dialect is Dialect.DRAFT2020:
        if isinstance(reading.schema["items"], list):
            raise Malformed("one schema in 2020-12; a list of them is `prefixItems`")
        prefix = reading.list_length("prefixItems") if "prefixItems" in reading.schema else 0
        return build.later_items(prefix, (yield reading.inside("items")))
    if isinstance(reading.schema["items"], list):
        return (yield from _tuple(reading, "items"))
    return build.later_items(0, (yield reading.inside("items")))


def _additional_items(reading: Reading) -> Task[Node]:
    prefix = reading.schema.get("items")
    if not isinstance(prefix, list):
        return build.EVERYTHING
    return build.later_items(len(prefix), (yield reading.inside("additionalItems")))


def _contains(reading: Reading) -> Task[Node]:
    low, high = contained(reading)
    return build.contains((yield reading.inside("contains")), low, high)


def contained(reading: Reading) -> tuple[int, int | None]:
    """Return how many items must, and may at most, be what `contains` says. Raises Malformed."""
    if "minContains" not in reading.dialect.keywords:
        return 1, None
    low = count(reading.schema["minContains"]) if "minContains" in reading.schema else 1
    high = count(reading.schema["maxContains"]) if "maxContains" in reading.schema else None
    return low, high


APPLICATORS: dict[str, Callable[[Reading], Task[Node]]] = {
    "allOf": _all_of,
    "anyOf": _any_of,
    "oneOf": _one_of,
    "not": _not,
    "if": _if,
    "then": _elsewhere,
    "else": _elsewhere,
    "properties": _properties,
    "patternProperties": _pattern_properties,
    "additionalProperties": _additional_properties,
    "propertyNames": _property_names,
    "dependentSchemas": _dependent_schemas,
    "dependencies": _dependencies,
    "prefixItems": _prefix_items,
    "items": _items,
    "additionalItems": _additional_items,
    "contains": _contains,
    "minContains": _elsewhere,
    "maxContains": _elsewhere,
}
"""Readers of the keywords that hold subschemas, and of their companions. Each raises Malformed."""
