"""The eight metrics of a canary, each as counts over runs or calls."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import TypeAlias

from msgspec import Struct

from abs_gate.gate.canary.records import CallRecord, RunRecord

MOST_ERROR_CODES = 20

Runs: TypeAlias = Sequence[RunRecord]


class Share(Struct, frozen=True, kw_only=True):
    """So many of so many."""

    count: int
    of: int


class Metric(Struct, frozen=True, kw_only=True):
    """A share that is compared."""

    name: str
    words: str
    worse: str
    """`up`, `down`, or `either` way."""
    of: Callable[[Runs], Share]


def _calls(runs: Runs) -> list[CallRecord]:
    return [call for run in runs for call in run.calls]


def _share(marks: Sequence[bool | None]) -> Share:
    """Of those that say."""
    known = [mark for mark in marks if mark is not None]
    return Share(count=sum(known), of=len(known))


def chosen_as_expected(runs: Runs) -> Share:
    """Runs whose first tool is the one expected (none where none is), of those with an expectation."""
    expecting = [run for run in runs if run.has_expectation]
    right = sum((run.calls[0].tool if run.calls else None) == run.expected_tool for run in expecting)
    return Share(count=right, of=len(expecting))


def any_tool_chosen(runs: Runs) -> Share:
    """Runs with a call, of all runs."""
    return _share([bool(run.calls) for run in runs])


def error_share(code: str) -> Callable[[Runs], Share]:
    """Calls that ended in one error code, of all calls."""
    return lambda runs: _share([call.error == code for call in _calls(runs)])


def error_codes(*sides: Runs) -> list[str]:
    """The error codes of both sides, most frequent first; no more than can be watched."""
    counts = Counter(call.error for runs in sides for call in _calls(runs) if call.error is not None)
    return [code for code, _ in counts.most_common(MOST_ERROR_CODES)]


METRICS: tuple[Metric, ...] = (
    Metric(
        name="missing_argument_rate",
        words="calls without a required argument",
        worse="up",
        of=lambda runs: _share([call.missing_arguments for call in _calls(runs)]),
    ),
    Metric(
        name="validation_failure_rate",
        words="calls that failed validation",
        worse="up",
        of=lambda runs: _share([None if call.valid is None else not call.valid for call in _calls(runs)]),
    ),
    Metric(
        name="retry_rate",
        words="calls that repeat an earlier one",
        worse="up",
        of=lambda runs: _share([call.retry for call in _calls(runs)]),
    ),
    Metric(
        name="user_correction_rate",
        words="runs that the user corrected",
        worse="up",
        of=lambda runs: _share([run.user_corrected for run in runs]),
    ),
    Metric(
        name="approved_action_rate",
        words="actions that were approved, of those put to a person",
        worse="down",
        of=lambda runs: _share(
            [None if call.approval is None else call.approval == "granted" for call in _calls(runs)]
        ),
    ),
    Metric(
        name="verified_outcome_rate",
        words="outcomes that were found in the system of record, of those looked for",
        worse="down",
        of=lambda runs: _share([call.verified for call in _calls(runs)]),
    ),
)
"""Those that are one share each; tool selection and error codes are built from the records at hand."""


def metrics_for(baseline: Runs, candidate: Runs) -> tuple[Metric, ...]:
    """All shares to compare: tool selection by expectation where both sides have one, and a share an error code."""
    expected = all(any(run.has_expectation for run in runs) for runs in (baseline, candidate))
    selection = (
        Metric(
            name="tool_selection_rate",
            words="runs that chose the expected tool",
            worse="down",
            of=chosen_as_expected,
        )
        if expected
        else Metric(name="tool_selection_rate", words="runs that chose a tool", worse="either", of=any_tool_chosen)
    )
    errors = [
        Metric(name="error_code_distribution", words=f"calls that ended in {code}", worse="up", of=error_share(code))
        for code in error_codes(baseline, candidate)
    ] or [
        Metric(
            name="error_code_distribution",
            words="calls that ended in an error",
            worse="up",
            of=lambda runs: _share([call.error is not None for call in _calls(runs)]),
        )
    ]
    return (selection, METRICS[0], METRICS[1], *errors, *METRICS[2:])
