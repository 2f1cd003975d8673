"""Patterns mean what Python says they mean, and never run for long."""
# ruff: noqa: E501 - an expected message is one line

from __future__ import annotations

import re
import resource
import time
import warnings

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from abs_gate.sources.patterns import MAX_PATTERN, PatternTimeout, compile_pattern

PATTERNS = [
    r"^Order #\d+ is (on the way|delivered)$", r"a$", r"\bstraße\b", r"\bb", r"\Bb", r"[^\s]+", r"[\s\S]+x", r"a{,3}b",
    r"(?i)HELLO", r"(a)\1", r"(?=a)b?", r"(?<!x)y", r"\w+\s\w+", r"[\w.]+@[\w.]+", r"[^\W\d]+", r"[\W_]+", r"\u00e9",
    r"[\u00e0-\u00ff]", r"\U0001F600", r"a\Z", r"\Aa", r"(?x) a b # c", r"(?m)^b$", r"[]a]+", r"[^]a]", r"é{2}", r"\.",
    r"(?P<n>a)(?P=n)?", r"a|b|", r"[\d\-x]", r"a++b", r"(?>a+)b", r"\S+", r"[[]", r"(?#note)a", r"[\]a]", r"\\", r"\x41",
    r"x{2,3}?", r"(?s).+", r"(?:ab)+", r"[a-c\s]+", r"\D", r"[^\n]$", r"$", r"^", r"\t", r"(?i)é",
    r"[\W\n]+", r"[^\S\n]+", r"[\S]+x?", r"[^\w]",
]  # fmt: skip
TEXTS = [
    "Order #12 is delivered", "Order #１２ is delivered\n", "a\n", "die straße ist", "a b", "aab", "hello", "aa", "yx",
    "foo bar", "mü@x.de", "ab12_", "é", "É", "b\na", "]]a", "ab", "\xa0", "", "x\u2028y", "éé", "a b # c", "😀", "A", "xxx",
    "\\", "[", "a\t.", "b\n", "ab\ncd\n", "中文 字", "e\u0301",
]  # fmt: skip


@pytest.mark.parametrize("pattern", PATTERNS)
def test_the_meaning_is_that_of_python(pattern: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        python = re.compile(pattern)
    compiled = compile_pattern(pattern)
    for text in TEXTS:
        assert list(compiled.spans(text)) == [match.span() for match in python.finditer(text)], text
        assert compiled.search(text) is bool(python.search(text))


TOKENS = st.lists(
    st.sampled_from(
        [*"abé1_ .^$|", "\\d", "\\w", "\\s", "\\W", "\\b", "[ab]", "[^é]", "[\\w-]", "\\n", "(?:a|b)", "é"]
    ),
    max_size=6,
)
REPEATED = st.tuples(TOKENS, st.sampled_from(["", "*", "+?", "{1,2}"]))


@settings(deadline=None, max_examples=300)
@given(REPEATED, st.text("abé1_ \n-", max_size=8))
def test_random_patterns_agree_with_python(parts: tuple[list[str], str], text: str) -> None:
    tokens, repeat = parts
    pattern = f"(?:{''.join(tokens)}){repeat}"
    assert compile_pattern(pattern).search(text) is bool(re.search(pattern, text))


@pytest.mark.parametrize(
    ("pattern", "text", "found"),
    [
        (r"(?<year>\d{4})", "in 2026", True),
        (r"\p{Lu}\p{Ll}+", "Ärger", True),
        (r"[[:digit:]]+", "a1", True),
        (r"^\x{e9}$", "é", True),
        (r"\z", "a", True),
        (r"a\h", "a\t", True),
    ],
)
def test_forms_of_other_engines(pattern: str, text: str, found: bool) -> None:
    assert compile_pattern(pattern).search(text) is found


@pytest.mark.parametrize(
    ("pattern", "message"),
    [
        ("(a", "not a regular expression: missing ) at position 2"),
        ("[a", "not a regular expression: unterminated character set at position 2"),
        ("*a", "not a regular expression: nothing to repeat at position 0"),
        ("a{2,1}", "not a regular expression: min repeat greater than max repeat at position 2"),
        ("\\C", "not a regular expression: bad escape \\C at position 2"),
        ("a" * (MAX_PATTERN + 1), "a pattern of 10,001 characters is longer than 10,000"),
        ("\ud800", "not a regular expression: it holds half of a character"),
    ],
)
def test_what_does_not_compile_is_said_in_words(pattern: str, message: str) -> None:
    with pytest.raises(ValueError) as caught:
        compile_pattern(pattern)
    assert str(caught.value) == message


@pytest.mark.parametrize("pattern", [r"(a+)+$", r"(a|aa)+$", r"(.*)*x", r"(a?){60}a{60}", r"(x+x+)+y"])
def test_repetition_within_repetition_takes_linear_time(pattern: str) -> None:
    started = time.monotonic()
    assert compile_pattern(pattern).search("a" * 5_000 + "!" + "x" * 100) in (True, False)
    assert time.monotonic() - started < 1


def test_what_is_not_decided_in_time_is_no_answer() -> None:
    pattern = compile_pattern(r"(?=b|a)(?:a|aa|aaa)+\1?(z)$|(?<!q)(?:(?:a|aa)+)+z")
    started = time.monotonic()
    with pytest.raises(PatternTimeout, match="was not decided within 1 s"):
        pattern.search("a" * 64 + "!")
    assert time.monotonic() - started < 5


def test_texts_with_half_characters_can_be_searched() -> None:
    assert compile_pattern("b$").search("a\ud800b")
    assert list(compile_pattern("b").spans("\ud800b")) == [(1, 2)]


def test_large_texts() -> None:
    started = time.monotonic()
    assert not compile_pattern(r"\d{3}").search("ab é " * 400_000)
    assert time.monotonic() - started < 2


@pytest.mark.parametrize(
    "pattern", ["a{1000000}", "(a{1000}){1000}", r"(?=x)((a|b){200}[c]{2}\)){200}", "((x{300}){300}){300}"]
)
def test_repetitions_that_would_fill_the_memory_are_refused(pattern: str) -> None:
    with pytest.raises(ValueError, match="repetitions come to more than 20,000 parts"):
        compile_pattern(pattern)


@pytest.mark.parametrize(
    "pattern", [r"^(?=.{8,}$)\d{3}-\d{3}-\d{4}", "a{5000}", "(?!x)([a-z]{1,60}-){1,1000}", r"(?=a)" + r"[a-z]{4}-" * 30]
)
def test_ordinary_repetitions_are_compiled(pattern: str) -> None:
    assert compile_pattern(pattern).search("") is False


def test_thousands_of_groups_take_no_memory_of_their_own() -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert compile_pattern("(" * 4_900 + "a" + ")" * 4_900).search("bca")
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100_000
