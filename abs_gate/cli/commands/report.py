"""`abs-gate report`: render a result again."""

from __future__ import annotations

import click

from abs_gate.cli import output as out
from abs_gate.cli.options import common

FORMATS = ("text", "junit", "markdown", "html", "json", "sarif")


@click.command()
@click.argument("result", type=click.Path(dir_okay=False))
@click.option(
    "--format", "format_", type=click.Choice(FORMATS), default="text", show_default=True, help="Form of the report."
)
@click.option("-o", "--output", type=click.Path(dir_okay=False), help="Write to a file.")
@common
def command(result: str, format_: str, output: str | None, quiet: bool, no_color: bool, debug: bool) -> int:
    """Render RESULT, a result.json of an earlier run, in another form. Exit code 0 whatever its verdict.

    Trial outcomes of other tools are read too: an object of task to its outcomes, as tau-bench publishes them.
    """
    from abs_gate.cli.results import read_result_or_outcomes
    from abs_gate.reports import REPORTERS
    from abs_gate.reports.options import ReportOptions

    document = read_result_or_outcomes(result)
    color = format_ == "text" and not output and out.wants_color(no_color)
    options = ReportOptions(color=color, width=out.width(), quiet=quiet)
    out.data(REPORTERS[format_].render(document, options), output)
    return 0
