"""`abs-gate sessions`: only sessions against an agent."""

from __future__ import annotations

import click

from abs_gate.cli.options import Flags, common, report_format, settings_flags


@click.command()
@click.argument("paths", nargs=-1, required=True, metavar="PATH...")
@click.option("-c", "--config", "config", metavar="FILE", help="Configuration file, if one is to be used.")
@settings_flags("agent.", "sessions.", "judges.", "budget.", "report.", "allow_commands")
@report_format("text", "json", "junit", "markdown", "html")
@common
def command(
    paths: tuple[str, ...],
    config: str | None,
    flags: Flags,
    format_: str,
    output: str | None,
    quiet: bool,
    no_color: bool,
    debug: bool,
) -> int:
    """Run the sessions at each PATH against an agent. Needs no configuration file."""
    from abs_gate.cli.gate import Request, run

    return run(
        Request(
            config=config,
            flags=flags,
            format=format_,
            output=output,
            quiet=quiet,
            no_color=no_color,
            session_paths=paths,
        )
    )
