"""Recorded exchanges: neutral requests and turns as JSON, and the hash by which a request is found again."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from abs_gate.conversation import AgentRequest, AgentTurn, Message, Role, ToolCall, ToolResult, Usage
from abs_gate.findings import Json
from abs_gate.wire.values import as_list, as_mapping, as_text

FORMAT_VERSION = 1


def request_to_json(request: AgentRequest) -> dict[str, Json]:
    """What decides an answer: the conversation and the tools offered; not keys, deadlines or provider data."""
    return {
        "messages": [message_to_json(message, native=False) for message in request.messages],
        "tools": [
            {"name": tool.name, "description": tool.description, "input_schema": dict(tool.input_schema)}
            for tool in request.tools
        ],
    }


def canonical_hash(value: Json) -> str:
    """The same for equal JSON values, whatever their key order."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def turn_to_json(turn: AgentTurn) -> dict[str, Json]:
    """A turn, whole."""
    return {
        "messages": [message_to_json(message, native=True) for message in turn.messages],
        "usage": {"input_tokens": turn.usage.input_tokens, "output_tokens": turn.usage.output_tokens},
        "model": turn.model,
        "warnings": list(turn.warnings),
    }


def turn_from_json(value: Json) -> AgentTurn:
    """The turn that `turn_to_json` wrote.

    Raises:
        ValueError: it is not one.
    """
    turn = as_mapping(value)
    usage = as_mapping(turn.get("usage"))
    try:
        return AgentTurn(
            messages=tuple(message_from_json(as_mapping(item)) for item in turn["messages"]),
            usage=Usage(
                input_tokens=int(usage.get("input_tokens") or 0), output_tokens=int(usage.get("output_tokens") or 0)
            ),
            model=as_text(turn.get("model")) or None,
            warnings=tuple(map(str, as_list(turn.get("warnings")))),
        )
    except (KeyError, TypeError) as error:
        raise ValueError(f"it is not a recorded turn ({error})") from None


def message_to_json(message: Message, *, native: bool) -> dict[str, Json]:
    """A message; parts that are empty are left out."""
    written: dict[str, Any] = {
        "role": message.role.value,
        "text": message.text,
        "calls": [
            {
                "id": call.id,
                "name": call.name,
                "arguments": None if call.arguments is None else dict(call.arguments),
                "raw_arguments": call.raw_arguments,
            }
            for call in message.calls
        ],
        "results": [
            {"call_id": result.call_id, "name": result.name, "content": result.content, "is_error": result.is_error}
            for result in message.results
        ],
        "refusal": message.refusal,
        "truncated": message.truncated,
        "native": {name: _plain(value) for name, value in message.native.items()} if native else None,
    }
    return {name: value for name, value in written.items() if value not in (None, [], {}, False)}


def message_from_json(item: Mapping[str, Json]) -> Message:
    """The message that `message_to_json` wrote. Raises KeyError, TypeError or ValueError when it is not one."""
    return Message(
        role=Role(item["role"]),
        text=item.get("text"),
        calls=tuple(
            ToolCall(
                id=call["id"],
                name=call["name"],
                arguments=call["arguments"],
                raw_arguments=call.get("raw_arguments", ""),
            )
            for call in as_list(item.get("calls"))
        ),
        results=tuple(
            ToolResult(
                call_id=result["call_id"],
                name=result["name"],
                content=result["content"],
                is_error=bool(result.get("is_error")),
            )
            for result in as_list(item.get("results"))
        ),
        refusal=bool(item.get("refusal")),
        truncated=bool(item.get("truncated")),
        native=MappingProxyType(dict(as_mapping(item.get("native")))),
    )


def _plain(value: Any) -> Json:
    """Mappings and sequences of any kind as dicts and lists."""
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value
