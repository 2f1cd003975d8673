"""Finds texts that say nearly the same, in time that grows with their number and not with its square."""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator, Sequence

_WORD = re.compile(r"\w+")
_STOP = frozenset(
    ["a", "an", "and", "the", "of", "to", "in", "for", "with", "by", "or", "is", "it", "this", "from", "on"]
)
_HASHES = 16
_ROWS = 2
"""Hashes that have to agree for two texts to be looked at; with eight bands, texts that share 4 of 5 words are found
with near certainty."""
_MAX_BUCKET = 40
"""In larger groups of look-alikes only neighbours are compared: their likeness shows just as well."""
_SEEDS = tuple(zlib.crc32(f"seed {index}".encode()) for index in range(_HASHES))
_PRIME = (1 << 61) - 1


def find_near_duplicates(texts: Sequence[str], *, at_least: float) -> Iterator[tuple[int, int]]:
    """Yield pairs of positions whose texts share at least that part of their telling words."""
    bags = [frozenset(_WORD.findall(text.lower())) - _STOP for text in texts]
    buckets: dict[tuple[int, tuple[int, ...]], list[int]] = {}
    for index, bag in enumerate(bags):
        if len(bag) < 3:
            continue
        signature = _signature(bag)
        for band in range(0, _HASHES, _ROWS):
            buckets.setdefault((band, signature[band : band + _ROWS]), []).append(index)
    seen: set[tuple[int, int]] = set()
    for members in buckets.values():
        for position, left in enumerate(members):
            reach = members[position + 1 : position + 2] if len(members) > _MAX_BUCKET else members[position + 1 :]
            for right in reach:
                if (left, right) not in seen:
                    seen.add((left, right))
                    both, either = bags[left] & bags[right], bags[left] | bags[right]
                    if len(both) >= at_least * len(either):
                        yield left, right


def _signature(bag: frozenset[str]) -> tuple[int, ...]:
    hashes = [zlib.crc32(word.encode()) + 1 for word in bag]
    return tuple(min((seed * value) % _PRIME for value in hashes) for seed in _SEEDS)
