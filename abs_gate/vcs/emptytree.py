"""The base of a first commit: nothing was there before."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NoReturn

from abs_gate.sources.workspace import MAX_FILE_BYTES
from abs_gate.vcs.paths import inside, refuse


class EmptyTree:
    """A `Workspace` without files."""

    def read_bytes(self, path: str, *, limit: int = MAX_FILE_BYTES) -> bytes:
        _absent(path)

    def read_chunks(self, path: str) -> Iterator[bytes]:
        yield self.read_bytes(path)

    def is_file(self, path: str) -> bool:
        return False

    def is_directory(self, path: str) -> bool:
        return inside(path) == "."

    def list_files(self, path: str) -> tuple[str, ...]:
        if not self.is_directory(path):
            _absent(path)
        return ()


def _absent(path: str) -> NoReturn:
    refuse(path, "file-not-found", "does not exist: there is no earlier commit.")
