"""Renderers from the result document to text. Pure: none reads, writes or posts anything.

`REPORTERS` is the one list of report formats; command-line choices and help come from it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from abs_gate.gate.result import ResultDocument
from abs_gate.reports import html, json_report, junit, markdown, sarif, text
from abs_gate.reports.options import ReportOptions

__all__ = ["REPORTERS", "Render", "ReportOptions", "Reporter"]

Render: TypeAlias = Callable[[ResultDocument, ReportOptions], str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reporter:
    """One report format."""

    render: Render
    default_filename: str
    """What the file is called where nobody names one."""


REPORTERS: dict[str, Reporter] = {
    "text": Reporter(render=text.render, default_filename="report.txt"),
    "junit": Reporter(render=junit.render, default_filename="junit.xml"),
    "markdown": Reporter(render=markdown.render, default_filename="summary.md"),
    "html": Reporter(render=html.render, default_filename="report.html"),
    "json": Reporter(render=json_report.render, default_filename="result.json"),
    "sarif": Reporter(render=sarif.render, default_filename="contracts.sarif"),
}
