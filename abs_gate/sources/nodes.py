"""The tree that both readers (YAML and JSON) build: values with the place of every key and value."""

from __future__ import annotations

import re
from array import array
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from functools import cached_property

from msgspec import Struct

from abs_gate.errors import ConfigurationError
from abs_gate.findings import Finding, Json, Location, Severity

MAX_DEPTH = 100
"""Deepest nesting of lists and mappings, aliases followed."""
MAX_NODES = 500_000
"""Most values in one file."""
_LINE_BREAK = re.compile(r"\r\n|\n|\r")


class Node(Struct, eq=False):
    """A value and its place. Lists and mappings hold their children's nodes beside the plain value."""

    value: Json
    start: int
    """Offset in the file's text, in characters."""
    plain: str | None = None
    """How an unquoted YAML scalar was written; None for everything else."""
    items: list[Node] | None = None
    entries: dict[str, Node] | None = None
    keys: dict[str, int] | None = None
    """Offset of each key of a mapping."""
    size: int = 1
    """Values in this tree, aliases followed."""
    height: int = 0
    """Levels of lists and mappings in this tree."""

    def child(self, step: str | int) -> Node | None:
        """The node one step down, or None."""
        if self.entries is not None and isinstance(step, str):
            return self.entries.get(step)
        if self.items is not None and isinstance(step, int) and -1 < step < len(self.items):
            return self.items[step]
        return None


def walk(node: Node, path: tuple[str | int, ...] = ()) -> Iterator[tuple[tuple[str | int, ...], Node]]:
    """Every node of the tree with its path, parents first."""
    pending = [(path, node)]
    while pending:
        here, current = pending.pop()
        yield here, current
        steps: Sequence[tuple[str | int, Node]] = ()
        if current.entries is not None:
            steps = list(current.entries.items())
        elif current.items is not None:
            steps = list(enumerate(current.items))
        pending.extend(((*here, step), child) for step, child in reversed(steps))


class Positions:
    """Turns offsets in one file's text into lines and columns, both from 1."""

    def __init__(self, file: str, text: str) -> None:
        self.file = file
        self._text = text

    @cached_property
    def _starts(self) -> array[int]:
        """Offset of each line."""
        return array("L", [0, *(match.end() for match in _LINE_BREAK.finditer(self._text))])

    def location(self, offset: int) -> Location:
        """The place of a character."""
        line = bisect_right(self._starts, offset)
        return Location(file=self.file, line=line, column=offset - self._starts[line - 1] + 1)


class Problems:
    """Collects what is wrong with one file's text, so that all of it is reported in one go."""

    MAX = 100

    def __init__(self, positions: Positions) -> None:
        self._positions = positions
        self._findings: list[Finding] = []

    def add(self, rule: str, offset: int, message: str, hint: str = "") -> None:
        """Note a problem and go on; from the hundredth on, stop reading."""
        location = self._positions.location(offset)
        self._findings.append(
            Finding(rule=rule, severity=Severity.ERROR, message=message, hint=hint, location=location)
        )
        if len(self._findings) >= self.MAX:
            self.raise_any()

    def fail(self, rule: str, offset: int, message: str, hint: str = "") -> ConfigurationError:
        """Note a problem after which reading cannot go on; the caller raises the error returned."""
        self.add(rule, offset, message, hint)
        return ConfigurationError(findings=self._findings)

    def raise_any(self) -> None:
        """Raises ConfigurationError when anything was noted."""
        if self._findings:
            raise ConfigurationError(findings=self._findings)
