"""`abs-gate diff`: what changed between two versions of tool contracts, and whom it breaks."""

from __future__ import annotations

import datetime

import click

from abs_gate.cli import output as out
from abs_gate.cli.options import common, report_format
from abs_gate.errors import BaseUnavailable, ConfigurationError, PathNotThere

LEVELS = ("none", "compatible", "behavior_sensitive", "breaking", "safety_breaking")


@click.command()
@click.argument("base")
@click.argument("head")
@click.option(
    "--fail-on",
    type=click.Choice(LEVELS),
    default="breaking",
    show_default=True,
    help="Weakest classification that ends in exit code 1.",
)
@report_format("text", "json", "markdown", "sarif")
@common
def command(
    base: str,
    head: str,
    fail_on: str,
    format_: str,
    output: str | None,
    quiet: bool,
    no_color: bool,
    debug: bool,
) -> int:
    """Compare the tool contracts of BASE and HEAD.

    Each is a file, a directory, or REVISION:PATH in the git repository here, in any supported format.
    """
    from abs_gate.app.contracts import compare_places
    from abs_gate.cli.places import open_path_or_revision
    from abs_gate.contracts.records import to_record

    try:
        place = open_path_or_revision(base)
        old = (place.workspace, place.path)
    except PathNotThere:
        _refuse_slip(base, head)
        out.error(f"{base} does not exist at that revision: every tool of {head} is new.")
        old = None
    new = open_path_or_revision(head)
    today = datetime.datetime.now(datetime.UTC).date().isoformat()
    diffs = compare_places(old, (new.workspace, new.path), today=today)
    records = [to_record(diff) for diff in diffs]
    if format_ == "json":
        from abs_gate.reports.json_report import json_text

        text = json_text(records)
    elif format_ == "markdown":
        from abs_gate.reports.contracts_text import render_diff_markdown

        text = render_diff_markdown(records)
    elif format_ == "sarif":
        from abs_gate.reports.sarif import render_changes_sarif

        text = render_changes_sarif(records)
    else:
        from abs_gate.reports.contracts_text import render_diff
        from abs_gate.reports.options import ReportOptions

        color = out.wants_color(no_color) and not output
        text = render_diff(records, ReportOptions(color=color, width=out.width(), quiet=quiet))
    out.data(text, output)
    limit = LEVELS.index(fail_on)
    worst = max((LEVELS.index(d.classification) for d in diffs if _counts(d.classification, d.cleared)), default=0)
    return 1 if limit and worst >= limit else 0


def _refuse_slip(base: str, head: str) -> None:
    """A base that is not there is a slip where the revision has what HEAD names: all tools would be new, and pass.

    Raises:
        ConfigurationError: it has.
    """
    from abs_gate.cli.places import open_path_or_revision

    meant = f"{base.partition(':')[0]}:{head}"
    if ":" in head or meant == base:
        return
    try:
        open_path_or_revision(meant)
    except (ConfigurationError, BaseUnavailable):
        return
    raise ConfigurationError(f"{base} does not exist at that revision, and {meant} does.", hint=f"Name {meant}.")


def _counts(classification: str, cleared: bool) -> bool:
    return classification in LEVELS and not cleared
