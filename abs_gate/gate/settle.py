"""Deciding a session from its counts: outcome, reason in words, rates and intervals.

Works on the record alone, so that merged shards and re-read results are decided by the very same steps.
"""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

from abs_gate.gate.policy import DecidingPolicy, from_record
from abs_gate.gate.result import BehaviorRecord, OutcomeText, RowCountRecord, SessionRecord
from abs_gate.gate.standing import Counts, Rule
from abs_gate.gate.statistics.intervals import confidence_sequence, wilson
from abs_gate.gate.statistics.repeated import (
    clustered_interval,
    effective_trials,
    mean_pass_at_k,
    mean_pass_hat_k,
    pass_hat_k_error,
)
from abs_gate.gate.statistics.stopping import unbiased_rate
from abs_gate.gate.statistics.thresholds import floor_percent
from abs_gate.gate.words import failed_words, open_words, required_words, trials_word
from abs_gate.sources.excerpt import cut_at_word

LARGEST_SHOWN_K = 10
"""pass^k and pass@k are shown for k up to the trials of a case, and no further than this."""
LONGEST_FAULT = 300

Decision = tuple[OutcomeText, str]


def settle(record: SessionRecord) -> SessionRecord:
    """The record with everything that follows from its counts and policy."""
    deciding = from_record(record["policy"], critical=record["critical"])
    rule = Rule(deciding)
    counts = sum((_counts(row) for row in _each(record["row_counts"])), Counts())
    trials = record["trials"]
    verified = trials["passed"] + trials["failed"]
    due = trials["planned"] - trials["saved"]
    rows = Counter[tuple[int, int]]()
    for row in record["row_counts"]:
        rows[row["passed"], row["passed"] + row["failed"]] += row["rows"]
    outcome, reason = _decide(record, rule, counts, rows)
    fault = _main_fault(record, outcome)
    settled: SessionRecord = {
        **record,
        "outcome": outcome,
        "reason": f"{reason} {fault}".strip(),
        "pass_rate": trials["passed"] / verified if verified else None,
        "interval": list(wilson(trials["passed"], verified)) if verified else None,
        "coverage": verified / due if due else None,
        "required": required_words(deciding, _decisive(record, counts)),
        "pass_hat_k": {},
        "pass_at_k": {},
    }
    clustered = clustered_interval(rows)
    settled["clustered_interval"] = None if clustered is None else list(clustered)
    settled["effective_trials"] = effective_trials(rows)
    if record["decided_after"] is not None and verified:
        settled["anytime_interval"] = list(confidence_sequence(trials["passed"], verified))
    if record["decided_after"] is None:
        ks = range(1, min(deciding.trials, LARGEST_SHOWN_K) + 1)
        settled["pass_hat_k"] = {str(k): float(v) for k in ks if (v := mean_pass_hat_k(rows, k)) is not None}
        errors = {str(k): error for k in ks if (error := pass_hat_k_error(rows, k)) is not None}
        if errors:
            settled["pass_hat_k_error"] = errors
        settled["pass_at_k"] = {str(k): float(v) for k in ks if (v := mean_pass_at_k(rows, k)) is not None}
    elif (stopped_by := record.get("stopped_by")) is not None and deciding.policy.decide != "sequential":
        unbiased = unbiased_rate(counts.passed, counts.verified, stopped_by_pass=stopped_by == "pass")
        settled["unbiased_rate"] = None if unbiased is None else float(unbiased)
    return settled


def _decide(record: SessionRecord, rule: Rule, counts: Counts, rows: Counter[tuple[int, int]]) -> Decision:
    policy = rule.deciding.policy
    not_run = _not_run(record)
    if forbidden := record.get("forbidden_calls"):
        return "failed", f"Forbidden: {next(iter(forbidden))}"
    if policy.per == "row":
        failed, undecided = _rows(record, rule)
    else:
        n = _decisive(record, counts)
        standing = rule.standing(counts, n)
        failed = failed_words(rule, counts, n) if standing is False else ""
        undecided = open_words(rule, counts) if standing is None else ""
    if failed:
        return "failed", failed
    hat_failed, hat_undecided = _pass_hat_k(rule.deciding, rows)
    if hat_failed and not not_run:
        return "failed", hat_failed
    unverified = _unverified(record, rule, counts, not_run) or undecided or hat_undecided
    if unverified:
        return "unverified", unverified
    return "passed", _passed_words(record, counts)


def _decisive(record: SessionRecord, counts: Counts) -> int:
    """The number of verdicts that decide: those planned where not all have run, else those that came in."""
    return record["planned_total"] if record["decided_after"] is not None or _not_run(record) else counts.verified


