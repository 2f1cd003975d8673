"""Where each part of a contract is written, found only when somebody asks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from msgspec import Struct

from abs_gate.findings import Json, Location
from abs_gate.sources.located import LocatedDocument

PartPath = tuple[str | int, ...]


class Mount(Struct, frozen=True):
    """Says that the part of a contract under `prefix` is written in `document` at `path`."""

    prefix: PartPath
    document: LocatedDocument
    path: PartPath


class Places(Mapping[PartPath, Location]):
    """Places of a contract's parts: ("input", "properties", "reason"), ("policy", "approval"), ...

    A part that is not written down is placed at the nearest part above it that is.
    """

    __slots__ = ("_document", "_elsewhere", "_parts", "_path")

    def __init__(
        self,
        document: LocatedDocument,
        path: PartPath,
        parts: Mapping[PartPath, PartPath],
        elsewhere: Iterable[Mount] = (),
    ) -> None:
        """Say where a contract is written; `parts` gives the steps to some of its parts from there."""
        self._document = document
        self._path = path
        self._parts = parts
        self._elsewhere = {mount.prefix: mount for mount in elsewhere}

    def __getitem__(self, part: PartPath) -> Location:
        for length in range(len(part), -1, -1):
            prefix, rest = part[:length], part[length:]
            mount = self._elsewhere.get(prefix)
            if mount is not None:
                return locate(mount.document, (*mount.path, *rest))
            if prefix in self._parts:
                return locate(self._document, (*self._path, *self._parts[prefix], *rest))
        return locate(self._document, (*self._path, *part))

    def moved(self, document: LocatedDocument, path: PartPath) -> Places:
        """Return the places of the same parts where the whole contract is written in `document` at `path`."""
        return Places(document, path, self._parts)

    def __iter__(self) -> Iterator[PartPath]:
        return iter({**self._parts, **self._elsewhere})

    def __len__(self) -> int:
        return len({**self._parts, **self._elsewhere})


def steps_to(value: Json, tokens: Iterable[str]) -> Iterator[str | int]:
    """Yield the tokens of a pointer into a value as steps: those that count items of a list as numbers."""
    for token in tokens:
        index = int(token) if isinstance(value, list) and token.isascii() and token.isdigit() else None
        yield token if index is None else index
        if isinstance(value, Mapping):
            value = value.get(token)
        else:
            value = value[index] if index is not None and index < len(value) else None


def locate(document: LocatedDocument, path: PartPath) -> Location:
    """Return the place of a key, or of the value when it stands in a list, or of what is nearest above it."""
    return document.key_location(path) if path and isinstance(path[-1], str) else document.location(path)
