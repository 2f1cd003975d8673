"""Puts the parts of one answer, in their order, into neutral messages."""

from __future__ import annotations

from abs_gate.conversation import Message, Role, ToolCall, ToolResult
from abs_gate.wire.values import text_or_none


class TurnBuilder:
    """Collects text, calls and results. Text and calls share a message until a result comes between."""

    def __init__(self) -> None:
        self._messages: list[Message] = []
        self._texts: list[str] = []
        self._refusals: list[str] = []
        self._calls: list[ToolCall] = []
        self._names: dict[str, str] = {}

    def add_text(self, text: str) -> None:
        """Add a part of the text; the parts of one message are one text."""
        self._texts.append(text)

    def add_refusal(self, text: str) -> None:
        """Add text by which the agent refuses."""
        self._refusals.append(text)

    def add_call(self, call: ToolCall) -> None:
        self._calls.append(call)
        self._names[call.id] = call.name

    def add_result(self, result: ToolResult) -> None:
        """Add the result of a tool that the agent or its provider ran; what comes after is a new message."""
        self.close_message()
        name = result.name or self._names.get(result.call_id, "")
        named = ToolResult(call_id=result.call_id, name=name, content=result.content, is_error=result.is_error)
        self._messages.append(Message(role=Role.TOOL, results=(named,)))

    def close_message(self) -> None:
        """End the message under way, if it holds anything."""
        text = text_or_none("".join(self._texts))
        refusal = text_or_none("".join(self._refusals))
        if text or refusal or self._calls:
            self._messages.append(
                Message(
                    role=Role.ASSISTANT,
                    text=text or refusal,
                    calls=tuple(self._calls),
                    refusal=text is None and refusal is not None,
                )
            )
        self._texts, self._refusals, self._calls = [], [], []

    def messages(self) -> tuple[Message, ...]:
        """Everything added, as messages."""
        self.close_message()
        return tuple(self._messages)
