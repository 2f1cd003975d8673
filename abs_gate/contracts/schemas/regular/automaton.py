"""Automata that search for a pattern, built lazily: a state is what the search may have seen so far."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

from msgspec import Struct, field

from abs_gate.contracts.schemas.regular.charsets import CharSet
from abs_gate.contracts.schemas.regular.syntax import (
    Alternatives,
    Chars,
    End,
    IrregularPattern,
    LookAhead,
    Repeat,
    Sequence,
    Start,
    Tree,
    parse,
)

_MOST_STATES = 5_000

State = frozenset[int]
FOUND: State = frozenset({-1})
"""The pattern was found; nothing that follows can undo it."""


class Search(Struct):
    """A nondeterministic automaton that reads a whole text and tells whether the pattern is found in it."""

    moves: list[tuple[CharSet, int] | None] = field(default_factory=list)
    """For each state the characters that lead on, and where to."""
    free: list[list[int]] = field(default_factory=list)
    """For each state those it continues in without a character."""
    at_start: list[list[int]] = field(default_factory=list)
    """... only at the start of the text."""
    at_end: list[list[int]] = field(default_factory=list)
    """... only at the end of the text."""
    first: int = 0
    accepting: int = 0

    def new_state(self) -> int:
        """Add a state. Raises IrregularPattern when there are too many."""
        if len(self.moves) >= _MOST_STATES:
            raise IrregularPattern("too large to be reasoned about")
        self.moves.append(None)
        self.free.append([])
        self.at_start.append([])
        self.at_end.append([])
        return len(self.moves) - 1

    def initial(self) -> State:
        """Return the state before the first character."""
        return self._closure({self.first}, at_start=True)

    def advance(self, state: State, contains: Callable[[CharSet], bool]) -> State:
        """Return the state after one more character, told by which sets it belongs to."""
        if state is FOUND:
            return FOUND
        targets = {self.first}
        for place in state:
            move = self.moves[place]
            if move is not None and contains(move[0]):
                targets.add(move[1])
        return self._closure(targets, at_start=False)

    def accepts(self, state: State, *, empty: bool) -> bool:
        """Return whether the pattern is found when the text ends here; `empty` when nothing was read."""
        return state is FOUND or self._closure(set(state), at_start=empty, at_end=True) is FOUND

    def _closure(self, places: set[int], *, at_start: bool, at_end: bool = False) -> State:
        seen = set(places)
        pending = list(places)
        while pending:
            place = pending.pop()
            if place == self.accepting:
                return FOUND
            onward = self.free[place]
            if at_start and self.at_start[place]:
                onward = [*onward, *self.at_start[place]]
            if at_end and self.at_end[place]:
                onward = [*onward, *self.at_end[place]]
            for target in onward:
                if target not in seen:
                    seen.add(target)
                    pending.append(target)
        return frozenset(place for place in seen if self.moves[place] is not None or self.at_end[place])


def _build(tree: Tree) -> Search:
    search = Search()
    search.first = search.new_state()
    search.accepting = _extend(search, tree, search.first)
    return search


def _extend(search: Search, tree: Tree, start: int) -> int:
    """Append a tree to a state and return the state where it ends."""
    match tree:
        case Chars(chars):
            end = search.new_state()
            if search.moves[start] is not None:
                fork = search.new_state()
                search.free[start].append(fork)
                start = fork
            search.moves[start] = (chars, end)
            return end
        case Sequence(parts):
            for part in parts:
                start = _extend(search, part, start)
            return start
        case Alternatives(parts):
            end = search.new_state()
            for part in parts:
                branch = search.new_state()
                search.free[start].append(branch)
                search.free[_extend(search, part, branch)].append(end)
            return end
        case Repeat(part, least, most):
            return _repeat(search, part, least, most, start)
        case Start() | End():
            end = search.new_state()
            (search.at_start if isinstance(tree, Start) else search.at_end)[start].append(end)
            return end
        case LookAhead():
            raise IrregularPattern("look-around that is not right behind ^")


def _repeat(search: Search, part: Tree, least: int, most: int | None, start: int) -> int:
    for _ in range(least):
        start = _extend(search, part, start)
    end = search.new_state()
    if most is None:
        loop = search.new_state()
        search.free[start].append(loop)
        search.free[loop].append(end)
        body = search.new_state()
        search.free[loop].append(body)
        search.free[_extend(search, part, body)].append(loop)
        return end
    search.free[start].append(end)
    for _ in range(most - least):
        body = search.new_state()
        search.free[start].append(body)
        start = _extend(search, part, body)
        search.free[start].append(end)
    return end


class Language(Struct, frozen=True):
    """The texts in which a pattern is found: all searches agree with what is wanted of them."""

    searches: tuple[tuple[Search, bool], ...]

    def charsets(self) -> list[CharSet]:
        """Return the sets of characters the pattern tells apart."""
        return [move[0] for search, _ in self.searches for move in search.moves if move is not None]

    def contains(self, text: str) -> bool:
        """Return whether the pattern is found in a text, in time linear in its length."""
        return all(self._finds(search, text) is wanted for search, wanted in self.searches)

    @staticmethod
    def _finds(search: Search, text: str) -> bool:
        state = search.initial()
        for character in text:
            point = ord(character)
            state = search.advance(state, lambda chars, point=point: _member(chars, point))  # type: ignore[misc]
            if state is FOUND:
                return True
        return search.accepts(state, empty=not text)


def _member(chars: CharSet, point: int) -> bool:
    return any(low <= point <= high for low, high in chars)


def language(pattern: str) -> Language:
    """Return the language of a pattern. Raises InvalidPattern, or IrregularPattern."""
    known = _language_or_error(pattern)
    if isinstance(known, str):
        raise IrregularPattern(known)
    return known


@lru_cache(maxsize=512)
def _language_or_error(pattern: str) -> Language | str:
    """Return why a pattern is irregular as text: that too is worth remembering."""
    try:
        return _language(parse(pattern))
    except IrregularPattern as error:
        return str(error)


def _language(tree: Tree) -> Language:
    parts = tree.parts if isinstance(tree, Sequence) else (tree,)
    if not isinstance(parts[0] if parts else None, Start):
        return Language(((_build(tree), True),))
    ahead = 1
    while ahead < len(parts) and isinstance(parts[ahead], LookAhead):
        ahead += 1
    searches = [(_build(Sequence((Start(), *parts[ahead:]))), True)]
    for look in parts[1:ahead]:
        if isinstance(look, LookAhead):
            searches.append((_build(Sequence((Start(), look.part))), look.wanted))
    return Language(tuple(searches))
