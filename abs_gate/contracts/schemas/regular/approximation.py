"""Rewrites a pattern that is not reasoned about into one that is, near enough to guess texts that match.

What is guessed proves nothing: every text is matched against the pattern as it was written before it is used.
"""

from __future__ import annotations

import re

from abs_gate.contracts.schemas.regular.automaton import Language, language
from abs_gate.contracts.schemas.regular.syntax import InvalidPattern, IrregularPattern

_LONGEST = 2_000
_REWRITTEN = (
    (re.compile(r"\(\?<?[=!][^()]{0,200}\)"), ""),  # look-around
    (re.compile(r"\(\?[a-z]{1,8}\)"), ""),  # flags
    (re.compile(r"\(\?(?:>|[a-z]{1,8}:)"), "(?:"),  # atomic groups, flags for a group
    (re.compile(r"\(\?P<"), "(?<"),
    (re.compile(r"\\[bB]"), ""),
    (re.compile(r"\\p\{[^{}]{1,40}\}"), "[A-Za-z]"),
    (re.compile(r"\\P\{[^{}]{1,40}\}"), "[0-9]"),
    (re.compile(r"([*+?}])\+"), r"\1"),  # possessive quantifiers
    (re.compile(r"\{,(\d{1,5})\}"), r"{0,\1}"),
)
_SIMPLE_GROUP = re.compile(r"\((?:\?<\w{1,40}>)?([^()?][^()]{0,200})\)")
_BACKREFERENCE = re.compile(r"\\([1-9])")


def approximation(pattern: str) -> Language | None:
    """Return a language near to that of an irregular pattern; None when there is no such luck."""
    if len(pattern) > _LONGEST:
        return None
    for part, replacement in _REWRITTEN:
        pattern = part.sub(replacement, pattern)
    groups = [found[1] for found in _SIMPLE_GROUP.finditer(pattern)]
    pattern = _BACKREFERENCE.sub(lambda found: f"(?:{_group(groups, int(found[1]))})", pattern)
    try:
        return language(pattern)
    except (InvalidPattern, IrregularPattern):
        return None


def _group(groups: list[str], number: int) -> str:
    return groups[number - 1] if number <= len(groups) else ""
