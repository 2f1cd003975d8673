"""The rim's only writers: data to standard output or a file, everything else to standard error."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

import click

from abs_gate.errors import ConfigurationError


def in_actions() -> bool:
    """True where a GitHub runner scans what we print for workflow commands."""
    return os.environ.get("GITHUB_ACTIONS") == "true"


def _inert(text: str) -> str:
    if not in_actions():
        return text
    from abs_gate.reports.annotations import sanitise_log

    return sanitise_log(text)


def error(text: str) -> None:
    """One or more lines for a person, to standard error; what would move a terminal's cursor is shown instead."""
    from abs_gate.reports.untrusted import visible

    click.echo(_inert("\n".join(visible(line) for line in text.split("\n"))), err=True)


def data(text: str, path: str | None = None) -> None:
    """The command's result: to the file named by `-o`, else to standard output.

    A file appears whole or not at all: an interrupted write never leaves half a report.
    """
    if path and path != "-":
        write_file(Path(path), text)
        return
    click.echo(_inert(text), nl=not text.endswith("\n"))


def write_file(path: Path, text: str) -> None:
    """Write a report atomically; a device or pipe (/dev/null, /dev/stdout) is written to as it is.

    Raises:
        ConfigurationError: the place cannot be written.
    """
    try:
        if path.exists() and not path.is_file():
            path.write_text(text, encoding="utf-8", newline="\n")
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        partial = path.with_name(f".{path.name}.{os.getpid()}.partial")
        partial.write_text(text, encoding="utf-8", newline="\n")
        partial.replace(path)
    except OSError as problem:
        raise ConfigurationError(
            f"Cannot write {path}: {problem.strerror or problem}.", hint="Name a place that can be written."
        ) from problem


def check_writable(path: Path) -> None:
    """Stop before a long run whose report could not be written in the end.

    Raises:
        ConfigurationError: a directory stands there, or nothing can be written where it would lie.
    """
    above = next(parent for parent in path.absolute().parents if os.path.lexists(parent))
    problem = ""
    if path.is_dir():
        problem = "it is a directory"
    elif not above.is_dir():
        problem = f"{above} is not a directory"
    elif not os.access(path if path.exists() else above, os.W_OK):
        problem = "nothing can be written there"
    if problem:
        raise ConfigurationError(f"Cannot write {path}: {problem}.", hint="Name a place that can be written.")


def wants_color(no_color: bool) -> bool:
    """Colour only on a terminal, and never against NO_COLOR (no-color.org) or --no-color."""
    return sys.stdout.isatty() and not no_color and not os.environ.get("NO_COLOR")


def width() -> int:
    """Columns of the terminal, within what reads well."""
    return max(60, min(shutil.get_terminal_size((100, 24)).columns, 120))
