"""Writes down what happens, step by step, and says which calls of a reply wait for a result."""

from __future__ import annotations

from collections.abc import Sequence

from abs_gate.conversation import Message, Role, ToolCall
from abs_gate.documents.model import Behavior
from abs_gate.evaluators.values import parse_json_text
from abs_gate.findings import Json
from abs_gate.trace import ObservedStep, StepKind


class TraceLog:
    """The growing trace of one trial."""

    def __init__(self) -> None:
        self.steps: list[ObservedStep] = []
        self.turn = 0
        self._turn_start = 0

    @property
    def turn_steps(self) -> list[ObservedStep]:
        """What happened since the last message sent."""
        return self.steps[self._turn_start :]

    def add_sent(self, behavior: Behavior, text: str) -> None:
        """A message of the gate; the turn that answers it begins."""
        self.turn += 1
        self._add(
            kind=StepKind.SENT,
            actor=behavior.actor,
            action=behavior.action,
            target=behavior.target,
            content=text,
            behavior=behavior.index,
            behavior_id=behavior.id,
        )
        self._turn_start = len(self.steps)

    def forget_sent(self, count: int) -> None:
        """Take back the messages written down last: they were never sent."""
        del self.steps[len(self.steps) - count :]
        self.turn -= count
        self._turn_start = len(self.steps)

    def add_reply(self, messages: Sequence[Message]) -> tuple[ToolCall, ...]:
        """What the agent produced. Returns the calls that wait for a result.

        Only calls of the last assistant message can wait: an agent that went on after a call ran it itself.
        """
        waiting: list[ToolCall] = []
        for message in messages:
            if message.role is Role.ASSISTANT:
                waiting = list(message.calls)
                self._add_assistant(message)
            for result in message.results:
                waiting = [call for call in waiting if call.id != result.call_id]
                self.add_result(result.name, result.call_id, result.content, is_error=result.is_error, supplied=False)
        return tuple(waiting)

    def add_result(
        self, name: str, call_id: str, content: Json, *, is_error: bool, supplied: bool, actor: str = "tool"
    ) -> int:
        """A tool result, reported by the agent or supplied by the gate. Returns the index of its step."""
        return self._add(
            kind=StepKind.RESULT,
            actor=actor,
            action="responds",
            target=name or self._name_of(call_id),
            content=_payload(content),
            call_id=call_id,
            is_error=is_error,
            supplied=supplied,
        )

    def _add_assistant(self, message: Message) -> None:
        if message.text is not None and message.text.strip():
            self._add(
                kind=StepKind.TEXT,
                actor="assistant",
                action="responds",
                content=message.text,
                truncated=message.truncated,
                refusal=message.refusal,
            )
        for call in message.calls:
            is_empty = call.arguments is None and not call.raw_arguments.strip()
            self._add(
                kind=StepKind.CALL,
                actor="assistant",
                action="calls",
                target=call.name,
                arguments={} if is_empty else call.arguments,
                raw_arguments=call.raw_arguments,
                call_id=call.id,
                truncated=message.truncated,
            )

    def _name_of(self, call_id: str) -> str | None:
        calls = (step for step in reversed(self.steps) if step.kind is StepKind.CALL and step.call_id == call_id)
        return next((step.target for step in calls), None)

    def _add(self, **fields: object) -> int:
        index = len(self.steps)
        self.steps.append(ObservedStep(index=index, turn=self.turn, **fields))  # type: ignore[arg-type]
        return index


def _payload(content: Json) -> Json:
    """A payload as data where its text holds an object or array; other text stays text."""
    if isinstance(content, str):
        is_json, value = parse_json_text(content)
        if is_json and isinstance(value, dict | list):
            return value
    return content
