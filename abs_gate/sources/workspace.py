"""The port through which all user files are read. Implementations: `vcs.worktree` (disk), `vcs.git` (a commit)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

MAX_FILE_BYTES = 5 * 1024 * 1024
"""Largest document, contract, schema or configuration file that is read."""


class Workspace(Protocol):
    """A tree of files. Paths are POSIX, relative to the workspace root, and may not leave it.

    `..` segments and links are resolved first; a path that ends outside raises ConfigurationError.
    """

    def read_bytes(self, path: str, *, limit: int = MAX_FILE_BYTES) -> bytes:
        """Raises ConfigurationError: absent, not a regular file, outside, or larger than `limit`."""
        ...

    def read_chunks(self, path: str) -> Iterator[bytes]:
        """The bytes of a file of any size, in pieces of at most 1 MiB that need not end at a line.

        Data sets are read this way, so that memory does not grow with them. Path rules and errors are
        those of `read_bytes`, raised at the first piece; the file is closed when the iterator is.
        """
        ...

    def is_file(self, path: str) -> bool: ...

    def is_directory(self, path: str) -> bool: ...

    def list_files(self, path: str) -> tuple[str, ...]:
        """Every file below a directory, recursively, sorted; hidden directories and links to directories are left out.

        A link to a file is listed unless that file is; where it leads outside, reading it says so.
        """
        ...
