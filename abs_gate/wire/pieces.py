"""What messages say, call and answer, apart from how it is cut into messages and which ids it uses."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from abs_gate.conversation import Message, ToolCall
from abs_gate.findings import Json
from abs_gate.wire.json_text import to_text


def pieces_of(messages: Iterable[Message]) -> Iterator[str]:
    """One text for each text, call and result, in order; equal where they mean the same."""
    for message in messages:
        if message.text and message.text.strip():
            yield f"{message.role.value} {message.text.strip()}"
        for call in message.calls:
            yield f"call {call.name} {_arguments(call)}"
        for result in message.results:
            yield f"result {_canonical(result.content)}"


def _arguments(call: ToolCall) -> str:
    return call.raw_arguments if call.arguments is None else _canonical(dict(call.arguments))


def _canonical(value: Json) -> str:
    return to_text(value, sort_keys=True).strip()
