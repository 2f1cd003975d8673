"""Decides facts about one object: which members it must, may and cannot have, and what goal each of them is."""

from __future__ import annotations

from collections.abc import Generator, Iterable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from abs_gate.contracts.schemas import build
from abs_gate.contracts.schemas.answers import EMPTY, OPEN, Answer, Empty, Found, Open
from abs_gate.contracts.schemas.literals import Alternative, Goal, Proving
from abs_gate.contracts.schemas.membership import accepts
from abs_gate.contracts.schemas.nodes import (
    Has,
    MatchingMembers,
    Member,
    MemberCount,
    MemberNames,
    OtherMembers,
)
from abs_gate.contracts.schemas.regular.matching import found_in
from abs_gate.contracts.schemas.values import STRING

if TYPE_CHECKING:
    from abs_gate.contracts.schemas.prover import Prover

_MOST_PATTERNS = 4
_MOST_FILLED = 500
_FRESH_NAMES = ("extra", "other", "more")


@dataclass(frozen=True, slots=True)
class _Demand:
    """Some member, its name not known beforehand, whose value must satisfy a literal."""

    literal: int | None = None
    not_named: frozenset[str] = frozenset()
    matching: str | None = None
    not_matching: frozenset[str] = frozenset()
    name_literal: int | None = None


@dataclass(slots=True)
class _Shape:
    """All that is known about an object."""

    prover: Prover
    members: dict[str, list[int]] = field(default_factory=dict)
    matching: list[tuple[str, int]] = field(default_factory=list)
    others: list[tuple[frozenset[str], frozenset[str], int]] = field(default_factory=list)
    names: list[int] = field(default_factory=list)
    required: dict[str, list[int]] = field(default_factory=dict)
    """Members that must be there, with what else is asked of their values."""
    forbidden: set[str] = field(default_factory=set)
    demands: list[_Demand] = field(default_factory=list)
    low: int = 0
    high: int | None = None

    def add(self, atoms: Iterable[int]) -> None:
        """Take facts in."""
        for atom in atoms:
            node = self.prover.literals.node(atom)
            wanted = atom > 0
            match node:
                case Member(name=name, node=inner):
                    literal = self.prover.literals.of(inner, wanted)
                    if wanted:
                        self.members.setdefault(name, []).append(literal)
                    else:
                        self.required.setdefault(name, []).append(literal)
                case Has(name=name) if wanted:
                    self.required.setdefault(name, [])
                case Has(name=name):
                    self.forbidden.add(name)
                case MatchingMembers(pattern=pattern, node=inner):
                    literal = self.prover.literals.of(inner, wanted)
                    if wanted:
                        self.matching.append((pattern, literal))
                    else:
                        self.demands.append(_Demand(literal, matching=pattern))
                case OtherMembers(names=names, patterns=patterns, node=inner):
                    literal = self.prover.literals.of(inner, wanted)
                    if wanted:
                        self.others.append((names, patterns, literal))
                    else:
                        self.demands.append(_Demand(literal, not_named=names, not_matching=patterns))
                case MemberNames(node=inner):
                    literal = self.prover.literals.of(inner, wanted)
                    if wanted:
                        self.names.append(literal)
                    else:
                        self.demands.append(_Demand(name_literal=literal))
                case MemberCount(low=low, high=high):
                    self.low = max(self.low, low)
                    self.high = high if self.high is None else self.high if high is None else min(self.high, high)

    def extended(self, atoms: Iterable[int]) -> _Shape:
        """Return a copy with more facts."""
        copy = replace(
            self,
            members={name: list(literals) for name, literals in self.members.items()},
            matching=list(self.matching),
            others=list(self.others),
            names=list(self.names),
            required={name: list(literals) for name, literals in self.required.items()},
            forbidden=set(self.forbidden),
            demands=list(self.demands),
        )
        copy.add(atoms)
        return copy

    def value_goal(self, name: str) -> list[int] | None:
        """Return what the value of a member must satisfy; None when a pattern cannot be told to match its name."""
        literals = list(self.members.get(name, ()))
        for pattern, literal in self.matching:
            found = found_in(pattern, name)
            if found is None:
                return None
            if found:
                literals.append(literal)
        for names, patterns, literal in self.others:
            if name in names:
                continue
            answers = [found_in(pattern, name) for pattern in patterns]
            if any(answers):
                continue
            if None in answers:
                return None
            literals.append(literal)
        return literals

    def name_allowed(self, name: str) -> bool | None:
        """Return whether the names' own rules accept a name."""
        if name in self.forbidden:
            return False
        return all_of(self._says(literal, name) for literal in self.names)

    def _says(self, literal: int, name: str) -> bool | None:
        answer = accepts(self.prover.literals.node(literal), name)
        return answer if answer is None or literal > 0 else not answer

    def meets(self, demand: _Demand, name: str) -> bool | None:
        """Return whether a name is one a demand may be about."""
        answers: list[bool | None] = [name not in demand.not_named]
        if demand.matching is not None:
            answers.append(found_in(demand.matching, name))
        for pattern in demand.not_matching:
            found = found_in(pattern, name)
            answers.append(None if found is None else not found)
        if demand.name_literal is not None:
            answers.append(self._says(demand.name_literal, name))
        return all_of(answers)

    def known_names(self) -> list[str]:
        """Return every name that is mentioned, the ones with rules of their own first."""
        names = dict.fromkeys([*self.required, *self.members])
        for others, _, _ in self.others:
            names.update(dict.fromkeys(sorted(others)))
        for demand in self.demands:
            names.update(dict.fromkeys(sorted(demand.not_named)))
        names.update(dict.fromkeys(sorted(self.forbidden)))
        return list(names)

    def patterns(self) -> list[str]:
        """Return every pattern that tells names apart."""
        found: dict[str, None] = dict.fromkeys(pattern for pattern, _ in self.matching)
        for _, patterns, _ in self.others:
            found.update(dict.fromkeys(sorted(patterns)))
        for demand in self.demands:
            found.update(dict.fromkeys(sorted(demand.not_matching)))
            if demand.matching is not None:
                found[demand.matching] = None
        return list(found)


