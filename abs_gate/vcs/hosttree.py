"""Files of a commit as its code host serves them, one request a file: the last resort for a base."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Protocol

from abs_gate.errors import BaseUnavailable
from abs_gate.sources.workspace import MAX_FILE_BYTES
from abs_gate.vcs.lfs import is_lfs_pointer
from abs_gate.vcs.paths import inside, refuse

MAX_DIRECTORY_ENTRIES = 1000
"""GitHub leaves out what a directory holds beyond this, without a word."""

MAX_FILES = 500
"""Most files read one by one; a job's token has 1,000 requests an hour."""


class HostedEntry(Protocol):
    """A file or directory as the host describes it; `github.contents.HostedEntry` is one."""

    @property
    def kind(self) -> str:
        """`file`, `dir`, `symlink` or `submodule`."""

    @property
    def name(self) -> str: ...

    @property
    def size(self) -> int: ...

    @property
    def content(self) -> bytes | None: ...


class HostedFiles(Protocol):
    """How files are asked for. Raises BaseUnavailable where the host refuses or cannot be reached."""

    def look_up(self, path: str, sha: str) -> HostedEntry | Sequence[HostedEntry] | None:
        """A file, a directory's entries, or None where the commit has nothing there."""

    def read_file(self, path: str, sha: str) -> bytes: ...


class HostTree:
    """The `Workspace` of one commit over the network.

    Links to anything but a file, submodules and directories larger than the host lists are refused, because reading
    nothing there would look like "nothing changed".
    """

    def __init__(self, files: HostedFiles, sha: str, *, prefix: str = "", root: Path | None = None) -> None:
        self._files = files
        self._sha = sha
        self._prefix = prefix.strip("/")
        self._root = root
        self._known: dict[str, HostedEntry | Sequence[HostedEntry] | None] = {}
        self._read = 0

    def read_bytes(self, path: str, *, limit: int = MAX_FILE_BYTES) -> bytes:
        name = inside(path, self._root)
        found = self._look_up(name)
        if found is None or isinstance(found, Sequence):
            refuse(path, "file-not-found", f"is not a file at {self._place}.")
        if found.size > limit:
            refuse(path, "file-too-large", f"is larger than {limit:,} bytes at {self._place}.")
        self._read += 1
        if self._read > MAX_FILES:
            raise BaseUnavailable(f"the base has more than {MAX_FILES} files, too many to read one by one.")
        data = found.content if found.content is not None else self._files.read_file(self._full(name), self._sha)
        if len(data) > limit:
            refuse(path, "file-too-large", f"is larger than {limit:,} bytes at {self._place}.")
        if is_lfs_pointer(data):
            raise BaseUnavailable(f"`{path}` is a Git LFS pointer at {self._place}; its content is not in git.")
        return data

    def read_chunks(self, path: str) -> Iterator[bytes]:
        yield self.read_bytes(path)

    def is_file(self, path: str) -> bool:
        found = self._look_up(inside(path, self._root))
        return found is not None and not isinstance(found, Sequence)

    def is_directory(self, path: str) -> bool:
        return isinstance(self._look_up(inside(path, self._root)), Sequence)

    def list_files(self, path: str) -> tuple[str, ...]:
        name = inside(path, self._root)
        if not isinstance(self._look_up(name), Sequence):
            refuse(path, "file-not-found", f"is not a directory at {self._place}.")
        return tuple(sorted(self._below(name)))

    @property
    def _place(self) -> str:
        return f"commit {self._sha[:12]}"

    def _below(self, name: str) -> Iterator[str]:
        entries = self._look_up(name)
        for entry in entries if isinstance(entries, Sequence) else ():
            below = entry.name if name == "." else f"{name}/{entry.name}"
            if entry.kind == "file":
                self._known[below] = entry
                yield below
            elif entry.kind == "symlink":
                if self._look_up(below) is None:  # the host follows a link to a file, and any other is refused
                    raise self._refused(below, entry)
                yield below
            elif entry.kind == "submodule":
                raise self._refused(below, entry)
            elif entry.kind == "dir" and not entry.name.startswith("."):
                yield from self._below(below)

    def _look_up(self, name: str) -> HostedEntry | Sequence[HostedEntry] | None:
        if name in self._known:
            return self._known[name]
        found = self._files.look_up(self._full(name), self._sha)
        if isinstance(found, Sequence):
            if len(found) >= MAX_DIRECTORY_ENTRIES:
                raise BaseUnavailable(f"`{name}` holds more files than GitHub's contents API lists.")
        elif found is not None and found.kind != "file":
            raise self._refused(name, found)
        elif found is None and "/" in name:
            self._look_up(posixpath.dirname(name))  # what lies in a submodule or behind a link is not "absent"
        self._known[name] = found
        return found

    def _refused(self, name: str, entry: HostedEntry) -> BaseUnavailable:
        return BaseUnavailable(f"`{name}` is a {entry.kind} at {self._place}, which GitHub's contents API cannot read.")

    def _full(self, name: str) -> str:
        return "/".join(part for part in (self._prefix, name) if part and part != ".")
