"""Whether a pattern is found in a text, in bounded time whatever the pattern."""

from __future__ import annotations

from functools import lru_cache

from abs_gate.contracts.schemas.regular.automaton import language
from abs_gate.contracts.schemas.regular.syntax import InvalidPattern, IrregularPattern

_given_up: set[str] = set()
"""Patterns that once ran out of time: they are not given a second chance to waste it."""


@lru_cache(maxsize=4096)
def found_in(pattern: str, text: str) -> bool | None:
    """Return whether a pattern is found in a text; None when that cannot be told."""
    try:
        return language(pattern).contains(text)
    except IrregularPattern:
        return _found_by_engine(pattern, text)
    except InvalidPattern:
        return None


def _found_by_engine(pattern: str, text: str) -> bool | None:
    from abs_gate.sources.patterns import PatternTimeout, compile_pattern  # start-up speed

    if pattern in _given_up:
        return None
    try:
        return compile_pattern(pattern).search(text)
    except PatternTimeout:
        _given_up.add(pattern)
    except ValueError:
        pass
    return None