def all_of(answers: Iterable[bool | None]) -> bool | None:
    """Return the conjunction of answers that may be unknown."""
    unsure = False
    for answer in answers:
        if answer is False:
            return False
        unsure = unsure or answer is None
    return None if unsure else True


def prove_object(prover: Prover, atoms: list[int], clauses: list[list[Alternative]]) -> Proving:
    """Return an object for which all facts hold, and one alternative of each clause."""
    shape = _Shape(prover)
    shape.add(atoms)
    answer = yield from _complete(shape)
    if isinstance(answer, Empty) or not clauses:
        return answer
    possible: list[list[Alternative]] = []
    for clause in clauses:
        left = yield from _possible(shape, clause)
        if not left:
            return EMPTY
        settled = len(clauses) > 1 and (yield from _settled(shape, left))
        if not settled:
            possible.append(left)
    if not possible:
        return answer
    possible.sort(key=len)
    return (yield from _choose(shape, possible, ()))


def _choose(shape: _Shape, clauses: list[list[Alternative]], chosen: Alternative) -> Proving:
    if not clauses:
        shape.prover.meter.step(5 + len(shape.members) + len(shape.required))
        return (yield from _complete(shape.extended(chosen)))
    best: Answer = EMPTY
    for alternative in clauses[0]:
        answer = yield from _choose(shape, clauses[1:], (*chosen, *alternative))
        if isinstance(answer, Found) and answer.sure:
            return answer
        if not isinstance(answer, Empty) and not isinstance(best, Found):
            best = answer
    return best


def _possible(shape: _Shape, clause: list[Alternative]) -> Generator[Goal, Answer, list[Alternative]]:
    """Return the alternatives that are not refuted by what they say about one member."""
    left = []
    for alternative in clause:
        refuted = False
        for literal in alternative:
            refuted = refuted or (yield from _refuted(shape, literal))
        if not refuted:
            left.append(alternative)
    return left


