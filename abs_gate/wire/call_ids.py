"""Ids for calls that came without one, and results tied to the calls they answer."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from abs_gate.conversation import Message, ToolResult

ID_PREFIX = "gate_call_"
"""Ids given by the gate; formats that know calls without ids are not sent them."""


def fill_call_ids(messages: Sequence[Message], *, first: int = 1) -> tuple[Message, ...]:
    """Give each call without an id one of its own; results without one answer an earlier call by name, else in order.

    `first` is the number of the first call, so that ids differ over a whole conversation.
    """
    number = first
    filled: list[Message] = []
    unanswered: dict[str, str] = {}
    names: dict[str, str] = {}
    for message in messages:
        calls = []
        for call in message.calls:
            named = call if call.id else replace(call, id=f"{ID_PREFIX}{number}")
            number += 1
            calls.append(named)
            unanswered[named.id] = names[named.id] = named.name
        results = []
        for result in message.results:
            call_id = result.call_id or _answered(result, unanswered)
            unanswered.pop(call_id, None)
            results.append(replace(result, call_id=call_id, name=result.name or names.get(call_id, "")))
        filled.append(replace(message, calls=tuple(calls), results=tuple(results)))
    return tuple(filled)


def _answered(result: ToolResult, unanswered: dict[str, str]) -> str:
    """The id of the call that a result without one answers; empty when there is none."""
    for call_id, name in unanswered.items():
        if not result.name or name == result.name:
            return call_id
    return ""
