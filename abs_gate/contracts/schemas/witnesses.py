"""Makes a counterexample as small and as readable as it can be without ceasing to be one."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Sequence

from abs_gate.contracts.schemas.hints import Hints, Path
from abs_gate.contracts.schemas.values import size_of, type_of
from abs_gate.findings import Json

_MOST_TRIED = 300
"""Changes tried to make one counterexample better."""
_MOST_WORK = 10_000
"""The same in values looked at."""


def polish(value: Json, holds: Callable[[Json], bool], hints: Sequence[Hints]) -> Json:
    """Return a smaller, more readable counterexample; the same one when there is none.

    `holds` tells whether a value still is a counterexample.
    """
    polisher = _Polisher(value, holds)
    polisher.shrink()
    polisher.dress(hints)
    return polisher.value


class _Polisher:
    def __init__(self, value: Json, holds: Callable[[Json], bool]) -> None:
        self.value = value
        self._holds = holds
        self._left = min(_MOST_TRIED, _MOST_WORK // size_of(value))

    def shrink(self) -> None:
        """Leave out members and items, outermost first, until none can be spared."""
        again = True
        while again and self._left > 0:
            again = False
            for path in list(parts_of(self.value)):
                if path and _exists(self.value, path) and self._try(without(self.value, path)):
                    again = True

    def dress(self, hints: Sequence[Hints]) -> None:
        """Put members in the order of the schema, and suggested values where any value of the kind does."""
        for path in list(parts_of(self.value)):
            if not _exists(self.value, path):
                continue
            present = _at(self.value, path)
            if isinstance(present, dict):
                order = {name: place for place, name in enumerate(hints[0].names(path))} if hints else {}
                present = dict(sorted(present.items(), key=lambda member: order.get(member[0], len(order))))
                self.value = replaced(self.value, path, present)
            for hint in (hint for source in hints for hint in source.at(path)):
                if type_of(hint) == type_of(present) and (
                    hint == present or self._try(replaced(self.value, path, hint))
                ):
                    break

    def _try(self, value: Json) -> bool:
        self._left -= 1
        if self._left < 0 or not self._holds(value):
            return False
        self.value = value
        return True


def parts_of(value: Json) -> Iterator[Path]:
    """Return the paths of all parts, outermost first."""
    pending: list[tuple[Path, Json]] = [((), value)]
    for path, part in pending:
        yield path
        if isinstance(part, dict):
            pending.extend(((*path, name), item) for name, item in part.items())
        elif isinstance(part, list):
            pending.extend(((*path, index), item) for index, item in reversed(list(enumerate(part))))


def _exists(value: Json, path: Path) -> bool:
    try:
        _at(value, path)
    except (KeyError, IndexError, TypeError):
        return False
    return True


def _at(value: Json, path: Path) -> Json:
    for token in path:
        value = value[token]
    return value


def without(value: Json, path: Path) -> Json:
    """Return a copy without the part at a path."""
    changed, place = _copied_along(value, path[:-1])
    del place[path[-1]]
    return changed


def replaced(value: Json, path: Path, part: Json) -> Json:
    """Return a copy with another part at a path, or with one more member."""
    if not path:
        return part
    changed, place = _copied_along(value, path[:-1])
    place[path[-1]] = part
    return changed


def _copied_along(value: Json, path: Path) -> tuple[Json, Json]:
    """Return a copy that shares what is not on the path, and the copy's part at its end."""
    changed = place = copy.copy(value)
    for token in path:
        place[token] = place = copy.copy(place[token])
    return changed, place
