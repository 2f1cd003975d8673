"""Differences between two looks, and what is expected of them."""

import pytest

from abs_gate.errors import CannotVerify
from abs_gate.outcomes import Outcome
from abs_gate.verification.effects import Watch, contains, differ, matches_expectation


class Looks:
    def __init__(self, *values):
        self.values = list(values)

    def read(self):
        value = self.values.pop(0)
        if isinstance(value, Exception):
            raise value
        return value


def test_entries_of_lists_are_told_apart_by_value_and_count():
    assert differ([1, 1], [1, 1, 1]).added == (1,)
    assert differ([{"a": 1}], []).removed == ({"a": 1},)
    assert differ({"rows": [1], "n": 1}, {"rows": [1], "n": 2}).effects == 1
    assert not differ({"b": 1, "a": 2}, {"a": 2, "b": 1}).is_changed
    assert differ("hash-1", "hash-2").effects == 1
    assert differ([2, 1], [1, 2]).is_changed


@pytest.mark.parametrize(
    ("before", "after", "expected", "wrong"),
    [
        ([], [], "none", ""),
        ([], [1], "none", "nothing may change"),
        ([], [1], "changed", ""),
        ([], [], "changed", "nothing did"),
        ([], [{"a": 1, "b": 2}], {"added": [{"a": 1}]}, ""),
        ([], [{"a": 1}, {"a": 2}], {"added": [{"a": 1}]}, "besides"),
        ([], [{"a": 1}], {"added": [{"a": 2}]}, "there is none"),
        ([], [{"a": 1}], {"added": {"a": 1}}, ""),
        ([], [1, 2], {"added": 2}, ""),
        ([1], [2], {"added": 1}, "0 entries had to be removed"),
        ([1], [2], {"added": 1, "removed": 1}, ""),
    ],
)
def test_expectations(before, after, expected, wrong):
    said = matches_expectation(differ(before, after), expected)
    assert (wrong in said) if wrong else said == ""


def test_partial_objects():
    assert contains({"a": {"b": 1, "c": 2}}, {"a": {"b": 1}})
    assert not contains({"a": 1}, {"a": True})
    assert not contains({}, {"a": None})
    assert contains(1.0, 1)
    assert not contains([1, 2], [1])


def test_without_a_probe_nothing_is_passed():
    assert Watch(None).start().check_nothing().outcome is Outcome.UNVERIFIED


@pytest.mark.parametrize("values", [(CannotVerify("down"), []), ([], CannotVerify("down"))])
def test_a_probe_that_fails_verifies_nothing(values):
    check = Watch(Looks(*values)).start().check_effects("one", 0)
    assert check.outcome is Outcome.UNVERIFIED
    assert "down" in check.reason


def test_counting_effects():
    assert Watch(Looks([], [1])).start().check_effects("one", 1).outcome is Outcome.PASSED
    two = Watch(Looks([], [1, 1])).start().check_effects("one", 1)
    assert two.outcome is Outcome.FAILED
    assert "2 effects found" in two.reason
