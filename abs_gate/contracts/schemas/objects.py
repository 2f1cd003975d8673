"""Decides facts about one object: which members it must, may and cannot have, and what goal each of them is."""

from __future__ import annotations

from collections.abc import Generator, Iterable
from typing import TYPE_CHECKING, TypeAlias

from abs_gate.contracts.schemas import build
from abs_gate.contracts.schemas.answers import EMPTY, OPEN, Answer, Empty, Found, Open, better, is_sure, unless
from abs_gate.contracts.schemas.branching import choose
from abs_gate.contracts.schemas.literals import Alternative, Goal, Proving
from abs_gate.contracts.schemas.nodes import Has, Member
from abs_gate.contracts.schemas.object_shape import Demand
from abs_gate.contracts.schemas.object_shape import ObjectShape as _Shape
from abs_gate.contracts.schemas.values import STRING

if TYPE_CHECKING:
    from abs_gate.contracts.schemas.prover import Prover

_MOST_PATTERNS = 4
_MOST_FILLED = 500
_MOST_NESTED = 50
"""Demands placed one inside the other."""
_FRESH_NAMES = ("extra", "other", "more")
_Members: TypeAlias = dict[str, Found]


def prove_object(prover: Prover, atoms: list[int], clauses: list[list[Alternative]]) -> Proving:
    """Return an object for which all facts hold, and one alternative of each clause."""
    shape = _Shape(prover)
    shape.add(atoms)
    answer = yield from _complete(shape)
    if isinstance(answer, Empty) or not clauses:
        return answer
    if len(clauses) == 1:
        return (yield from _first(shape, clauses[0]))
    possible: list[list[Alternative]] = []
    for clause in sorted(clauses, key=len):
        if (yield from _settled(shape, clause)):
            continue
        left = yield from _possible(shape, clause)
        if not left:
            return EMPTY
        possible.append(left)
    possible.sort(key=len)
    return (yield from choose(prover, shape, possible, _complete))


def _first(shape: _Shape, clause: list[Alternative]) -> Proving:
    """Return an object for which the first alternative that can hold does."""
    best: Answer = EMPTY
    for alternative in clause:
        if (yield from _possible(shape, [alternative])):
            shape.prover.meter.step(len(shape.members) + len(shape.required))
            answer = yield from _complete(shape.extended(alternative))
            if is_sure(answer):
                return answer
            best = better(best, answer)
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
    found: _Members = {}
    undecided = False
    for name, extra in shape.required.items():
        answer = yield from _value(shape, name, extra)
        if isinstance(answer, Empty):
            return EMPTY
        if isinstance(answer, Found):
            found[name] = answer
        undecided = undecided or isinstance(answer, Open)
    if undecided or len(shape.demands) > _MOST_NESTED:
        return OPEN
    return (yield from _place(shape, shape.demands, found, shape.required))


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


def _place(shape: _Shape, demands: list[Demand], found: _Members, asked: dict[str, list[int]]) -> Proving:
    """Return an object in which a member meets each demand: one there is already, a known one, or a new one.

    `asked` holds what the members found so far were asked for, beside what their names entail.
    """
    if not demands:
        return (yield from _filled(shape, found))
    shape.prover.meter.step(1 + len(found))
    demand = demands[0]
    extra = [] if demand.literal is None else [demand.literal]
    full = shape.high is not None and len(found) >= shape.high
    known = [] if full else [name for name in shape.known_names() if name not in found]
    best: Answer = EMPTY
    for name in known:
        meets = shape.meets(demand, name)
        if meets is False:
            continue
        member = yield from _value(shape, name, extra)
        result = yield from _placed(shape, demands, found, asked, name, unless(meets, member))
        if is_sure(result):
            return result
        best = better(best, result)
    if not full:
        result = yield from _fresh(shape, demands, found, asked)
        if is_sure(result):
            return result
        best = better(best, result)
    for name in found:
        meets = shape.meets(demand, name)
        if meets is False:
            continue
        member = yield from _value(shape, name, [*extra, *asked.get(name, ())])
        result = yield from _placed(shape, demands, found, asked, name, unless(meets, member))
        if is_sure(result):
            return result
        best = better(best, result)
    return best


