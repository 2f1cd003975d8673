from __future__ import annotations

import re
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from abs_gate.contracts.schemas.budget import Budget, BudgetExhausted, Meter
from abs_gate.contracts.schemas.regular.automaton import language
from abs_gate.contracts.schemas.regular.matching import found_in
from abs_gate.contracts.schemas.regular.syntax import InvalidPattern, IrregularPattern, is_tame, parse
from abs_gate.contracts.schemas.regular.words import shortest_word

TEXTS = ["".join(letters) for length in range(5) for letters in product("ab-", repeat=length)]
ATOMS = st.sampled_from(["a", "b", "-", ".", "[ab]", "[^a]", "\\w", "\\W", "^", "$", "(?:)"])
PATTERNS = st.recursive(
    ATOMS,
    lambda inner: (
        st.tuples(inner, inner).map("".join)
        | st.tuples(inner, inner).map(lambda pair: f"(?:{pair[0]}|{pair[1]})")
        | st.tuples(inner, st.sampled_from(["*", "+", "?", "{2}", "{1,2}", "{0,}", "*?"])).map(
            lambda pair: f"(?:{pair[0]}){pair[1]}"
        )
    ),
    max_leaves=6,
)


def word(included: list[str], excluded: list[str], low: int = 0, high: int | None = None) -> str | None:
    languages = [(language(pattern), True) for pattern in included]
    languages += [(language(pattern), False) for pattern in excluded]
    return shortest_word(languages, low, high, (), Meter.of(Budget()))


@settings(max_examples=150, deadline=None)
@given(pattern=PATTERNS)
def test_finds_what_the_standard_library_finds(pattern: str) -> None:
    known = language(pattern)
    for text in TEXTS:
        assert known.contains(text) is (re.search(pattern, text) is not None), text


@settings(max_examples=150, deadline=None)
@given(left=PATTERNS, right=PATTERNS)
def test_inclusion_agrees_with_every_short_text(left: str, right: str) -> None:
    found = word([left], [right])
    between = [text for text in TEXTS if re.search(left, text) and not re.search(right, text)]
    if found is None:
        assert between == []
    else:
        assert "\n" in found or (re.search(left, found) and not re.search(right, found))  # Python's $ stops before one
        assert not between or len(found) <= len(between[0])


@pytest.mark.parametrize(
    ("pattern", "matching", "other"),
    [
        (r"^\d+$", "42", "٤٢"),
        (r"^\s$", "\u2003", "x"),
        (r"^.$", "é", "\n"),
        (r"^\u0041\x42\t$", "AB\t", "ab"),
        (r"^[\w.-]+$", "a.b-c", "a b"),
        (r"^a$", "a", "a\n"),
        (r"^[^\]]$", "x", "]"),
        (r"^(?<year>\d{4})-(?:\d{2})$", "2024-01", "24-01"),
        (r"^(?=.*[A-Z])(?=.*\d)(?!.*\s).{4,}$", "Ab1c", "Ab1 c"),
        (r"^\/\-\.$", "/-.", "/--"),
    ],
)
def test_means_what_ecma_262_says(pattern: str, matching: str, other: str) -> None:
    assert found_in(pattern, matching) is True
    assert found_in(pattern, other) is False


@pytest.mark.parametrize("pattern", ["(", ")", "[a", "a**", "*", "a{2,1}", "\\", "[b-a]", "(?:a"])
def test_refuses_what_is_no_pattern(pattern: str) -> None:
    with pytest.raises(InvalidPattern):
        parse(pattern)


@pytest.mark.parametrize(
    "pattern", [r"(a)\1", r"\bword\b", r"a(?=b)", r"(?<=a)b", r"\p{L}", "(?i)a", "a{,3}", "[]a]", "a++", "x" * 3000]
)
def test_leaves_alone_what_is_not_regular(pattern: str) -> None:
    with pytest.raises(IrregularPattern):
        language(pattern)


@pytest.mark.parametrize(
    ("pattern", "text", "found"),
    [(r"(a)\1", "aa", True), (r"(a)\1", "ab", False), (r"\bword\b", "a word", True), (r"(?<=a)b", "cb", False)],
)
def test_matches_what_is_not_regular_all_the_same(pattern: str, text: str, found: bool) -> None:
    assert found_in(pattern, text) is found


def test_shortest_words() -> None:
    assert word(["^ORD-\\d{4}$"], []) == "ORD-1111"
    assert word(["^[a-z]+$"], ["[a-z]"]) is None
    assert word(["^a*$"], [], 3, 5) == "aaa"
    assert word(["^a{2}$"], [], 3) is None
    assert word([], ["^[\\s\\S]+$"], 1) is None


def test_excluded_words_are_not_found() -> None:
    meter = Meter.of(Budget())
    both = [(language("^(a|b)$"), True)]
    assert shortest_word(both, 0, None, ["a"], meter) == "b"
    assert shortest_word(both, 0, None, ["a", "b"], meter) is None


def test_automata_stop_at_their_budget() -> None:
    with pytest.raises(BudgetExhausted):
        shortest_word(
            [(language("(a|b)*a(a|b){14}$"), True), (language("(a|b)*a(a|b){14}$"), False)],
            0,
            None,
            (),
            Meter.of(Budget(states=500)),
        )


def test_tame_patterns_have_no_repetition_in_a_repetition() -> None:
    assert is_tame("^[a-z]+-\\d{2,4}$")
    assert not is_tame("^(a+)+$")
    assert not is_tame("(a|a)*b")
    assert not is_tame(r"(a)\1")
