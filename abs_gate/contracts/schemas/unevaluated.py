"""Reads `unevaluatedProperties` and `unevaluatedItems`: what no neighbouring keyword has looked at.

Which parts were looked at can hang on which branches accept the instance. Each combination of branches is a case with
its own condition; beyond a few cases the keyword counts as not understood.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from abs_gate.contracts.schemas import build
from abs_gate.contracts.schemas.dialects import Dialect
from abs_gate.contracts.schemas.nodes import Node
from abs_gate.contracts.schemas.references import Pointer, UnresolvedReference
from abs_gate.contracts.schemas.tasks import Task
from abs_gate.contracts.schemas.values import OBJECT
from abs_gate.findings import Json

if TYPE_CHECKING:
    from abs_gate.contracts.schemas.applicators import Reading
    from abs_gate.contracts.schemas.reader import Reader

_MOST_CASES = 16
_DEEPEST = 12
_MOST_SCHEMAS = 500


class TooManyCases(Exception):
    """What was looked at hangs on too many branches."""


class _Case(Struct, frozen=True):
    """What was looked at when some conditions hold."""

    conditions: tuple[Node, ...] = ()
    names: frozenset[str] = frozenset()
    patterns: frozenset[str] = frozenset()
    every_member: bool = False
    items: int = 0
    every_item: bool = False
    contained: tuple[Node, ...] = ()

    def joined(self, other: _Case) -> _Case:
        """Return the case that both hold."""
        return _Case(
            conditions=self.conditions + other.conditions,
            names=self.names | other.names,
            patterns=self.patterns | other.patterns,
            every_member=self.every_member or other.every_member,
            items=max(self.items, other.items),
            every_item=self.every_item or other.every_item,
            contained=self.contained + other.contained,
        )

    def under(self, condition: Node) -> _Case:
        """Return the case with one more condition."""
        return self.joined(_Case(conditions=(condition,)))

    @property
    def looks_at_nothing(self) -> bool:
        """Whether the case adds nothing to what others have looked at."""
        return self == _Case(conditions=self.conditions)


def _unevaluated_properties(reading: Reading) -> Task[Node]:
    """Read `unevaluatedProperties`. Raises TooManyCases."""
    rest: Node = yield reading.inside("unevaluatedProperties")
    cases = yield from _Cases(reading.reader).of(reading.pointer, reading.schema, 0, without="unevaluatedProperties")
    parts = []
    for case in cases:
        others = build.EVERYTHING if case.every_member else build.other_members(case.names, case.patterns, rest)
        parts.append(build.every([*case.conditions, others]))
    return build.some(parts)


def _unevaluated_items(reading: Reading) -> Task[Node]:
    """Read `unevaluatedItems`. Raises TooManyCases."""
    rest: Node = yield reading.inside("unevaluatedItems")
    cases = yield from _Cases(reading.reader).of(reading.pointer, reading.schema, 0, without="unevaluatedItems")
    parts = []
    for case in cases:
        later = build.later_items(case.items, build.some([*case.contained, rest]))
        parts.append(build.every([*case.conditions, build.EVERYTHING if case.every_item else later]))
    return build.some(parts)


class _Cases:
    """Collects the cases of a schema and of all that speaks about the same instance."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._looked_at = 0

    def of(self, pointer: Pointer, schema: Json, depth: int, *, without: str = "") -> Task[list[_Case]]:
        """Return the cases of one schema, its own `without` keyword left out."""
        if not isinstance(schema, dict):
            return [_Case()]
        self._looked_at += 1
        if depth > _DEEPEST or self._looked_at > _MOST_SCHEMAS:
            raise TooManyCases
        dialect = self._reader.dialect
        own = yield from self._own(pointer, schema, without)
        cases = [own]
        if "$ref" in schema:
            cases = _product(cases, (yield from self._referenced(pointer, schema["$ref"], depth)))
        if "$dynamicRef" in schema or "$recursiveRef" in schema:
            raise TooManyCases
        for index, branch in enumerate(_list(schema, "allOf")):
            cases = _product(cases, (yield from self.of((*pointer, "allOf", str(index)), branch, depth + 1)))
        for index, branch in enumerate(_list(schema, "anyOf")):
            place = (*pointer, "anyOf", str(index))
            cases = _product(cases, (yield from self._optional(place, branch, depth)))
        if "oneOf" in schema:
            cases = _product(cases, (yield from self._one_of(pointer, schema, depth)))
        if "if" in schema:
            cases = _product(cases, (yield from self._conditional(pointer, schema, depth)))
        if "dependentSchemas" in dialect.keywords and isinstance(schema.get("dependentSchemas"), dict):
            for name, branch in schema["dependentSchemas"].items():
                inner = yield from self.of((*pointer, "dependentSchemas", name), branch, depth + 1)
                if not _idle(inner):
                    present = build.every([build.kinds(frozenset({OBJECT})), build.has(name)])
                    cases = _product(cases, _split(present, inner, [_Case()]))
        return cases

    def _own(self, pointer: Pointer, schema: dict[str, Json], without: str) -> Task[_Case]:
        properties, patterns = schema.get("properties"), schema.get("patternProperties")
        keywords = schema.keys() - {without}
        draft2020 = self._reader.dialect is Dialect.DRAFT2020
        prefix = schema.get("prefixItems" if draft2020 else "items")
        contained: tuple[Node, ...] = ()
        if draft2020 and "contains" in schema:
            node: Node = yield self._reader.subschema((*pointer, "contains"), 0, pointer)
            contained = (node,)
        return _Case(
            names=frozenset(properties) if isinstance(properties, dict) else frozenset(),
            patterns=frozenset(patterns) if isinstance(patterns, dict) else frozenset(),
            every_member=bool(keywords & {"additionalProperties", "unevaluatedProperties"}),
            items=len(prefix) if isinstance(prefix, list) else 0,
            every_item="unevaluatedItems" in keywords
            or ("items" in keywords and not isinstance(schema["items"], list))
            or (not draft2020 and "additionalItems" in keywords and isinstance(prefix, list)),
            contained=contained,
        )

    def _referenced(self, pointer: Pointer, reference: Json, depth: int) -> Task[list[_Case]]:
        try:
            target = self._reader.target(reference, pointer)
        except UnresolvedReference:
            raise TooManyCases from None
        return (yield from self.of(target, self._reader.raw(target), depth + 1))

    def _condition(self, pointer: Pointer, parent: Pointer) -> Task[Node]:
        node: Node = yield self._reader.subschema(pointer, 0, parent, in_place=True)
        return node

    def _optional(self, pointer: Pointer, schema: Json, depth: int) -> Task[list[_Case]]:
        inner = yield from self.of(pointer, schema, depth + 1)
        if _idle(inner):
            return [_Case()]
        accepted = yield from self._condition(pointer, pointer[:-2])
        return _split(accepted, inner, [_Case()])

    def _one_of(self, pointer: Pointer, schema: dict[str, Json], depth: int) -> Task[list[_Case]]:
        cases: list[_Case] = []
        idle = True
        for index, branch in enumerate(_list(schema, "oneOf")):
            place = (*pointer, "oneOf", str(index))
            inner = yield from self.of(place, branch, depth + 1)
            idle = idle and _idle(inner)
            accepted = yield from self._condition(place, pointer)
            cases += [case.under(accepted) for case in inner]
        return [_Case()] if idle else cases

    def _conditional(self, pointer: Pointer, schema: dict[str, Json], depth: int) -> Task[list[_Case]]:
        when = yield from self.of((*pointer, "if"), schema["if"], depth + 1)
        then = yield from self.of((*pointer, "then"), schema.get("then"), depth + 1)
        otherwise = yield from self.of((*pointer, "else"), schema.get("else"), depth + 1)
        if _idle(when) and _idle(then) and _idle(otherwise):
            return [_Case()]
        accepted = yield from self._condition((*pointer, "if"), pointer)
        return _split(accepted, _product(when, then), otherwise)


def _split(condition: Node, when: list[_Case], otherwise: list[_Case]) -> list[_Case]:
    refused = build.negation(condition)
    return [*(case.under(condition) for case in when), *(case.under(refused) for case in otherwise)]


def _idle(cases: list[_Case]) -> bool:
    return all(case.looks_at_nothing for case in cases)


def _product(left: list[_Case], right: list[_Case]) -> list[_Case]:
    if len(left) * len(right) > _MOST_CASES:
        raise TooManyCases
    return [one.joined(other) for one in left for other in right]


def _list(schema: dict[str, Json], keyword: str) -> list[Json]:
    value = schema.get(keyword)
    return value if isinstance(value, list) else []


UNEVALUATED = {"unevaluatedProperties": _unevaluated_properties, "unevaluatedItems": _unevaluated_items}
"""Readers of the two keywords. Each raises TooManyCases."""