def _settled(shape: _Shape, clause: list[Alternative]) -> Generator[Goal, Answer, bool]:
    """Return whether some alternative holds for every object of this shape."""
    for alternative in clause:
        if len(alternative) == 1 and (yield from _refuted(shape, -alternative[0])):
            return True
    return False


def _refuted(shape: _Shape, literal: int) -> Generator[Goal, Answer, bool]:
    """Return whether no object of this shape can satisfy a literal about one member."""
    node = shape.prover.literals.node(literal)
    if isinstance(node, Has):
        if literal < 0:
            return node.name in shape.required
        return (yield from _impossible(shape, node.name, None))
    if isinstance(node, Member):
        inner = shape.prover.literals.of(node.node, literal > 0)
        if literal > 0 and node.name not in shape.required:
            return False
        return (yield from _impossible(shape, node.name, inner))
    return False


def _impossible(shape: _Shape, name: str, literal: int | None) -> Generator[Goal, Answer, bool]:
    """Return whether no object of this shape has a member of this name with such a value."""
    if shape.name_allowed(name) is False:
        return True
    literals = shape.value_goal(name) or []
    if literal is not None:
        if -literal in literals:
            return True
        literals = [*literals, literal]
    literals += shape.required.get(name, ())
    answer = yield frozenset(literals)
    return isinstance(answer, Empty)


def _complete(shape: _Shape) -> Proving:
    """Return an object of a shape: the members it must have and no others."""
    shape.prover.meter.step(1 + len(shape.required))
    if shape.high is not None and (len(shape.required) > shape.high or shape.low > shape.high):
        return EMPTY
    found: dict[str, Found] = {}
    undecided = False
    for name, extra in shape.required.items():
        answer = yield from _value(shape, name, extra)
        if isinstance(answer, Empty):
            return EMPTY
        if isinstance(answer, Found):
            found[name] = answer
        undecided = undecided or isinstance(answer, Open)
    if undecided:
        return OPEN
    asked = {name: list(extra) for name, extra in shape.required.items()}
    for demand in shape.demands:
        place = yield from _place(shape, demand, found, asked)
        if not isinstance(place, tuple):
            return place
        found[place[0]] = place[1]
        asked.setdefault(place[0], []).extend([] if demand.literal is None else [demand.literal])
    if len(found) < shape.low:
        failure = yield from _fill(shape, found)
        if failure is not None:
            return failure
    return Found(
        {name: answer.value for name, answer in found.items()},
        1 + sum(answer.size for answer in found.values()),
        all(answer.sure for answer in found.values()),
    )


def _value(shape: _Shape, name: str, extra: Iterable[int]) -> Proving:
    """Return a value for a member of this name."""
    allowed = shape.name_allowed(name)
    if allowed is False:
        return EMPTY
    literals = shape.value_goal(name)
    answer = yield frozenset([*(literals if literals is not None else shape.members.get(name, ())), *extra])
    if isinstance(answer, Found) and (literals is None or allowed is None):
        return Found(answer.value, answer.size, sure=False)
    return answer


def _place(
    shape: _Shape, demand: _Demand, found: dict[str, Found], asked: dict[str, list[int]]
) -> Generator[Goal, Answer, tuple[str, Found] | Empty | Open]:
    """Return a member that meets a demand: a known one, or one of a name nobody mentions."""
    extra = [] if demand.literal is None else [demand.literal]
    full = shape.high is not None and len(found) >= shape.high
    known = list(dict.fromkeys([*shape.known_names(), *found]))
    best: Empty | Open | tuple[str, Found] = EMPTY
    for name in sorted(known, key=lambda name: (name in found) is not full):
        if full and name not in found:
            continue
        meets = shape.meets(demand, name)
        if meets is False:
            continue
        answer = yield from _value(shape, name, [*extra, *asked.get(name, ())])
        if isinstance(answer, Found) and answer.sure and meets:
            if full or name not in found:
                return name, answer
            best = (name, answer)
        elif isinstance(answer, Found):
            best = best if isinstance(best, tuple) else (name, Found(answer.value, answer.size, sure=False))
        elif isinstance(best, Empty) and (isinstance(answer, Open) or (name in found and name not in shape.required)):
            # Under a name another demand was given: together they may fail, and yet fit apart.
            best = OPEN
    if full:
        return OPEN if isinstance(best, Empty) and len(shape.demands) > 1 else best
    fresh = yield from _fresh(shape, demand, known)
    if isinstance(fresh, tuple) and (fresh[1].sure or not isinstance(best, tuple)):
        return fresh
    return fresh if isinstance(best, Empty) else best


