"""Messages in the shape of Anthropic's Messages API: content blocks, tool results in user messages."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any

from abs_gate.conversation import Message, Role, ToolOffer, ToolResult
from abs_gate.findings import Json
from abs_gate.wire.json_text import to_text
from abs_gate.wire.turn_builder import TurnBuilder
from abs_gate.wire.values import as_list, as_mapping, as_text, join_parts, read_call, text_or_none

NAME = "claude"
_PLAIN_BLOCKS = frozenset({"text", "tool_use"})
_CALL_BLOCKS = frozenset({"tool_use", "mcp_tool_use", "server_tool_use"})


def write_tools(tools: Iterable[ToolOffer]) -> list[Json]:
    """Tool definitions as the Messages API takes them."""
    return [
        {"name": tool.name, "description": tool.description, "input_schema": dict(tool.input_schema)} for tool in tools
    ]


def write_system(messages: Iterable[Message]) -> str:
    """All system messages; the API has one place for them, apart from the conversation."""
    return "\n\n".join(message.text for message in messages if message.role is Role.SYSTEM and message.text)


def write_messages(messages: Iterable[Message]) -> list[Json]:
    """The conversation without system messages. Messages of one role in a row become one: results first, then text."""
    written: list[dict[str, Any]] = []
    for message in messages:
        if message.role is Role.SYSTEM:
            continue
        role = "assistant" if message.role is Role.ASSISTANT else "user"
        blocks = _write_blocks(message)
        if not blocks:
            continue
        if written and written[-1]["role"] == role:
            written[-1]["content"].extend(blocks)
        else:
            written.append({"role": role, "content": blocks})
    return [*written]


def _write_blocks(message: Message) -> list[Json]:
    native = message.native.get(NAME)
    if isinstance(native, Mapping):
        return list(as_list(native.get("content")))
    blocks: list[Json] = [_write_result(result) for result in message.results]
    if text_or_none(message.text):
        blocks.append({"type": "text", "text": message.text})
    blocks.extend(
        {"type": "tool_use", "id": call.id, "name": call.name, "input": dict(call.arguments or {})}
        for call in message.calls
    )
    return blocks


def _write_result(result: ToolResult) -> Json:
    block: dict[str, Json] = {
        "type": "tool_result",
        "tool_use_id": result.call_id,
        "content": to_text(result.content),
    }
    if result.is_error:
        block["is_error"] = True
    return block


def read_reply(content: Json) -> tuple[Message, ...]:
    """The messages of one answer's content: one, or several when the provider ran tools on the way."""
    builder = TurnBuilder()
    if isinstance(content, str):
        builder.add_text(content)
    blocks = [block for block in as_list(content) if isinstance(block, Mapping)]
    for block in blocks:
        _read_block(block, builder)
    messages = builder.messages()
    if all(block.get("type") in _PLAIN_BLOCKS for block in blocks):
        return messages
    # Thinking and provider-run blocks go back unchanged and in order, all with the first message.
    first, *others = messages or (Message(role=Role.ASSISTANT),)
    return (
        _with_native(first, {"content": blocks}),
        *(_with_native(message, {"content": []}) for message in others),
    )


def _read_block(block: Mapping[str, Json], builder: TurnBuilder) -> None:
    kind = as_text(block.get("type"))
    if kind == "text":
        builder.add_text(as_text(block.get("text")))
    elif kind in _CALL_BLOCKS:
        builder.add_call(read_call(block.get("id"), block.get("name"), block.get("input")))
    elif kind == "tool_result" or kind.endswith("_tool_result"):
        builder.add_result(read_result(block))


def read_result(block: Mapping[str, Json]) -> ToolResult:
    """A tool result block. Its content is text, or blocks of text."""
    content = block.get("content")
    is_text = isinstance(content, list) and all(as_mapping(part).get("type") == "text" for part in content)
    return ToolResult(
        call_id=as_text(block.get("tool_use_id")),
        name=as_text(block.get("name")),
        content=join_parts(content) if is_text else content,
        is_error=block.get("is_error") is True,
    )


def _with_native(message: Message, native: Mapping[str, Json]) -> Message:
    return Message(
        role=message.role,
        text=message.text,
        calls=message.calls,
        results=message.results,
        native=MappingProxyType({NAME: native}),
    )
