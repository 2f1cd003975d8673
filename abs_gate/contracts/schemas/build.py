"""Builds nodes: gives each its key and leaves out what says nothing."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from fractions import Fraction
from functools import lru_cache

from abs_gate.contracts.schemas.disjoint import evidently_disjoint
from abs_gate.contracts.schemas.nodes import (
    Bounds,
    Choice,
    Constants,
    Contains,
    Distinct,
    Every,
    Has,
    Item,
    ItemCount,
    Kinds,
    LaterItems,
    Length,
    Matches,
    MatchingMembers,
    Member,
    MemberCount,
    MemberNames,
    Multiple,
    Node,
    Not,
    One,
    Opaque,
    OtherMembers,
    Some,
)
from abs_gate.contracts.schemas.values import OBJECT, TYPES, canonical
from abs_gate.findings import Json


def digest(kind: str, *parts: bytes | str | int | Fraction | None) -> bytes:
    """Return the key of a node of a kind with these parts, in this order."""
    pieces = [kind.encode()]
    for part in parts:
        data = part if isinstance(part, bytes) else str(part).encode("utf-8", "surrogatepass")
        pieces += (b"%d:" % len(data), data)
    return hashlib.blake2b(b"".join(pieces), digest_size=16).digest()


EVERYTHING: Node = Every(digest("every"), ())
NOTHING: Node = Some(digest("some"), ())
DISTINCT: Node = Distinct(digest("distinct"))


def _collect(nodes: Iterable[Node], flatten: type[Every] | type[Some]) -> dict[bytes, Node]:
    parts: dict[bytes, Node] = {}
    for node in nodes:
        if isinstance(node, flatten):
            parts.update((part.key, part) for part in node.parts)
        else:
            parts[node.key] = node
    return parts


def every(nodes: Iterable[Node]) -> Node:
    """Return what all nodes accept."""
    parts = _collect(nodes, Every)
    if not parts:
        return EVERYTHING
    if NOTHING.key in parts:
        return NOTHING
    if len(parts) == 1:
        return next(iter(parts.values()))
    keys = sorted(parts)
    return Every(digest("every", *keys), tuple(parts[key] for key in keys))


def some(nodes: Iterable[Node]) -> Node:
    """Return what at least one node accepts."""
    parts = _collect(nodes, Some)
    if not parts:
        return NOTHING
    if EVERYTHING.key in parts:
        return EVERYTHING
    plain_types = [part for part in parts.values() if isinstance(part, Kinds)]
    if len(plain_types) > 1:
        for part in plain_types:
            del parts[part.key]
        union = kinds(frozenset().union(*(part.types for part in plain_types)))
        parts[union.key] = union
    listed = [part for part in parts.values() if isinstance(part, Constants)]
    if len(listed) > 1:
        for enumeration in listed:
            del parts[enumeration.key]
        merged = constants(value for enumeration in listed for value in enumeration.values.values())
        parts[merged.key] = merged
    if len(parts) == 1:
        return next(iter(parts.values()))
    keys = sorted(parts)
    return Some(digest("some", *keys), tuple(parts[key] for key in keys))


def exactly_one(nodes: Iterable[Node]) -> Node:
    """Return what exactly one of the nodes accepts; a node given twice counts twice."""
    parts = sorted((node for node in nodes if node is not NOTHING), key=lambda node: node.key)
    if len(parts) <= 1:
        return parts[0] if parts else NOTHING
    if evidently_disjoint(parts):
        return some(parts)
    return One(digest("one", *(part.key for part in parts)), tuple(parts))


def negation(node: Node) -> Node:
    """Return what a node refuses."""
    if isinstance(node, Not):
        return node.part
    if node is EVERYTHING:
        return NOTHING
    if node is NOTHING:
        return EVERYTHING
    return Not(digest("not", node.key), node)


def choice(condition: Node, then: Node, otherwise: Node) -> Node:
    """Return `if` with its two branches."""
    if then.key == otherwise.key:
        return then
    return Choice(digest("choice", condition.key, then.key, otherwise.key), condition, then, otherwise)


@lru_cache(maxsize=128)
def kinds(types: frozenset[str]) -> Node:
    """Return the instances of some types."""
    if types == TYPES:
        return EVERYTHING
    return Kinds(digest("kinds", *sorted(types)), types) if types else NOTHING


def constants(values: Iterable[Json]) -> Node:
    """Return a finite set. Raises RecursionError when a value is too deep."""
    texts = {canonical(value): value for value in values}
    return Constants(digest("constants", *sorted(texts)), texts) if texts else NOTHING


def bounds(low: Fraction | None, high: Fraction | None, *, low_open: bool = False, high_open: bool = False) -> Node:
    """Return the numbers of an interval."""
    if low is None and high is None:
        return EVERYTHING
    return Bounds(digest("bounds", low, low_open, high, high_open), low, low_open, high, high_open)


def multiple(of: Fraction) -> Node:
    """Return the multiples of a number greater than zero."""
    return Multiple(digest("multiple", of), of)


def matches(pattern: str) -> Node:
    """Return the strings in which a pattern is found."""
    return Matches(digest("matches", pattern), pattern)


def sized(kind: type[Length] | type[ItemCount] | type[MemberCount], low: int, high: int | None) -> Node:
    """Return the strings, arrays or objects whose size lies in a range."""
    if low <= 0 and high is None:
        return EVERYTHING
    return kind(digest(kind.__name__, low, high), low, high)


def item(index: int, node: Node) -> Node:
    """Return the arrays whose item at an index is accepted."""
    return EVERYTHING if node is EVERYTHING else Item(digest("item", index, node.key), index, node)


def later_items(start: int, node: Node) -> Node:
    """Return the arrays whose items from an index on are accepted."""
    return EVERYTHING if node is EVERYTHING else LaterItems(digest("later-items", start, node.key), start, node)


def contains(node: Node, low: int, high: int | None) -> Node:
    """Return the arrays with so many accepted items."""
    if low <= 0 and high is None:
        return EVERYTHING
    return Contains(digest("contains", node.key, low, high), node, low, high)


def has(name: str) -> Node:
    """Return the objects with a member."""
    return Has(digest("has", name), name)


def member(name: str, node: Node) -> Node:
    """Return the objects whose member is accepted."""
    return EVERYTHING if node is EVERYTHING else Member(digest("member", name, node.key), name, node)


def matching_members(pattern: str, node: Node) -> Node:
    """Return the objects whose members with matching names are accepted."""
    if node is EVERYTHING:
        return EVERYTHING
    return MatchingMembers(digest("matching-members", pattern, node.key), pattern, node)


def other_members(names: frozenset[str], patterns: frozenset[str], node: Node) -> Node:
    """Return the objects whose remaining members are accepted."""
    if node is EVERYTHING:
        return EVERYTHING
    key = digest("other-members", len(names), *sorted(names), *sorted(patterns), node.key)
    return OtherMembers(key, names, patterns, node)


def member_names(node: Node) -> Node:
    """Return the objects whose member names are accepted."""
    return EVERYTHING if node is EVERYTHING else MemberNames(digest("member-names", node.key), node)


def opaque(keyword: str, *context: str) -> Node:
    """Return something that was not understood, told apart by its context."""
    return Opaque(digest("opaque", keyword, *context), keyword)


def dependency(name: str, node: Node) -> Node:
    """Return the objects that, if they have a member of this name, are accepted as a whole."""
    lacks = negation(every([kinds(frozenset({OBJECT})), has(name)]))
    return some([lacks, node])
