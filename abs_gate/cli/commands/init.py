"""`abs-gate init`: a configuration, an example session, a contract and a workflow."""

from __future__ import annotations

from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path

import click

from abs_gate.cli import output as out
from abs_gate.cli.options import common
from abs_gate.errors import ConfigurationError

TEMPLATES = "abs_gate.cli.init_files"
PLACES = {"workflow.yml": ".github/workflows/abs-gate.yml"}
"""Templates that do not stand where they are written."""


@click.command()
@click.argument("directory", default=".", type=click.Path(file_okay=False))
@common
def command(directory: str, quiet: bool, no_color: bool, debug: bool) -> int:
    """Write first files into DIRECTORY; nothing that exists is ever written over."""
    root = Path(directory)
    files = dict(_templates(resources.files(TEMPLATES), ()))
    standing = [name for name in files if (root / name).exists()]
    for name, text in files.items():
        if name not in standing:
            _write_new(root / name, text)
            if not quiet:
                out.data(f"wrote    {name}")
        elif not quiet:
            out.data(f"exists   {name}")
    if not quiet:
        out.data("\nNext: set agent.url in abs-gate.yaml, then run `abs-gate validate` and `abs-gate run`.")
    return 0


def _templates(directory: Traversable, parents: tuple[str, ...]) -> list[tuple[str, str]]:
    """Path from the root to text."""
    found = []
    for entry in sorted(directory.iterdir(), key=lambda each: each.name):
        path = "/".join((*parents, entry.name))
        if entry.is_dir() and entry.name != "__pycache__":
            found += _templates(entry, (*parents, entry.name))
        elif entry.is_file() and not entry.name.endswith(".py"):
            found.append((PLACES.get(path, path), entry.read_text(encoding="utf-8")))
    return found


def _write_new(path: Path, text: str) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("x", encoding="utf-8", newline="\n") as file:
            file.write(text)
    except OSError as problem:
        raise ConfigurationError(f"Cannot write {path}: {problem.strerror or problem}.") from problem
