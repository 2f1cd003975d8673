"""The observed trace of one trial, and selectors over it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from abs_gate.findings import Json


class StepKind(StrEnum):
    """What a step is, whatever verb a behavior gives it."""

    SENT = "sent"
    """A user, human or system message the gate sent."""
    TEXT = "text"
    """A text of the agent."""
    CALL = "call"
    """A tool call of the agent."""
    RESULT = "result"
    """A tool result, given by the gate or reported by the agent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ObservedStep:
    """One thing that happened, in order. Steps never change; a matched step is replaced by a copy."""

    index: int
    turn: int
    """Counts messages sent so far; the agent's steps carry the turn they answer."""
    kind: StepKind
    actor: str
    action: str
    """`says`/`responds`/`calls`, or the verb of the behavior that matched it."""
    target: str | None = None
    """Tool name of calls and results."""
    content: Json = None
    """The text, or the payload of a result (parsed when it is JSON text)."""
    arguments: Mapping[str, Json] | None = None
    """Arguments of a call; None when they were not a JSON object (see raw_arguments)."""
    raw_arguments: str = ""
    call_id: str | None = None
    behavior: int | None = None
    """Index of the behavior that matched or sent it."""
    behavior_id: str | None = None
    is_error: bool = False
    supplied: bool = False
    """A result that the gate supplied (declared, example, or tool-not-available), as against one the agent reported."""
    truncated: bool = False
    refusal: bool = False
    expected: bool = True
    """False for a call that no behavior consumed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Trace:
    """All steps of a trial in the order they happened."""

    steps: tuple[ObservedStep, ...] = ()
