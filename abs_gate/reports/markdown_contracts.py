"""Markdown of contract changes and lint findings: what broke, for whom, the call that shows it, what to do."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING

from abs_gate.gate.lint_policy import lint_gates
from abs_gate.reports.advice import (
    ACTION_WORDS,
    CLASSIFICATION_WORDS,
    affected_text,
    clearing_steps,
    fix_of,
    notes_of,
    proof_text,
    versions_text,
    witness_title,
)
from abs_gate.reports.figures import count_of
from abs_gate.reports.markdown_text import Section, code, fence, sentence
from abs_gate.reports.markdown_words import ACTION_ICONS, SEVERITY_ICONS, Caps
from abs_gate.reports.schema_text import difference_of
from abs_gate.reports.selection import Action, action_of, changes_with, place_of, sort_lint

if TYPE_CHECKING:
    from abs_gate.gate.result import ChangeRecord, FindingRecord, ResultDocument, ToolDiffRecord


def contract_sections(document: ResultDocument, caps: Caps) -> Iterator[Section]:
    """Contract changes that block or need review, the others collapsed, then lint."""
    contracts = document["contracts"]
    if contracts is None:
        return
    if error := contracts.get("error"):
        yield Section(head=f"### Tool contracts\n\n❓ They could not be compared: {sentence(error, 500)}")
    base = f", compared with {sentence(contracts['base'], 120)}" if contracts["base"] else ""
    urgent = changes_with(document, ["block", "review"])
    if urgent:
        yield Section(
            head=f"### Contract changes{base}",
            rows=[render_change(tool, change) for tool, change in urgent[: caps.full_changes]],
            separator="\n\n",
            noun="contract change",
        )
    if len(urgent) > caps.full_changes:
        yield Section(
            head="#### More changes that block or need review\n",
            rows=[_short_row(tool, change) for tool, change in urgent[caps.full_changes : caps.changes]],
            noun="contract change",
            left=max(len(urgent) - caps.changes, 0),
        )
    if steps := clearing_steps(contracts["tools"]):
        yield Section(head="\n\n".join(steps))
    calm: tuple[Action, ...] = ("acknowledged", "cleared", "note", "ignore")
    other = changes_with(document, calm)
    if other:
        yield Section(
            head=f"<details><summary>{count_of(len(other), 'contract change')} that "
            f"{'needs' if len(other) == 1 else 'need'} nothing now</summary>\n",
            rows=[_short_row(tool, change) for tool, change in other[: caps.changes]],
            tail="</details>",
            noun="contract change",
            left=max(len(other) - caps.changes, 0),
        )
    yield from _lint_sections(document, caps)


def render_change(tool: ToolDiffRecord, change: ChangeRecord) -> str:
    """A change in full: what, where, before and after, the call that shows it, who is affected, what to do."""
    action = action_of(change)
    versions = versions_text(tool, code)
    place = place_of(change["file"], change["line"])
    parts = [
        f"{ACTION_ICONS[action]} **{code(tool['tool_id'])}**{f' ({versions})' if versions else ''} "
        f"{code(change['path'])} {code(change['kind'], 80)}: {CLASSIFICATION_WORDS[change['classification']]}, "
        f"**{ACTION_WORDS[action]}**{f', at {code(place)}' if place else ''}"
    ]
    if change["message"]:
        parts.append(sentence(change["message"], 2_000))
    if difference := difference_of(change):
        is_short = len(difference) == 1 and len(difference[0]) <= 120
        parts.append(code(difference[0]) if is_short else fence("\n".join(difference)))
    if "witness" in change:
        witness = json.dumps(change["witness"], ensure_ascii=False, default=str)
        parts.append(f"{witness_title(change)}\n{fence(witness, 'json', 2000)}")
    elif change["proof"] == "not proven":
        parts.append(f"This is {proof_text(change)}.")
    if affected := affected_text(change, code):
        parts.append(f"**Affects** {affected}.")
    if fix := fix_of(change):
        parts.append(f"**What to do:** {fix}")
    parts += [sentence(note, 600) for note in notes_of(change)]
    return "\n\n".join(parts)


def _short_row(tool: ToolDiffRecord, change: ChangeRecord) -> str:
    action = action_of(change)
    message = f": {sentence(change['message'], 300)}" if change["message"] else ""
    cleared = tool.get("cleared")
    why = f" ({code(cleared, 200)})" if action == "cleared" and cleared else ""
    return (
        f"- {ACTION_ICONS[action]} {code(tool['tool_id'])} {code(change['path'])} {code(change['kind'], 80)}, "
        f"{CLASSIFICATION_WORDS[change['classification']]}, {ACTION_WORDS[action]}{why}{message}"
    )


def _lint_sections(document: ResultDocument, caps: Caps) -> Iterator[Section]:
    contracts = document["contracts"]
    if contracts is None:
        return
    findings = sort_lint(contracts["lint"])
    errors = [finding for finding in findings if lint_gates(contracts, finding)]
    others = [finding for finding in findings if not lint_gates(contracts, finding)]
    title = count_of(len(others), "contract lint finding that does not gate", "contract lint findings that do not gate")
    if errors:
        yield Section(
            head="### Contract lint\n",
            rows=[_lint_row(finding) for finding in errors[: caps.lint]],
            noun="lint finding",
            left=max(len(errors) - caps.lint, 0),
        )
    if others:
        yield Section(
            head=f"<details><summary>{title}</summary>\n",
            rows=[_lint_row(finding) for finding in others[: caps.lint]],
            tail="</details>",
            noun="lint finding",
            left=max(len(others) - caps.lint, 0),
        )


def _lint_row(finding: FindingRecord) -> str:
    icon = SEVERITY_ICONS[finding["severity"]]
    place = place_of(finding["file"], finding["line"])
    where = f" at {code(place)}" if place else ""
    subject = f" {code(finding['subject'], 80)}" if finding["subject"] else ""
    hint = f" To do: {sentence(finding['hint'], 300)}" if finding["hint"] else ""
    return f"- {icon} {code(finding['rule'], 80)}{subject}{where}: {sentence(finding['message'], 400)}{hint}"
