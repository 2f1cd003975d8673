"""Contract changes and lint findings for a person: what broke, for whom, the call that shows it, what to do."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from abs_gate.reports.advice import (
    ACTION_WORDS,
    CLASSIFICATION_WORDS,
    affected_text,
    clearing_steps,
    diff_summary,
    fix_of,
    notes_of,
    plain,
    proof_text,
    versions_text,
    witness_title,
)
from abs_gate.reports.figures import count_of
from abs_gate.reports.markdown_contracts import render_change
from abs_gate.reports.options import ReportOptions
from abs_gate.reports.schema_text import difference_of, json_text
from abs_gate.reports.selection import action_of, place_of, sort_changes, sort_lint, sort_tools
from abs_gate.reports.terminal import MIN_WIDTH, Paint, wrap
from abs_gate.reports.untrusted import one_line

if TYPE_CHECKING:
    from abs_gate.gate.result import ChangeRecord, FindingRecord, ToolDiffRecord

_COLORS = {"block": "red", "review": "yellow"}
_SEVERITY_COLORS = {"error": "red", "warning": "yellow", "info": "dim"}
_MAX_CHANGES = 50
_MAX_MESSAGE = 2_000
"""Characters of a sentence; the words that changed in a description are all in it."""


def render_diff(tools: Sequence[ToolDiffRecord], options: ReportOptions) -> str:
    """What `abs-gate diff` prints: worst tool first, then a line that sums up."""
    lines = list(render_changes(tools, options))
    return "\n".join([*lines, *([""] if lines else []), diff_summary(tools)]) + "\n"


def render_diff_markdown(tools: Sequence[ToolDiffRecord]) -> str:
    """What `abs-gate diff --format markdown` prints: every change in full, worst tool first."""
    changes = [(tool, change) for tool in sort_tools(tools) for change in sort_changes(tool["changes"])]
    rows = [render_change(tool, change) for tool, change in changes]
    return "\n\n".join(["## Contract changes", *rows, *clearing_steps(tools), diff_summary(tools)]) + "\n"


def render_changes(tools: Sequence[ToolDiffRecord], options: ReportOptions, *, indent: str = "") -> Iterator[str]:
    """Lines for every changed tool and each of its changes, worst first."""
    paint = Paint(enabled=options.color)
    width = max(options.width, MIN_WIDTH)
    shown = 0
    changed = sort_tools(tools)
    total = sum(len(tool["changes"]) for tool in changed)
    for number, tool in enumerate(changed):
        if number:
            yield ""
        yield from _tool_head(tool, width, paint, indent)
        for change in sort_changes(tool["changes"]):
            if shown >= _MAX_CHANGES and not options.verbose:
                break
            shown += 1
            yield from _change(change, width, paint, indent + "  ")
        if shown >= _MAX_CHANGES and not options.verbose and shown < total:
            yield f"{indent}and {count_of(total - shown, 'more change')} (--format json shows all)"
            break
    for step in clearing_steps(changed):
        yield ""
        yield from wrap(step, width, first=indent)


def _bare(text: str) -> str:
    return one_line(text, 40)


def _tool_head(tool: ToolDiffRecord, width: int, paint: Paint, indent: str) -> Iterator[str]:
    versions = versions_text(tool, _bare)
    head = f"{one_line(tool['tool_id'], 120)}{f' ({versions})' if versions else ''}: "
    first, *more = wrap(head + CLASSIFICATION_WORDS[tool["classification"]], width, first=indent, rest=indent + "  ")
    yield paint(first, "bold")
    yield from more
    if cleared := tool.get("cleared"):
        yield from wrap(one_line(cleared), width, first=f"{indent}  does not block: ")


def _change(change: ChangeRecord, width: int, paint: Paint, indent: str) -> Iterator[str]:
    action = action_of(change)
    word = ACTION_WORDS[action] if change.get("action") else CLASSIFICATION_WORDS[change["classification"]]
    head = f"{one_line(change['path'], 200)}  {one_line(change['kind'], 80)}  [{word}]"
    first, *more = wrap(head, width, first=indent, rest=indent + "  ")
    yield paint(first, *([_COLORS[action]] if action in _COLORS else []))
    yield from more
    inner = indent + "  "
    if change["message"]:
        yield from wrap(one_line(change["message"], _MAX_MESSAGE), width, first=inner)
    place = place_of(change["file"], change["line"])
    if place:
        yield from wrap(one_line(place), width, first=f"{inner}at        ")
    for line in difference_of(change):
        yield from wrap(line, width, first=f"{inner}changed   ")
    if affected := affected_text(change, plain):
        yield from wrap(one_line(affected), width, first=f"{inner}affects   ")
    if "witness" in change:
        yield from wrap(witness_title(change), width, first=inner)
        yield from wrap(json_text(change["witness"], 1000), width, first=inner + "  ")
    elif change["proof"] == "not proven":
        yield from wrap(proof_text(change), width, first=f"{inner}proof     ")
    if fix := fix_of(change):
        yield from wrap(one_line(fix, 600), width, first=f"{inner}to do     ")
    for note in notes_of(change):
        yield from wrap(one_line(note, 600), width, first=f"{inner}note      ")


def render_lint(findings: Sequence[FindingRecord], options: ReportOptions, *, tools: int) -> str:
    """What `abs-gate lint` prints: one finding after another, errors first, then how many of each in how many tools."""
    lines = list(render_lint_findings(findings, options))
    return "\n".join([*lines, *([""] if lines else []), _lint_summary(findings, tools)]) + "\n"


def _lint_summary(findings: Sequence[FindingRecord], tools: int) -> str:
    nouns = {"error": "error", "warning": "warning", "info": "note"}
    counts = {name: sum(1 for f in findings if f["severity"] == name) for name in nouns}
    parts = [count_of(number, nouns[name]) for name, number in counts.items() if number]
    return f"{count_of(tools, 'tool')} read: {', '.join(parts) or 'nothing to report'}."


def render_lint_findings(
    findings: Sequence[FindingRecord], options: ReportOptions, *, indent: str = ""
) -> Iterator[str]:
    """Lines for each finding: place, severity, rule, sentence, what to do."""
    paint = Paint(enabled=options.color)
    width = max(options.width, MIN_WIDTH)
    ordered = sort_lint(findings)
    shown = ordered if options.verbose else ordered[:_MAX_CHANGES]
    for finding in shown:
        place = finding["file"] or ""
        for part in (finding["line"], finding["column"]):
            place += f":{part}" if part is not None else ""
        severity = "note" if finding["severity"] == "info" else finding["severity"]
        lead = f"{place}: " if place else ""
        subject = f"{finding['subject']}: " if finding["subject"] else ""
        text = f"{lead}{severity} {finding['rule']}: {subject}{finding['message']}"
        first, *more = wrap(one_line(text, 800), width, first=indent, rest=indent + "    ")
        yield paint(first, _SEVERITY_COLORS[finding["severity"]])
        yield from more
        if finding["hint"]:
            yield from wrap(one_line(finding["hint"], 600), width, first=f"{indent}    to do: ")
    if len(shown) < len(ordered):
        yield f"{indent}and {count_of(len(ordered) - len(shown), 'more finding')} (--format json shows all)"
