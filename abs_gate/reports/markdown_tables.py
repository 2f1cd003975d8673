"""Markdown tables of verification cases, sessions and behaviors."""

from __future__ import annotations

from collections.abc import Iterator

from abs_gate.gate.elsewhere import runs_elsewhere
from abs_gate.gate.result import BehaviorRecord, ResultDocument, SessionRecord, VerificationRecord
from abs_gate.reports.failures import Part, behaviors_of
from abs_gate.reports.figures import NO_RATE, count_of, interval_text, percent, rate_of
from abs_gate.reports.markdown_text import Section, cell, sentence_cell
from abs_gate.reports.markdown_words import ICONS, Caps, passed_text, upper_first
from abs_gate.reports.selection import place_of, sort_sessions, sort_verification
from abs_gate.reports.session_words import session_notes


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
        yield Section(head=f"### Verification\n\n{upper_first(summary)}.")
        return
    yield Section(
        head=f"### Verification\n\n{upper_first(summary)}.\n\n| | Tool | Case | Why | Where |\n|---|---|---|---|---|",
        rows=[_verification_row(case) for case in bad[: caps.verification]],
        noun="case",
        left=max(len(bad) - caps.verification, 0),
    )


def _verification_row(case: VerificationRecord) -> str:
    reasons = [case["reason"]] if case["reason"] else []
    reasons += [f"{check['name']}: {check['reason']}" for check in case["checks"] if check["outcome"] == "failed"]
    why = "<br>".join(sentence_cell(reason, 240) for reason in reasons[:4]) or "no reason was recorded"
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
    rows = [_behavior_row(session, behavior, part) for session in sessions for behavior, part in behaviors_of(session)]
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
    word = "➖ elsewhere" if runs_elsewhere(session) else f"{ICONS[session['outcome']]} {session['outcome']}"
    return (
        f"| {word} | {cell(session['name'], 100)} | {passed} "
        f"| {interval_text(session['interval'])} | {sentence_cell(session['required'], 80)} | {_notes(session)} |"
    )


def _notes(session: SessionRecord) -> str:
    notes = []
    if session["critical"]:
        notes.append("critical")
    if session["quarantined"]:
        notes.append("quarantined")
    if session["unexpected_calls"]:
        calls = sorted(session["unexpected_calls"].items(), key=lambda item: (-item[1], item[0]))[:5]
        notes.append(
            "unexpected calls: " + ", ".join(f"{cell(name, 60)} {count_of(times, 'time')}" for name, times in calls)
        )
    notes += [sentence_cell(note, 300) for note in session_notes(session)]
    return "; ".join(notes)


def _behavior_row(session: SessionRecord, behavior: BehaviorRecord, part: Part) -> str:
    coverage = percent(behavior["coverage"]) if behavior["coverage"] is not None else "-"
    label = cell(behavior["label"], 100) + (" (session evaluation)" if part == "session evaluation" else "")
    return (
        f"| {ICONS[behavior['outcome']]} | {label} | {passed_text(behavior)} | {interval_text(behavior['interval'])} "
        f"| {coverage} | {cell(session['name'], 60)} | {cell(place_of(behavior['file'], behavior['line']))} |"
    )
