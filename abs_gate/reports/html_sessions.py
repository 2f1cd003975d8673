"""HTML of what did not pass, of every session with the rates of its behaviors, and of verification cases."""

from __future__ import annotations

from collections.abc import Sequence

from abs_gate.gate.elsewhere import runs_elsewhere
from abs_gate.gate.result import (
    BehaviorRecord,
    ResultDocument,
    SessionRecord,
    TrialRecord,
    VerificationRecord,
)
from abs_gate.reports.failures import Part, behaviors_of, find_failures
from abs_gate.reports.figures import NO_RATE, count_of, interval_text, percent, rate_of
from abs_gate.reports.grouping import FailureGroup, group_failures
from abs_gate.reports.html_text import badge, code, esc, item, joined, prose, within
from abs_gate.reports.html_trials import example_html, transcript_html
from abs_gate.reports.selection import does_gate, place_of, sort_sessions, sort_verification
from abs_gate.reports.session_words import baseline_text, early_stop_text, lowest_row_text, quarantine_text
from abs_gate.reports.svg import rate_bar

_FAILURES_BUDGET = 350_000
_SESSIONS_BUDGET = 350_000
_SESSION_BUDGET = 60_000
_VERIFICATION_BUDGET = 100_000


def failures_html(document: ResultDocument) -> str:
    """A card for each cause, worst first."""
    groups = group_failures(find_failures(document))
    seen: set[int] = set()
    cards, left = within(groups, lambda group: _failure_card(group, seen), _FAILURES_BUDGET)
    more = f'<p class="muted">{count_of(left, "more cause")} in the list of cases.</p>' if left else ""
    return joined([*cards, more])


def _failure_card(group: FailureGroup, seen: set[int]) -> str:
    """A card; `seen` holds the trials whose transcript an earlier card shows."""
    failure = group.first
    behavior, session = failure.behavior, failure.session
    outcome = "tolerated" if not failure.gates else "failed" if behavior["failed"] else "unverified"
    words = {"tolerated": "does not gate", "failed": "failed", "unverified": "could not be verified"}[outcome]
    kind = "Session evaluation " if failure.part == "session evaluation" else ""
    identity = f' <span class="muted">id {code(behavior["id"], 80)}</span>' if behavior["id"] else ""
    parts = [
        f"<h3>{badge(outcome, words)} {kind}{code(behavior['label'])}{identity}</h3>",
        f'<p class="muted">in {esc(session["name"], 120)}, {code(place_of(behavior["file"], behavior["line"]))}</p>',
        rate_html(behavior),
    ]
    parts += [f'<p class="reason">{prose(cause)}</p>' for cause in failure.causes]
    if failure.example:
        parts.append(example_html(failure.example, with_transcript=failure.example.key not in seen))
        seen.add(failure.example.key)
    if len(group.failures) > 1:
        others = [place_of(other.behavior["file"], other.behavior["line"]) for other in group.failures[1:6]]
        rest = len(group.failures) - 1 - len(others)
        more = f" and {rest:,} more" if rest else ""
        parts.append(f"<p>The same cause in {', '.join(code(other) for other in others)}{more}.</p>")
    return item("article", outcome, joined(parts))


def rate_html(behavior: BehaviorRecord) -> str:
    """The bar and the same figures in words."""
    verified = behavior["passed"] + behavior["failed"]
    words = [rate_of(behavior["passed"], verified) + " passed" if verified else NO_RATE]
    if verified:
        words.append(f"95 % interval {interval_text(behavior['interval'])}")
    others = {
        "unverified": behavior["unverified"],
        "skipped": behavior["skipped"],
        "inconclusive": behavior["inconclusive"],
    }
    words += [f"{number:,} {word}" for word, number in others.items() if number]
    outcome = "failed" if behavior["failed"] else behavior["outcome"]
    bar = rate_bar(behavior["pass_rate"], behavior["interval"], outcome)
    return f'<p class="rate">{bar}<span>{", ".join(words)}</span></p>'


def sessions_html(document: ResultDocument) -> str:
    """Every session, collapsed unless it gates, worst first."""
    cards, left = within(sort_sessions(document["sessions"]), _session_card, _SESSIONS_BUDGET)
    more = f'<p class="muted">{count_of(left, "more session")} in the list of cases.</p>' if left else ""
    return joined([*cards, more])


def _session_card(session: SessionRecord) -> str:
    trials = session["trials"]
    verified = trials["passed"] + trials["failed"]
    outcome = "skipped" if runs_elsewhere(session) else session["outcome"]
    shown = "tolerated" if session["quarantined"] and outcome not in ("passed", "skipped") else outcome
    rate = rate_of(trials["passed"], verified) if verified else NO_RATE
    flags = ", critical" * session["critical"] + ", quarantined" * session["quarantined"]
    summary = (
        f'<summary><span class="name">{badge(shown, outcome)} {esc(session["name"], 160)}</span> '
        f'<span class="figures-inline">{rate_bar(session["pass_rate"], session["interval"], outcome)}'
        f"<span>{rate}{flags}</span></span></summary>"
    )
    rows, left = within(list(behaviors_of(session)), lambda part: _behavior_row(*part), _SESSION_BUDGET)
    parts = [_session_facts(session), f'<ul class="behaviors rates">{joined(rows)}</ul>' if rows else ""]
    if left:
        parts.append(f'<p class="muted">{count_of(left, "more behavior")} in the result file.</p>')
    if not does_gate(session) and (trial := _kept_trial(session)) and trial["transcript"]:
        parts.append(transcript_html(trial["transcript"], "Transcript of one trial"))
    return item("details", shown, summary + joined(filter(None, parts)))


