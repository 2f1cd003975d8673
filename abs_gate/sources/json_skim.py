"""JSON text to plain values by the quickest parser there is, with places found one level at a time when somebody asks.

Takes only what is surely sound; anything else is left to the reader that says what is wrong and where.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import msgspec

from abs_gate.findings import Json
from abs_gate.sources.nodes import MAX_DEPTH, MAX_NODES
from abs_gate.sources.scalars import MAX_NUMBER_LENGTH

_BLANK = re.compile(r"[ \t\r\n]*")
_UNSURE_ESCAPE = re.compile(rb"\\u(?:[dD][89a-fA-F]|003[aA])")
"""Of half a character, and of a colon."""
_DIGITS_ALIKE = bytes.maketrans(b"123456789", b"000000000")
_LONG_NUMBER = b"0" * (MAX_NUMBER_LENGTH // 4)
"""As many digits in a row stand in every number that is too long: before the point, behind it or in the exponent."""
_CONTAINERS = frozenset({dict, list})
_scan = json.JSONDecoder().raw_decode


class SkimmedNode:
    """A value in a JSON text that is known to be sound, and its place. It is read no further than somebody asks."""

    __slots__ = ("_children", "_keys", "_reading", "_text", "start")

    def __init__(self, text: str, start: int) -> None:
        self._text = text
        self.start = start
        self._children: dict[str | int, SkimmedNode] = {}
        self._keys: dict[str, int] | None = {} if text[start] == "{" else None
        self._reading = self._read() if text[start] in "{[" else iter(())

    @property
    def keys(self) -> dict[str, int] | None:
        """Offset of each key of a mapping; None for everything else."""
        for _ in self._reading:
            pass
        return self._keys

    def child(self, step: str | int) -> SkimmedNode | None:
        """The node one step down, or None."""
        if step not in self._children:
            any(step in self._children for _ in self._reading)
        return self._children.get(step)

    def _read(self) -> Iterator[None]:
        """Find one child after the other."""
        text, at = self._text, self._skip(self.start + 1)
        while text[at] not in "]}":
            step: str | int = len(self._children)
            if self._keys is not None:
                key_start = at
                step, at = _scan(text, at)
                self._keys[str(step)] = key_start
                at = self._skip(self._skip(at) + 1)
            self._children[step] = SkimmedNode(text, at)
            yield
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
    data = text.encode()
    if _UNSURE_ESCAPE.search(data) or _LONG_NUMBER in data.translate(_DIGITS_ALIKE):
        return None
    try:
        value = msgspec.json.decode(data)
        if not _is_within_bounds(value, max_depth) or _has_lost_a_key(value, data):
            return None
    except (msgspec.DecodeError, RecursionError):
        return None
    start = _BLANK.match(text)
    assert start is not None
    return value, SkimmedNode(text, start.end())


def _is_within_bounds(value: Json, max_depth: int) -> bool:
    level: list[Any] = [value] if type(value) in _CONTAINERS else []
    count = 1
    for _ in range(max_depth + 1):
        if not level:
            return True
        count += sum(map(len, level))
        if count > MAX_NODES:
            return False
        parts = [each.values() if type(each) is dict else each for each in level]
        level = [item for part in parts for item in part if type(item) in _CONTAINERS]
    return False


def _has_lost_a_key(value: Json, data: bytes) -> bool:
    """Tell whether a key stood twice: the parser keeps the last, and with it one colon fewer."""
    return msgspec.json.encode(value).count(b":") != data.count(b":")
