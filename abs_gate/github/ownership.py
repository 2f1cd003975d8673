"""Gives what a container wrote as root to the owner of the workspace.

Files of root in a self-hosted runner's workspace make its next checkout fail.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from abs_gate.errors import DeliveryFailed


def give_to_workspace_owner(paths: Iterable[Path], workspace: Path) -> None:
    """Change the owner of files and directories, with all below them, to the workspace's own.

    Does nothing unless this process is root and the owner is someone else. Links are changed themselves and never
    followed; paths outside the workspace are left alone.

    Raises:
        DeliveryFailed: the owner of one could not be changed.
    """
    if os.name != "posix" or os.geteuid() != 0:
        return
    top = Path(os.path.realpath(workspace))
    owner = top.stat()
    if owner.st_uid == 0:
        return
    for path in paths:
        for item in _with_parents(path, top):
            try:
                os.chown(item, owner.st_uid, owner.st_gid, follow_symlinks=False)
            except OSError as error:
                raise DeliveryFailed(
                    f"`{item}` still belongs to root: {error.strerror}.",
                    hint="A self-hosted runner's next checkout may fail; remove it in a later step.",
                ) from error


def _with_parents(path: Path, top: Path) -> Iterator[Path]:
    """The path, all below it, and those directories between it and the workspace that root owns."""
    real = Path(os.path.realpath(path.parent)) / path.name
    if not real.is_relative_to(top) or real == top:
        return
    for parent in real.parents:
        if parent == top:
            break
        if parent.lstat().st_uid == 0:
            yield parent
    if not os.path.lexists(real):
        return
    yield real
    if real.is_dir() and not real.is_symlink():
        for directory, below, files in os.walk(real):
            for name in (*below, *files):
                yield Path(directory, name)
