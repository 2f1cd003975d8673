"""Thresholds and decisions in words."""

from __future__ import annotations

from fractions import Fraction

from abs_gate.gate.policy import DecidingPolicy
from abs_gate.gate.standing import Counts, Rule
from abs_gate.gate.statistics.intervals import lower_bound, trials_to_prove, upper_bound
from abs_gate.gate.statistics.thresholds import ceil_percent, floor_percent


def trials_word(count: int) -> str:
    """`1 trial`, `3 trials`."""
    return "1 trial" if count == 1 else f"{count:,} trials"


def required_words(deciding: DecidingPolicy, n: int) -> str:
    """What a session must reach, with what kind of promise."""
    policy = deciding.policy
    if policy.sequential is not None:
        test = policy.sequential
        return f"sequential test of {floor_percent(test.p0)} against {floor_percent(test.p1)}"
    unit = " in every row" if policy.per == "row" else ""
    n = deciding.trials if policy.per == "row" else n
    critical = ", critical: no trial may fail" if policy.critical else ""
    if policy.decide == "observed" and n == 0:
        return f"{policy.pass_rate_text}{unit} (observed){critical}"
    if policy.decide == "observed":
        bounds = Rule(deciding).bounds(n)
        return f"{bounds.passes or 0} of {n}{unit} ({policy.pass_rate_text}, observed){critical}"
    confidence = floor_percent(1 - deciding.alpha)
    if policy.decide == "demonstrated":
        return f"{policy.pass_rate_text} demonstrated{unit} with {confidence} confidence{critical}"
    return f"not shown to be below {policy.pass_rate_text}{unit} with {confidence} confidence{critical}"


def failed_words(rule: Rule, counts: Counts, n: int) -> str:
    """Why these counts fail, as a sentence."""
    policy = rule.deciding.policy
    seen = _seen(counts)
    if policy.critical and counts.failed:
        return f"{trials_word(counts.failed)} failed, and in a critical session none may."
    if policy.sequential is not None:
        return f"{seen}: the sequential test decides for {floor_percent(policy.sequential.p0)} or worse."
    if policy.decide == "observed":
        need = rule.bounds(n).passes
        return f"{seen}; {need} of {n} are needed ({policy.pass_rate_text})."
    bound = Fraction(upper_bound(counts.passed, counts.verified, float(rule.deciding.alpha)))
    confidence = floor_percent(1 - rule.deciding.alpha)
    return (
        f"{seen}: with {confidence} confidence the true rate is at most {ceil_percent(bound)}, "
        f"below {policy.pass_rate_text}."
    )


def open_words(rule: Rule, counts: Counts) -> str:
    """Why these counts decide nothing, and what it would take."""
    policy, alpha = rule.deciding.policy, rule.deciding.alpha
    seen = _seen(counts)
    if policy.sequential is not None:
        return f"{seen}: the sequential test has not decided yet. More trials are needed."
    if policy.decide != "demonstrated":
        return f"{seen}, too few to decide."
    bound = Fraction(lower_bound(counts.passed, counts.verified, float(alpha)) if counts.verified else 0)
    takes = "No number of trials can."
    if policy.pass_rate < 1:
        failures = f"with {counts.failed} failed" if counts.failed else "when all pass"
        takes = f"It takes {trials_word(trials_to_prove(policy.pass_rate, alpha, counts.failed))} {failures}."
    return (
        f"{seen}, which demonstrates {floor_percent(bound)} with {floor_percent(1 - alpha)} confidence, "
        f"not {policy.pass_rate_text}. {takes}"
    )


def _seen(counts: Counts) -> str:
    if not counts.verified:
        return "No trial passed or failed"
    rate = floor_percent(Fraction(counts.passed, counts.verified))
    return f"{counts.passed} of {trials_word(counts.verified)} passed ({rate})"
