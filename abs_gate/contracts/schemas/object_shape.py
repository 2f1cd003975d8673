"""Gathers what facts say about one object."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from msgspec import Struct, field
from msgspec.structs import replace

from abs_gate.contracts.schemas.nodes import Has, MatchingMembers, Member, MemberCount, MemberNames, OtherMembers
from abs_gate.contracts.schemas.regular.matching import found_in

if TYPE_CHECKING:
    from abs_gate.contracts.schemas.prover import Prover


class Demand(Struct, frozen=True):
    """Some member, its name not known beforehand, whose value must satisfy a literal."""

    literal: int | None = None
    not_named: frozenset[str] = frozenset()
    matching: str | None = None
    not_matching: frozenset[str] = frozenset()
    name_literal: int | None = None


class ObjectShape(Struct):
    """All that is known about an object."""

    prover: Prover
    members: dict[str, list[int]] = field(default_factory=dict)
    matching: list[tuple[str, int]] = field(default_factory=list)
    others: list[tuple[frozenset[str], frozenset[str], int]] = field(default_factory=list)
    names: list[int] = field(default_factory=list)
    required: dict[str, list[int]] = field(default_factory=dict)
    """Members that must be there, with what else is asked of their values."""
    forbidden: set[str] = field(default_factory=set)
    demands: list[Demand] = field(default_factory=list)
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
                        self.demands.append(Demand(literal, matching=pattern))
                case OtherMembers(names=names, patterns=patterns, node=inner):
                    literal = self.prover.literals.of(inner, wanted)
                    if wanted:
                        self.others.append((names, patterns, literal))
                    else:
                        self.demands.append(Demand(literal, not_named=names, not_matching=patterns))
                case MemberNames(node=inner):
                    literal = self.prover.literals.of(inner, wanted)
                    if wanted:
                        self.names.append(literal)
                    else:
                        self.demands.append(Demand(name_literal=literal))
                case MemberCount(low=low, high=high):
                    self.low = max(self.low, low)
                    self.high = high if self.high is None else self.high if high is None else min(self.high, high)

    def extended(self, atoms: Iterable[int]) -> ObjectShape:
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
        return all_of(self.prover.agrees(literal, name) for literal in self.names)

    def meets(self, demand: Demand, name: str) -> bool | None:
        """Return whether a name is one a demand may be about."""
        answers: list[bool | None] = [name not in demand.not_named]
        if demand.matching is not None:
            answers.append(found_in(demand.matching, name))
        for pattern in demand.not_matching:
            found = found_in(pattern, name)
            answers.append(None if found is None else not found)
        if demand.name_literal is not None:
            answers.append(self.prover.agrees(demand.name_literal, name))
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
