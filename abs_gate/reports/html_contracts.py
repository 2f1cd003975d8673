"""HTML of contract changes, each with before and after and the call that shows it, and of lint findings."""

from __future__ import annotations

import json

from abs_gate.findings import Json
from abs_gate.gate.lint_policy import lint_gates
from abs_gate.gate.result import ChangeRecord, ContractsRecord, FindingRecord, ToolDiffRecord
from abs_gate.reports.advice import (
    ACTION_WORDS,
    CLASSIFICATION_WORDS,
    affected_text,
    clearing_steps,
    fix_of,
    notes_of,
    plain,
    proof_text,
    versions_text,
    witness_title,
)
from abs_gate.reports.figures import count_of
from abs_gate.reports.html_text import badge, code, esc, esc_block, item, joined, prose, within
from abs_gate.reports.schema_text import describe_difference
from abs_gate.reports.selection import action_of, place_of, sort_changes, sort_lint, sort_tools

_TOOLS_BUDGET = 250_000
_TOOL_BUDGET = 80_000
_LINT_BUDGET = 60_000
_ACTION_OUTCOMES = {"block": "failed", "review": "unverified"}
_SEVERITY_OUTCOMES = {"error": "unverified", "warning": "unverified", "info": "skipped"}


def contracts_html(contracts: ContractsRecord) -> str:
    """The comparison with the base, tool by tool, then lint."""
    base = code(contracts["base"], 120) if contracts["base"] else "nothing"
    parts = [f'<p class="muted">Compared with {base}.</p>']
    if error := contracts.get("error"):
        parts.append(f'<p class="reason">The contracts could not be compared: {esc(error, 800)}</p>')
    changed = sort_tools(contracts["tools"])
    if not changed and not contracts.get("error") and contracts["base"]:
        parts.append("<p>No tool changed.</p>")
    cards, left = within(changed, _tool_card, _TOOLS_BUDGET)
    parts += cards
    if left:
        parts.append(f'<p class="muted">{count_of(left, "more changed tool")} in the result file.</p>')
    parts += [f'<p class="clearing">{prose(step)}</p>' for step in clearing_steps(contracts["tools"])]
    if findings := sort_lint(contracts["lint"]):
        rows, left = within(findings, lambda finding: _lint_row(contracts, finding), _LINT_BUDGET)
        more = f'<p class="muted">{count_of(left, "more finding")} in the result file.</p>' if left else ""
        parts.append(f'<h3 id="lint">Lint</h3><ul class="behaviors">{joined(rows)}</ul>{more}')
    return joined(parts)


def _tool_card(tool: ToolDiffRecord) -> str:
    changes = sort_changes(tool["changes"])
    worst = _ACTION_OUTCOMES.get(action_of(changes[0]), "tolerated")
    versions = versions_text(tool, lambda text: esc(text, 40))
    parts = [
        f"<h3>{badge(worst, CLASSIFICATION_WORDS[tool['classification']])} {code(tool['tool_id'], 160)}"
        f"{f' <span class=muted>{versions}</span>' if versions else ''}</h3>"
    ]
    if cleared := tool.get("cleared"):
        parts.append(f"<p>Does not block: {esc(cleared, 400)}</p>")
    shown, left = within(changes, _change_html, _TOOL_BUDGET)
    parts += shown
    if left:
        parts.append(f'<p class="muted">{count_of(left, "more change")} in the result file.</p>')
    return item("article", worst, joined(parts))


def _change_html(change: ChangeRecord) -> str:
    action = action_of(change)
    place = place_of(change["file"], change["line"])
    affected = affected_text(change, plain)
    parts = [
        f'<h4>{code(change["path"])} <span class="muted">{esc(change["kind"], 80)}</span> '
        f"{badge(_ACTION_OUTCOMES.get(action, 'tolerated'), ACTION_WORDS[action])}</h4>",
        f"<p>{prose(change['message'])}</p>" if change["message"] else "",
        _before_after(change["before"], change["after"]),
    ]
    if "witness" in change:
        parts.append(
            f'<p>{witness_title(change)}</p><pre class="witness">{esc_block(_pretty(change["witness"]), 3000)}</pre>'
        )
    elif change["proof"] == "not proven":
        parts.append(f"<p>This is {proof_text(change)}.</p>")
    parts.append(f"<p><b>Affects</b> {prose(affected)}.</p>" if affected else "")
    if fix := fix_of(change):
        parts.append(f'<p class="todo"><b>What to do:</b> {prose(fix)}</p>')
    parts += [f"<p>{prose(note, 600)}</p>" for note in notes_of(change)]
    parts.append(f'<p class="muted">At {code(place)}.</p>' if place else "")
    return f'<section class="change">{joined(filter(None, parts))}</section>'


def _before_after(before: Json, after: Json) -> str:
    """Both sides, and where they are objects the places in which they differ."""
    if before is None and after is None:
        return ""
    lines = describe_difference(before, after)
    listed = f'<ul class="difference">{"".join(f"<li><code>{esc(line, 500)}</code></li>" for line in lines)}</ul>'
    sides = "".join(
        f'<div class="side"><h5>{word}</h5><pre>{esc_block(_pretty(value), 2500) if value is not None else "(absent)"}'
        "</pre></div>"
        for word, value in (("Before", before), ("After", after))
    )
    both = f'<div class="sides">{sides}</div>'
    is_small = not isinstance(before, dict | list) and not isinstance(after, dict | list)
    return both if is_small else f"{listed}<details><summary>Before and after in full</summary>{both}</details>"


def _pretty(value: Json) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2, default=str)


def _lint_row(contracts: ContractsRecord, finding: FindingRecord) -> str:
    outcome = "failed" if lint_gates(contracts, finding) else _SEVERITY_OUTCOMES[finding["severity"]]
    word = "note" if finding["severity"] == "info" else finding["severity"]
    hint = f'<p class="todo"><b>What to do:</b> {prose(finding["hint"], 400)}</p>' if finding["hint"] else ""
    subject = f"{code(finding['subject'], 80)} " if finding["subject"] else ""
    body = (
        f"<div>{badge(outcome, word)} {subject}{esc(finding['rule'], 80)}"
        f'<span class="muted place">{esc(place_of(finding["file"], finding["line"]), 160)}</span></div>'
        f"<p>{prose(finding['message'])}</p>{hint}"
    )
    return item("li", outcome, body)
