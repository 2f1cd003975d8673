"""`abs-gate fingerprint`: one line a tool, the tool set last."""

from __future__ import annotations

import click

from abs_gate.cli import output as out
from abs_gate.cli.options import common


@click.command()
@click.argument("paths", nargs=-1, required=True, metavar="PATH...")
@common
def command(paths: tuple[str, ...], quiet: bool, no_color: bool, debug: bool) -> int:
    """Print the fingerprint, tool_id and version of every tool, and of the whole set on the last line."""
    from abs_gate.app.contracts import load_places
    from abs_gate.cli.places import open_path

    places = [open_path(path) for path in paths]
    contracts = load_places([(place.workspace, place.path) for place in places])
    for tool in sorted(contracts.tools, key=lambda tool: (tool.tool_id, str(tool.version))):
        version = "-" if tool.version is None else str(tool.version)
        out.data(f"{tool.fingerprint} {_one_word(tool.tool_id)} {_one_word(version)}")
    out.data(f"{contracts.fingerprint} tool-set {len(contracts.tools)}")
    return 0


def _one_word(text: str) -> str:
    """Names come from files: nothing in them may forge another line or column."""
    return "".join(c if c.isprintable() and not c.isspace() else "\N{REPLACEMENT CHARACTER}" for c in text) or "-"
