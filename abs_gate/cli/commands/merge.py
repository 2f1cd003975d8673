"""`abs-gate merge`: merge the results of shards and decide once."""

from __future__ import annotations

import click

from abs_gate.cli.options import common


@click.command()
@click.argument("results", nargs=-1, required=True, metavar="RESULT.json...", type=click.Path(dir_okay=False))
@click.option(
    "-o", "--output", "directory", required=True, type=click.Path(file_okay=False), help="Where reports are written."
)
@click.option("--baseline", type=click.Path(dir_okay=False), help="Result to compare with.")
@common
def command(
    results: tuple[str, ...], directory: str, baseline: str | None, quiet: bool, no_color: bool, debug: bool
) -> int:
    """Merge the RESULTs of all shards of one run, decide over all of them, and write every report."""
    from abs_gate.cli.gate import merge

    return merge(results, {"--report-dir": directory, "--baseline": baseline}, quiet=quiet, no_color=no_color)
