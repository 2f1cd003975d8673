"""Reads objects of a repository through two long-lived `git cat-file` processes, so that thousands cost no more.

One process answers what a name is, following links inside the commit; the other hands out content. Content is
only asked for once its size is known to be within the limit.
"""

from __future__ import annotations

import contextlib
import os
import select
import subprocess
import threading
import weakref
from collections.abc import Iterator
from typing import IO, cast

from msgspec import Struct

from abs_gate.vcs.git import TIMEOUT_S, Git, GitFailed


class GitObject(Struct, frozen=True, kw_only=True):
    """What a name stands for. `kind` is blob, tree, commit or tag."""

    oid: str
    kind: str
    size: int


class OutsideCommit(Exception):
    """A link in the commit leads out of it, nowhere, or round in circles."""


class ObjectReader:
    """Thread-safe reader of one repository's objects. Its processes start when first needed and end with it."""

    def __init__(self, git: Git) -> None:
        self._git = git
        self._lock = threading.Lock()
        self._processes: dict[str, subprocess.Popen[bytes]] = {}
        weakref.finalize(self, _end_all, self._processes)

    def look_up(self, name: str) -> GitObject | None:
        """What `<sha>:<path>` is, or None where it is not there.

        Raises:
            OutsideCommit: a link on the way leads outside the commit or nowhere.
            GitFailed: git failed or gave no answer in time.
        """
        if "\n" in name:
            return None
        with self._lock, self._process("--batch-check") as process:
            words = self._ask(process, name)
            if words[-1] == "missing":
                return None
            if words[0] in ("symlink", "dangling", "loop", "notdir"):
                _read_exactly(process, int(words[1]) + 1)
                if words[0] == "notdir":
                    return None
                raise OutsideCommit(name)
            if len(words) != 3:
                raise GitFailed(f"`git cat-file` gave an answer that is not one: {' '.join(words)[:120]}")
            return GitObject(oid=words[0], kind=words[1], size=int(words[2]))

    def read(self, oid: str) -> bytes:
        """The content of a blob.

        Raises:
            GitFailed: it is not here, or git gave no answer in time.
        """
        with self._lock, self._process("--batch") as process:
            words = self._ask(process, oid)
            if len(words) != 3:
                raise GitFailed(f"object {oid} is not here.")
            return _read_exactly(process, int(words[2]) + 1)[:-1]

    @contextlib.contextmanager
    def _process(self, mode: str) -> Iterator[subprocess.Popen[bytes]]:
        process = self._processes.get(mode)
        if process is None or process.poll() is not None:
            if process:
                _end(process)
            process = self._processes[mode] = self._start(mode)
        try:
            yield process
        except (OSError, EOFError) as error:
            process.kill()
            raise GitFailed("`git cat-file` ended, or gave no answer in time.") from error

    def _start(self, mode: str) -> subprocess.Popen[bytes]:
        follow = ("--follow-symlinks",) if mode == "--batch-check" else ()
        try:
            return subprocess.Popen(
                self._git.command("cat-file", mode, *follow),
                env=self._git.environment(),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
            )
        except FileNotFoundError as error:
            raise GitFailed("git is not installed.") from error

    def _ask(self, process: subprocess.Popen[bytes], name: str) -> list[str]:
        stdin = cast(IO[bytes], process.stdin)
        stdin.write(name.encode("utf-8", "surrogateescape") + b"\n")
        stdin.flush()
        _wait_for_answer(process)
        line = cast(IO[bytes], process.stdout).readline()
        if not line.endswith(b"\n"):
            raise EOFError
        return line.decode("utf-8", "surrogateescape").split()


def _wait_for_answer(process: subprocess.Popen[bytes]) -> None:
    """Raises TimeoutError where none begins in time. Nothing is buffered then: each answer is read to its end."""
    if os.name == "posix":
        poll = select.poll()
        poll.register(cast(IO[bytes], process.stdout), select.POLLIN)
        if not poll.poll(TIMEOUT_S * 1000):
            raise TimeoutError


def _read_exactly(process: subprocess.Popen[bytes], count: int) -> bytes:
    data = cast(IO[bytes], process.stdout).read(count)
    if len(data) != count:
        raise EOFError
    return data


def _end_all(processes: dict[str, subprocess.Popen[bytes]]) -> None:
    for process in processes.values():
        _end(process)


def _end(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    for pipe in (process.stdin, process.stdout):
        with contextlib.suppress(OSError):
            cast(IO[bytes], pipe).close()
    process.wait()
