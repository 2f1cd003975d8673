"""Names of files below a workspace root, and how one is refused."""

from __future__ import annotations

import os
import posixpath
from pathlib import Path
from typing import NoReturn

from abs_gate.errors import ConfigurationError
from abs_gate.findings import Finding, Location, Severity

CHUNK_BYTES = 1024 * 1024
"""Largest piece a workspace's `read_chunks` hands over."""

MAX_SHOWN = 500
"""Most characters of a path that a message repeats."""


def inside(path: str, root: Path | None = None) -> str:
    """The path as a name below the root: POSIX, `.` and `..` resolved in the text, `.` for the root itself.

    Args:
        path: Relative to the root, or absolute inside it.
        root: The root that absolute paths are below; without it they are refused.

    Raises:
        ConfigurationError: it ends outside, or holds a NUL character.
    """
    if "\0" in path:
        refuse(path, "path-outside-workspace", "holds a NUL character.")
    name = path.replace(os.sep, "/")
    if posixpath.isabs(name):
        if root is None or not Path(posixpath.normpath(name)).is_relative_to(root):
            refuse(path, "path-outside-workspace", "leads outside the workspace, and paths have to stay in it.")
        name = Path(posixpath.normpath(name)).relative_to(root).as_posix()
    name = posixpath.normpath(name)
    if name == ".." or name.startswith("../"):
        refuse(path, "path-outside-workspace", "leads outside the workspace, and paths have to stay in it.")
    return name


def shown(path: str) -> str:
    """The path as text that can always be printed, cut where it is absurdly long."""
    text = os.fsencode(path).decode("utf-8", "backslashreplace").replace("\0", "\\0")
    return text if len(text) <= MAX_SHOWN else f"{text[:MAX_SHOWN]}..."


def refuse(path: str, rule: str, message: str, hint: str = "") -> NoReturn:
    """Raise ConfigurationError with one located finding about the path."""
    name = shown(path)
    finding = Finding(
        rule=rule,
        severity=Severity.ERROR,
        message=f"`{name}` {message}",
        location=Location(file=name),
        subject=name,
        hint=hint,
    )
    raise ConfigurationError(findings=[finding])
