"""Decides facts about one number or one string: exact arithmetic and automata."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction
from math import ceil, floor, gcd
from typing import TYPE_CHECKING

from msgspec import Struct, field

from abs_gate.contracts.schemas.answers import EMPTY, OPEN, Answer, Found
from abs_gate.contracts.schemas.literals import Proving
from abs_gate.contracts.schemas.nodes import Bounds, Constants, Length, Matches, Multiple
from abs_gate.contracts.schemas.regular.approximation import approximation
from abs_gate.contracts.schemas.regular.automaton import Language, language
from abs_gate.contracts.schemas.regular.matching import found_in
from abs_gate.contracts.schemas.regular.syntax import InvalidPattern, IrregularPattern
from abs_gate.contracts.schemas.regular.words import shortest_word
from abs_gate.contracts.schemas.values import NUMBER, STRING, exact, plain, type_of

if TYPE_CHECKING:
    from abs_gate.contracts.schemas.prover import Prover

_MOST_TRIED = 2_000
_LONGEST_TEXT = 100_000
_SEEN_LINE_END = "a\nb"
"""A text whose line end shows, for patterns that only differ there."""


class _Numbers(Struct):
    """Numbers of an interval, multiples of `step`, that are no multiples of some and none of a few."""

    low: Fraction | None = None
    low_open: bool = False
    high: Fraction | None = None
    high_open: bool = False
    step: Fraction | None = None
    refused_steps: list[Fraction] = field(default_factory=list)
    excluded: set[Fraction] = field(default_factory=set)

    def bound(self, fact: Bounds) -> None:
        """Take a tighter bound."""
        if fact.low is not None and (self.low is None or (fact.low, fact.low_open) > (self.low, self.low_open)):
            self.low, self.low_open = fact.low, fact.low_open
        if fact.high is not None and (self.high is None or (-fact.high, fact.high_open) > (-self.high, self.high_open)):
            self.high, self.high_open = fact.high, fact.high_open

    def inside(self, number: Fraction) -> bool:
        """Return whether a number is one of them."""
        if self.low is not None and (number < self.low or (self.low_open and number == self.low)):
            return False
        if self.high is not None and (number > self.high or (self.high_open and number == self.high)):
            return False
        if self.step is not None and (number / self.step).denominator != 1:
            return False
        return number not in self.excluded and all((number / step).denominator != 1 for step in self.refused_steps)

    def places(self) -> tuple[int | None, int | None]:
        """Return the least and the greatest whole number of steps inside the interval."""
        assert self.step is not None
        first = last = None
        if self.low is not None:
            first = ceil(self.low / self.step)
            first += self.low_open and first * self.step == self.low
        if self.high is not None:
            last = floor(self.high / self.step)
            last -= self.high_open and last * self.step == self.high
        return first, last


class ScalarShape(Struct, frozen=True):
    """Facts about one number or string, and the rule that decides them."""

    prover: Prover
    atoms: list[int]
    rule: Callable[[Prover, list[int]], Answer]

    def extended(self, atoms: Iterable[int]) -> ScalarShape:
        """Return the shape with more facts."""
        return ScalarShape(self.prover, [*self.atoms, *atoms], self.rule)

    def complete(self) -> Proving:
        """Return a number or string for which all facts hold."""
        return self.rule(self.prover, self.atoms)
        yield  # pragma: no cover  # makes this a proof like those that hang on others


def prove_number(prover: Prover, atoms: list[int]) -> Answer:
    """Return a number for which all facts hold."""
    numbers = _Numbers()
    for atom in atoms:
        match prover.literals.node(atom):
            case Bounds() as fact:
                numbers.bound(fact)
            case Multiple(of=of) if atom > 0:
                numbers.step = of if numbers.step is None else _common_multiple(numbers.step, of)
            case Multiple(of=of):
                numbers.refused_steps.append(of)
            case Constants(values=values):
                numbers.excluded.update(exact(value) for value in values.values() if type_of(value) == NUMBER)
    if numbers.low is not None and numbers.high is not None:
        if numbers.low > numbers.high:
            return EMPTY
        if numbers.low == numbers.high:
            return Found(plain(numbers.low)) if numbers.inside(numbers.low) else EMPTY
    if numbers.step is not None:
        return _among_steps(numbers)
    for number in _dense(numbers):
        if _representable(numbers, number):
            return Found(plain(number))
    return OPEN


def _representable(numbers: _Numbers, number: Fraction) -> bool:
    """Whether the JSON number nearest to a number is one of those wanted."""
    try:
        return numbers.inside(exact(plain(number)))
    except (OverflowError, ValueError):
        return False


def _common_multiple(left: Fraction, right: Fraction) -> Fraction:
    one, other = left.numerator * right.denominator, right.numerator * left.denominator
    return Fraction(one * other // gcd(one, other), left.denominator * right.denominator)


def _among_steps(numbers: _Numbers) -> Answer:
    assert numbers.step is not None
    first, last = numbers.places()
    if first is not None and last is not None and first > last:
        return EMPTY
    if any((numbers.step / refused).denominator == 1 for refused in numbers.refused_steps):
        return EMPTY
    for place in _near(first, last):
        if _representable(numbers, place * numbers.step):
            return Found(plain(place * numbers.step))
    complete = first is not None and last is not None and last - first < _MOST_TRIED
    exhausted = complete and not any(
        numbers.inside(place * numbers.step) for place in range(first or 0, (last or 0) + 1)
    )
    return EMPTY if exhausted else OPEN


def _near(first: int | None, last: int | None) -> Iterator[int]:
    """Whole numbers of an interval, the most telling first."""
    if (first is None or first <= 1) and (last is None or last >= 1):
        yield 1
    start = first if first is not None else (min(last, 0) if last is not None else 0)
    for distance in range(_MOST_TRIED):
        above, below = start + distance, start - distance
        if last is None or above <= last:
            yield above
        if distance and (first is None or below >= first) and (last is None or below <= last):
            yield below
    if last is not None:
        yield last


def _dense(numbers: _Numbers) -> Iterator[Fraction]:
    """Numbers of an interval that has more than one, the most telling first."""
    low, high = numbers.low, numbers.high
    near = next((bound for bound in (low, high) if bound is not None), Fraction(0))
    yield Fraction(1)
    yield Fraction(0)
    yield Fraction(3, 2)
    yield Fraction(1, 2)
    for distance in range(1, 200):
        yield floor(near) + Fraction(distance)
        yield ceil(near) - Fraction(distance)
    yield near
    if high is not None:
        yield high
    if low is not None and high is not None:
        width = high - low
        for parts in (2, 10, 100, 1000, 16, 1024):
            for part in range(1, min(parts, 50)):
                yield low + width * part / parts
    for distance in range(1, 200):
        yield near + Fraction(distance, 8)
        yield near - Fraction(distance, 8)
        yield near + Fraction(distance, 10)
        yield near - Fraction(distance, 10)
        yield near + distance * Fraction(7, 1000)
        yield near - distance * Fraction(7, 1000)


def prove_string(prover: Prover, atoms: list[int]) -> Answer:
    """Return a string for which all facts hold."""
    low, high = 0, None
    excluded: set[str] = set()
    languages: list[tuple[Language, bool]] = []
    irregular: list[tuple[str, bool]] = []
    for atom in atoms:
        match prover.literals.node(atom):
            case Length() as fact:
                low = max(low, fact.low)
                high = fact.high if high is None else high if fact.high is None else min(high, fact.high)
            case Matches(pattern=pattern):
                try:
                    languages.append((language(pattern), atom > 0))
                except (IrregularPattern, InvalidPattern):
                    irregular.append((pattern, atom > 0))
            case Constants(values=values):
                excluded.update(value for value in values.values() if type_of(value) == STRING)
    if high is not None and low > high:
        return EMPTY

    def fits(text: str) -> bool:
        return (
            low <= len(text)
            and (high is None or len(text) <= high)
            and text not in excluded
            and all(known.contains(text) is wanted for known, wanted in languages)
            and all(found_in(pattern, text) is wanted for pattern, wanted in irregular)
        )

    for text in _usual_texts(low, high):
        if fits(text):
            return Found(text)
    if low > _LONGEST_TEXT:
        return OPEN
    word = None
    if high is None or high > 0:
        word = shortest_word(languages, max(low, 1), high, excluded, prover.meter)
    if word is None and low == 0:
        word = shortest_word(languages, 0, 0, excluded, prover.meter)
    if word is None:
        return EMPTY
    if not irregular or fits(word):
        return Found(_SEEN_LINE_END if not word.isprintable() and fits(_SEEN_LINE_END) else word)
    near = [(found, wanted) for pattern, wanted in irregular if (found := approximation(pattern)) is not None]
    guessed = shortest_word([*languages, *near], low, high, excluded, prover.meter)
    for text in [*([] if guessed is None else [guessed]), *prover.texts()]:
        if fits(text):
            return Found(text)
    return Found(word, sure=False)


def _usual_texts(low: int, high: int | None) -> Iterator[str]:
    """Readable strings of a length in a range."""
    if low <= 4:
        yield "text" if high is None else "text"[:high]
    yield "a" * min(low, _LONGEST_TEXT)
