"""`abs-gate merge`: merge the results of shards and decide once."""

from __future__ import annotations

import click

from abs_gate.cli.options import common


@click.command()
@click.argument("results", nargs=-1, required=True, metavar="RESULT.json...", type=click.Path(dir_okay=False))
@click.option(
    "-o", "--output", "directory", required=True, type=click.Path(file_okay=False), help="Where reports are written."
)
@common
def command(results: tuple[str, ...], directory: str, quiet: bool, no_color: bool, debug: bool) -> int:
    """Merge the RESULTs of all shards of one run, decide over all of them, and write every report."""
    from abs_gate.cli.gate import finish_merged
    from abs_gate.cli.results import read_result
    from abs_gate.gate.merge import merge_results

    merged = merge_results([(path, read_result(path)) for path in results])
    return finish_merged(merged, directory, quiet=quiet, no_color=no_color)
