"""Decides facts about one array: how long it may be, and what goal each of its items is."""

from __future__ import annotations

from collections.abc import Generator, Iterable
from itertools import product
from typing import TYPE_CHECKING

from msgspec import Struct, field
from msgspec.structs import replace

from abs_gate.contracts.schemas import build
from abs_gate.contracts.schemas.answers import EMPTY, OPEN, Answer, Empty, Found, Open, better, is_sure
from abs_gate.contracts.schemas.branching import choose
from abs_gate.contracts.schemas.literals import Alternative, Goal, Proving
from abs_gate.contracts.schemas.nodes import Contains, Distinct, Item, ItemCount, LaterItems

if TYPE_CHECKING:
    from abs_gate.contracts.schemas.prover import Prover

_LONGEST = 2_000
_MOST_COUNTED = 3
"""`contains` keywords reasoned about together."""
_LONGEST_COUNTED = 64


class _Shape(Struct):
    """All that is known about an array."""

    prover: Prover
    items: dict[int, list[int]] = field(default_factory=dict)
    later: list[tuple[int, int]] = field(default_factory=list)
    counted: list[tuple[int, int, int | None]] = field(default_factory=list)
    """Literals that so many items must satisfy."""
    somewhere: list[tuple[int, int]] = field(default_factory=list)
    """Literals that some item from an index on must satisfy."""
    distinct: bool = False
    repeated: bool = False
    """Two items must be equal."""
    low: int = 0
    high: int | None = None

    def add(self, atoms: Iterable[int]) -> None:
        """Take facts in."""
        of = self.prover.literals.of
        for atom in atoms:
            wanted = atom > 0
            match self.prover.literals.node(atom):
                case Item(index=index, node=node):
                    self.items.setdefault(index, []).append(of(node, wanted))
                    if not wanted:
                        self.low = max(self.low, index + 1)
                case LaterItems(start=start, node=node) if wanted:
                    self.later.append((start, of(node)))
                case LaterItems(start=start, node=node):
                    self.somewhere.append((start, of(node, False)))
                case Contains(node=node, low=low, high=high):
                    self.counted.append((of(node), low, high))
                case Distinct():
                    self.distinct = self.distinct or wanted
                    self.repeated = self.repeated or not wanted
                case ItemCount(low=low, high=high):
                    self.low = max(self.low, low)
                    self.high = high if self.high is None else self.high if high is None else min(self.high, high)

    def extended(self, atoms: Iterable[int]) -> _Shape:
        """Return a copy with more facts."""
        copy = replace(
            self,
            items={index: list(literals) for index, literals in self.items.items()},
            later=list(self.later),
            counted=list(self.counted),
            somewhere=list(self.somewhere),
        )
        copy.add(atoms)
        return copy

    @property
    def uniform_from(self) -> int:
        """The index from which on all items are told the same."""
        return max([0, *(index + 1 for index in self.items), *(start for start, _ in self.later)])

    def goal_at(self, index: int) -> list[int]:
        """Return what the item at an index must satisfy."""
        literals = list(self.items.get(index, ()))
        literals += [literal for start, literal in self.later if index >= start]
        return literals


def prove_array(prover: Prover, atoms: list[int], clauses: list[list[Alternative]]) -> Proving:
    """Return an array for which all facts hold, and one alternative of each clause."""
    shape = _Shape(prover)
    shape.add(atoms)
    return (yield from choose(prover, shape, clauses, _complete))


def _complete(shape: _Shape) -> Proving:
    """Return a shortest array of a shape."""
    if shape.distinct and shape.repeated:
        return EMPTY
    if shape.high is not None and shape.low > shape.high:
        return EMPTY
    best: Answer = EMPTY
    for demands in _placements(shape):
        answer = yield from _placed(shape, demands)
        if is_sure(answer):
            return answer
        best = better(best, answer)
    return best


def _placements(shape: _Shape) -> Iterable[dict[int, list[int]]]:
    """Return the ways to give an index to what must hold somewhere.

    Beyond the last index with rules of its own all are alike, so that one more index for each demand is enough.
    """
    uniform = shape.uniform_from
    top = max([uniform, *(start for start, _ in shape.somewhere)])
    choices = [
        [(index, literal) for index in range(start, top + order + 1)]
        for order, (start, literal) in enumerate(shape.somewhere)
    ]
    pairs = [(left, right) for right in range(uniform + 2) for left in range(right)] if shape.repeated else [(-1, -1)]
    for combination in product(*choices, pairs):
        *placed, pair = combination
        demands: dict[int, list[int]] = {}
        for index, literal in placed:
            demands.setdefault(index, []).append(literal)
        if pair != (-1, -1):
            demands[-1] = list(pair)
        shape.prover.meter.step(5)
        yield demands


