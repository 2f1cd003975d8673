"""Where each part of a contract is written, found only when somebody asks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from msgspec import Struct

from abs_gate.findings import Location
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

    __slots__ = ("_mounts",)

    def __init__(self, mounts: tuple[Mount, ...]) -> None:
        self._mounts = {mount.prefix: mount for mount in mounts}

    def __getitem__(self, part: PartPath) -> Location:
        for length in range(len(part), -1, -1):
            mount = self._mounts.get(part[:length])
            if mount is not None:
                return locate(mount.document, (*mount.path, *part[length:]))
        raise KeyError(part)

    def __iter__(self) -> Iterator[PartPath]:
        return iter(self._mounts)

    def __len__(self) -> int:
        return len(self._mounts)


def locate(document: LocatedDocument, path: PartPath) -> Location:
    """Return the place of a key, or of the value when it stands in a list, or of what is nearest above it."""
    return document.key_location(path) if path and isinstance(path[-1], str) else document.location(path)