def _placed(
    shape: _Shape,
    demands: list[Demand],
    found: _Members,
    asked: dict[str, list[int]],
    name: str,
    member: Answer,
) -> Proving:
    """Return an object in which a member meets the first demand, others the others."""
    if not isinstance(member, Found):
        return member
    literal = demands[0].literal
    also = {name: [*asked.get(name, ()), *([] if literal is None else [literal])]}
    return (yield from _place(shape, demands[1:], {**found, name: member}, {**asked, **also}))


def _fresh(shape: _Shape, demands: list[Demand], found: _Members, asked: dict[str, list[int]]) -> Proving:
    """Return an object in which a member under a new name meets the first demand."""
    patterns = shape.patterns()
    best: Answer = EMPTY if len(patterns) <= _MOST_PATTERNS else OPEN
    taken = list(dict.fromkeys([*shape.known_names(), *found]))
    for matched in _selections(patterns):
        name, member = yield from _new_member(shape, demands[0], patterns, matched, taken)
        result = yield from _placed(shape, demands, found, asked, name, member)
        if is_sure(result):
            return result
        best = better(best, result)
    return best


def _new_member(
    shape: _Shape, demand: Demand, patterns: list[str], matched: frozenset[str], taken: list[str]
) -> Generator[Goal, Answer, tuple[str, Answer]]:
    """Return a member whose name is not taken and matches exactly some of the patterns."""
    if (demand.matching is not None and demand.matching not in matched) or demand.not_matching & matched:
        return "", EMPTY
    literals = [literal for pattern, literal in shape.matching if pattern in matched]
    literals += [literal for _, excepted, literal in shape.others if not excepted & matched]
    value = yield frozenset([*literals, *([] if demand.literal is None else [demand.literal])])
    if isinstance(value, Empty):
        return "", EMPTY
    name = yield from _new_name(shape, demand, patterns, matched, taken)
    if isinstance(name, Found) and isinstance(value, Found):
        return name.value, unless(name.sure, value)
    return "", EMPTY if isinstance(name, Empty) else OPEN


def _selections(patterns: list[str]) -> Iterable[frozenset[str]]:
    """Return which patterns a name may match, the fewest first."""
    if len(patterns) > _MOST_PATTERNS:
        return [frozenset(), *(frozenset({pattern}) for pattern in patterns)]
    masks = sorted(range(1 << len(patterns)), key=lambda mask: (mask.bit_count(), mask))
    return [frozenset(pattern for place, pattern in enumerate(patterns) if mask >> place & 1) for mask in masks]


def _new_name(shape: _Shape, demand: Demand, patterns: list[str], matched: frozenset[str], taken: list[str]) -> Proving:
    """Return a name that is not taken and matches exactly some of the patterns."""
    of = shape.prover.literals.of
    goal = [of(build.kinds(frozenset({STRING}))), *shape.names]
    goal += [of(build.matches(pattern), pattern in matched) for pattern in patterns]
    if demand.name_literal is not None:
        goal.append(demand.name_literal)
    for name in _FRESH_NAMES:
        if name not in taken and all(shape.prover.agrees(literal, name) for literal in goal):
            return Found(name)
    if taken:
        goal.append(of(build.constants(taken), False))
    return (yield frozenset(goal))


def _filled(shape: _Shape, found: _Members) -> Proving:
    """Return the object of these members, with more of them when there are too few."""
    if shape.low - len(found) > _MOST_FILLED:
        return OPEN
    members = dict(found)
    undecided = False
    known = shape.known_names() if len(members) < shape.low else []
    for name in known:
        if len(members) >= shape.low:
            break
        if name not in members:
            answer = yield from _value(shape, name, ())
            if isinstance(answer, Found):
                members[name] = answer
            undecided = undecided or isinstance(answer, Open)
    taken = list(dict.fromkeys([*known, *members]))
    patterns = shape.patterns() if len(members) < shape.low else []
    undecided = undecided or len(patterns) > _MOST_PATTERNS
    for matched in _selections(patterns):
        while len(members) < shape.low:
            name, member = yield from _new_member(shape, Demand(), patterns, matched, taken)
            undecided = undecided or isinstance(member, Open)
            if not isinstance(member, Found):
                break
            members[name] = member
            taken.append(name)
    if len(members) < shape.low:
        return OPEN if undecided else EMPTY
    return Found(
        {name: answer.value for name, answer in members.items()},
        1 + sum(answer.size for answer in members.values()),
        all(answer.sure for answer in members.values()),
    )