def _not_run(record: SessionRecord) -> int:
    """Trials that were planned and neither ran nor were saved by an early decision."""
    trials = record["trials"]
    return trials["planned"] - trials["run"] - trials["saved"]


def _rows(record: SessionRecord, rule: Rule) -> tuple[str, str]:
    """What is wrong where each row is decided by itself: rows that failed, rows that show nothing yet."""
    trials = rule.deciding.trials
    failed = undecided = 0
    words = open_example = ""
    for row in record["row_counts"]:
        counts = _counts(row)
        n = trials if counts.run < trials else counts.verified
        standing = rule.standing(counts, n)
        if standing is False:
            failed += row["rows"]
            words = words or failed_words(rule, counts, n)
        elif standing is None:
            undecided += row["rows"]
            open_example = open_example or open_words(rule, counts)
    total = sum(row["rows"] for row in record["row_counts"])
    all_rows = "1 row" if total == 1 else f"{total:,} rows"
    lowest = record.get("lowest_row")
    at = f" The lowest is row {lowest['row']}." if lowest else ""
    return (
        f"{failed} of {all_rows} failed, the first of them so: {words}{at}" if failed else "",
        f"{undecided} of {all_rows} {'is' if undecided == 1 else 'are'} undecided: {open_example}" if undecided else "",
    )


def _unverified(record: SessionRecord, rule: Rule, counts: Counts, not_run: int) -> str:
    trials, policy = record["trials"], rule.deciding.policy
    if not trials["planned"] and record["planned_total"]:
        return "No case of this session falls into this shard."
    if not_run:
        why = (record.get("stop_reason") or "the run ended before them").rstrip(".")
        return f"{not_run:,} of {trials['planned']:,} planned trials did not run: {why}."
    if not counts.verified:
        return f"None of {trials_word(counts.run)} could be verified." if counts.run else "No trial was run."
    due = record["planned_total"] if record["decided_after"] is not None else counts.run
    if rule.tolerates(counts, due):
        return ""
    if policy.max_unverified is not None and counts.unverified > policy.max_unverified:
        return f"{trials_word(counts.unverified)} could not be verified, and {policy.max_unverified} are tolerated."
    coverage = floor_percent(Fraction(due - counts.unverified, due))
    return (
        f"{counts.unverified} of {trials_word(due)} could not be verified: coverage is {coverage}, "
        f"and {floor_percent(policy.min_coverage)} is required."
    )


def _pass_hat_k(deciding: DecidingPolicy, rows: Counter[tuple[int, int]]) -> tuple[str, str]:
    if deciding.policy.pass_hat_k is None:
        return "", ""
    k, minimum = deciding.policy.pass_hat_k
    value = mean_pass_hat_k(rows, k)
    if value is None:
        return "", f"pass^{k} is undefined: a case has fewer than {k} verified trials."
    if value < minimum:
        return f"pass^{k} is {floor_percent(value)}, and {floor_percent(minimum)} is required.", ""
    return "", ""


def _passed_words(record: SessionRecord, counts: Counts) -> str:
    rate = floor_percent(Fraction(counts.passed, counts.verified))
    text = f"{counts.passed} of {trials_word(counts.verified)} passed ({rate})."
    if record["decided_after"] is not None:
        text += f" Decided after {record['decided_after']} of {record['planned_total']}."
    return text


def _main_fault(record: SessionRecord, outcome: OutcomeText) -> str:
    """The behavior or evaluation behind most of what did not pass."""
    if outcome not in ("failed", "unverified"):
        return ""

    def weight(part: BehaviorRecord) -> int:
        return part["failed"] if outcome == "failed" else part["unverified"]

    parts = [part for part in (*record["behaviors"], *record["evaluations"]) if weight(part) and part["reasons"]]
    if not parts:
        return ""
    worst = max(parts, key=weight)
    return f"Most often: {worst['label']}: {cut_at_word(worst['reasons'][0], LONGEST_FAULT)}"


def _counts(row: RowCountRecord) -> Counts:
    return Counts(row["passed"], row["failed"], row["unverified"])


def _each(rows: list[RowCountRecord]) -> list[RowCountRecord]:
    """The rows with the counts of all that are alike added up."""
    return [
        {
            "passed": row["passed"] * row["rows"],
            "failed": row["failed"] * row["rows"],
            "unverified": row["unverified"] * row["rows"],
            "rows": 1,
        }
        for row in rows
    ]