def _placed(shape: _Shape, demands: dict[int, list[int]]) -> Proving:
    """Return an array of a shape, with what must hold somewhere already placed."""
    demands = dict(demands)
    pair = demands.pop(-1, None)
    low = max([shape.low, *(index + 1 for index in demands)])
    if pair is not None:
        low = max(low, pair[1] + 1)
    if shape.high is not None and low > shape.high:
        return EMPTY
    if shape.counted:
        return (yield from _counted(shape, demands, pair, low))
    if low > _LONGEST:
        return OPEN
    shape.prover.meter.step(1 + low)
    goals = [frozenset([*shape.goal_at(index), *demands.get(index, ())]) for index in range(low)]
    return (yield from _items(shape, goals, pair))


def _items(shape: _Shape, goals: list[Goal], pair: list[int] | None) -> Proving:
    """Return an array with one item for each goal."""
    if pair is not None:
        left, right = pair
        goals = list(goals)
        goals[left] = goals[right] = goals[left] | goals[right]
    found: list[Found] = []
    undecided = False
    for goal in goals:
        answer = yield goal
        if isinstance(answer, Empty):
            return EMPTY
        undecided = undecided or isinstance(answer, Open)
        if isinstance(answer, Found):
            found.append(answer)
    if undecided:
        return OPEN
    if shape.distinct and len(goals) > 1:
        different = yield from _different(shape, goals)
        if not isinstance(different, list):
            return different
        found = different
    if pair is not None:
        found[pair[1]] = found[pair[0]]
    return Found(
        [answer.value for answer in found],
        1 + sum(answer.size for answer in found),
        all(answer.sure for answer in found),
    )


def _different(shape: _Shape, goals: list[Goal]) -> Generator[Goal, Answer, list[Found] | Empty | Open]:
    """Return an item for each goal, no two of them equal."""
    of = shape.prover.literals.of
    found: list[Found] = []
    alike = len(set(goals)) == 1
    for goal in goals:
        values = [answer.value for answer in found]
        answer = yield goal | {of(build.constants(values), False)} if values else goal
        if isinstance(answer, Found):
            found.append(answer)
        elif isinstance(answer, Empty) and alike and all(other.sure for other in found):
            return EMPTY
        else:
            return OPEN
    return found


def _counted(shape: _Shape, demands: dict[int, list[int]], pair: list[int] | None, low: int) -> Proving:
    """Return an array in which so many items satisfy some literals, trying lengths from the shortest up.

    Items that are there for nothing can be left out, so no longer array than the needed ones has to be tried.
    """
    needed = sum(least for _, least, _ in shape.counted)
    longest = max(low, shape.uniform_from) + needed
    if shape.high is not None:
        longest = min(longest, shape.high)
    if len(shape.counted) > _MOST_COUNTED or longest > _LONGEST_COUNTED:
        return OPEN
    if any(high is not None and least > high for _, least, high in shape.counted):
        return EMPTY
    best: Answer = EMPTY
    for length in range(low, longest + 1):
        goals = [frozenset([*shape.goal_at(index), *demands.get(index, ())]) for index in range(length)]
        assigned = yield from _assign(shape, goals)
        if not isinstance(assigned, list):
            best = OPEN if isinstance(assigned, Open) else best
            continue
        for chosen in assigned:
            answer = yield from _items(shape, chosen, pair)
            if is_sure(answer):
                return answer
            # Another assignment of the same counts might have done.
            best = better(best, answer if isinstance(answer, Found) else OPEN)
    return best


def _assign(shape: _Shape, goals: list[Goal]) -> Generator[Goal, Answer, list[list[Goal]] | Empty | Open]:
    """Return goals that also say which items count for what, so that all the counts come out right.

    One list of goals for each way the counts can be right.
    """
    reached: dict[tuple[int, ...], list[Goal]] = {(0,) * len(shape.counted): []}
    undecided = False
    for goal in goals:
        following: dict[tuple[int, ...], list[Goal]] = {}
        for signs in product((True, False), repeat=len(shape.counted)):
            literals = [
                literal if wanted else -literal for (literal, _, _), wanted in zip(shape.counted, signs, strict=True)
            ]
            if any(-literal in goal for literal in literals):
                continue
            extended = goal.union(literals)
            answer = yield extended
            if isinstance(answer, Empty):
                continue
            undecided = undecided or isinstance(answer, Open)
            if isinstance(answer, Open):
                continue
            for counts, chosen in reached.items():
                new = tuple(count + wanted for count, wanted in zip(counts, signs, strict=True))
                within = all(
                    high is None or count <= high for count, (_, _, high) in zip(new, shape.counted, strict=True)
                )
                if within:
                    following.setdefault(new, [*chosen, extended])
        reached = following
    right = [
        chosen
        for counts, chosen in reached.items()
        if all(count >= least for count, (_, least, _) in zip(counts, shape.counted, strict=True))
    ]
    return right or (OPEN if undecided else EMPTY)
