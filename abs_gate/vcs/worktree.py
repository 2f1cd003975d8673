"""Files on disk below one root: the head of a comparison, and everything a run is configured with.

Owns what "inside the workspace" means on disk. A pull request decides what lies there, so a name is
never trusted: links are resolved before the bounds are checked, only regular files are opened, and
nothing is read past its limit.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, NoReturn

from abs_gate.sources.workspace import MAX_FILE_BYTES
from abs_gate.vcs.lfs import is_lfs_pointer
from abs_gate.vcs.paths import CHUNK_BYTES, refuse, shown

MAX_LISTED_FILES = 100_000
"""Most files one listing may hold; far past any set of sessions or contracts."""

_OPEN_FLAGS = os.O_RDONLY | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOFOLLOW", 0)
# O_NONBLOCK: opening a FIFO would otherwise wait for a writer. O_NOFOLLOW: the path is already resolved, so a
# link standing there now was swapped in after the check.


class WorkTree:
    """The `Workspace` on disk. Paths are POSIX, relative to the root; absolute ones inside it are accepted."""

    def __init__(self, root: str | os.PathLike[str]) -> None:
        self.root = Path(os.path.realpath(root))
        self._given_root = Path(os.path.abspath(root))  # noqa: PTH100 - resolve() would follow links

    def __repr__(self) -> str:
        return f"WorkTree({str(self.root)!r})"

    def relative(self, path: str) -> str:
        """The path as reports name it: POSIX, relative to the root, `.` for the root itself.

        Raises:
            ConfigurationError: it ends outside the root.
        """
        real = self._resolve(path)
        if not os.path.isabs(path):  # noqa: PTH117
            return _lexical(path)
        for root in (self._given_root, self.root):
            try:
                return Path(os.path.normpath(path)).relative_to(root).as_posix()
            except ValueError:
                continue
        return real.relative_to(self.root).as_posix()

    def read_bytes(self, path: str, *, limit: int = MAX_FILE_BYTES) -> bytes:
        with self._open(path) as file:
            data = file.read(limit + 1)
        if len(data) > limit:
            refuse(path, "file-too-large", f"is larger than {limit:,} bytes.", "Split it, or name a smaller file.")
        if is_lfs_pointer(data):
            refuse(
                path,
                "lfs-pointer",
                "is a Git LFS pointer, not the file itself.",
                "Set `lfs: true` on actions/checkout, or run `git lfs pull`.",
            )
        return data

    def read_chunks(self, path: str) -> Iterator[bytes]:
        with self._open(path) as file:
            while chunk := file.read(CHUNK_BYTES):
                yield chunk

    def is_file(self, path: str) -> bool:
        return stat.S_ISREG(_mode(self._resolve(path)))

    def is_directory(self, path: str) -> bool:
        return stat.S_ISDIR(_mode(self._resolve(path)))

    def list_files(self, path: str) -> tuple[str, ...]:
        top = self._resolve(path)
        if not stat.S_ISDIR(_mode(top)):
            refuse(path, "file-not-found", "is not a directory." if _mode(top) else "does not exist.")
        found: dict[Path, str] = {}
        links: list[tuple[str, Path]] = []
        pending, walked = [(self.relative(path), top)], set[Path]()
        while pending:
            name, start = pending.pop(0)
            for directory, below, files in os.walk(start, onerror=lambda error: _unreadable(path, error)):
                here = Path(directory)
                if here in walked:
                    below.clear()
                    continue
                walked.add(here)
                inside = here.relative_to(start).as_posix()
                below[:] = sorted(each for each in below if not each.startswith("."))
                for entry in (*below, *files):
                    mode = _mode(here / entry)
                    listed = "/".join(part for part in (name, inside, entry) if part != ".")
                    if stat.S_ISLNK(mode) and entry in below:
                        pending += self._followed(path, listed, here / entry)
                    elif stat.S_ISLNK(mode):
                        links.append((_checked_name(path, listed), Path(os.path.realpath(here / entry))))
                    elif stat.S_ISREG(mode):
                        found.setdefault(here / entry, _checked_name(path, listed))
                if len(found) > MAX_LISTED_FILES:
                    refuse(
                        path, "too-many-files", f"holds more than {MAX_LISTED_FILES:,} files.", "Name a smaller one."
                    )
        for listed, real in sorted(links):
            found.setdefault(real, listed)
        return tuple(sorted(found.values()))

    def _followed(self, path: str, listed: str, link: Path) -> list[tuple[str, Path]]:
        """The directory that a link leads to, with the name its files are listed under.

        One that leads outside is refused: what lies there would be silently missing. Only in the root itself, where
        build tools leave links to their output, it is passed over.
        """
        real = Path(os.path.realpath(link))
        if real.is_relative_to(self.root):
            return [] if ".git" in real.relative_to(self.root).parts else [(_checked_name(path, listed), real)]
        if "/" in listed:
            refuse(listed, "path-outside-workspace", "is a link that leads outside the workspace.", "Remove the link.")
        return []

    def output_path(self, path: str) -> Path:
        """Where a report may be written: inside the root, and not through a link to somewhere else.

        Raises:
            ConfigurationError: it ends outside the root, or a link or a special file stands there.
        """
        target = self._resolve(path)
        named = Path(os.path.join(self.root, path))  # noqa: PTH118
        mode = _mode(target)
        if named.is_symlink() or (mode and not stat.S_ISREG(mode) and not stat.S_ISDIR(mode)):
            refuse(path, "not-a-regular-file", "is a link or a special file.", "Remove it; a report is written there.")
        return target

    def _resolve(self, path: str) -> Path:
        if "\0" in path:
            refuse(path, "path-outside-workspace", "holds a NUL character.")
        real = Path(os.path.realpath(os.path.join(self.root, path)))  # noqa: PTH118 - an absolute path must win
        if not real.is_relative_to(self.root):
            refuse(
                path,
                "path-outside-workspace",
                "leads outside the workspace, and paths have to stay in it.",
                f"The workspace is {self.root}.",
            )
        return real

    def _open(self, path: str) -> BinaryIO:
        real = self._resolve(path)
        try:
            descriptor = os.open(real, _OPEN_FLAGS)
        except OSError as error:
            _unreadable(path, error)
        try:
            mode = os.fstat(descriptor).st_mode
            if stat.S_ISDIR(mode):
                refuse(path, "not-a-regular-file", "is a directory; a file is needed here.")
            if not stat.S_ISREG(mode):
                refuse(path, "not-a-regular-file", "is not a regular file.")
        except BaseException:
            os.close(descriptor)
            raise
        return os.fdopen(descriptor, "rb")


def _lexical(path: str) -> str:
    return Path(os.path.normpath(path)).as_posix()


def _mode(path: Path) -> int:
    """What is there, links not followed; 0 for nothing."""
    try:
        return path.lstat().st_mode
    except OSError:  # absent, or gone since it was listed
        return 0


def _checked_name(path: str, name: str) -> str:
    try:
        name.encode()
    except UnicodeEncodeError:
        refuse(path, "file-name-not-utf8", f"holds a file whose name is not UTF-8: `{shown(name)}`.", "Rename it.")
    return name


def _unreadable(path: str, error: OSError) -> NoReturn:
    if error.errno in (errno.ENOENT, errno.ENOTDIR):
        refuse(path, "file-not-found", "does not exist.")
    if error.errno in (errno.ELOOP, errno.ENXIO):
        refuse(path, "not-a-regular-file", "is not a regular file.")
    refuse(path, "file-unreadable", f"cannot be read: {error.strerror}.")
