"""`abs-gate run`: the whole gate."""

from __future__ import annotations

import click

from abs_gate.cli.options import Flags, common, report_format, settings_flags, watched


@click.command()
@click.option("-c", "--config", "config", metavar="FILE", help="Configuration file. Default: abs-gate.yaml.")
@settings_flags(without=("--config",))
@report_format("text", "json", "junit", "markdown", "html", "sarif")
@watched
@common
def command(
    config: str | None,
    flags: Flags,
    format_: str,
    output: str | None,
    watch: bool,
    quiet: bool,
    no_color: bool,
    debug: bool,
) -> int:
    """Run the whole gate: contracts, verification, sessions, one verdict, every report."""
    from abs_gate.cli.gate import Request, run
    from abs_gate.cli.watch import watch as run_and_watch

    play = run_and_watch if watch else run
    return play(Request(config=config, flags=flags, format=format_, output=output, quiet=quiet, no_color=no_color))
