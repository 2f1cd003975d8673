"""Answers of agents that speak no provider's format: a bare message, a list of messages, or just a text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from abs_gate.conversation import Message, Role
from abs_gate.findings import Json
from abs_gate.wire.openai_messages import read_message, read_messages, read_role
from abs_gate.wire.unreadable import one_line, provider_error, unreadable
from abs_gate.wire.values import as_mapping, text_or_none

EXPECTED = "a chat completion, a message, a list of messages or a text"
_MESSAGE_KEYS = ("role", "content", "tool_calls", "function_call", "refusal")
"""Any of these, and the object itself is the message."""
_HOLDERS = ("message", "messages", "response", "output", "text", "reply", "answer", "result", "data", "content")
_MAX_UNWRAPPED = 4


def read_bare(value: Json) -> tuple[Message, ...]:
    """The messages of an answer in a shape of the agent's own.

    A list that repeats the whole conversation is taken from after its last user message.

    Raises:
        AgentUnavailable: no shape that is known.
    """
    return _read(value, _MAX_UNWRAPPED)


def _read(value: Json, depth: int) -> tuple[Message, ...]:
    if isinstance(value, str):
        return (Message(role=Role.ASSISTANT, text=text_or_none(value)),)
    if isinstance(value, Sequence) and not isinstance(value, str):
        return _read_list(value)
    if not isinstance(value, Mapping):
        raise unreadable(EXPECTED, f"it is {one_line(value, 40)}")
    if value.get("error") and not any(value.get(key) for key in ("messages", "content", "tool_calls")):
        raise unreadable(EXPECTED, f"it reports an error: {provider_error(value['error'])}")
    if "messages" not in value and any(value.get(key) is not None for key in _MESSAGE_KEYS):
        return (_read_one(value),)
    for key in _HOLDERS:
        if key in value and depth > 0:
            return _read(value[key], depth - 1) if value[key] is not None else (Message(role=Role.ASSISTANT),)
    keys = ", ".join(one_line(key, 30) for key in list(value)[:8]) or "none"
    raise unreadable(EXPECTED, f"it is an object with the keys {keys}", "Check agent.format.")


def _read_one(value: Mapping[str, Json]) -> Message:
    message = read_message(value if "role" in value else {**value, "role": "assistant"})
    if message is None or message.role is not Role.ASSISTANT:
        raise unreadable(EXPECTED, f"its role is {one_line(value.get('role'), 40)}")
    return message


def _read_list(items: Sequence[Json]) -> tuple[Message, ...]:
    if items and all(isinstance(item, Mapping) and item.get("type") == "text" for item in items):
        return (_read_one({"content": list(items)}),)
    for item in items:
        if not isinstance(item, Mapping) or read_role(item) is None:
            kind = one_line(as_mapping(item).get("type", item), 40)
            raise unreadable(
                EXPECTED, f"its list holds something that is not a message ({kind})", "Check agent.format."
            )
    messages = read_messages(items)
    sent = (index for index, message in enumerate(messages) if message.role in (Role.USER, Role.SYSTEM))
    return messages[max(sent, default=-1) + 1 :]
