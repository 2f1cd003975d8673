"""`abs-gate sessions`: only sessions against an agent."""

from __future__ import annotations

import click

from abs_gate.cli.options import Flags, common, report_format, settings_flags, watched


@click.command()
@click.argument("paths", nargs=-1, required=True, metavar="PATH...")
@click.option("-c", "--config", "config", metavar="FILE", help="Configuration file, if one is to be used.")
@settings_flags("agent.", "sessions.", "judges.", "budget.", "report.", "allow_commands")
@report_format("text", "json", "junit", "markdown", "html")
@watched
@common
def command(
    paths: tuple[str, ...],
    config: str | None,
    flags: Flags,
    format_: str,
    output: str | None,
    watch: bool,
    quiet: bool,
    no_color: bool,
    debug: bool,
) -> int:
    """Run the sessions at each PATH against an agent. Needs no configuration file."""
    from abs_gate.cli.gate import Request, run
    from abs_gate.cli.watch import watch as run_and_watch

    play = run_and_watch if watch else run
    return play(
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
