"""The normal form of a schema: a Boolean expression over small facts about one instance.

Every fact speaks about one JSON type and holds for instances of any other type, as keywords do. Two nodes with equal
keys accept the same instances, so that unchanged parts of two schemas are recognised without being opened.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from abs_gate.contracts.schemas.values import ARRAY, NUMBER, OBJECT, STRING
from abs_gate.findings import Json


@dataclass(frozen=True, slots=True, eq=False)
class Node:
    """A set of instances."""

    key: bytes


@dataclass(frozen=True, slots=True, eq=False)
class Every(Node):
    """What all parts accept; everything without parts."""

    parts: tuple[Node, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Some(Node):
    """What at least one part accepts; nothing without parts."""

    parts: tuple[Node, ...]


@dataclass(frozen=True, slots=True, eq=False)
class One(Node):
    """What exactly one part accepts."""

    parts: tuple[Node, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Not(Node):
    """What the part refuses."""

    part: Node


@dataclass(frozen=True, slots=True, eq=False)
class Choice(Node):
    """`if`, `then`, `else`."""

    condition: Node
    then: Node
    otherwise: Node


@dataclass(frozen=True, slots=True, eq=False)
class Recursion(Node):
    """A reference to a schema it stands inside of, followed one level at a time."""

    unfold: Callable[[], Node]


@dataclass(frozen=True, slots=True, eq=False)
class Opaque(Node):
    """Something that was not understood: it may accept or refuse anything, but equals itself."""

    keyword: str


@dataclass(frozen=True, slots=True, eq=False)
class Kinds(Node):
    """Instances of some JSON types."""

    types: frozenset[str]


@dataclass(frozen=True, slots=True, eq=False)
class Constants(Node):
    """A finite set of values, by their canonical text."""

    values: dict[str, Json]


@dataclass(frozen=True, slots=True, eq=False)
class Fact(Node):
    """A statement about instances of one type, true of all others."""

    subject: ClassVar[str]


@dataclass(frozen=True, slots=True, eq=False)
class Bounds(Fact):
    """Numbers in an interval; None is no bound."""

    subject = NUMBER
    low: Fraction | None
    low_open: bool
    high: Fraction | None
    high_open: bool


@dataclass(frozen=True, slots=True, eq=False)
class Multiple(Fact):
    """Numbers that are a whole multiple of another."""

    subject = NUMBER
    of: Fraction


@dataclass(frozen=True, slots=True, eq=False)
class Length(Fact):
    """Strings by their number of characters."""

    subject = STRING
    low: int
    high: int | None


@dataclass(frozen=True, slots=True, eq=False)
class Matches(Fact):
    """Strings in which a pattern is found."""

    subject = STRING
    pattern: str


@dataclass(frozen=True, slots=True, eq=False)
class ItemCount(Fact):
    """Arrays by their number of items."""

    subject = ARRAY
    low: int
    high: int | None


@dataclass(frozen=True, slots=True, eq=False)
class Item(Fact):
    """Arrays whose item at an index, if there is one, is accepted."""

    subject = ARRAY
    index: int
    node: Node


@dataclass(frozen=True, slots=True, eq=False)
class LaterItems(Fact):
    """Arrays whose items from an index on are all accepted."""

    subject = ARRAY
    start: int
    node: Node


@dataclass(frozen=True, slots=True, eq=False)
class Contains(Fact):
    """Arrays by the number of their items that are accepted."""

    subject = ARRAY
    node: Node
    low: int
    high: int | None


@dataclass(frozen=True, slots=True, eq=False)
class Distinct(Fact):
    """Arrays without two equal items."""

    subject = ARRAY


@dataclass(frozen=True, slots=True, eq=False)
class MemberCount(Fact):
    """Objects by their number of members."""

    subject = OBJECT
    low: int
    high: int | None


@dataclass(frozen=True, slots=True, eq=False)
class Has(Fact):
    """Objects with a member of a name."""

    subject = OBJECT
    name: str


@dataclass(frozen=True, slots=True, eq=False)
class Member(Fact):
    """Objects whose member of a name, if there is one, is accepted."""

    subject = OBJECT
    name: str
    node: Node


@dataclass(frozen=True, slots=True, eq=False)
class MatchingMembers(Fact):
    """Objects whose members with a name in which a pattern is found are all accepted."""

    subject = OBJECT
    pattern: str
    node: Node


@dataclass(frozen=True, slots=True, eq=False)
class OtherMembers(Fact):
    """Objects whose members that are not named, and in whose names no pattern is found, are all accepted."""

    subject = OBJECT
    names: frozenset[str]
    patterns: frozenset[str]
    node: Node


@dataclass(frozen=True, slots=True, eq=False)
class MemberNames(Fact):
    """Objects whose member names are all accepted, as strings."""

    subject = OBJECT
    node: Node
