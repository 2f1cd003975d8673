"""How one session is decided from its trials."""

from __future__ import annotations

import tracemalloc
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from abs_gate.gate.keeping import Keeper
from abs_gate.gate.trial_note import note_trial
from abs_gate.settings.model import Quarantine, SequentialSettings, SessionPolicy, SessionsSettings

from .play import OUTCOMES, case_of, play, rate, session, trial

NINETY_FIVE = Fraction(19, 20)


def figures(record) -> tuple[str, int, int]:
    return record["outcome"], record["trials"]["run"], record["trials"]["saved"]


@pytest.mark.parametrize(
    ("row", "threshold", "outcome"),
    [
        ("PPPPF", "80%", "passed"),
        ("PPPFF", "80%", "failed"),
        ("PPP", "100%", "passed"),
        ("PPF", "100%", "failed"),
        ("PPPPPPPPPPPPPPPPPPFFFFFFF", "0.72", "passed"),
        ("PPPPPPPFFFFFFFFFFFFFFFFFF", "0.28", "passed"),  # 7 of 25: 0.28 * 25 is 7.000000000000001 in floats
        ("PPPPPPFFFFFFFFFFFFFFFFFFF", "0.28", "failed"),
    ],
)
def test_observed_rate(row, threshold, outcome):
    assert play([row], early_stop=False, **rate(threshold))["outcome"] == outcome


def test_reasons_and_requirement_are_in_words():
    failed = play(["PPPFF"], early_stop=False, **rate("80%"))
    assert failed["required"] == "4 of 5 (80%, observed)"
    assert failed["reason"] == (
        "3 of 5 trials passed (60 %); 4 of 5 are needed (80%). "
        "Most often: assistant calls Order MCP: expected Order MCP, saw nothing"
    )
    assert play(["PPPPP"], **rate("100%"))["reason"] == "5 of 5 trials passed (100 %)."
    assert play(["PPF"], critical=True)["reason"].startswith("1 trial failed, and in a critical session none may")


def test_rates_intervals_and_repetition_stand_beside_each_other():
    record = play(["PPPPF"], early_stop=False, **rate("80%"))
    assert record["pass_rate"] == 0.8
    assert record["interval"] == pytest.approx([0.37553463, 0.96377589])
    assert record["pass_hat_k"] == {"1": 0.8, "2": 0.6, "3": 0.4, "4": 0.2, "5": 0.0}
    assert record["pass_at_k"] == {"1": 0.8, "2": 1.0, "3": 1.0, "4": 1.0, "5": 1.0}
    assert record["coverage"] == 1.0
    assert record["decided_after"] is None
    assert record["clustered_interval"] is None


def test_rows_are_clusters_and_the_lowest_is_shown():
    record = play(["PPPPP"] * 8 + ["FFFFF"] * 2, early_stop=False, **rate("80%"))
    assert record["outcome"] == "passed"
    assert record["lowest_row"] == {"row": 8, "case": "sessions/refund.abs.yaml::Refund::8", "passed": 0, "verified": 5}
    low, high = record["clustered_interval"]
    naive_low, naive_high = record["interval"]
    assert low < naive_low
    assert high > naive_high
    assert record["row_counts"] == [
        {"passed": 0, "failed": 5, "unverified": 0, "rows": 2},
        {"passed": 5, "failed": 0, "unverified": 0, "rows": 8},
    ]


def test_per_row_a_row_that_always_fails_cannot_hide():
    record = play(["PPPPP"] * 9 + ["FFFFF"], per="row", **rate("80%"))
    assert record["outcome"] == "failed"
    assert "1 of 10 rows failed" in record["reason"]
    assert "row 9" in record["reason"]
    assert play(["PPPPF"] * 10, per="row", **rate("80%"))["outcome"] == "passed"


def test_per_row_stops_each_row_by_itself():
    record = play(["PPPPP", "FPPPP"], per="row", **rate("80%"))
    assert figures(record) == ("passed", 9, 1)
    record = play(["FFPPP", "PPPPP", "PPPPP"], per="row", **rate("80%"))
    assert figures(record) == ("failed", 2, 13)
    assert record["decided_after"] == 2


