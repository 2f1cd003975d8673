"""Which renderings are kept as golden files, and how each is made."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from abs_gate.contracts.rules import rule
from abs_gate.reports import REPORTERS, ReportOptions
from abs_gate.reports.annotations import render_annotations
from abs_gate.reports.comment import Marker, render_comment
from abs_gate.reports.contracts_text import render_diff, render_diff_markdown, render_lint
from abs_gate.reports.evidence_text import render_evidence, render_evidence_markdown
from abs_gate.reports.rules_text import render_rule

from .samples import SAMPLES

GOLDEN = Path(__file__).parent.parent / "golden"
_BEFORE = Marker(key="default", sha="0f0e0d0c0b0a", run_id=41, run_attempt=1, verdict="passed")


def golden_cases() -> dict[str, Callable[[], str]]:
    """File name to the function that renders it."""
    cases: dict[str, Callable[[], str]] = {}
    for sample in ("passed", "failed", "unverified", "cancelled", "empty", "other_failures", "hostile"):
        for name, reporter in REPORTERS.items():
            suffix = Path(reporter.default_filename).suffix
            cases[f"{name}/{sample}{suffix}"] = lambda r=reporter, s=sample: r.render(SAMPLES[s](), ReportOptions())
        cases[f"comment/{sample}.md"] = lambda s=sample: render_comment(
            SAMPLES[s](), sha="1a2b3c4d5e6f", run_id=42, previous=_BEFORE
        )
        cases[f"annotations/{sample}.txt"] = lambda s=sample: render_annotations(SAMPLES[s]())
    cases["comment/huge.md"] = lambda: render_comment(SAMPLES["huge"]())
    cases["text/failed-color.txt"] = lambda: REPORTERS["text"].render(SAMPLES["failed"](), ReportOptions(color=True))
    cases["text/failed-narrow.txt"] = lambda: REPORTERS["text"].render(SAMPLES["failed"](), ReportOptions(width=60))
    cases["text/failed-quiet.txt"] = lambda: REPORTERS["text"].render(SAMPLES["failed"](), ReportOptions(quiet=True))
    cases["text/failed-verbose.txt"] = lambda: REPORTERS["text"].render(
        SAMPLES["failed"](), ReportOptions(verbose=True)
    )
    contracts = SAMPLES["failed"]()["contracts"]
    assert contracts is not None
    cases["diff/failed.txt"] = lambda: render_diff(contracts["tools"], ReportOptions())
    cases["diff/failed.md"] = lambda: render_diff_markdown(contracts["tools"])
    cases["diff/nothing.txt"] = lambda: render_diff([], ReportOptions())
    cases["lint/failed.txt"] = lambda: render_lint(contracts["lint"], ReportOptions(), tools=21)
    cases["lint/nothing.txt"] = lambda: render_lint([], ReportOptions(), tools=3)
    cases["rules/optional_to_required.txt"] = lambda: render_rule(rule("optional_to_required"))
    cases["evidence/passed.txt"] = lambda: render_evidence(SAMPLES["passed"]())
    cases["evidence/failed.md"] = lambda: render_evidence_markdown(SAMPLES["failed"]())
    return cases
