"""Renderers from the result document to text. Pure: none reads, writes or posts anything.

`REPORTERS` is the one list of report formats; command-line choices and help come from it.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from msgspec import Struct

from abs_gate.reports.options import ReportOptions

if TYPE_CHECKING:
    from abs_gate.gate.result import ResultDocument

__all__ = ["REPORTERS", "ReportOptions", "Reporter"]


class Reporter(Struct, frozen=True, kw_only=True):
    """One report format."""

    module: str
    """The module of this package whose `render` makes it; imported on first use, so that commands start fast."""
    default_filename: str
    """What the file is called where nobody names one."""

    def render(self, document: ResultDocument, options: ReportOptions) -> str:
        """The report as text."""
        text: str = import_module(f"{__name__}.{self.module}").render(document, options)
        return text


REPORTERS: dict[str, Reporter] = {
    "text": Reporter(module="text", default_filename="report.txt"),
    "junit": Reporter(module="junit", default_filename="junit.xml"),
    "markdown": Reporter(module="markdown", default_filename="summary.md"),
    "html": Reporter(module="html", default_filename="report.html"),
    "json": Reporter(module="json_report", default_filename="result.json"),
    "sarif": Reporter(module="sarif", default_filename="contracts.sarif"),
}
