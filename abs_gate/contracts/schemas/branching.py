"""Chooses alternatives only where an instance built so far shows that a choice is needed."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Protocol, TypeVar

from abs_gate.contracts.schemas.answers import EMPTY, OPEN, Answer, Found, better, is_sure
from abs_gate.contracts.schemas.literals import Alternative, Proving
from abs_gate.findings import Json

if TYPE_CHECKING:
    from abs_gate.contracts.schemas.prover import Prover

_MOST_NESTED = 50
"""Clauses chosen from one inside the other."""


class Extensible(Protocol):
    """What is known about an instance, to which more facts can be added."""

    def extended(self, atoms: Iterable[int], /) -> Extensible:
        """Return a copy with more facts."""


Shape = TypeVar("Shape", bound=Extensible)


def choose(
    prover: Prover, shape: Shape, clauses: list[list[Alternative]], complete: Callable[[Shape], Proving], depth: int = 0
) -> Proving:
    """Return an instance of a shape for which one alternative of each clause holds."""
    if depth > _MOST_NESTED:
        return OPEN
    prover.meter.step(5 + len(clauses))
    answer = yield from complete(shape)
    if not isinstance(answer, Found):
        return answer
    unmet = next((clause for clause in clauses if not _is_met(prover, clause, answer.value)), None)
    if unmet is None:
        return answer
    others = [clause for clause in clauses if clause is not unmet]
    best: Answer = EMPTY
    for alternative in unmet:
        extended = shape.extended(alternative)
        result = yield from choose(prover, extended, others, complete, depth + 1)  # type: ignore[arg-type]
        if is_sure(result):
            return result
        best = better(best, result)
    return best


def _is_met(prover: Prover, clause: list[Alternative], value: Json) -> bool:
    return any(all(prover.agrees(literal, value) for literal in alternative) for alternative in clause)
