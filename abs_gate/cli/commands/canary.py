"""`abs-gate canary`: compare execution records of a baseline and a candidate."""

from __future__ import annotations

import click

from abs_gate.cli import output as out
from abs_gate.cli.options import common, report_format


@click.command()
@click.option("--baseline", required=True, type=click.Path(dir_okay=False), help="Records under the old contracts.")
@click.option("--candidate", required=True, type=click.Path(dir_okay=False), help="Records under the new contracts.")
@click.option("-c", "--config", metavar="FILE", help="Configuration with canary:. Default: abs-gate.yaml.")
@report_format("text", "json", "markdown")
@common
def command(
    baseline: str,
    candidate: str,
    config: str | None,
    format_: str,
    output: str | None,
    quiet: bool,
    no_color: bool,
    debug: bool,
) -> int:
    """Compare what an agent did under two versions of its tool contracts.

    Exit code 0: continue. 1: roll back. 3: hold, as the records do not show enough. Records are JSON Lines or
    OpenTelemetry GenAI spans.
    """
    from abs_gate.cli.places import here
    from abs_gate.cli.results import read_text
    from abs_gate.cli.wiring import environment
    from abs_gate.gate.canary.compare import compare_canary
    from abs_gate.gate.canary.read import read_execution_records
    from abs_gate.reports.canary_text import render_canary, render_canary_markdown
    from abs_gate.reports.json_report import json_text
    from abs_gate.reports.options import ReportOptions
    from abs_gate.settings.load import load_settings

    settings = load_settings(here(), config, environ=environment(), resolve_secrets=False)
    before, after = (
        read_execution_records(read_text(path, "file of execution records"), path) for path in (baseline, candidate)
    )
    document = compare_canary(before, after, settings.canary)
    if format_ == "json":
        text = json_text(document)
    elif format_ == "markdown":
        text = render_canary_markdown(document)
    else:
        color = out.wants_color(no_color) and not output
        text = render_canary(document, ReportOptions(color=color, width=out.width(), quiet=quiet))
    out.data(text, output)
    return document["exit_code"]
