"""Nearest names."""

import pytest

from abs_gate.sources.excerpt import excerpt
from abs_gate.sources.suggest import did_you_mean


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("behaviour", ' Did you mean "behaviors"?'),
        ("SESSION", ' Did you mean "session"?'),
        ("acter", ' Did you mean "actor"?'),
        ("zzz", ""),
        ("", ""),
        ("s" * 10_000, ""),
    ],
)
def test_did_you_mean(word: str, expected: str) -> None:
    assert did_you_mean(word, ["session", "behaviors", "actor", "action"]) == expected


def test_excerpts_stay_short_and_on_one_line() -> None:
    assert excerpt("a\nb\u2028c") == '"a\\nb\\u2028c"'
    assert len(excerpt("x" * 1000)) == 62
    assert excerpt({"secret": 1}) == "a mapping of 1"
    assert excerpt(10**400) == "a very long number"
    assert excerpt(True) == "true"
