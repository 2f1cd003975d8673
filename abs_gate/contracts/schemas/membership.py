"""Whether an instance belongs to a node, exactly: the engine's own reading, beside the validators of the library."""

from __future__ import annotations

from collections.abc import Iterable

from abs_gate.contracts.schemas.budget import Meter
from abs_gate.contracts.schemas.nodes import (
    Bounds,
    Choice,
    Constants,
    Contains,
    Distinct,
    Every,
    Fact,
    Has,
    Item,
    ItemCount,
    Kinds,
    LaterItems,
    Length,
    Matches,
    MatchingMembers,
    Member,
    MemberCount,
    MemberNames,
    Multiple,
    Node,
    Not,
    One,
    OtherMembers,
    Recursion,
    Some,
)
from abs_gate.contracts.schemas.regular.matching import found_in
from abs_gate.contracts.schemas.tasks import Task, run
from abs_gate.contracts.schemas.values import canonical, exact, type_of
from abs_gate.findings import Json


def accepts(node: Node, value: Json, meter: Meter | None = None) -> bool | None:
    """Return whether a node accepts a value; None when that hangs on something that was not understood.

    Raises BudgetExhausted where there is a meter and nothing left on it.
    """
    return run(_Asking(meter).accepts(node, value))


class _Asking:
    """One question, in which no node is asked twice about the same part of the value."""

    def __init__(self, meter: Meter | None) -> None:
        self._meter = meter
        self._answers: dict[tuple[bytes, int], bool | None] = {}

    def accepts(self, node: Node, value: Json) -> Task[bool | None]:
        key = (node.key, id(value))
        if key not in self._answers:
            if self._meter is not None:
                self._meter.look()
            self._answers[key] = yield from self._accepts(node, value)
        return self._answers[key]

    def _accepts(self, node: Node, value: Json) -> Task[bool | None]:
        match node:
            case Every(parts=parts):
                return (yield from self._all((part, value) for part in parts))
            case Some(parts=parts):
                return (yield from self._any(parts, value))
            case Not(part=part):
                refused: bool | None = yield self.accepts(part, value)
                return None if refused is None else not refused
            case Choice(condition=condition, then=then, otherwise=otherwise):
                holds: bool | None = yield self.accepts(condition, value)
                if holds is None:
                    return None
                branch: bool | None = yield self.accepts(then if holds else otherwise, value)
                return branch
            case One(parts=parts):
                return (yield from self._count(((part, value) for part in parts), 1, 1))
            case Recursion(unfold=unfold):
                unfolded: bool | None = yield self.accepts(unfold(), value)
                return unfolded
            case Kinds(types=types):
                return type_of(value) in types
            case Constants(values=values):
                return canonical(value) in values
            case Fact():
                return True if type_of(value) != node.subject else (yield from self._holds(node, value))
        return None

    def _holds(self, fact: Fact, value: Json) -> Task[bool | None]:
        match fact:
            case Bounds():
                return within(fact, value)
            case Multiple(of=of):
                return (exact(value) / of).denominator == 1
            case Length(low=low, high=high) | ItemCount(low=low, high=high) | MemberCount(low=low, high=high):
                return low <= len(value) and (high is None or len(value) <= high)
            case Matches(pattern=pattern):
                return found_in(pattern, value)
            case Item(index=index, node=node):
                return index >= len(value) or (yield from self._all([(node, value[index])]))
            case LaterItems(start=start, node=node):
                return (yield from self._all((node, item) for item in value[start:]))
            case Contains(node=node, low=low, high=high):
                return (yield from self._count(((node, item) for item in value), low, high))
            case Distinct():
                texts = [f"{type_of(item)} {canonical(item)}" for item in value]
                return len(set(texts)) == len(texts)
            case Has(name=name):
                return name in value
            case Member(name=name, node=node):
                return name not in value or (yield from self._all([(node, value[name])]))
            case MatchingMembers(pattern=pattern, node=node):
                return (yield from self._members(value, node, (pattern,), frozenset(), matching=True))
            case OtherMembers(names=names, patterns=patterns, node=node):
                return (yield from self._members(value, node, patterns, names, matching=False))
            case MemberNames(node=node):
                return (yield from self._all((node, name) for name in value))
        return None

    def _members(
        self, value: dict[str, Json], node: Node, patterns: Iterable[str], names: frozenset[str], *, matching: bool
    ) -> Task[bool | None]:
        unsure = False
        concerned = []
        for name, item in value.items():
            if name in names:
                continue
            answers = [found_in(pattern, name) for pattern in patterns]
            if any(answer for answer in answers):
                concerned += [(node, item)] if matching else []
            elif None in answers:
                unsure = True
            elif not matching:
                concerned.append((node, item))
        answer = yield from self._all(concerned)
        return None if answer and unsure else answer

    def _all(self, questions: Iterable[tuple[Node, Json]]) -> Task[bool | None]:
        unsure = False
        for node, value in questions:
            answer: bool | None = yield self.accepts(node, value)
            if answer is False:
                return False
            unsure = unsure or answer is None
        return None if unsure else True

    def _any(self, nodes: Iterable[Node], value: Json) -> Task[bool | None]:
        unsure = False
        for node in nodes:
            answer: bool | None = yield self.accepts(node, value)
            if answer:
                return True
            unsure = unsure or answer is None
        return None if unsure else False

    def _count(self, questions: Iterable[tuple[Node, Json]], low: int, high: int | None) -> Task[bool | None]:
        sure = unsure = 0
        for node, value in questions:
            answer: bool | None = yield self.accepts(node, value)
            sure += answer is True
            unsure += answer is None
        if sure + unsure < low or (high is not None and sure > high):
            return False
        return True if sure >= low and (high is None or sure + unsure <= high) else None


def within(fact: Bounds, value: float) -> bool:
    """Return whether a number lies in an interval."""
    number = exact(value)
    if fact.low is not None and (number < fact.low or (fact.low_open and number == fact.low)):
        return False
    return fact.high is None or number < fact.high or (number == fact.high and not fact.high_open)
