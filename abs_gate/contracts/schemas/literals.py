"""Goals as sets of numbers: one number for each node, negative where it must refuse."""

from __future__ import annotations

from collections.abc import Generator
from typing import TypeAlias

from abs_gate.contracts.schemas.answers import Answer
from abs_gate.contracts.schemas.nodes import Node

Goal: TypeAlias = frozenset[int]
"""Literals: n says that node n accepts the instance, -n that it refuses it."""

Alternative: TypeAlias = tuple[int, ...]
"""Literals that hold together, where other alternatives are possible."""

Proving: TypeAlias = Generator[Goal, Answer, Answer]
"""A proof under way: yields the goals it hangs on and is sent their answers."""


class Literals:
    """The numbers given to nodes."""

    def __init__(self) -> None:
        self._numbers: dict[bytes, int] = {}
        self._nodes: list[Node] = []

    def of(self, node: Node, wanted: bool = True) -> int:
        """Return the literal of a node."""
        number = self._numbers.get(node.key)
        if number is None:
            self._nodes.append(node)
            number = self._numbers[node.key] = len(self._nodes)
        return number if wanted else -number

    def node(self, literal: int) -> Node:
        """Return the node of a literal."""
        return self._nodes[abs(literal) - 1]
