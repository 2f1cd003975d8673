"""Files of a commit, read from git's objects: the base of a comparison. The work tree is never touched."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NoReturn

from msgspec import Struct

from abs_gate.errors import BaseUnavailable
from abs_gate.sources.workspace import MAX_FILE_BYTES
from abs_gate.vcs.git import Git, GitFailed
from abs_gate.vcs.lfs import is_lfs_pointer
from abs_gate.vcs.objects import GitObject, ObjectReader, OutsideCommit
from abs_gate.vcs.paths import CHUNK_BYTES, inside, refuse

_FILE_MODES = (b"100644", b"100755", b"100664")
_SUBMODULE_MODE = b"160000"
_LINK_MODE = b"120000"


class _Listed(Struct, frozen=True):
    oid: str
    size: int


class CommitTree:
    """The `Workspace` of one commit.

    Links are followed inside the commit, as on disk; submodules and Git LFS pointers are refused, because
    their files are not in the commit and reading nothing there would look like "nothing changed".
    """

    def __init__(self, git: Git, sha: str, *, prefix: str = "", root: Path | None = None) -> None:
        """Open a commit.

        Args:
            git: The repository.
            sha: Full hash of the commit, which is here with all its files.
            prefix: Where the workspace root lies in the repository, "" for the top.
            root: The work tree's root, so that absolute paths inside it mean the same here.
        """
        self.sha = sha
        self._git = git
        self._prefix = prefix.strip("/")
        self._root = root
        self._objects = ObjectReader(git)
        self._listed: dict[str, _Listed] = {}

    def __repr__(self) -> str:
        return f"CommitTree({self.sha[:12]!r}, prefix={self._prefix!r})"

    def read_bytes(self, path: str, *, limit: int = MAX_FILE_BYTES) -> bytes:
        name = inside(path, self._root)
        listed = self._listed.get(name) or self._blob(path, name)
        if listed.size > limit:
            refuse(path, "file-too-large", f"is larger than {limit:,} bytes at {self._place}.")
        try:
            data = self._objects.read(listed.oid)
        except GitFailed as error:
            raise BaseUnavailable(f"`{path}` cannot be read at {self._place}: {error}") from error
        if is_lfs_pointer(data):
            raise BaseUnavailable(
                f"`{path}` is a Git LFS pointer at {self._place}, so what it said there cannot be read.",
                hint="Give `base` a path to a copy of it, or keep contracts out of Git LFS.",
            )
        return data

    def read_chunks(self, path: str) -> Iterator[bytes]:
        data = self.read_bytes(path, limit=sys.maxsize)
        for start in range(0, len(data), CHUNK_BYTES):
            yield data[start : start + CHUNK_BYTES]

    def is_file(self, path: str) -> bool:
        name = inside(path, self._root)
        return name in self._listed or self._kind(path, name) == "blob"

    def is_directory(self, path: str) -> bool:
        return self._kind(path, inside(path, self._root)) == "tree"

    def list_files(self, path: str) -> tuple[str, ...]:
        name = inside(path, self._root)
        found = self._look_up(path, name)
        if found is None or found.kind != "tree":
            refuse(path, "file-not-found", f"is not a directory at {self._place}.")
        names: list[str] = []
        oids: set[str] = set()
        links, trees = self._list_tree(name, found.oid, names, oids), {found.oid}
        while links:
            link = links.pop(0)
            target = self._target(link)
            if target is None or target.oid in oids | trees:
                continue
            if target.kind == "tree":
                trees.add(target.oid)
                links += self._list_tree(link, target.oid, names, oids)
            elif target.kind == "blob":
                oids.add(target.oid)
                names.append(link)
        return tuple(sorted(names))

    def _list_tree(self, name: str, oid: str, names: list[str], oids: set[str]) -> list[str]:
        """Add the files below a tree that is called `name`, unless they are known; gives the links in it."""
        known, links = frozenset(oids), list[str]()
        output = self._git.run("ls-tree", "-r", "-z", "--long", "--full-tree", "--end-of-options", oid)
        for entry in output.split(b"\0"):
            if not entry:
                continue
            facts, _, raw = entry.partition(b"\t")
            mode, _, blob, size = facts.split()
            below = raw.decode("utf-8", "backslashreplace")
            if any(part.startswith(".") for part in below.split("/")[:-1]):
                continue
            full = below if name == "." else f"{name}/{below}"
            if mode == _SUBMODULE_MODE:
                self._refuse_submodule(full)
            if mode in _FILE_MODES and blob.decode() not in known:
                if not size.isdigit():
                    raise self._missing(full)
                self._listed[full] = _Listed(blob.decode(), int(size))
                names.append(full)
                oids.add(blob.decode())
            if mode == _LINK_MODE:
                links.append(full)
        return links

    def _target(self, link: str) -> GitObject | None:
        """What a link leads to in the commit; None where it leads out of it or nowhere."""
        try:
            return self._objects.look_up(f"{self.sha}:{self._full(link)}")
        except OutsideCommit:
            return None

    @property
    def _place(self) -> str:
        return f"commit {self.sha[:12]}"

    def _blob(self, path: str, name: str) -> _Listed:
        found = self._look_up(path, name)
        if found is None:
            refuse(path, "file-not-found", f"does not exist at {self._place}.")
        if found.kind != "blob":
            refuse(path, "not-a-regular-file", f"is not a file at {self._place}.")
        return _Listed(found.oid, found.size)

    def _kind(self, path: str, name: str) -> str | None:
        found = self._look_up(path, name)
        return found.kind if found else None

    def _look_up(self, path: str, name: str) -> GitObject | None:
        full = self._full(name)
        try:
            found = self._objects.look_up(f"{self.sha}:{full}")
        except OutsideCommit:
            refuse(path, "path-outside-workspace", f"is a link that leads outside the repository at {self._place}.")
        if found is None and full:
            self._check_absent(full)
        return found

    def _full(self, name: str) -> str:
        return "/".join(part for part in (self._prefix, name) if part and part != ".")

    def _check_absent(self, full: str) -> None:
        """Refuse what the commit has and this clone has not: files of a submodule, objects that were left out."""
        parts = full.split("/")
        above = ["/".join(parts[: count + 1]) for count in range(len(parts))]
        names = [name for name in above if "\0" not in name]
        output = self._git.run("ls-tree", "-z", "--full-tree", "--end-of-options", self.sha, "--", *names)
        for entry in output.split(b"\0"):
            mode, name = entry[:6], entry.partition(b"\t")[2].decode("utf-8", "surrogateescape")
            if mode == _SUBMODULE_MODE:
                self._refuse_submodule(name)
            if mode in _FILE_MODES and name == full:
                raise self._missing(name)

    def _missing(self, name: str) -> BaseUnavailable:
        return BaseUnavailable(
            f"`{name}` of {self._place} is not in this clone, which left objects out.",
            hint="Clone without `filter:`, or fetch the commit whole.",
        )

    def _refuse_submodule(self, name: str) -> NoReturn:
        raise BaseUnavailable(
            f"`{name}` is a git submodule at {self._place}; its files are in another repository and are not read.",
            hint="Give `base` a path to a copy of them.",
        )