@pytest.mark.parametrize(
    ("row", "run", "outcome"),
    [
        ("FFFPPPPPPP", 3, "failed"),
        ("PFPFPFPPPP", 6, "failed"),
        ("PPPPPPPFPP", 9, "passed"),
        ("PPPPPPPPFF", 8, "passed"),
    ],
)
def test_it_stops_when_decided(row, run, outcome):
    record = play([row], **rate("80%"))
    assert figures(record) == (outcome, run, 10 - run)
    assert record["decided_after"] == run
    assert record["coverage"] == 1.0
    assert record["pass_hat_k"] == {}


def test_after_a_stop_the_rate_is_unbiased():
    by_pass = play(["PPPPPPPFPP"], **rate("80%"))
    assert by_pass["unbiased_rate"] == 7 / 8
    by_failure = play(["PFPFPFPPPP"], **rate("80%"))
    assert by_failure["unbiased_rate"] == 3 / 5
    assert "Decided after 9 of 10" in by_pass["reason"]
    assert "unbiased_rate" not in play(["PPPPPPPFFF"], early_stop=False, **rate("80%"))


def test_late_trials_are_recorded_and_change_nothing():
    # Five under way at a time: what finishes after the third failure is recorded and marked.
    record = play(["FFFUPPPPPP"], at_once=5, **rate("80%"))
    assert record["outcome"] == "failed"
    assert record["decided_after"] == 3
    assert record["trials"] == {"planned": 10, "run": 7, "passed": 3, "failed": 3, "unverified": 1, "saved": 3}
    late = [trial.get("after_decision", False) for trial in record["cases"][0]["trials"]]
    assert late == [False] * 3 + [True] * 4
    assert record["row_counts"] == [{"passed": 0, "failed": 3, "unverified": 0, "rows": 1}]


def test_a_late_unverified_trial_does_not_undo_a_pass():
    record = play(["PPPPPPPPUU"], at_once=10, **rate("80%"))
    assert record["outcome"] == "passed"
    assert record["trials"]["unverified"] == 2


def test_unverified_trials_are_not_tolerated_by_default():
    record = play(["UPPPP"], **rate("80%"))
    assert record["outcome"] == "unverified"
    assert "1 of 5 trials could not be verified" in record["reason"]
    assert record["coverage"] == 0.8
    assert record["pass_rate"] == 1.0


def test_tolerated_unverified_trials():
    assert play(["UPPPP"], max_unverified=1, min_coverage=Fraction(0), **rate("80%"))["outcome"] == "passed"
    assert play(["UUPPP"], max_unverified=1, min_coverage=Fraction(0), **rate("80%"))["outcome"] == "unverified"
    assert play(["UPPPP"], min_coverage=Fraction(4, 5), **rate("80%"))["outcome"] == "passed"
    assert play(["UUPPP"], min_coverage=Fraction(4, 5), **rate("80%"))["outcome"] == "unverified"


def test_failed_beats_unverified():
    assert play(["FFUUU"], early_stop=False)["outcome"] == "failed"
    assert play(["PUF"], critical=True)["outcome"] == "failed"


@pytest.mark.parametrize("policy", [{}, {"min_coverage": Fraction(0)}, rate("0"), {"critical": True}])
def test_every_trial_unverified_is_never_green(policy):
    record = play(["UUU"], **policy)
    assert record["outcome"] == "unverified"
    assert record["pass_rate"] is None
    assert record["interval"] is None


def test_critical_stops_at_the_first_failure():
    record = play(["PFPPP"], critical=True)
    assert figures(record) == ("failed", 2, 3)


def test_demonstrated_needs_enough_evidence():
    policy = {"decide": "demonstrated", "confidence": NINETY_FIVE, **rate("90%")}
    assert play(["P" * 29], **policy)["outcome"] == "passed"
    undecided = play(["F" + "P" * 28], **policy)
    assert undecided["outcome"] == "unverified"
    assert "46 trials with 1 failed" in undecided["reason"]
    assert undecided["trials"]["run"] == 24  # from here on, neither passing nor failing can be shown
    failed = play(["P" * 6 + "F" * 4], early_stop=False, **policy)
    assert failed["outcome"] == "failed"
    assert "at most 85.0 %" in failed["reason"]
    assert failed["required"] == "90% demonstrated with 95 % confidence"


