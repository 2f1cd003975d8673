"""What is shown of a run that ended before it had a result: wrong files or inputs, or something it could not do."""

from __future__ import annotations

from collections.abc import Sequence

from abs_gate.findings import Finding
from abs_gate.reports.annotations import PER_KIND, Annotation, render_command
from abs_gate.reports.comment import render_marker
from abs_gate.reports.figures import count_of
from abs_gate.reports.headline import title_without_result
from abs_gate.reports.markdown_text import Section, fit, sentence
from abs_gate.reports.untrusted import one_line

_LIMIT = 60_000
_MAX_ROWS = 200
_FOOTER = "<sub>Nothing was decided about this change: an earlier verdict does not hold for it.</sub>"


def render_no_result(findings: Sequence[Finding], exit_code: int) -> str:
    """The job summary: what is wrong, and where."""
    section = Section(
        head=f"## ⚠️ {title_without_result(exit_code)}\n",
        rows=[f"- {sentence(str(finding), 600)}" for finding in findings[:_MAX_ROWS]],
        noun="problem",
        left=max(len(findings) - _MAX_ROWS, 0),
    )
    return fit([section], _LIMIT, "the log", _FOOTER)


def render_no_result_comment(
    findings: Sequence[Finding], exit_code: int, *, key: str, sha: str, run_id: int, run_attempt: int
) -> str:
    """The same as a comment, marker first, which takes the place of an earlier run's."""
    marker = render_marker(key, sha, run_id, run_attempt, "none")
    return f"{marker}\n{render_no_result(findings, exit_code)}"


def render_no_result_annotations(findings: Sequence[Finding], exit_code: int, directory: str = "") -> str:
    """Workflow commands, one a line: what is wrong at its place, then how many more there are."""
    title = title_without_result(exit_code)
    shown = [
        Annotation(
            kind="error",
            title=title,
            message=one_line(f"{finding.message} {finding.hint}".strip(), 1500),
            file=finding.location.file if finding.location else None,
            line=finding.location.line if finding.location else None,
        )
        for finding in findings[:PER_KIND]
    ]
    if left := len(findings) - len(shown):
        message = f"Not shown here: {count_of(left, 'problem')}. The job summary has all."
        shown.append(Annotation(kind="notice", title="abs-gate", message=message))
    return "".join(f"{render_command(annotation, directory)}\n" for annotation in shown)
