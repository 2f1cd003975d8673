"""Sets of characters as sorted, disjoint ranges of code points."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

CharSet: TypeAlias = tuple[tuple[int, int], ...]
"""Inclusive ranges."""

LAST = 0x10FFFF
ANY: CharSet = ((0, LAST),)
DIGIT: CharSet = ((0x30, 0x39),)
WORD: CharSet = ((0x30, 0x39), (0x41, 0x5A), (0x5F, 0x5F), (0x61, 0x7A))
SPACE: CharSet = (
    (0x09, 0x0D),
    (0x20, 0x20),
    (0xA0, 0xA0),
    (0x1680, 0x1680),
    (0x2000, 0x200A),
    (0x2028, 0x2029),
    (0x202F, 0x202F),
    (0x205F, 0x205F),
    (0x3000, 0x3000),
    (0xFEFF, 0xFEFF),
)
LINE_END: CharSet = ((0x0A, 0x0A), (0x0D, 0x0D), (0x2028, 0x2029))


def union(sets: Iterable[CharSet]) -> CharSet:
    """Return all characters of all sets."""
    merged: list[tuple[int, int]] = []
    for low, high in sorted(part for chars in sets for part in chars):
        if merged and low <= merged[-1][1] + 1:
            merged[-1] = (merged[-1][0], max(merged[-1][1], high))
        else:
            merged.append((low, high))
    return tuple(merged)


def complement(chars: CharSet) -> CharSet:
    """Return all characters that are not in a set."""
    rest: list[tuple[int, int]] = []
    start = 0
    for low, high in chars:
        if low > start:
            rest.append((start, low - 1))
        start = high + 1
    if start <= LAST:
        rest.append((start, LAST))
    return tuple(rest)


def single(character: str) -> CharSet:
    """Return the set of one character."""
    return ((ord(character), ord(character)),)


_READABLE = "aA1x0 -_./:@+\n"


class Alphabet:
    """Characters grouped by which of some sets they belong to: one stands for its whole group."""

    def __init__(self, sets: Iterable[CharSet]) -> None:
        self.sets: tuple[CharSet, ...] = tuple(dict.fromkeys(sets))
        edges: dict[int, list[int]] = {}
        for index, chars in enumerate(self.sets):
            for low, high in chars:
                edges.setdefault(low, []).append(index)
                edges.setdefault(high + 1, []).append(index)
        groups: dict[frozenset[int], list[tuple[int, int]]] = {}
        inside: set[int] = set()
        start = 0
        for edge in [*sorted(edges), LAST + 1]:
            if edge > start:
                groups.setdefault(frozenset(inside), []).append((start, edge - 1))
                start = edge
            for index in edges.get(edge, ()):
                inside.symmetric_difference_update({index})
        chosen = [(members, _representative(ranges)) for members, ranges in groups.items()]
        chosen.sort(key=lambda group: _rank(group[1]))
        self.groups: tuple[tuple[frozenset[int], str], ...] = tuple(
            (members, character) for members, character in chosen if character
        )
        """For each group: the indexes of the sets it lies in, and its most readable character."""


def _representative(ranges: list[tuple[int, int]]) -> str:
    """The most readable character; empty when there are only halves of surrogate pairs, which JSON text cannot hold."""
    for character in _READABLE:
        if any(low <= ord(character) <= high for low, high in ranges):
            return character
    for low, high in ranges:
        if low <= 0x7E and high >= 0x21:
            return chr(max(low, 0x21))
    for low, high in ranges:
        first = low if not 0xD800 <= low <= 0xDFFF else 0xE000
        if first <= high and first > 0x7E:
            return chr(first)
    low = ranges[0][0]
    return "" if 0xD800 <= low <= 0xDFFF else chr(low)


def _rank(character: str) -> tuple[int, int]:
    place = _READABLE.find(character) if character else -1
    if place >= 0:
        return (0, place)
    return (1 if character and 0x21 <= ord(character) <= 0x7E else 2, ord(character) if character else 0)