def test_not_worse_fails_only_on_proof():
    policy = {"decide": "not_worse", "confidence": NINETY_FIVE, **rate("80%")}
    assert play(["PPPPPFFFFF"], early_stop=False, **policy)["outcome"] == "failed"
    assert play(["PPPPPPFFFF"], early_stop=False, **policy)["outcome"] == "passed"
    # A single verdict can show nothing either way, whatever coverage is tolerated.
    lonely = play(["FUUUUUUUUU"], early_stop=False, min_coverage=Fraction(0), **policy)
    assert lonely["outcome"] == "unverified"


def test_sequential_test_decides_as_it_goes():
    test = SequentialSettings(p0=Fraction(7, 10), p1=Fraction(9, 10))
    policy = {"decide": "sequential", "sequential": test}
    assert figures(play(["P" * 37], **policy)) == ("passed", 12, 25)
    assert figures(play(["F" * 37], **policy)) == ("failed", 3, 34)
    assert figures(play(["PPF" + "P" * 34], **policy)) == ("passed", 17, 20)
    undecided = play(["PPPPPPPPFP"], **policy)
    assert undecided["outcome"] == "unverified"
    assert "unbiased_rate" not in play(["P" * 37], **policy)


def test_pass_hat_k_is_asked_over_cases_and_needs_every_trial():
    policy = {"pass_hat_k": (3, Fraction(4, 5)), **rate("50%")}
    record = play(["PPPP", "PPPP", "PPPP", "PPPP", "PPPF"], **policy)
    assert figures(record) == ("passed", 20, 0)
    assert record["pass_hat_k"]["3"] == pytest.approx(0.85)
    failed = play(["PPPP", "PPPF", "PPPF", "PPPF", "PPPF"], **policy)
    assert failed["outcome"] == "failed"
    assert failed["reason"].startswith("pass^3 is 40 %, and 80 % is required.")
    undefined = play(["PPUU"], min_coverage=Fraction(0), **policy)
    assert undefined["outcome"] == "unverified"


def test_trials_that_a_budget_left_out_are_unverified():
    record = play(["PPPPPPPPPP"], stop_after=4, stop_reason="the budget of 4 agent calls is spent", **rate("80%"))
    assert record["outcome"] == "unverified"
    assert record["trials"] == {"planned": 10, "run": 4, "passed": 4, "failed": 0, "unverified": 0, "saved": 0}
    assert "6 of 10 planned trials did not run: the budget of 4 agent calls is spent." in record["reason"]
    # Two failures of four are no proof while eight of ten may still pass.
    assert play(["PPFFPPPPPP"], stop_after=4, **rate("80%"))["outcome"] == "unverified"
    assert play(["PFFFPPPPPP"], stop_after=4, **rate("80%"))["outcome"] == "failed"


def test_behaviors_are_counted_over_rows_and_trials():
    record = play(["PFU", "PPP"], early_stop=False, **rate("50%"))
    ask, call = record["behaviors"]
    assert (ask["passed"], ask["failed"], ask["outcome"]) == (6, 0, "passed")
    assert (call["passed"], call["failed"], call["unverified"], call["outcome"]) == (4, 1, 1, "failed")
    assert (call["id"], call["line"], call["file"]) == ("call", 5, "sessions/refund.abs.yaml")
    assert call["pass_rate"] == 0.8
    assert call["coverage"] == pytest.approx(5 / 6)
    assert call["reasons"] == ["expected Order MCP, saw nothing"]
    assert record["evaluations"][0]["label"] == "never calls delete"
    assert record["evaluations"][0]["passed"] == 6


def test_transcripts_follow_the_policy():
    record = play(["PF"], early_stop=False, **rate("50%"))
    passed, failed = record["cases"][0]["trials"]
    assert passed["transcript"] is None
    assert [step["content"] for step in failed["transcript"]] == ["A refund", "Done."]
    assert failed["mismatches"][0]["where"] == "behavior 2"
    assert failed["mismatches"][0]["line"] == 5


def test_memory_is_bounded_and_says_what_it_left_out():
    keeper = Keeper(trials=10, detail_bytes=3000)
    record = play(["PF"] * 40, early_stop=False, keeper=keeper, **rate("50%"))
    kept = [trial for case in record["cases"] for trial in case["trials"]]
    assert record["trials"]["run"] == 80
    assert record["trials_omitted"] == 70
    assert len(kept) == 10
    assert sum(trial["outcome"] == "failed" for trial in kept) >= 5
    assert 0 < sum(trial["transcript"] is not None for trial in kept) < 5


