"""Where a path given on the command line is read from."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct

from abs_gate.errors import ConfigurationError
from abs_gate.sources.workspace import Workspace
from abs_gate.vcs.worktree import WorkTree


class Place(Struct, frozen=True):
    """A tree of files and the path in it that was named."""

    workspace: Workspace
    path: str


def here() -> WorkTree:
    """The directory the command was started in: the workspace of everything that files name."""
    return WorkTree(Path.cwd())


def open_path(path: str) -> Place:
    """A file or directory named on the command line.

    What the user types may lie anywhere; what files then name stays inside the directory they lie in.
    """
    real = Path(os.path.realpath(path))  # a link that leads to itself stays what it is
    root = Path.cwd().resolve()
    if real.is_relative_to(root):
        return Place(here(), real.relative_to(root).as_posix())
    if real.is_dir():
        return Place(WorkTree(real), ".")
    return Place(WorkTree(real.parent), real.name)


def common_workspace(paths: Sequence[str]) -> tuple[WorkTree, tuple[str, ...]]:
    """One workspace that holds everything named on the command line, with the paths in it.

    It is the directory the command was started in where that holds them all, else the nearest one above them.
    """
    root = Path.cwd().resolve()
    real = [Path(os.path.realpath(path)) for path in paths]
    if not all(path.is_relative_to(root) for path in real):
        above = [path if path.is_dir() else path.parent for path in real]
        root = Path(os.path.commonpath(above))
    return WorkTree(root), tuple(path.relative_to(root).as_posix() for path in real)


def output_path(path: str, *, anywhere: bool, given: str | None = None) -> Path:
    """Where a report is written. In a workflow it may not leave the workspace: a pull request's file may name it.

    Args:
        path: Where the report should lie.
        anywhere: Whether the user's own machine is written to.
        given: A directory that the command line named, which a pull request does not write: it may lie anywhere.
    """
    if anywhere or (given is not None and Path(path).is_relative_to(given) and ".." not in Path(path).parts):
        return Path(os.path.realpath(path))
    return here().output_path(path)


def open_path_or_revision(text: str) -> Place:
    """A file, a directory, or `REVISION:PATH` in the git repository here.

    Raises:
        ConfigurationError: it is none of these.
        BaseUnavailable: the revision cannot be read.
    """
    if os.path.lexists(text) or ":" not in text:
        if not os.path.lexists(text):
            raise ConfigurationError(
                f"{text}: there is no such file or directory.",
                hint="To read from git, write REVISION:PATH, for example main:contracts.",
            )
        return open_path(text)
    from abs_gate.vcs.base import BaseSources, resolve_base  # git is only needed here
    from abs_gate.vcs.git import Git

    worktree = here()
    base = resolve_base(text, BaseSources(worktree=worktree, git=Git.find(worktree.root)))
    return Place(base.workspace, (base.paths or (".",))[0])