def _kept_trial(session: SessionRecord) -> TrialRecord | None:
    """The first trial whose transcript was kept."""
    return next((trial for case in session["cases"] for trial in case["trials"] if trial["transcript"]), None)


def _session_facts(session: SessionRecord) -> str:
    trials = session["trials"]
    facts: list[tuple[str, str]] = [("File", code(place_of(session["path"], session["line"])))]
    if session["reason"]:
        facts.append(("Why", prose(session["reason"])))
    facts.append(("Required", f"{esc(session['required'], 160)} ({esc(session['decide'], 40)})"))
    facts.append(("95 % interval", interval_text(session["interval"])))
    clustered = session.get("clustered_interval")
    if clustered:
        facts.append(("Clustered by row", interval_text(clustered)))
    if trials["unverified"]:
        facts.append(("Unverified", f"{trials['unverified']:,} of {count_of(trials['run'], 'trial')}"))
    worded = (
        ("Lowest row", lowest_row_text(session)),
        ("Early stop", early_stop_text(session)),
        ("Against the baseline", baseline_text(session)),
    )
    facts += [(title, esc(text, 300)) for title, text in worded if text]
    for title, powers in (("pass^k", session["pass_hat_k"]), ("pass@k", session["pass_at_k"])):
        if len(powers) > 1:
            facts.append((title, _powers(powers)))
    if quarantine := quarantine_text(session):
        facts.append(("Quarantine", esc(quarantine, 300)))
    if session["unexpected_calls"]:
        calls = sorted(session["unexpected_calls"].items(), key=lambda call: (-call[1], call[0]))[:10]
        named = ", ".join(f"{code(name, 80)} {count_of(times, 'time')}" for name, times in calls)
        facts.append(("Calls no behavior asked for", named))
    if omitted := session.get("trials_omitted"):
        facts.append(("Without a record", count_of(omitted, "trial")))
    return facts_html(facts)


def _powers(powers: dict[str, float]) -> str:
    ordered = sorted(powers.items(), key=lambda power: int(power[0]) if power[0].isdigit() else 0)
    return ", ".join(f"k={esc(k, 6)}: {percent(rate)}" for k, rate in ordered[:8])


def facts_html(facts: Sequence[tuple[str, str]]) -> str:
    """A list of names and values; values are HTML already."""
    return f'<dl class="facts">{"".join(f"<div><dt>{name}</dt><dd>{value}</dd></div>" for name, value in facts)}</dl>'


def _behavior_row(behavior: BehaviorRecord, part: Part) -> str:
    place = place_of(behavior["file"], behavior["line"])
    kind = '<span class="muted">session evaluation</span> ' if part == "session evaluation" else ""
    reason = f'<p class="reason">{prose(behavior["reasons"][0], 300)}</p>' if behavior["reasons"] else ""
    return (
        f"<li><div>{badge(behavior['outcome'], behavior['outcome'])} {kind}{code(behavior['label'], 160)}"
        f'<span class="muted place">{esc(place, 160)}</span></div>{rate_html(behavior)}{reason}</li>'
    )


def verification_html(document: ResultDocument) -> str:
    """Every verification case, what did not pass first."""
    rows, left = within(sort_verification(document["verification"]), _verification_row, _VERIFICATION_BUDGET)
    more = f'<p class="muted">{count_of(left, "more case")} in the result file.</p>' if left else ""
    return f'<ul class="behaviors">{joined(rows)}</ul>{more}'


def _verification_row(case: VerificationRecord) -> str:
    checks = "".join(
        f"<li>{badge(check['outcome'], check['outcome'])} {esc(check['name'], 160)}"
        f"{': ' + esc(check['reason'], 300) if check['reason'] else ''}</li>"
        for check in case["checks"][:30]
    )
    reason = f'<p class="reason">{prose(case["reason"], 600)}</p>' if case["reason"] else ""
    listed = f"<details><summary>{count_of(len(case['checks']), 'check')}</summary><ul>{checks}</ul></details>"
    place = place_of(case["file"], case["line"])
    body = (
        f"<div>{badge(case['outcome'], case['outcome'])} {code(case['tool_id'], 80)} {esc(case['kind'], 40)}: "
        f'{esc(case["name"], 160)}<span class="muted place">{esc(place, 160)}</span></div>'
        f"{reason}{listed if case['checks'] else ''}"
    )
    return item("li", case["outcome"], body)
