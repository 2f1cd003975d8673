"""`abs-gate lint`: faults of tool contracts, and what model providers would refuse."""

from __future__ import annotations

import click

from abs_gate.cli import output as out
from abs_gate.cli.options import common, report_format


@click.command()
@click.argument("paths", nargs=-1, required=True, metavar="PATH...")
@click.option(
    "--provider",
    "providers",
    multiple=True,
    metavar="PROFILE",
    help="Lint for openai, openai-strict, anthropic, anthropic-strict, gemini, mcp or cross too; may be repeated.",
)
@click.option(
    "--fail-on",
    type=click.Choice(("error", "warning", "info", "none")),
    default="error",
    show_default=True,
    help="Lowest severity that ends in exit code 1.",
)
@report_format("text", "json", "sarif")
@common
def command(
    paths: tuple[str, ...],
    providers: tuple[str, ...],
    fail_on: str,
    format_: str,
    output: str | None,
    quiet: bool,
    no_color: bool,
    debug: bool,
) -> int:
    """Look for faults in the tool contracts at each PATH."""
    from abs_gate.app.contracts import load_places
    from abs_gate.cli.places import open_path
    from abs_gate.contracts.lint import lint_set
    from abs_gate.gate.records import finding_record
    from abs_gate.reports.contracts_text import render_lint
    from abs_gate.reports.json_report import json_text
    from abs_gate.reports.options import ReportOptions
    from abs_gate.reports.sarif import render_findings_sarif

    places = [open_path(path) for path in paths]
    contracts = load_places([(place.workspace, place.path) for place in places])
    findings = lint_set(contracts, base=None, providers=providers)
    records = [finding_record(finding) for finding in findings]
    if format_ == "json":
        text = json_text(records)
    elif format_ == "sarif":
        text = render_findings_sarif(records)
    else:
        options = ReportOptions(color=out.wants_color(no_color) and not output, width=out.width())
        text = render_lint(records, options, tools=len(contracts.tools))
    out.data(text, output)
    order = ("error", "warning", "info")
    failing = order[: order.index(fail_on) + 1] if fail_on != "none" else ()
    return 1 if any(finding.severity in failing for finding in findings) else 0
