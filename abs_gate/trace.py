"""The observed trace of one trial, and selectors over it.

Knows what happened, not what was expected: matching belongs to `runner`. The names a tool goes by
(aliases, hand-off spellings) are here because behaviors and selectors must agree on them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Self

from msgspec import Struct, field

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


class ObservedStep(Struct, frozen=True, kw_only=True):
    """One thing that happened, in order. Steps never change; a matched step is replaced by a copy."""

    index: int
    turn: int
    """Counts messages sent so far; the agent's steps carry the turn they answer."""
    kind: StepKind
    actor: str
    action: str
    """`says`/`responds`/`calls`, or the verb of the behavior that matched it."""
    target: str | None = None
    """Tool name of calls and results; for texts the target of the behavior that matched it."""
    content: Json = None
    """The text, or the payload of a result (parsed when it is JSON text)."""
    arguments: Mapping[str, Json] | None = None
    """Arguments of a call; None when they were not a JSON object (see raw_arguments)."""
    raw_arguments: str = ""
    call_id: str | None = None
    behavior: int | None = None
    """Index of the behavior that matched or sent it (the first, when several optional ones did)."""
    behavior_id: str | None = None
    verbs: tuple[str, ...] = ()
    """The verbs of every behavior that matched it; several optional behaviors may share one step."""
    is_error: bool = False
    supplied: bool = False
    """A result that the gate supplied (declared, example, or tool-not-available), as against one the agent reported."""
    truncated: bool = False
    refusal: bool = False
    expected: bool = True
    """False for a call that no behavior consumed."""


class Trace(Struct, frozen=True, kw_only=True):
    """All steps of a trial in the order they happened."""

    steps: tuple[ObservedStep, ...] = ()


class ToolNames(Struct, frozen=True, kw_only=True):
    """Which tool names stand for a target, and which calls are hand-offs (ABS specification, section 4)."""

    aliases: Mapping[str, tuple[str, ...]] = field(default_factory=lambda: MappingProxyType({}))
    """Target name to the tool names that stand for it."""
    handoff_tools: frozenset[str] = frozenset()
    """Tools the configuration declares as hand-offs, whatever the target."""

    def stands_for(self, name: str, target: str) -> bool:
        """True when a tool of this name is what `target` means: the name itself, or an alias of it."""
        if name == target:
            return True
        others = self.aliases.get(target, ())
        return name in others or any(name in self.aliases.get(other, ()) for other in others)

    def means(self, name: str, arguments: Mapping[str, Json] | None, target: str) -> bool:
        """True when a call or result of `name` is what `target` means, hand-off spellings included."""
        return self.stands_for(name, target) or self.spells_handoff(name, arguments, target)

    def is_handoff(self, name: str, arguments: Mapping[str, Json] | None, target: str | None = None) -> bool:
        """True when a call of `name` hands the conversation over (to `target`, when one is given)."""
        if name in self.handoff_tools or (target is not None and self.stands_for(name, target)):
            return True
        return self.spells_handoff(name, arguments, target)

    @staticmethod
    def spells_handoff(name: str, arguments: Mapping[str, Json] | None, target: str | None = None) -> bool:
        """True for `transfer_to_<target>` in its usual spellings, with any target when none is given.

        `transferToHumanAgent`, `handoff-to-human-agent` and `transfer_to_agent` with the recipient as
        its `agent_name` argument all mean "Human Agent".
        """
        match = _HANDOFF.fullmatch(_snake(name))
        if match is None:
            return False
        recipient = match["recipient"]
        if target is None or recipient == _snake(target):
            return True
        if recipient != "agent" or not arguments:
            return False
        named = next((arguments[key] for key in _RECIPIENT_KEYS if key in arguments), None)
        return isinstance(named, str) and _snake(named) == _snake(target)


class Selector(Struct, frozen=True, kw_only=True):
    """Picks steps by actor, action and target; what is absent matches anything."""

    actor: str | None = None
    action: str | None = None
    target: str | None = None

    @classmethod
    def from_mapping(cls, fields: Mapping[str, Json]) -> Self:
        """Read `{actor, action, target}` as written under `match`, `after` or `order`."""

        def text(key: str) -> str | None:
            value = fields.get(key)
            return None if value is None else str(value)

        return cls(actor=text("actor"), action=text("action"), target=text("target"))

    def matches(self, step: ObservedStep, names: ToolNames) -> bool:
        """True when every part that is present fits the step."""
        return (
            (self.actor is None or self.actor == step.actor)
            and (self.action is None or self._bears_action(step, names))
            and (self.target is None or self._has_target(step, names))
        )

    def _bears_action(self, step: ObservedStep, names: ToolNames) -> bool:
        if self.action == step.action or self.action in step.verbs:
            return True
        if step.kind is not StepKind.CALL:
            return False
        return self.action == "calls" or (
            self.action == "hands_off" and names.is_handoff(step.target or "", step.arguments, self.target)
        )

    def _has_target(self, step: ObservedStep, names: ToolNames) -> bool:
        target = self.target or ""
        if step.target is None:
            return False
        if step.kind not in (StepKind.CALL, StepKind.RESULT):
            return step.target == target
        if self.action == "hands_off":
            return names.is_handoff(step.target, step.arguments, target)
        return names.means(step.target, step.arguments, target)

    def __str__(self) -> str:
        return " ".join(part for part in (self.actor, self.action, self.target) if part) or "anything"


_HANDOFF = re.compile(r"(?:transfer|hand_?off|delegate)_to_(?P<recipient>.+)")
_RECIPIENT_KEYS = ("agent_name", "agentName", "agent", "name", "target", "recipient")


def _snake(text: str) -> str:
    """`Human Agent`, `human-agent` and `humanAgent` all become `human_agent`."""
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", text)
    return re.sub(r"[\W_]+", "_", spaced).strip("_").casefold()
