"""The parts of the Markdown reports, built once for the job summary and for the comment."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass

from abs_gate.gate.result import (
    BehaviorRecord,
    ChangeRecord,
    FindingRecord,
    ResultDocument,
    SessionRecord,
    ToolDiffRecord,
    VerificationRecord,
)
from abs_gate.reports.advice import (
    ACTION_WORDS,
    CLASSIFICATION_WORDS,
    affected_text,
    next_step,
    proof_text,
    versions_text,
    witness_title,
)
from abs_gate.reports.figures import NO_RATE, count_of, duration_text, interval_text, percent, rate_of
from abs_gate.reports.grouping import FailureGroup, group_failures
from abs_gate.reports.headline import VERDICT_WORDS, headline
from abs_gate.reports.markdown_text import Section, cell, code, details, fence
from abs_gate.reports.schema_text import describe_difference
from abs_gate.reports.selection import (
    Action,
    BehaviorFailure,
    action_of,
    behaviors_of,
    changes_with,
    find_failures,
    place_of,
    sort_lint,
    sort_sessions,
    sort_verification,
)
from abs_gate.reports.transcript_text import step_text

ICONS = {
    "passed": "✅",
    "failed": "❌",
    "unverified": "❔",
    "inconclusive": "❔",
    "cancelled": "🛑",
    "skipped": "➖",
}
_ACTION_ICONS = {"block": "❌", "review": "👀", "acknowledged": "☑️", "cleared": "☑️", "note": "➖", "ignore": "➖"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Caps:
    """How many of each thing a page shows before it counts the rest."""

    reasons: int
    failures: int
    groups: int
    changes: int
    lint: int
    verification: int
    sessions: int
    behaviors: int
    transcript: int
    """Characters of one transcript."""


def verdict_section(document: ResultDocument, caps: Caps, extra: str = "") -> Section:
    """Title, headline, history and reasons."""
    verdict = document["verdict"]
    lines = [f"## {ICONS[verdict]} abs-gate {VERDICT_WORDS[verdict]}", "", f"**{_upper(headline(document))}.**"]
    if extra:
        lines += ["", extra]
    reasons = document["reasons"]
    return Section(
        head="\n".join(lines) + "\n",
        rows=[f"- {code(reason, 500)}" for reason in reasons[: caps.reasons]],
        noun="reason",
        left=max(len(reasons) - caps.reasons, 0),
    )


def _upper(text: str) -> str:
    return text[:1].upper() + text[1:]


def notice_sections(document: ResultDocument) -> Iterator[Section]:
    """What a reader must know besides: lowered thresholds, a budget that ran out."""
    notices = document["metadata"].get("notices", [])
    if notices:
        yield Section(
            head="### Notices\n",
            rows=[f"- ⚠️ {code(notice, 400)}" for notice in notices[:20]],
            noun="notice",
            left=max(len(notices) - 20, 0),
        )


def failure_sections(document: ResultDocument, caps: Caps) -> Iterator[Section]:
    """The behaviors that did not pass: a table, or causes when there are too many, then a closer look at each cause."""
    failures = find_failures(document)
    if not failures:
        return
    groups = group_failures(failures)
    if len(failures) <= caps.failures:
        yield Section(
            head=(
                "### What did not pass\n\n"
                "| | Behavior | Passed | 95 % interval | Session | Where |\n|---|---|---|---|---|---|"
            ),
            rows=[_failure_row(failure) for failure in failures],
            noun="behavior",
        )
    else:
        sessions = len({(failure.session["path"], failure.session["name"]) for failure in failures})
        yield Section(
            head=(
                f"### What did not pass\n\n{count_of(len(failures), 'behavior')} in {count_of(sessions, 'session')}, "
                f"for {count_of(len(groups), 'cause')}:\n\n"
                "| | Cause | Behaviors | Sessions | First seen |\n|---|---|---|---|---|"
            ),
            rows=[_group_row(group) for group in groups[: caps.failures]],
            noun="cause",
            left=max(len(groups) - caps.failures, 0),
        )
    yield Section(
        head="#### A closer look",
        rows=[_closer_look(number, group, caps) for number, group in enumerate(groups[: caps.groups], start=1)],
        separator="\n\n",
        noun="cause",
        left=max(len(groups) - caps.groups, 0),
    )


def _failure_row(failure: BehaviorFailure) -> str:
    behavior, session = failure.behavior, failure.session
    place = place_of(behavior["file"], behavior["line"])
    label = cell(behavior["label"], 120) + (" (session evaluation)" if failure.is_evaluation else "")
    return (
        f"| {_failure_icon(failure)} | {label} | {_passed(behavior)} | {interval_text(behavior['interval'])} "
        f"| {cell(session['name'], 80)}{_gating_note(failure)} | {cell(place)} |"
    )


def _failure_icon(failure: BehaviorFailure) -> str:
    if not failure.gates:
        return "⚠️"
    return ICONS["failed"] if failure.behavior["failed"] else ICONS["unverified"]


def _gating_note(failure: BehaviorFailure) -> str:
    if failure.session["quarantined"]:
        return " (quarantined)"
    if not failure.gates:
        return " (tolerated)"
    return " (critical)" if failure.session["critical"] else ""


def _passed(behavior: BehaviorRecord) -> str:
    verified = behavior["passed"] + behavior["failed"]
    parts = [rate_of(behavior["passed"], verified)] if verified else [NO_RATE]
    if behavior["unverified"]:
        parts.append(f"{behavior['unverified']:,} unverified")
    return ", ".join(parts)


def _group_row(group: FailureGroup) -> str:
    first = group.first
    place = place_of(first.behavior["file"], first.behavior["line"])
    return (
        f"| {_failure_icon(first)} | {cell(first.reason, 200)} | {len(group.failures):,} | {group.sessions:,} "
        f"| {cell(place)} |"
    )


def _closer_look(number: int, group: FailureGroup, caps: Caps) -> str:
    failure = group.first
    behavior, session = failure.behavior, failure.session
    parts = [
        f"**{number}.** {_failure_icon(failure)} {code(behavior['label'])} in {code(session['name'], 120)} "
        f"at {code(place_of(behavior['file'], behavior['line']))}"
    ]
    if failure.reason:
        parts.append(f"Because {code(failure.reason, 600)}")
    example = failure.example
    if example and example.mismatch:
        sides = [
            f"{word:<9}{text}"
            for word, text in (
                ("expected", example.mismatch["expected"]),
                ("observed", example.mismatch["observed"]),
            )
            if text
        ]
        if sides:
            parts.append(fence("\n".join(side[:800] for side in sides)))
    if example:
        parts.append(f"Seen in {example.place}{_variables(example.case['variables'])}.")
        if example.trial["transcript"]:
            steps = "\n".join(f"{step['index'] + 1}. {step_text(step)}" for step in example.trial["transcript"])
            title = f"Transcript of this trial ({count_of(example.trial['steps'], 'step')})"
            parts.append(details(title, fence(steps, limit=caps.transcript)))
    if len(group.failures) > 1:
        others = [place_of(other.behavior["file"], other.behavior["line"]) for other in group.failures[1:4]]
        rest = len(group.failures) - 1 - len(others)
        more = f" and {rest:,} more" if rest else ""
        parts.append(f"The same cause in {', '.join(code(other) for other in others)}{more}.")
    return "\n\n".join(parts)


def _variables(variables: dict[str, object]) -> str:
    if not variables:
        return ""
    return f" with {code(', '.join(f'{name}={value}' for name, value in sorted(variables.items())), 160)}"


def contract_sections(document: ResultDocument, caps: Caps) -> Iterator[Section]:
    """Contract changes that block or need review, the others collapsed, then lint."""
    contracts = document["contracts"]
    if contracts is None:
        return
    if error := contracts.get("error"):
        yield Section(head=f"### Tool contracts\n\n❔ They could not be compared: {code(error, 500)}")
    base = f", compared with {code(contracts['base'], 80)}" if contracts["base"] else ""
    urgent = changes_with(document, ["block", "review"])
    if urgent:
        yield Section(
            head=f"### Contract changes{base}",
            rows=[_change_row(tool, change) for tool, change in urgent[: caps.changes]],
            separator="\n\n",
            noun="contract change",
            left=max(len(urgent) - caps.changes, 0),
        )
    calm: tuple[Action, ...] = ("acknowledged", "cleared", "note", "ignore")
    other = changes_with(document, calm)
    if other:
        yield Section(
            head=f"<details><summary>{count_of(len(other), 'contract change')} that need nothing now</summary>\n",
            rows=[_calm_row(tool, change) for tool, change in other[: caps.changes * 4]],
            tail="</details>",
            noun="contract change",
            left=max(len(other) - caps.changes * 4, 0),
        )
    yield from _lint_sections(document, caps)


def _change_row(tool: ToolDiffRecord, change: ChangeRecord) -> str:
    action = action_of(change)
    versions = versions_text(tool, code)
    parts = [
        f"{_ACTION_ICONS[action]} **{code(tool['tool_id'])}**{f' ({versions})' if versions else ''}: "
        f"{code(change['path'])} {code(change['kind'], 80)}, {CLASSIFICATION_WORDS[change['classification']]}, "
        f"**{ACTION_WORDS[action]}**"
    ]
    if change["message"]:
        parts.append(code(change["message"], 500))
    if difference := describe_difference(change["before"], change["after"]):
        parts.append(fence("\n".join(difference)))
    if "witness" in change:
        witness = json.dumps(change["witness"], ensure_ascii=False, default=str)
        parts.append(f"{witness_title(change)}\n{fence(witness, 'json', 2000)}")
    elif change["proof"] == "not proven":
        parts.append(f"This is {proof_text(change)}.")
    parts += [code(note, 400) for note in change["notes"]]
    if affected := affected_text(change, code):
        parts.append(f"**Affects** {affected}.")
    if step := next_step(change, tool, code):
        parts.append(f"**What to do:** {step}")
    if place := place_of(change["file"], change["line"]):
        parts.append(f"At {code(place)}.")
    return "\n\n".join(parts)


def _calm_row(tool: ToolDiffRecord, change: ChangeRecord) -> str:
    action = action_of(change)
    message = f": {code(change['message'], 300)}" if change["message"] else ""
    cleared = tool.get("cleared")
    why = f" ({code(cleared, 200)})" if action == "cleared" and cleared else ""
    return (
        f"- {_ACTION_ICONS[action]} {code(tool['tool_id'])} {code(change['path'])} {code(change['kind'], 80)}, "
        f"{CLASSIFICATION_WORDS[change['classification']]}, {ACTION_WORDS[action]}{why}{message}"
    )


def _lint_sections(document: ResultDocument, caps: Caps) -> Iterator[Section]:
    contracts = document["contracts"]
    findings = sort_lint(contracts["lint"]) if contracts else []
    errors = [finding for finding in findings if finding["severity"] == "error"]
    others = findings[len(errors) :]
    title = count_of(len(others), "contract lint warning and note", "contract lint warnings and notes")
    if errors:
        yield Section(
            head="### Contract lint\n",
            rows=[_lint_row(finding) for finding in errors[: caps.lint]],
            noun="lint error",
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
    icon = {"error": "❌", "warning": "⚠️", "info": "ℹ️"}[finding["severity"]]
    place = place_of(finding["file"], finding["line"])
    where = f" at {code(place)}" if place else ""
    subject = f" {code(finding['subject'], 80)}" if finding["subject"] else ""
    hint = f" To do: {code(finding['hint'], 300)}" if finding["hint"] else ""
    return f"- {icon} {code(finding['rule'], 80)}{subject}{where}: {code(finding['message'], 400)}{hint}"


def verification_sections(document: ResultDocument, caps: Caps) -> Iterator[Section]:
    """Verification cases that did not pass; how many did."""
    cases = sort_verification(document["verification"])
    if not cases:
        return
    bad = [case for case in cases if case["outcome"] in ("failed", "unverified", "inconclusive")]
    counts: dict[str, int] = {}
    for case in cases:
        counts[case["outcome"]] = counts.get(case["outcome"], 0) + 1
    summary = ", ".join(f"{number:,} {outcome}" for outcome, number in counts.items())
    if not bad:
        yield Section(head=f"### Verification\n\n{_upper(summary)}.")
        return
    yield Section(
        head=f"### Verification\n\n{_upper(summary)}.\n\n| | Tool | Case | Why | Where |\n|---|---|---|---|---|",
        rows=[_verification_row(case) for case in bad[: caps.verification]],
        noun="case",
        left=max(len(bad) - caps.verification, 0),
    )


def _verification_row(case: VerificationRecord) -> str:
    reasons = [case["reason"]] if case["reason"] else []
    reasons += [f"{check['name']}: {check['reason']}" for check in case["checks"] if check["outcome"] == "failed"]
    why = "<br>".join(cell(reason, 240) for reason in reasons[:4]) or "no reason was recorded"
    return (
        f"| {ICONS[case['outcome']]} {case['outcome']} | {cell(case['tool_id'], 80)} "
        f"| {cell(case['kind'], 40)} {cell(case['name'], 120)} | {why} | {cell(place_of(case['file'], case['line']))} |"
    )


def session_sections(document: ResultDocument, caps: Caps) -> Iterator[Section]:
    """All sessions, then every behavior of every session, each collapsed."""
    sessions = sort_sessions(document["sessions"])
    if not sessions:
        return
    yield Section(
        head=(
            f"<details><summary>All sessions ({len(sessions):,})</summary>\n\n"
            "| | Session | Passed | 95 % interval | Required | Notes |\n|---|---|---|---|---|---|"
        ),
        rows=[_session_row(session) for session in sessions[: caps.sessions]],
        tail="</details>",
        noun="session",
        left=max(len(sessions) - caps.sessions, 0),
    )
    rows = [
        _behavior_row(session, behavior, is_evaluation)
        for session in sessions
        for behavior, is_evaluation in behaviors_of(session)
    ]
    if rows:
        yield Section(
            head=(
                f"<details><summary>All behaviors and session evaluations ({len(rows):,})</summary>\n\n"
                "| | Behavior | Passed | 95 % interval | Coverage | Session | Where |\n|---|---|---|---|---|---|---|"
            ),
            rows=rows[: caps.behaviors],
            tail="</details>",
            noun="behavior",
            left=max(len(rows) - caps.behaviors, 0),
        )


def _session_row(session: SessionRecord) -> str:
    trials = session["trials"]
    verified = trials["passed"] + trials["failed"]
    passed = rate_of(trials["passed"], verified) if verified else NO_RATE
    if trials["unverified"]:
        passed += f", {trials['unverified']:,} unverified"
    return (
        f"| {ICONS[session['outcome']]} {session['outcome']} | {cell(session['name'], 100)} | {passed} "
        f"| {interval_text(session['interval'])} | {cell(session['required'], 80)} | {_session_notes(session)} |"
    )


def _session_notes(session: SessionRecord) -> str:
    notes = []
    trials = session["trials"]
    if session["critical"]:
        notes.append("critical")
    if session["quarantined"]:
        notes.append(f"quarantined {cell(session.get('quarantine_note', ''), 120)}")
    if session["decided_after"] is not None:
        notes.append(f"decided after {session['decided_after']:,} of {trials['planned']:,} trials")
    lowest = session.get("lowest_row")
    if lowest:
        notes.append("lowest row " + cell(", ".join(f"{key} {value}" for key, value in lowest.items()), 100))
    powers = [
        f"pass^{k} {percent(rate)}" for k, rate in sorted(session["pass_hat_k"].items(), key=_by_number) if k != "1"
    ]
    notes += powers[:3]
    if session["unexpected_calls"]:
        calls = sorted(session["unexpected_calls"].items(), key=lambda item: (-item[1], item[0]))[:5]
        notes.append(
            "unexpected calls: " + ", ".join(f"{cell(name, 60)} {count_of(times, 'time')}" for name, times in calls)
        )
    baseline = session.get("baseline")
    if baseline and baseline.get("state") not in (None, "same"):
        notes.append(f"against the baseline {cell(str(baseline['state']).replace('_', ' '), 40)}")
    if session["reason"]:
        notes.append(cell(session["reason"], 240))
    return "; ".join(notes)


def _by_number(item: tuple[str, float]) -> int:
    return int(item[0]) if item[0].isdigit() else 0


def _behavior_row(session: SessionRecord, behavior: BehaviorRecord, is_evaluation: bool) -> str:
    coverage = percent(behavior["coverage"]) if behavior["coverage"] is not None else "-"
    label = cell(behavior["label"], 100) + (" (session evaluation)" if is_evaluation else "")
    return (
        f"| {ICONS[behavior['outcome']]} | {label} | {_passed(behavior)} | {interval_text(behavior['interval'])} "
        f"| {coverage} | {cell(session['name'], 60)} | {cell(place_of(behavior['file'], behavior['line']))} |"
    )


def metadata_section(document: ResultDocument) -> Section:
    """What was run, on what, in one small line."""
    data = document["metadata"]
    facts = [f"abs-gate {code(data['abs_gate_version'], 20)}"]
    if data["commit"]:
        facts.append(f"commit {code(data['commit'][:12], 12)}")
    if data["base"]:
        facts.append(f"base {code(data['base'][:12], 12)}")
    if data["model"]:
        facts.append(f"model {code(data['model'], 80)}")
    if data["agent_url"]:
        facts.append(f"agent {code(data['agent_url'], 120)}")
    if data["toolset_fingerprint"]:
        facts.append(f"tool set {code(data['toolset_fingerprint'][:19], 19)}")
    facts.append(f"{count_of(data['agent_calls'], 'agent call')} in {duration_text(data['duration_ms'])}")
    return Section(head=f"<sub>{' · '.join(facts)}</sub>")