def _fresh(
    shape: _Shape, demand: _Demand, taken: list[str]
) -> Generator[Goal, Answer, tuple[str, Found] | Empty | Open]:
    """Return a member under a name that is not taken."""
    patterns = shape.patterns()
    extra = [] if demand.literal is None else [demand.literal]
    best: tuple[str, Found] | Empty | Open = EMPTY if len(patterns) <= _MOST_PATTERNS else OPEN
    for matched in _selections(patterns):
        if (demand.matching is not None and demand.matching not in matched) or demand.not_matching & matched:
            continue
        literals = [literal for pattern, literal in shape.matching if pattern in matched]
        literals += [literal for _, excepted, literal in shape.others if not excepted & matched]
        value = yield frozenset([*literals, *extra])
        if isinstance(value, Empty):
            continue
        name = yield from _fresh_name(shape, demand, patterns, matched, taken)
        if isinstance(name, Empty):
            continue
        if isinstance(value, Found) and isinstance(name, Found):
            sure = value.sure and name.sure
            member = (name.value, Found(value.value, value.size, sure))
            if sure:
                return member
            best = member
        elif isinstance(best, Empty):
            best = OPEN
    return best


def _selections(patterns: list[str]) -> Iterable[frozenset[str]]:
    """Return which patterns a name may match, the fewest first."""
    if len(patterns) > _MOST_PATTERNS:
        return [frozenset(), *(frozenset({pattern}) for pattern in patterns)]
    masks = sorted(range(1 << len(patterns)), key=lambda mask: (mask.bit_count(), mask))
    return [frozenset(pattern for place, pattern in enumerate(patterns) if mask >> place & 1) for mask in masks]


def _fresh_name(
    shape: _Shape, demand: _Demand, patterns: list[str], matched: frozenset[str], taken: list[str]
) -> Proving:
    """Return a name that is not taken and matches exactly some of the patterns."""
    of = shape.prover.literals.of
    goal = [of(build.kinds(frozenset({STRING}))), *shape.names]
    goal += [of(build.matches(pattern), pattern in matched) for pattern in patterns]
    if demand.name_literal is not None:
        goal.append(demand.name_literal)
    for name in _FRESH_NAMES:
        if name not in taken and all(_name_agrees(shape, literal, name) for literal in goal):
            return Found(name)
    if taken:
        goal.append(of(build.constants(taken), False))
    return (yield frozenset(goal))


def _name_agrees(shape: _Shape, literal: int, name: str) -> bool:
    answer = accepts(shape.prover.literals.node(literal), name)
    return answer is not None and answer is (literal > 0)


def _fill(shape: _Shape, found: dict[str, Found]) -> Generator[Goal, Answer, Empty | Open | None]:
    """Add members until there are enough; returns why there cannot be."""
    if shape.low - len(found) > _MOST_FILLED:
        return OPEN
    undecided = False
    known = shape.known_names()
    for name in known:
        if len(found) >= shape.low:
            return None
        if name in found:
            continue
        answer = yield from _value(shape, name, ())
        if isinstance(answer, Found):
            found[name] = answer
        undecided = undecided or isinstance(answer, Open)
    taken = list(dict.fromkeys([*known, *found]))
    while len(found) < shape.low:
        fresh = yield from _fresh(shape, _Demand(), taken)
        if not isinstance(fresh, tuple):
            return fresh if not undecided else OPEN
        found[fresh[0]] = fresh[1]
        taken = [*taken, fresh[0]]
    return None
