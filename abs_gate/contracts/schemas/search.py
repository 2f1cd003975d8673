"""Searches for a counterexample where neither a proof nor a construction succeeds.

Starts from instances that are accepted, or that authors suggest, and changes them at one or two places to values at the
boundaries both schemas draw. Deterministic: the same schemas give the same instances.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from random import Random

from abs_gate.contracts.schemas.hints import Path
from abs_gate.contracts.schemas.values import NUMBER, canonical, is_json, size_of, type_of
from abs_gate.contracts.schemas.witnesses import parts_of, replaced, without
from abs_gate.findings import Json

_SEED = 20_240_131
_MOST_VALUES = 60
_MOST_READ = 5_000
_LONGEST = 2_000
_USUAL: tuple[Json, ...] = (None, True, False, 0, 1, -1, 1.5, "", "text", "a", [], {}, ["text"], [1, 1])


class Boundaries:
    """Values at which two schemas may differ, and names members may have."""

    def __init__(self, schemas: Iterable[Json]) -> None:
        values: dict[str, Json] = {}
        names: dict[str, None] = {}
        for value in [*_boundaries(schemas, names), *_USUAL]:
            if len(values) < _MOST_VALUES and size_of(value) <= 20 and is_json(value):
                values.setdefault(f"{type_of(value)} {canonical(value)}", value)
        self.values = list(values.values())
        self.names = [*names][:_MOST_VALUES] or ["extra"]


def _boundaries(schemas: Iterable[Json], names: dict[str, None]) -> Iterator[Json]:
    pending = deque(schemas)
    read = 0
    while pending and read < _MOST_READ:
        schema = pending.popleft()
        read += 1
        if isinstance(schema, list):
            pending.extend(schema)
        if not isinstance(schema, dict):
            continue
        for keyword, value in schema.items():
            if keyword in {"enum", "examples"} and isinstance(value, list):
                yield from value
            elif keyword in {"const", "default", "example"}:
                yield value
            elif keyword in {"minLength", "maxLength"} and isinstance(value, int) and 0 <= value < _LONGEST:
                yield from ("a" * max(length, 0) for length in (value - 1, value, value + 1))
            elif type_of(value) == NUMBER:
                yield from (value, value - 1, value + 1, value / 2 if value % 2 else value // 2)
            else:
                if keyword == "properties" and isinstance(value, dict):
                    names.update(dict.fromkeys(value))
                pending.append(value)


def variants(bases: list[Json], boundaries: Boundaries) -> Iterator[Json]:
    """Return the bases, then each with one change, then with two; without end."""
    yield from bases
    seen: set[str] = set()
    random = Random(_SEED)  # noqa: S311  # deterministic sampling, no secret
    singles = [change for base in bases for change in _changes(base, boundaries)]
    random.shuffle(singles)
    for base in singles:
        text = canonical(base)
        if text not in seen:
            seen.add(text)
            yield base
    while singles:
        base = random.choice(singles)
        twice = list(_changes(base, boundaries))
        if twice:
            yield random.choice(twice)


def _changes(base: Json, boundaries: Boundaries) -> Iterator[Json]:
    paths: list[Path] = []
    for path in parts_of(base):
        paths.append(path)
        if len(paths) >= 30:
            break
    for path in paths:
        part = base
        for token in path:
            part = part[token]
        if path:
            yield without(base, path)
        for value in boundaries.values:
            yield replaced(base, path, value)
        if isinstance(part, dict):
            for name in boundaries.names[:10]:
                for value in boundaries.values[:10]:
                    yield replaced(base, (*path, name), value)
        elif isinstance(part, list):
            for value in [*part[:2], *boundaries.values[:10]]:
                yield replaced(base, path, [*part, value])
