"""JSON text to plain values by the C parser, with places found one level at a time when somebody asks.

Takes only what is surely sound; anything else is left to the reader that says what is wrong and where.
"""

from __future__ import annotations

import json
import re
from typing import Any, NoReturn

from abs_gate.findings import Json
from abs_gate.sources.nodes import MAX_DEPTH, MAX_NODES
from abs_gate.sources.scalars import parse_number

_BLANK = re.compile(r"[ \t\r\n]*")
_SURROGATE_ESCAPE = re.compile(r"\\u[dD][89a-fA-F]")
_scan = json.JSONDecoder().raw_decode


class SkimmedNode:
    """A value in a JSON text that is known to be sound, and its place."""

    __slots__ = ("_children", "_keys", "_text", "start")

    def __init__(self, text: str, start: int) -> None:
        self._text = text
        self.start = start
        self._children: dict[str | int, SkimmedNode] | None = None
        self._keys: dict[str, int] | None = None

    @property
    def keys(self) -> dict[str, int] | None:
        """Offset of each key of a mapping; None for everything else."""
        self._open()
        return self._keys

    def child(self, step: str | int) -> SkimmedNode | None:
        """The node one step down, or None."""
        return self._open().get(step)

    def _open(self) -> dict[str | int, SkimmedNode]:
        if self._children is None:
            self._children = {}
            kind = self._text[self.start]
            if kind == "{":
                self._keys = {}
                self._find_children(self._keys)
            elif kind == "[":
                self._find_children(None)
        return self._children

    def _find_children(self, keys: dict[str, int] | None) -> None:
        text, at = self._text, self._skip(self.start + 1)
        children = self._children = {}
        while text[at] not in "]}":
            step: str | int = len(children)
            if keys is not None:
                key_start = at
                step, at = _scan(text, at)
                keys[str(step)] = key_start
                at = self._skip(self._skip(at) + 1)
            children[step] = SkimmedNode(text, at)
            _, at = _scan(text, at)
            at = self._skip(at)
            if text[at] == ",":
                at = self._skip(at + 1)

    def _skip(self, at: int) -> int:
        match = _BLANK.match(self._text, at)
        assert match is not None
        return match.end()


def skim_json(text: str, max_depth: int = MAX_DEPTH) -> tuple[Json, SkimmedNode] | None:
    """The value of a JSON text and its root, or None for a text that is not surely JSON within the bounds."""
    if _SURROGATE_ESCAPE.search(text):
        return None
    try:
        value = _DECODER.decode(text)
    except (ValueError, RecursionError):
        return None
    if not _is_within_bounds(value, max_depth):
        return None
    start = _BLANK.match(text)
    assert start is not None
    return value, SkimmedNode(text, start.end())


def _is_within_bounds(value: Json, max_depth: int) -> bool:
    level: list[Any] = [value]
    count = 1
    for _ in range(max_depth + 1):
        level = [container for container in level if type(container) is dict or type(container) is list]
        if not level:
            return True
        level = [item for each in level for item in (each.values() if type(each) is dict else each)]
        count += len(level)
        if count > MAX_NODES:
            return False
    return False


def _unique(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    mapping = dict(pairs)
    if len(mapping) != len(pairs):
        raise ValueError("a key stands twice")
    return mapping


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not JSON")


_DECODER = json.JSONDecoder(
    object_pairs_hook=_unique, parse_int=parse_number, parse_float=parse_number, parse_constant=_refuse
)
