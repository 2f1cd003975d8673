"""Tells at a glance that alternatives exclude each other: by type, by value, or by a member that names the kind."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import combinations

from msgspec import Struct, field

from abs_gate.contracts.schemas.nodes import Constants, Every, Has, Kinds, Member, Node
from abs_gate.contracts.schemas.values import OBJECT, TYPES, type_of

_MOST = 150


class _Outline(Struct):
    """What is plain to see of the instances of a node."""

    kinds: frozenset[str] = TYPES
    values: frozenset[str] | None = None
    """The only values, when they are listed."""
    tags: dict[str, frozenset[str]] = field(default_factory=dict)
    """The only values of members that are always there."""


def evidently_disjoint(nodes: Sequence[Node]) -> bool:
    """Return whether no instance is accepted by two of the nodes; False when that is not plain to see."""
    if len(nodes) > _MOST:
        return False
    return all(_apart(left, right) for left, right in combinations([_outline(node) for node in nodes], 2))


def _apart(left: _Outline, right: _Outline) -> bool:
    kinds = left.kinds & right.kinds
    if not kinds:
        return True
    if left.values is not None and right.values is not None and not left.values & right.values:
        return True
    if kinds != {OBJECT}:
        return False
    return any(not values & right.tags[name] for name, values in left.tags.items() if name in right.tags)


def _outline(node: Node) -> _Outline:
    outline = _Outline()
    present: set[str] = set()
    for part in node.parts if isinstance(node, Every) else (node,):
        match part:
            case Kinds(types=types):
                outline.kinds &= types
            case Constants(values=values):
                outline.kinds &= frozenset(type_of(value) for value in values.values())
                outline.values = frozenset(values)
            case Has(name=name):
                present.add(name)
            case Member(name=name, node=inner):
                listed = _listed(inner.parts if isinstance(inner, Every) else (inner,))
                if listed is not None:
                    outline.tags[name] = listed
    outline.tags = {name: values for name, values in outline.tags.items() if name in present}
    return outline


def _listed(parts: Iterable[Node]) -> frozenset[str] | None:
    return next((frozenset(part.values) for part in parts if isinstance(part, Constants)), None)
