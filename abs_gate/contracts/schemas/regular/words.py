"""Finds the shortest text inside some languages and outside others, or shows that there is none."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeAlias

from abs_gate.contracts.schemas.budget import Meter
from abs_gate.contracts.schemas.regular import charsets
from abs_gate.contracts.schemas.regular.automaton import Language, State
from abs_gate.contracts.schemas.regular.charsets import Alphabet

_Joint: TypeAlias = tuple[State | str | None, ...]
"""One state a search, and last the text read so far while it may still become an excluded one."""


def shortest_word(
    languages: Sequence[tuple[Language, bool]], low: int, high: int | None, excluded: Iterable[str], meter: Meter
) -> str | None:
    """Return a shortest text of `low` to `high` characters; None is a proof that there is none.

    `languages` are given with whether the text shall be in them. Raises BudgetExhausted.
    """
    return _Finder(languages, frozenset(excluded), meter).find(low, high)


class _Finder:
    def __init__(self, languages: Sequence[tuple[Language, bool]], excluded: frozenset[str], meter: Meter) -> None:
        self._languages = languages
        self._searches = [search for language, _ in languages for search, _ in language.searches]
        self._excluded = excluded
        self._prefixes = frozenset(word[:end] for word in excluded for end in range(len(word) + 1))
        self._meter = meter
        sets = [chars for language, _ in languages for chars in language.charsets()]
        sets.extend(charsets.single(character) for character in sorted(set("".join(excluded))))
        alphabet = Alphabet(sets)
        self._groups = [
            (frozenset(alphabet.sets[index] for index in members), character) for members, character in alphabet.groups
        ]
        """The sets of characters that each group lies in, and the character that stands for it."""
        self._known: dict[tuple[int, State, int], State] = {}

    def find(self, low: int, high: int | None) -> str | None:
        start: _Joint = (*(search.initial() for search in self._searches), "" if self._excluded else None)
        layer: dict[_Joint, str] = {start: ""}
        seen: set[frozenset[_Joint]] = set()
        length = 0
        while layer and (high is None or length <= high):
            if length >= low:
                for joint, word in layer.items():
                    if self._accepted(joint, word):
                        return word
                places = frozenset(layer)
                if places in seen:
                    return None
                seen.add(places)
            layer = self._next(layer)
            length += 1
        return None

    def _accepted(self, joint: _Joint, word: str) -> bool:
        if joint[-1] is not None and joint[-1] in self._excluded:
            return False
        place = 0
        for language, wanted in self._languages:
            inside = True
            for search, found in language.searches:
                state = joint[place]
                assert isinstance(state, frozenset)
                inside = inside and search.accepts(state, empty=not word) is found
                place += 1
            if inside is not wanted:
                return False
        return True

    def _next(self, layer: dict[_Joint, str]) -> dict[_Joint, str]:
        following: dict[_Joint, str] = {}
        for joint, word in layer.items():
            for group, (around, character) in enumerate(self._groups):
                states: list[State | str | None] = []
                for place, search in enumerate(self._searches):
                    state = joint[place]
                    assert isinstance(state, frozenset)
                    step = (place, state, group)
                    target = self._known.get(step)
                    if target is None:
                        self._meter.state()
                        target = search.advance(state, around.__contains__)
                        self._known[step] = target
                    states.append(target)
                trail = joint[-1]
                if isinstance(trail, str):
                    longer = trail + character
                    states.append(longer if longer in self._prefixes else None)
                else:
                    states.append(None)
                new = tuple(states)
                if new not in following:
                    self._meter.state()
                    following[new] = word + character
        return following
