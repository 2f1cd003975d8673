"""Decides whether an instance exists that some nodes accept and others refuse, and builds it.

A goal is a set of literals: a node that must accept, or one that must refuse. Goals are taken apart along the Boolean
structure, then by JSON type, until what is left are facts about one type; those are decided by arithmetic, automata
or, for arrays and objects, by goals for their parts.

Values are finite, so the smallest instance of a goal never contains an instance of the same goal: a goal met again
inside itself is answered "none". This is what ends the walk through recursive schemas.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from msgspec import Struct, field

from abs_gate.contracts.schemas.answers import EMPTY, OPEN, Answer, Empty, Found
from abs_gate.contracts.schemas.budget import BudgetExhausted, Meter
from abs_gate.contracts.schemas.expansion import Atom, Both, Either, Expansion, expand
from abs_gate.contracts.schemas.goals import prove_goal
from abs_gate.contracts.schemas.literals import Alternative, Goal, Literals, Proving
from abs_gate.contracts.schemas.membership import accepts
from abs_gate.contracts.schemas.nodes import Node
from abs_gate.contracts.schemas.search import Boundaries
from abs_gate.contracts.schemas.values import TYPES
from abs_gate.findings import Json


class _Frame(Struct):
    goal: Goal
    proof: Proving
    lowest: int
    """The outermost open goal that the answer rests on being met again."""
    resting: list[Goal] = field(default_factory=list)
    """Goals inside whose answers rest on an open one."""


class Prover:
    """Answers goals, remembering what it has shown."""

    def __init__(self, meter: Meter) -> None:
        self.literals = Literals()
        self.meter = meter
        self.sources: list[Json] = []
        """Schemas as written, to take strings from where a pattern cannot be reasoned about."""
        self._expansions: dict[int, Expansion] = {}
        self._kinds: dict[int, frozenset[str]] = {}
        self._shown: dict[Goal, Answer] = {}
        self._resting: dict[Goal, tuple[Answer, int]] = {}

    def find(self, accepted: Iterable[Node], refused: Iterable[Node]) -> Answer:
        """Return an instance that the first nodes accept and the others refuse. Never raises."""
        goal = frozenset(
            [
                *(self.literals.of(node) for node in accepted),
                *(self.literals.of(node, wanted=False) for node in refused),
            ]
        )
        try:
            return self._prove(goal)
        except BudgetExhausted:
            return OPEN
        except RecursionError:  # a value nested too deep to be written out
            self.meter.spent = True
            return OPEN
        finally:
            self._resting.clear()

    def expand(self, literal: int) -> Expansion:
        """Return what a literal comes down to."""
        known = self._expansions.get(literal)
        if known is None:
            known = self._expansions[literal] = expand(self.literals, literal)
        return known

    def kinds_of(self, literal: int, levels: int = 4) -> frozenset[str]:
        """Return types that the instances of a literal are certain to be among, looking some levels down."""
        known = self._kinds.get(literal)
        if known is not None:
            return known
        if levels == 0:
            return TYPES
        match self.expand(literal):
            case Atom(kinds=kinds):
                answer = kinds
            case Both(literals=literals):
                answer = self._common(literals, levels)
            case Either(alternatives=alternatives):
                answer = frozenset().union(*(self._common(alternative, levels) for alternative in alternatives))
        self._kinds[literal] = answer
        return answer

    def _common(self, literals: Alternative, levels: int) -> frozenset[str]:
        kinds = TYPES
        for literal in literals:
            kinds &= self.kinds_of(literal, levels - 1)
        return kinds

    def texts(self) -> list[str]:
        """Return strings that the schemas mention."""
        return [value for value in Boundaries(self.sources).values if isinstance(value, str)]

    def agrees(self, literal: int, value: Json) -> bool | None:
        """Return whether a value satisfies a literal; None when that cannot be told."""
        answer = accepts(self.literals.node(literal), value)
        return answer if answer is None or literal > 0 else not answer

    def _prove(self, goal: Goal) -> Answer:
        if goal in self._shown:
            return self._shown[goal]
        frames = [_Frame(goal, prove_goal(self, goal), 0)]
        open_at = {goal: 0}
        answer: Any = None
        while frames:
            frame = frames[-1]
            try:
                wanted = frame.proof.send(answer)
            except StopIteration as finished:
                answer = finished.value
                frames.pop()
                del open_at[frame.goal]
                self._close(frame, answer, len(frames), frames[-1] if frames else None)
                continue
            answer = self._shown.get(wanted)
            if answer is not None:
                continue
            if wanted in self._resting:
                answer, lowest = self._resting[wanted]
                frame.lowest = min(frame.lowest, lowest)
            elif wanted in open_at:
                answer = EMPTY
                frame.lowest = min(frame.lowest, open_at[wanted])
            else:
                self.meter.step(5)
                open_at[wanted] = len(frames)
                frames.append(_Frame(wanted, prove_goal(self, wanted), len(frames)))
        return answer  # type: ignore[no-any-return]

    def _close(self, frame: _Frame, answer: Answer, depth: int, outer: _Frame | None) -> None:
        """Keep an answer for good, unless it rests on an outer goal that is still open."""
        if isinstance(answer, Found) or frame.lowest >= depth:
            self._shown[frame.goal] = answer
            for goal in frame.resting:
                resting = self._resting.pop(goal, None)
                if resting is not None and isinstance(answer, Empty):
                    self._shown[goal] = resting[0]
        else:
            assert outer is not None
            self._resting[frame.goal] = (answer, frame.lowest)
            outer.resting += [*frame.resting, frame.goal]
        if outer is not None and not isinstance(answer, Found):
            outer.lowest = min(outer.lowest, frame.lowest)
