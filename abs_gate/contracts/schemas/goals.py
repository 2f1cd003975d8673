"""Proves one goal: propagates what must hold, branches on what may, and hands facts to the rules of their type."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct, field

from abs_gate.contracts.schemas import build
from abs_gate.contracts.schemas.answers import EMPTY, Answer, Empty, Found, better, is_sure, unless
from abs_gate.contracts.schemas.arrays import prove_array
from abs_gate.contracts.schemas.branching import choose
from abs_gate.contracts.schemas.expansion import Atom, Both
from abs_gate.contracts.schemas.literals import Alternative, Goal, Proving
from abs_gate.contracts.schemas.nodes import Constants, Fact, Kinds, Opaque
from abs_gate.contracts.schemas.objects import prove_object
from abs_gate.contracts.schemas.scalars import ScalarShape, prove_number, prove_string
from abs_gate.contracts.schemas.values import ARRAY, BOOLEAN, NULL, NUMBER, OBJECT, STRING, TYPES, size_of, type_of
from abs_gate.findings import Json

if TYPE_CHECKING:
    from abs_gate.contracts.schemas.prover import Prover

_ORDER = (STRING, NUMBER, BOOLEAN, OBJECT, ARRAY, NULL)
"""Which type is tried first: the most telling witness."""


class _Clause(Struct):
    origin: int
    alternatives: list[Alternative]


class _Contradiction(Exception):
    """Two literals of a goal exclude each other."""


class _Branch(Struct):
    """A goal with all that follows from it."""

    prover: Prover
    held: set[int] = field(default_factory=set)
    atoms: list[int] = field(default_factory=list)
    clauses: list[_Clause] = field(default_factory=list)
    kinds: frozenset[str] = TYPES

    def hold(self, literals: Goal | Alternative) -> None:
        """Add literals and what they come down to. Raises _Contradiction."""
        pending = list(literals)
        while pending:
            literal = pending.pop()
            self.prover.meter.step()
            if literal in self.held:
                continue
            if -literal in self.held:
                raise _Contradiction
            self.held.add(literal)
            expansion = self.prover.expand(literal)
            if isinstance(expansion, Atom):
                self.atoms.append(literal)
                self.kinds &= expansion.kinds
                if not self.kinds:
                    raise _Contradiction
            elif isinstance(expansion, Both):
                pending.extend(expansion.literals)
            else:
                self.clauses.append(_Clause(literal, list(expansion.alternatives)))

    def propagate(self) -> None:
        """Drop what cannot or need not hold until nothing changes. Raises _Contradiction."""
        changed = True
        while changed:
            changed = False
            clauses, self.clauses = self.clauses, []
            for clause in clauses:
                left = self._left(clause.alternatives)
                if left is None:
                    continue
                if not left:
                    raise _Contradiction
                if len(left) == 1:
                    self.hold(left[0])
                    changed = True
                else:
                    self.clauses.append(_Clause(clause.origin, left))

    def _left(self, alternatives: list[Alternative]) -> list[Alternative] | None:
        """Return the alternatives that are still possible; None when one holds already."""
        left: dict[Alternative, None] = {}
        pending = list(reversed(alternatives))
        while pending:
            alternative = pending.pop()
            self.prover.meter.step()
            if any(-literal in self.held for literal in alternative):
                continue
            open_literals = tuple(literal for literal in alternative if not self._holds(literal))
            if not open_literals:
                return None
            kinds = self.kinds
            for literal in open_literals:
                kinds &= self.prover.kinds_of(literal)
            if not kinds:
                continue
            if len(open_literals) == 1:
                expansion = self.prover.expand(open_literals[0])
                if isinstance(expansion, Both):
                    pending.append(expansion.literals)
                    continue
                if not isinstance(expansion, Atom):
                    pending.extend(reversed(expansion.alternatives))
                    continue
            left[open_literals] = None
        return list(left)

    def _holds(self, literal: int) -> bool:
        """Whether a literal is known to hold: it was met, or speaks about types that are ruled out."""
        if literal in self.held:
            return True
        expansion = self.prover.expand(literal)
        if not isinstance(expansion, Atom):
            return isinstance(expansion, Both) and not expansion.literals
        match self.prover.literals.node(literal):
            case Fact(subject=subject):
                return literal > 0 and subject not in self.kinds
            case Constants(values=values):
                return literal < 0 and not any(type_of(value) in self.kinds for value in values.values())
            case Kinds():
                return self.kinds <= expansion.kinds
        return False

    def rest(self, without: _Clause | None = None) -> list[int]:
        """Return literals that say the same as the goal, one clause left out."""
        return [*self.atoms, *(clause.origin for clause in self.clauses if clause is not without)]


def prove_goal(prover: Prover, goal: Goal) -> Proving:
    """Return an instance of a goal, or that there is none."""
    branch = _Branch(prover)
    try:
        branch.hold(goal)
        branch.propagate()
    except _Contradiction:
        return EMPTY
    candidates = _candidates(branch)
    if candidates is not None:
        return _first_accepted(prover, goal, candidates)
    if len(branch.kinds) > 1:
        parts = [
            frozenset([*branch.rest(), prover.literals.of(build.kinds(frozenset({kind})))])
            for kind in _ORDER
            if kind in branch.kinds
        ]
        return (yield from first_of(parts))
    kind = next(iter(branch.kinds))
    mixed = _mixed_clause(branch, kind)
    if mixed is not None:
        return (yield from first_of(_split(branch, mixed, kind)))
    answer: Answer
    if kind == OBJECT:
        answer = yield from prove_object(prover, branch.atoms, [clause.alternatives for clause in branch.clauses])
    elif kind == ARRAY:
        answer = yield from prove_array(prover, branch.atoms, [clause.alternatives for clause in branch.clauses])
    else:
        shape = ScalarShape(prover, branch.atoms, prove_number if kind == NUMBER else prove_string)
        answer = yield from choose(
            prover, shape, [clause.alternatives for clause in branch.clauses], ScalarShape.complete
        )
    understood = not any(isinstance(prover.literals.node(atom), Opaque) for atom in branch.atoms)
    return unless(understood, answer)


def first_of(goals: list[Goal]) -> Proving:
    """Return an instance of any of the goals."""
    best: Answer = EMPTY
    for goal in goals:
        answer = yield goal
        if is_sure(answer):
            return answer
        best = better(best, answer)
    return best


def _candidates(branch: _Branch) -> list[Json] | None:
    """Return the only values that come into question, when they are few and known."""
    literals = branch.prover.literals
    known: dict[str, Json] | None = None
    for atom in branch.atoms:
        node = literals.node(atom)
        if atom > 0 and isinstance(node, Constants):
            known = (
                node.values if known is None else {text: value for text, value in known.items() if text in node.values}
            )
    if known is not None:
        return [value for value in known.values() if type_of(value) in branch.kinds]
    if branch.kinds <= {NULL, BOOLEAN}:
        return [value for value in (True, False, None) if type_of(value) in branch.kinds]
    return None


def _first_accepted(prover: Prover, goal: Goal, candidates: list[Json]) -> Answer:
    best: Answer = EMPTY
    for value in candidates:
        prover.meter.step(5)
        answers = [prover.agrees(literal, value) for literal in goal]
        if all(answers):
            return Found(value, size_of(value))
        if not any(answer is False for answer in answers) and isinstance(best, Empty):
            best = Found(value, size_of(value), sure=False)
    return best


def _is_plain(prover: Prover, alternative: Alternative, kind: str) -> bool:
    """Whether an alternative is one fact about a type."""
    if len(alternative) != 1:
        return False
    node = prover.literals.node(alternative[0])
    return isinstance(node, Fact) and node.subject == kind and isinstance(prover.expand(alternative[0]), Atom)


def _mixed_clause(branch: _Branch, kind: str) -> _Clause | None:
    """Return the clause with the fewest alternatives of those that are not about single facts of the type alone."""
    mixed = [
        clause
        for clause in branch.clauses
        if not all(_is_plain(branch.prover, alternative, kind) for alternative in clause.alternatives)
    ]
    return min(mixed, key=lambda clause: len(clause.alternatives), default=None)


def _split(branch: _Branch, clause: _Clause, kind: str) -> list[Goal]:
    """Return one goal for all alternatives that are single facts, and one for each of the others."""
    prover = branch.prover
    rest = branch.rest(without=clause)
    plain: list[Alternative] = []
    goals: list[Goal] = []
    for alternative in clause.alternatives:
        if _is_plain(prover, alternative, kind):
            plain.append(alternative)
        else:
            goals.append(frozenset([*rest, *alternative]))
    if len(plain) == 1:
        goals.insert(0, frozenset([*rest, *plain[0]]))
    elif plain:
        goals.insert(0, frozenset([*rest, _either(prover, plain)]))
    return goals


def _either(prover: Prover, facts: list[Alternative]) -> int:
    nodes = [(literal, prover.literals.node(literal)) for (literal,) in facts]
    return prover.literals.of(build.some(node if literal > 0 else build.negation(node) for literal, node in nodes))
