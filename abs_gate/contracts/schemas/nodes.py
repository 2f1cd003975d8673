"""The normal form of a schema: a Boolean expression over small facts about one instance.

Every fact speaks about one JSON type and holds for instances of any other type, as keywords do. Two nodes with equal
keys accept the same instances, so that unchanged parts of two schemas are recognised without being opened.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import ClassVar

from msgspec import Struct

from abs_gate.contracts.schemas.values import ARRAY, NUMBER, OBJECT, STRING
from abs_gate.findings import Json


class Node(Struct, frozen=True, eq=False):
    """A set of instances."""

    key: bytes


class Every(Node, frozen=True, eq=False):
    """What all parts accept; everything without parts."""

    parts: tuple[Node, ...]


class Some(Node, frozen=True, eq=False):
    """What at least one part accepts; nothing without parts."""

    parts: tuple[Node, ...]


class One(Node, frozen=True, eq=False):
    """What exactly one part accepts."""

    parts: tuple[Node, ...]


class Not(Node, frozen=True, eq=False):
    """What the part refuses."""

    part: Node


class Choice(Node, frozen=True, eq=False):
    """`if`, `then`, `else`."""

    condition: Node
    then: Node
    otherwise: Node


class Recursion(Node, frozen=True, eq=False):
    """A reference to a schema it stands inside of, followed one level at a time."""

    unfold: Callable[[], Node]


class Opaque(Node, frozen=True, eq=False):
    """Something that was not understood: it may accept or refuse anything, but equals itself."""

    keyword: str


class Kinds(Node, frozen=True, eq=False):
    """Instances of some JSON types."""

    types: frozenset[str]


class Constants(Node, frozen=True, eq=False):
    """A finite set of values, by their canonical text."""

    values: dict[str, Json]


class Fact(Node, frozen=True, eq=False):
    """A statement about instances of one type, true of all others."""

    subject: ClassVar[str]


class Bounds(Fact, frozen=True, eq=False):
    """Numbers in an interval; None is no bound."""

    subject = NUMBER
    low: Fraction | None
    low_open: bool
    high: Fraction | None
    high_open: bool


class Multiple(Fact, frozen=True, eq=False):
    """Numbers that are a whole multiple of another."""

    subject = NUMBER
    of: Fraction


class Length(Fact, frozen=True, eq=False):
    """Strings by their number of characters."""

    subject = STRING
    low: int
    high: int | None


class Matches(Fact, frozen=True, eq=False):
    """Strings in which a pattern is found."""

    subject = STRING
    pattern: str


class ItemCount(Fact, frozen=True, eq=False):
    """Arrays by their number of items."""

    subject = ARRAY
    low: int
    high: int | None


class Item(Fact, frozen=True, eq=False):
    """Arrays whose item at an index, if there is one, is accepted."""

    subject = ARRAY
    index: int
    node: Node


class LaterItems(Fact, frozen=True, eq=False):
    """Arrays whose items from an index on are all accepted."""

    subject = ARRAY
    start: int
    node: Node


class Contains(Fact, frozen=True, eq=False):
    """Arrays by the number of their items that are accepted."""

    subject = ARRAY
    node: Node
    low: int
    high: int | None


class Distinct(Fact, frozen=True, eq=False):
    """Arrays without two equal items."""

    subject = ARRAY


class MemberCount(Fact, frozen=True, eq=False):
    """Objects by their number of members."""

    subject = OBJECT
    low: int
    high: int | None


class Has(Fact, frozen=True, eq=False):
    """Objects with a member of a name."""

    subject = OBJECT
    name: str


class Member(Fact, frozen=True, eq=False):
    """Objects whose member of a name, if there is one, is accepted."""

    subject = OBJECT
    name: str
    node: Node


class MatchingMembers(Fact, frozen=True, eq=False):
    """Objects whose members with a name in which a pattern is found are all accepted."""

    subject = OBJECT
    pattern: str
    node: Node


class OtherMembers(Fact, frozen=True, eq=False):
    """Objects whose members that are not named, and in whose names no pattern is found, are all accepted."""

    subject = OBJECT
    names: frozenset[str]
    patterns: frozenset[str]
    node: Node


class MemberNames(Fact, frozen=True, eq=False):
    """Objects whose member names are all accepted, as strings."""

    subject = OBJECT
    node: Node
