"""What the counts of a session do not say, in words: its lowest row, an early stop, the change against a baseline."""

from __future__ import annotations

from collections.abc import Iterator

from abs_gate.gate.result import SessionRecord
from abs_gate.reports.figures import count_of, percent, rate_of

_STATES = {
    "new_failure": "passed on the base and does not now",
    "fixed": "did not pass on the base and does now",
    "still_failing": "did not pass on the base either",
    "flaky": "changed, and chance explains it",
    "same": "as on the base",
}


def lowest_row_text(session: SessionRecord) -> str:
    """`row 3: 0 of 5 (0 %)`; empty where the session has one row."""
    lowest = session.get("lowest_row")
    if not lowest:
        return ""
    passed, verified = lowest.get("passed"), lowest.get("verified")
    if isinstance(passed, int) and isinstance(verified, int):
        return f"row {lowest.get('row')}: {rate_of(passed, verified)}"
    return f"row {lowest.get('row')}"


def early_stop_text(session: SessionRecord) -> str:
    """`decided after 4 of 5 trials, 1 trial saved, unbiased rate 75 %`; empty where all ran."""
    if session["decided_after"] is None:
        return ""
    parts = [f"decided after {session['decided_after']:,} of {count_of(session['planned_total'], 'trial')}"]
    if session["trials"]["saved"]:
        parts.append(f"{count_of(session['trials']['saved'], 'trial')} saved")
    unbiased = session.get("unbiased_rate")
    if unbiased is not None:
        parts.append(f"unbiased rate {percent(unbiased)}")
    return ", ".join(parts)


def baseline_text(session: SessionRecord) -> str:
    """`passed on the base and does not now, -40 points (interval -70.1 to -3.2)`; empty without a baseline."""
    baseline = session.get("baseline")
    if not baseline:
        return ""
    parts = [_STATES.get(str(baseline.get("state")), "compared with the base")]
    difference, interval = baseline.get("difference"), baseline.get("interval")
    if isinstance(difference, int | float) and difference:
        parts.append(f"{_points(difference)} points{_interval(interval)}")
    if baseline.get("regression"):
        parts.append("a drop that chance does not explain")
    detectable = baseline.get("detectable")
    if isinstance(detectable, int | float) and not baseline.get("regression"):
        parts.append(f"a drop of {_points(detectable)} points could have been shown")
    return ", ".join(parts)


def _points(share: float) -> str:
    return f"{share * 100:+.0f}" if share < 0 else f"{share * 100:.0f}"


def _interval(interval: object) -> str:
    if not isinstance(interval, list) or len(interval) != 2:
        return ""
    return f" (95 % interval {_points(interval[0])} to {_points(interval[1])})"


def quarantine_text(session: SessionRecord) -> str:
    """Who owns a quarantine and until when, in force or over; empty without one. Holds text of others."""
    return session.get("quarantine_note") or ("quarantined, does not gate" if session["quarantined"] else "")


def pass_hat_k_text(session: SessionRecord) -> str:
    """`pass^1 42 %, pass^2 27.3 %`: all of k trials pass; empty where every case ran once, or all were not run."""
    rates = sorted((int(k), rate) for k, rate in session["pass_hat_k"].items() if k.isdecimal())
    return ", ".join(f"pass^{k} {percent(rate)}" for k, rate in rates) if len(rates) > 1 else ""


def session_notes(session: SessionRecord) -> Iterator[str]:
    """Every note that applies, the reason first. Holds text of others."""
    if session["reason"] and session["outcome"] != "passed":
        yield session["reason"]
    if quarantine := quarantine_text(session):
        yield quarantine
    if early := early_stop_text(session):
        yield early
    if powers := pass_hat_k_text(session):
        yield powers
    if lowest := lowest_row_text(session):
        yield f"lowest {lowest}"
    if baseline := baseline_text(session):
        yield f"against the baseline: {baseline}"
    if omitted := session.get("trials_omitted"):
        yield f"{count_of(omitted, 'trial')} counted without a record"
