"""Nearest names, for messages about a name that does not exist."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from itertools import islice

_MAX_WORD = 80
_MAX_CANDIDATES = 500


def nearest(word: str, candidates: Iterable[str]) -> str | None:
    """The candidate that is most like `word`, or None when none is near. Letter case does not count."""
    if not word or len(word) > _MAX_WORD:
        return None
    by_folded: dict[str, str] = {}
    for candidate in islice(candidates, _MAX_CANDIDATES):
        if len(candidate) <= _MAX_WORD:
            by_folded.setdefault(candidate.casefold(), candidate)
    folded = word.casefold()
    if folded in by_folded:
        return by_folded[folded]
    close = get_close_matches(folded, by_folded, n=1, cutoff=0.6)
    return by_folded[close[0]] if close else None


def did_you_mean(word: str, candidates: Iterable[str]) -> str:
    """A sentence to append: ` Did you mean "x"?`, or nothing when no candidate is near."""
    best = nearest(word, candidates)
    return f' Did you mean "{best}"?' if best is not None else ""
