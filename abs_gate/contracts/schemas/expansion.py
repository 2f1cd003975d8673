"""Takes one literal apart along the Boolean structure."""

from __future__ import annotations

from itertools import combinations
from typing import TypeAlias

from msgspec import Struct

from abs_gate.contracts.schemas import build
from abs_gate.contracts.schemas.literals import Alternative, Literals
from abs_gate.contracts.schemas.nodes import (
    Bounds,
    Choice,
    Constants,
    Contains,
    Every,
    Fact,
    ItemCount,
    Kinds,
    Length,
    MemberCount,
    Node,
    Not,
    One,
    Opaque,
    Recursion,
    Some,
)
from abs_gate.contracts.schemas.values import ARRAY, OBJECT, TYPES, type_of
from abs_gate.findings import Json


class Atom(Struct, frozen=True):
    """Cannot be taken apart; `kinds` are the types it leaves possible."""

    kinds: frozenset[str]


class Both(Struct, frozen=True):
    """Holds when all these hold."""

    literals: Alternative


class Either(Struct, frozen=True):
    """Holds when one of these alternatives holds."""

    alternatives: tuple[Alternative, ...]


Expansion: TypeAlias = Atom | Both | Either


def expand(literals: Literals, literal: int) -> Expansion:
    """Return what a literal comes down to."""
    node = literals.node(literal)
    return _accepting(literals, node) if literal > 0 else _refusing(literals, node)


def _accepting(literals: Literals, node: Node) -> Expansion:
    of = literals.of
    match node:
        case Every(parts=parts):
            return Both(tuple(of(part) for part in parts))
        case Some(parts=parts):
            return Either(tuple((of(part),) for part in parts))
        case Not(part=part):
            return Both((of(part, False),))
        case One(parts=parts):
            return Either(
                tuple(
                    (of(part), *(of(other, False) for place, other in enumerate(parts) if place != chosen))
                    for chosen, part in enumerate(parts)
                )
            )
        case Choice(condition=condition, then=then, otherwise=otherwise):
            return Either(((of(condition), of(then)), (of(condition, False), of(otherwise))))
        case Recursion(unfold=unfold):
            return Both((of(unfold()),))
        case Kinds(types=types):
            return Atom(types)
        case Constants(values=values):
            return Atom(frozenset(type_of(value) for value in values.values()))
    return Atom(TYPES)


def _refusing(literals: Literals, node: Node) -> Expansion:
    of = literals.of
    match node:
        case Every(parts=parts):
            return Either(tuple((of(part, False),) for part in parts))
        case Some(parts=parts):
            return Both(tuple(of(part, False) for part in parts))
        case Not(part=part):
            return Both((of(part),))
        case One(parts=parts):
            neither = tuple(of(part, False) for part in parts)
            return Either((neither, *((of(left), of(right)) for left, right in combinations(parts, 2))))
        case Choice(condition=condition, then=then, otherwise=otherwise):
            return Either(((of(condition), of(then, False)), (of(condition, False), of(otherwise, False))))
        case Recursion(unfold=unfold):
            return Both((of(unfold(), False),))
        case Kinds(types=types):
            return Atom(TYPES - types)
        case Constants(values=values):
            return _refusing_constants(literals, values)
        case Bounds():
            return _outside(literals, node, _beyond(node))
        case Length(low=low, high=high) | ItemCount(low=low, high=high) | MemberCount(low=low, high=high):
            ranges = _other_counts(low, high)
            return _outside(literals, node, [build.sized(type(node), *counts) for counts in ranges])
        case Contains(node=inner, low=low, high=high):
            ranges = _other_counts(low, high)
            return _outside(literals, node, [build.contains(inner, *counts) for counts in ranges])
        case Fact():
            return Atom(frozenset({node.subject}))
    return Atom(TYPES if isinstance(node, Opaque) else frozenset())


def _outside(literals: Literals, fact: Fact, ranges: list[Node]) -> Expansion:
    """Refusing a range is being of its type and in one of the other ranges."""
    kind = literals.of(build.kinds(frozenset({fact.subject})))
    return Either(tuple((kind, literals.of(other)) for other in ranges))


def _beyond(fact: Bounds) -> list[Node]:
    below = [] if fact.low is None else [build.bounds(None, fact.low, high_open=not fact.low_open)]
    above = [] if fact.high is None else [build.bounds(fact.high, None, low_open=not fact.high_open)]
    return below + above


def _other_counts(low: int, high: int | None) -> list[tuple[int, int | None]]:
    if high is not None and high < low:
        return [(0, None)]
    below: list[tuple[int, int | None]] = [(0, low - 1)] if low > 0 else []
    return below if high is None else [*below, (high + 1, None)]


def _refusing_constants(literals: Literals, values: dict[str, Json]) -> Expansion:
    """Arrays and objects are refused by what they are made of; the rest stays a set of values."""
    composite = [value for value in values.values() if type_of(value) in {ARRAY, OBJECT}]
    if not composite:
        return Atom(TYPES)
    simple = [value for value in values.values() if type_of(value) not in {ARRAY, OBJECT}]
    parts = [literals.of(shape_of(value), False) for value in composite]
    return Both((literals.of(build.constants(simple), False), *parts) if simple else tuple(parts))


def shape_of(value: Json) -> Node:
    """Return the node that accepts one array or object, told by its parts."""
    if isinstance(value, list):
        items = [build.item(index, build.constants([item])) for index, item in enumerate(value)]
        size = build.sized(ItemCount, len(value), len(value))
        return build.every([build.kinds(frozenset({ARRAY})), size, *items])
    members = [
        build.every([build.has(name), build.member(name, build.constants([item]))]) for name, item in value.items()
    ]
    closed = build.other_members(frozenset(value), frozenset(), build.NOTHING)
    return build.every([build.kinds(frozenset({OBJECT})), closed, *members])
