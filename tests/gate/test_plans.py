"""Plans that could decide nothing are refused before anything is sent."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

import pytest

from abs_gate.errors import ConfigurationError
from abs_gate.gate.plan import check_plans, shard_of
from abs_gate.settings.model import SequentialSettings

from .play import plan, rate


def refused(*plans) -> str:
    with pytest.raises(ConfigurationError) as problem:
        check_plans(plans)
    return str(problem.value)


DEMONSTRATED = {"decide": "demonstrated", "confidence": Fraction(19, 20), **rate("90%")}


def test_no_session_and_no_case():
    assert "No session was found" in refused()
    assert "no case to run" in refused(plan(cases=0))
    check_plans([plan()])


def test_trials_that_could_never_demonstrate_the_rate():
    message = refused(plan(trials=28, **DEMONSTRATED))
    assert "28 trials (1 case, 28 each) can never demonstrate 90% with 95 % confidence." in message
    assert "29 are needed when all pass, 46 when one fails. Set trials to 29 or more." in message
    check_plans([plan(trials=29, **DEMONSTRATED)])
    check_plans([plan(cases=10, trials=3, **DEMONSTRATED)])
    assert "Set trials to 10 or more" in refused(plan(cases=3, trials=9, **DEMONSTRATED))
    assert "of each row" in refused(plan(cases=10, trials=3, per="row", **DEMONSTRATED))


def test_trials_that_could_never_fail():
    policy = {"decide": "not_worse", "confidence": Fraction(19, 20), **rate("90%")}
    message = refused(plan(trials=1, **policy))
    assert "could never fail" in message
    assert "2 are needed" in message
    check_plans([plan(trials=2, **policy)])


def test_trials_too_few_for_a_sequential_test():
    policy = {"decide": "sequential", "sequential": SequentialSettings(p0=Fraction(7, 10), p1=Fraction(9, 10))}
    assert "12 passes in a row are needed" in refused(plan(trials=11, **policy))
    check_plans([plan(trials=12, **policy)])


def test_every_fault_is_told_at_once():
    message = refused(plan(cases=0), plan(trials=3, **DEMONSTRATED))
    assert message.count("\n") == 1


def test_shards_are_even_and_do_not_depend_on_other_cases():
    shards = Counter(shard_of(f"sessions/a.abs.yaml::A::{row}", 8) for row in range(8000))
    assert set(shards) == set(range(1, 9))
    assert all(850 < count < 1150 for count in shards.values())
    assert {shard_of("x", 1), shard_of("y", 1)} == {1}
    assert shard_of("sessions/a.abs.yaml::A::5", 8) == shard_of("sessions/a.abs.yaml::A::5", 8)
