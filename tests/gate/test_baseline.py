"""What a comparison with the base result says, and when it gates."""

from __future__ import annotations

import pytest

from abs_gate.gate.verdict import decide
from abs_gate.settings.model import Settings

from .play import metadata, play, rate, session


def document(*sessions, baseline=None):
    return decide(
        contracts=None,
        verification=[],
        sessions=sessions,
        settings=Settings(),
        metadata=metadata(),
        baseline=baseline,
    )


def compared(before: list[str], after: list[str], **policy):
    policy = {**rate("80%"), **policy}
    base = document(play(before, early_stop=False, **policy))
    return document(play(after, early_stop=False, **policy), baseline=base)["sessions"][0]


@pytest.mark.parametrize(
    ("before", "after", "state"),
    [
        ("PPPPP", "FFFFF", "new_failure"),
        ("PPPPP", "PPPFF", "flaky"),
        ("FFFFF", "PPPPP", "fixed"),
        ("PPPFF", "PPPPP", "flaky"),
        ("PPPFF", "PPPFF", "still_failing"),
        ("PPPPP", "PPPPF", "same"),
        ("P", "F", "new_failure"),
        ("F", "P", "fixed"),
    ],
)
def test_states(before, after, state):
    assert compared([before], [after])["baseline"]["state"] == state


def test_a_regression_needs_proof():
    change = compared(["P" * 18 + "FF"], ["P" * 12 + "F" * 8])["baseline"]
    assert change["method"] == "boschloo"
    assert change["p"] == pytest.approx(0.019285, abs=1e-6)
    assert change["regression"] is True
    assert change["difference"] == pytest.approx(-0.3)
    assert change["interval"] == pytest.approx([-0.5252791609, -0.0293607582])
    lesser = compared(["P" * 9 + "F"], ["P" * 7 + "FFF"])["baseline"]
    assert lesser["regression"] is False
    assert lesser["detectable"] == pytest.approx(0.9 - 0.5)


def test_a_proven_regression_gates_where_the_policy_says_so():
    loose = {**rate("50%")}
    before, after = ["P" * 20], ["P" * 12 + "F" * 8]
    assert compared(before, after, **loose)["outcome"] == "passed"
    gated = compared(before, after, baseline="gate", **loose)
    assert gated["outcome"] == "failed"
    assert gated["reason"].startswith("60 % of trials passed, and 100 % did on the base")
    assert compared(before, ["P" * 18 + "FF"], baseline="gate", **loose)["outcome"] == "passed"


def test_rows_run_once_each_are_paired():
    before = ["P"] * 9 + ["F"] * 2 + ["P"] * 4
    after = ["F"] * 9 + ["P"] * 2 + ["P"] * 4
    change = compared(before, after, **rate("0.1"))["baseline"]
    assert change["method"] == "mcnemar_exact"
    assert change["p"] == pytest.approx(0.0327, abs=5e-5)


def test_many_sessions_are_adjusted_together():
    def run(row: str, baseline=None):
        sessions = [play([row], early_stop=False, of=session(name), **rate("50%")) for name in ("A", "B", "C")]
        return document(*sessions, baseline=baseline)

    changes = [s["baseline"] for s in run("P" * 12 + "F" * 8, run("P" * 18 + "FF"))["sessions"]]
    assert [change["p_adjusted"] for change in changes] == pytest.approx([3 * 0.019285] * 3, abs=1e-5)
    assert not any(change["regression"] for change in changes)


def test_sessions_without_a_counterpart_or_a_verdict_are_left_alone():
    base = document(play(["PP"]), play(["UU"], of=session("Unknown")))
    head = document(play(["PP"], of=session("New")), play(["PP"], of=session("Unknown")), baseline=base)
    assert all("baseline" not in record for record in head["sessions"])