def test_a_case_with_more_data_than_there_is_room_for_is_only_counted():
    keeper, cases = Keeper(detail_bytes=1000), {}
    note = note_trial(case_of(session(), 1), 0, trial(OUTCOMES["F"]))
    assert not keeper.keep({**note, "case": "large", "variables": {"text": "x" * 2000}}, cases, late=False)
    assert keeper.keep({**note, "variables": {"text": "x" * 900}}, cases, late=False)
    [(case_id, kept)] = cases.items()
    assert case_id == note["case"]
    [record] = kept["trials"]
    assert (record["transcript"], record["mismatches"], record["outcome"]) == (None, [], "failed")


def test_memory_does_not_grow_with_the_trials():
    def peak(rows: int) -> int:
        tracemalloc.start()
        play(["PF"] * rows, early_stop=False, keeper=Keeper(trials=50), **rate("50%"))
        size = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return size

    peak(50)
    # The smallest of some: caches of the interpreter fill up in one of them.
    assert min(peak(4000) for _ in range(3)) < peak(400) + 3600 * 20


def test_quarantine_holds_until_its_day_and_then_gates_again():
    entry = Quarantine(session="Refund", owner="@team", until="2027-01-31", reason="flaky backend")
    settings_ = SessionsSettings(trials=1, policy=(SessionPolicy(),), quarantine=(entry,))
    held = play(["F"], settings=settings_, today="2027-01-31")
    assert held["quarantined"] is True
    assert held["quarantine_note"] == "Quarantined by @team, until 2027-01-31: flaky backend"
    over = play(["F"], settings=settings_, today="2027-02-01")
    assert over["quarantined"] is False
    assert "ended on 2027-01-31" in over["quarantine_note"]
    other = play(["F"], settings=settings_, of=session("Other"), today="2027-01-31")
    assert other["quarantined"] is False
    assert "quarantine_note" not in other


rates = st.sampled_from(["0", "0.28", "0.5", "0.7", "0.8", "0.9", "0.95", "1"])
decisions = st.sampled_from(["observed", "demonstrated", "not_worse"])
verdicts = st.lists(st.text("PF", min_size=6, max_size=6), min_size=1, max_size=5)
anything = st.lists(st.text("PFU", min_size=6, max_size=6), min_size=1, max_size=5)


def both(rows, threshold, decide, per, critical, at_once):
    policy = {"decide": decide, "per": per, "critical": critical, **rate(threshold)}
    if decide != "observed":
        policy["confidence"] = Fraction(4, 5)
    early = play(rows, early_stop=True, at_once=at_once, **policy)
    return early, play(rows, early_stop=False, at_once=at_once, **policy)


@settings(max_examples=300)
@given(verdicts, rates, decisions, st.sampled_from(["session", "row"]), st.booleans(), st.integers(1, 8))
def test_stopping_early_changes_no_decision(rows, threshold, decide, per, critical, at_once):
    early, full = both(rows, threshold, decide, per, critical, at_once)
    assert early["outcome"] == full["outcome"]
    assert full["trials"]["saved"] == 0
    assert early["trials"]["run"] + early["trials"]["saved"] == early["trials"]["planned"]


@settings(max_examples=300)
@given(anything, rates, decisions, st.sampled_from(["session", "row"]), st.booleans(), st.integers(1, 8))
def test_unverified_trials_never_turn_a_failure_into_a_pass(rows, threshold, decide, per, critical, at_once):
    early, full = both(rows, threshold, decide, per, critical, at_once)
    assert {early["outcome"], full["outcome"]} != {"passed", "failed"}
    if full["outcome"] == "passed":
        assert early["outcome"] == "passed"
    if "U" not in "".join(rows):
        assert early["outcome"] == full["outcome"]


@settings(max_examples=200)
@given(anything, rates, st.booleans())
def test_counts_always_add_up(rows, threshold, early_stop):
    record = play(rows, early_stop=early_stop, at_once=3, **rate(threshold))
    trials = record["trials"]
    assert trials["passed"] + trials["failed"] + trials["unverified"] == trials["run"]
    assert sum(len(case["trials"]) for case in record["cases"]) == trials["run"]
    for behavior in record["behaviors"]:
        assert sum(behavior[word] for word in ("passed", "failed", "unverified")) == trials["run"]
