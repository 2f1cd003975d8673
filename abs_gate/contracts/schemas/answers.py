"""What the prover answers to "is there an instance that satisfies all of these?"."""

from __future__ import annotations

from typing import TypeAlias

from msgspec import Struct

from abs_gate.findings import Json


class Empty(Struct, frozen=True):
    """No instance: a proof."""


class Found(Struct, frozen=True):
    """An instance."""

    value: Json
    size: int = 1
    """Values in it, itself included. The value may share parts with itself; written out it is this large."""
    sure: bool = True
    """False when something on the way was not understood, so that it may not be one after all."""


class Open(Struct, frozen=True):
    """Neither shown nor refuted."""


Answer: TypeAlias = Empty | Found | Open

EMPTY = Empty()
OPEN = Open()


def is_sure(answer: Answer) -> bool:
    """Return whether an answer is an instance for sure."""
    return isinstance(answer, Found) and answer.sure


def better(left: Answer, right: Answer) -> Answer:
    """Return the answer that says more for the existence of an instance."""
    return left if isinstance(left, Found) or isinstance(right, Empty) else right


def unless(sure: bool | None, answer: Answer) -> Answer:
    """Return an answer, its instance no longer for sure unless this is true."""
    return Found(answer.value, answer.size, sure=False) if isinstance(answer, Found) and not sure else answer
