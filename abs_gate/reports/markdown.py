"""The job summary: the whole result as GitHub Markdown, within the 1 MiB a summary may have."""

from __future__ import annotations

from abs_gate.gate.result import ResultDocument
from abs_gate.reports.markdown_contracts import contract_sections
from abs_gate.reports.markdown_failures import failure_sections
from abs_gate.reports.markdown_frame import footer, notice_sections, verdict_section
from abs_gate.reports.markdown_tables import session_sections, verification_sections
from abs_gate.reports.markdown_text import Section, fit
from abs_gate.reports.markdown_words import Caps
from abs_gate.reports.options import ReportOptions

SUMMARY_LIMIT = 1_000_000
"""GitHub drops a summary above 1,048,576 bytes whole; other steps' text in the same step file needs room too."""

_CAPS = Caps(
    reasons=50,
    failures=300,
    groups=30,
    changes=500,
    full_changes=50,
    lint=100,
    verification=200,
    sessions=1000,
    behaviors=2000,
    transcript=6000,
)


def render(document: ResultDocument, _options: ReportOptions) -> str:
    """The summary, worst first."""
    return fit(build_sections(document, _CAPS), SUMMARY_LIMIT, "the result file", footer(document))


def build_sections(document: ResultDocument, caps: Caps, extra: str = "") -> list[Section]:
    """Every section in order of importance. `extra` is our own Markdown under the headline."""
    return [
        verdict_section(document, caps, extra),
        *notice_sections(document),
        *failure_sections(document, caps),
        *contract_sections(document, caps),
        *verification_sections(document, caps),
        *session_sections(document, caps),
    ]
