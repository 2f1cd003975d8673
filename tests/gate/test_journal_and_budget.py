"""Going on after an interruption, and stopping when a budget is spent."""

from __future__ import annotations

from fractions import Fraction

import pytest

from abs_gate.conversation import Usage
from abs_gate.errors import BudgetSpent, ConfigurationError
from abs_gate.gate.budget import BudgetMeter
from abs_gate.gate.journal import Resumed, header_line, note_line, read_journal, run_identity
from abs_gate.gate.keeping import Keeper
from abs_gate.gate.tally import SessionTally
from abs_gate.gate.trial_note import note_trial
from abs_gate.settings.model import Budget

from .play import OUTCOMES, case_of, plan, play, session, trial

IDENTITY = run_identity({"policy": "sha256:1", "sessions": {"a": "b"}})


def journal_of(words: str) -> list[bytes]:
    case = case_of(session(), None)
    lines = [header_line(IDENTITY), *(note_line(note_trial(case, i, trial(OUTCOMES[w]))) for i, w in enumerate(words))]
    return [line.encode() for line in lines]


def test_a_resumed_run_ends_as_if_nothing_had_happened():
    words, cut = "PPFPF", 3
    tally, resumed, ran = SessionTally(plan(trials=5), Keeper(), early_stop=False), Resumed(), []
    for note in read_journal(journal_of(words[:cut]), IDENTITY):
        if resumed.add(note):
            tally.add(note)
    case = case_of(session(), None)
    for index, word in enumerate(words):
        if not resumed.has(case.id, index) and tally.wants(case.id):
            ran.append(index)
            tally.add(note_trial(case, index, trial(OUTCOMES[word])))
    assert ran == [3, 4]
    assert tally.record() == play([words], early_stop=False)


def test_torn_lines_are_trials_not_run():
    lines = journal_of("PFP")
    torn = [*lines[:3], lines[3][:40]]
    assert [note["trial"] for note in read_journal(torn, IDENTITY)] == [0, 1]
    continued = [*torn[:3], lines[3][:40] + b"\n", lines[3]]
    assert [note["trial"] for note in read_journal(continued, IDENTITY)] == [0, 1, 2]


@pytest.mark.parametrize("line", [b"", b"\xff\xfe", b"[]", b"{}", b'{"case": "x"}', b"[" * 5000, b"null"])
def test_rubbish_is_ignored(line):
    lines = journal_of("P")
    assert len(list(read_journal([lines[0], line, lines[1]], IDENTITY))) == 1


def test_the_same_trial_counts_once():
    resumed = Resumed()
    (note,) = read_journal(journal_of("P"), IDENTITY)
    assert resumed.add(note)
    assert not resumed.add(note)


def test_the_journal_of_another_run_is_refused():
    with pytest.raises(ConfigurationError, match="another run"):
        list(read_journal(journal_of("P"), run_identity({"policy": "sha256:2"})))
    with pytest.raises(ConfigurationError, match="another run"):
        list(read_journal(journal_of("P")[1:], IDENTITY))


def test_calls_are_counted_and_refused_when_spent():
    meter = BudgetMeter(Budget(max_agent_calls=2), started=0.0)
    meter.charge_call(1.0)
    assert meter.stop_reason(1.0) == ""
    meter.charge_call(1.0)
    assert meter.stop_reason(1.0) == "The budget of 2 agent calls is spent."
    with pytest.raises(BudgetSpent, match="2 agent calls"):
        meter.charge_call(1.0)
    assert meter.agent_calls == 2


def test_minutes_tokens_and_money():
    meter = BudgetMeter(Budget(max_minutes=Fraction(1, 2)), started=100.0)
    assert meter.stop_reason(129.9) == ""
    assert meter.stop_reason(130.0) == "The budget of 0.5 minutes is spent."
    prices = {"input_per_million": Fraction(5, 2), "output_per_million": Fraction(10)}
    meter = BudgetMeter(Budget(max_tokens=1500, max_cost=Fraction(1, 100), prices=prices), started=0.0)
    meter.charge_usage(Usage(input_tokens=1000, output_tokens=400))
    assert meter.cost == Fraction(65, 10_000)
    assert meter.stop_reason(0.0) == ""
    meter.charge_usage(Usage(input_tokens=0, output_tokens=100))
    assert "1,500 tokens" in meter.stop_reason(0.0)
    meter = BudgetMeter(Budget(max_cost=Fraction(1, 100), prices=prices), started=0.0)
    meter.charge_usage(Usage(input_tokens=4000))
    assert "budget of 0.01 is spent" in meter.stop_reason(0.0)
    assert BudgetMeter(Budget(), started=0.0).stop_reason(1e9) == ""
