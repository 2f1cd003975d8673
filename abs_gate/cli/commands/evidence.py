"""`abs-gate evidence`: the release checklist of a result."""

from __future__ import annotations

import click

from abs_gate.cli import output as out
from abs_gate.cli.options import common, report_format


@click.command()
@click.argument("result", type=click.Path(dir_okay=False))
@report_format("text", "json", "markdown")
@common
def command(result: str, format_: str, output: str | None, quiet: bool, no_color: bool, debug: bool) -> int:
    """Show the release checklist of RESULT; exit code 1 where an item is not met."""
    from abs_gate.cli.results import read_result
    from abs_gate.gate.evidence import is_complete
    from abs_gate.reports.evidence_text import render_evidence, render_evidence_json, render_evidence_markdown

    document = read_result(result)
    if format_ == "json":
        out.data(render_evidence_json(document), output)
    else:
        render = render_evidence_markdown if format_ == "markdown" else render_evidence
        out.data(render(document), output)
    return 0 if is_complete(document) else 1
