r"""Regular expressions over hostile text, with the meaning Python's `re` gives them.

Linear-time RE2 decides wherever it means the same as Python. Look-around, back-references and the few places where
RE2 differs go to a backtracking engine that is stopped after one second; what it could not decide is a
`PatternTimeout`, never an answer. `\d`, `\w`, `\s` and `\b` know Unicode, as in Python.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from functools import lru_cache
from importlib import import_module
from typing import Any

import re2

from abs_gate.sources.re2_syntax import Translation, translate

MAX_PATTERN = 10_000
"""Characters in a pattern."""
MAX_WRITTEN_OUT = 20_000
"""Parts of a pattern for the backtracking engine, which writes counted repetitions out: 250 bytes a part."""
TIMEOUT_S = 1.0
"""Seconds the backtracking engine may take for one text."""
_PARTS = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|\{(?P<least>\d+)(?:,\d*)?\}|[^*+?|^$]", re.DOTALL)
_SURROGATE = re.compile("[\ud800-\udfff]")


class PatternTimeout(Exception):
    """A pattern could not be decided in time; the check is unverified."""

    def __init__(self, pattern: str) -> None:
        shown = pattern if len(pattern) <= 60 else pattern[:59] + "…"
        super().__init__(
            f"The pattern `{shown}` was not decided within {TIMEOUT_S:g} s; "
            "look-around, back-references or nested repetition make it too slow for this text."
        )


class Pattern:
    """A compiled pattern. Safe to use from many threads."""

    def __init__(self, pattern: str) -> None:
        self.pattern = pattern
        self._translation: Translation | None = translate(pattern)
        self._linear = _compile_linear(self._translation) if self._translation else None
        self._bounded: Any = None
        if self._linear is None:
            self._bounded = _compile_bounded(pattern)

    def search(self, text: str) -> bool:
        """True when the pattern matches anywhere in the text.

        Raises:
            PatternTimeout: not decided in time.
        """
        return next(self.spans(text), None) is not None

    def spans(self, text: str) -> Iterator[tuple[int, int]]:
        """Start and end of every match that does not overlap an earlier one.

        Raises:
            PatternTimeout: not decided in time.
        """
        readable = _SURROGATE.sub("\ufffd", text)
        if self._linear is not None and not self._means_otherwise(readable):
            return _distinct(match.span() for match in self._linear.finditer(readable))
        return self._bounded_spans(readable)

    def _means_otherwise(self, text: str) -> bool:
        """Whether RE2 would read this text differently than Python does."""
        notes = self._translation
        assert notes is not None
        if not ((notes.has_word_boundary and not text.isascii()) or (notes.has_end_anchor and text.endswith("\n"))):
            return False
        if self._bounded is None:
            try:
                self._bounded = _compile_bounded(self.pattern)
            except ValueError:  # only RE2 knows this syntax
                return False
        return True

    def _bounded_spans(self, text: str) -> Iterator[tuple[int, int]]:
        try:
            for match in self._bounded.finditer(text, timeout=TIMEOUT_S, concurrent=True):
                yield match.span()
        except (TimeoutError, MemoryError):
            raise PatternTimeout(self.pattern) from None


def _distinct(spans: Iterator[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """RE2's binding gives an empty match at the end of a text twice."""
    last = None
    for span in spans:
        if span != last:
            yield span
        last = span


def _compile_linear(translation: Translation) -> Any:
    options = re2.Options()
    options.log_errors = False
    options.never_capture = True  # nobody asks for groups, and thousands of them would take gigabytes
    try:
        return re2.compile(translation.text, options=options)
    except re2.error:
        return None


def _compile_bounded(pattern: str) -> Any:
    if _written_out(pattern) > MAX_WRITTEN_OUT:
        raise ValueError(f"its counted repetitions come to more than {MAX_WRITTEN_OUT:,} parts")
    regex = import_module("regex")  # late: most runs hold no pattern that needs it
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return regex.compile(pattern, regex.VERSION0)
    except regex.error as error:
        place = f" at position {error.pos}" if error.pos is not None else ""
        raise ValueError(f"not a regular expression: {error.msg}{place}") from None
    except (RecursionError, OverflowError, ValueError, KeyError, IndexError):
        raise ValueError("not a regular expression that can be compiled") from None


def _written_out(pattern: str) -> int:
    """How many parts a pattern has once everything counted stands there as often as it has to be."""
    groups = [0]
    last = 0
    for found in _PARTS.finditer(pattern):
        part = found[0]
        if part == "(":
            groups.append(0)
            continue
        if found["least"]:
            times = max(int(found["least"][:9]), 1)
            groups[-1] += last * (times - 1)
            last *= times
            continue
        last = groups.pop() if part == ")" and len(groups) > 1 else 1
        groups[-1] += last
    return sum(groups)


@lru_cache(maxsize=512)
def compile_pattern(pattern: str) -> Pattern:
    """A pattern, ready to search.

    Raises:
        ValueError: in words, when it does not compile.
    """
    if len(pattern) > MAX_PATTERN:
        raise ValueError(f"a pattern of {len(pattern):,} characters is longer than {MAX_PATTERN:,}")
    if _SURROGATE.search(pattern):
        raise ValueError("not a regular expression: it holds half of a character")
    return Pattern(pattern)
