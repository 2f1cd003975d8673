"""Which failures are found, in which order, with which trial as an example."""

from __future__ import annotations

from abs_gate.reports.failures import find_failures
from abs_gate.reports.grouping import group_failures

from .samples import SAMPLES, behavior, case, document, mismatch, refund_transcript, session, trial


def test_a_session_that_no_behavior_accounts_for_fails_as_a_whole() -> None:
    found = find_failures(SAMPLES["other_failures"]())
    assert [(f.part, f.behavior["label"]) for f in found] == [
        ("behavior", "assistant informs"),
        ("behavior", "assistant responds"),
        ("whole session", "the whole session"),
    ]
    whole = found[-1]
    assert whole.causes == ['the call "cancel_order" that no behavior asked for, in turn 2']
    assert (whole.behavior["passed"], whole.behavior["failed"]) == (1, 1)


def test_a_threshold_missed_without_a_trace_of_why_is_still_a_failure() -> None:
    made = session("S", [case([trial()])], outcome="failed", reason="pass^3 is 40 %.", behaviors=[behavior(0, "b", 1)])
    [only] = find_failures(document(sessions=[made]))
    assert (only.part, only.causes, only.gates) == ("whole session", ["pass^3 is 40 %."], True)


def test_reasons_that_repeat_expected_and_observed_are_left_out() -> None:
    informs = find_failures(SAMPLES["other_failures"]())[0]
    assert informs.example is not None
    assert informs.example.sides == {"expected": "assistant informs", "observed": "no text, get_order"}
    assert informs.causes == []
    assert informs.reason.startswith("expected assistant informs")


def test_an_evaluation_of_a_behavior_names_the_check() -> None:
    responds = find_failures(SAMPLES["other_failures"]())[1]
    assert responds.example is not None
    assert responds.example.check == 'contains "ORD-1001" (line 17)'
    assert responds.example.place == "row 1, trial 1"


def test_behavior_twelve_is_not_behavior_two() -> None:
    failing = trial("failed", mismatches=[mismatch("behavior 12", "x"), mismatch("session evaluation 2", "y")])
    made = session(
        "S",
        [case([failing])],
        behaviors=[behavior(1, "second", 0, 1), behavior(11, "twelfth", 0, 1)],
        evaluations=[behavior(1, "evaluation", 0, 1)],
    )
    found = {f.behavior["label"]: f.example for f in find_failures(document(sessions=[made]))}
    assert found["second"] is None
    assert found["twelfth"] is not None
    assert found["twelfth"].mismatch["label"] == "x"
    assert found["evaluation"] is not None
    assert found["evaluation"].mismatch["label"] == "y"


def test_a_failed_trial_is_a_better_example_than_an_unverified_one() -> None:
    trials = [
        trial("unverified", mismatches=[mismatch("behavior 1", "b", outcome="unverified")]),
        trial("failed", mismatches=[mismatch("behavior 1", "b")], transcript=refund_transcript()),
    ]
    [found] = find_failures(document(sessions=[session("S", [case(trials)], behaviors=[behavior(0, "b", 0, 1)])]))
    assert found.example is not None
    assert found.example.number == 2
    assert found.example.turn == 1


def test_grouping_goes_by_the_shape_of_the_reason() -> None:
    def failing(number: int, reason: str) -> object:
        return session(f"S{number}", [case([trial("failed")])], behaviors=[behavior(0, "b", 0, 1, reasons=[reason])])

    reasons = ['got "a" after 3 calls', 'got "b c" after 14 calls', "nothing came", 'got "d" before 3 calls']
    groups = group_failures(find_failures(document(sessions=[failing(n, r) for n, r in enumerate(reasons)])))
    assert [len(group.failures) for group in groups] == [2, 1, 1]
    assert groups[0].sessions == 2
