"""`abs-gate run`: the whole gate."""

from __future__ import annotations

import click

from abs_gate.cli.options import Flags, common, report_format, settings_flags


@click.command()
@click.option("-c", "--config", "config", metavar="FILE", help="Configuration file. Default: abs-gate.yaml.")
@settings_flags(without=("--config",))
@report_format("text", "json", "junit", "markdown", "html", "sarif")
@common
def command(
    config: str | None, flags: Flags, format_: str, output: str | None, quiet: bool, no_color: bool, debug: bool
) -> int:
    """Run the whole gate: contracts, verification, sessions, one verdict, every report."""
    from abs_gate.cli.gate import Request, run

    return run(Request(config=config, flags=flags, format=format_, output=output, quiet=quiet, no_color=no_color))
