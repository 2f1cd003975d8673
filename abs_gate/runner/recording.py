"""A recorded conversation in the place of an agent: it says again what it said."""

from __future__ import annotations

from collections.abc import Sequence
from types import TracebackType
from typing import Self

from abs_gate.conversation import AgentRequest, AgentTurn, Message, Role
from abs_gate.evaluators.values import show


class RecordingEnded(Exception):
    """The session goes on where the recording does not; says so."""


class Recording:
    """Answers the session's messages with what followed the recorded ones, in order."""

    def __init__(self, messages: Sequence[Message], *, has_system: bool) -> None:
        """`has_system`: whether the session sends system messages; recorded ones are passed over otherwise."""
        self._messages = tuple(message for message in messages if has_system or message.role is not Role.SYSTEM)
        self._at = 0
        self._sent = 0

    def lead(self) -> tuple[Message, ...]:
        """What the agent said before anyone spoke to it."""
        return self._take_agent()

    def reply(self, request: AgentRequest) -> AgentTurn:
        """What the recorded agent produced after the recorded message at this place.

        Raises:
            RecordingEnded: there is no such message.
        """
        sent = [message for message in request.messages if message.role in (Role.USER, Role.SYSTEM)]
        warnings = self._take_sent(sent[self._sent :])
        self._sent = len(sent)
        return AgentTurn(messages=self._take_agent(), warnings=tuple(warnings))

    def rest(self) -> tuple[Message, ...]:
        """What the agent did after everything that was asked for."""
        return tuple(message for message in self._messages[self._at :] if message.role in (Role.ASSISTANT, Role.TOOL))

    def _take_sent(self, messages: Sequence[Message]) -> list[str]:
        """Step over the recorded messages at this place. Returns a warning for each that is not the same."""
        warnings: list[str] = []
        for number, message in enumerate(messages):
            recorded = self._peek()
            if recorded is None or recorded.role is not message.role:
                if message.role is Role.SYSTEM or (number and recorded is not None):
                    warnings.append(f"the recording has no message of its own for {show(message.text, 80)}")
                    continue
                raise RecordingEnded(f"the recording ends before the message {show(message.text, 80)}")
            self._at += 1
            if (recorded.text or "").split() != (message.text or "").split():
                pair = f"{show(recorded.text, 80)} differs from the session's {show(message.text, 80)}"
                warnings.append(f"the recorded message {pair}")
        return warnings

    def _take_agent(self) -> tuple[Message, ...]:
        start = self._at
        while (message := self._peek()) is not None and message.role in (Role.ASSISTANT, Role.TOOL):
            self._at += 1
        return self._messages[start : self._at]

    def _peek(self) -> Message | None:
        return self._messages[self._at] if self._at < len(self._messages) else None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None, /
    ) -> None:
        return None
