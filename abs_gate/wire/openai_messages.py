"""Messages in the shape of OpenAI's Chat Completions, which most agents and recordings speak.

Reading is lenient where variants are common: arguments as text or object, calls without the `function`
wrapper, legacy `function_call`, content in parts, roles under LangChain's names.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any

from abs_gate.conversation import Message, Role, ToolCall, ToolOffer, ToolResult
from abs_gate.findings import Json
from abs_gate.wire.json_text import to_text
from abs_gate.wire.values import arguments_text, as_list, as_mapping, as_text, join_parts, read_call, text_or_none

NAME = "openai"
ROLES: Mapping[str, Role] = MappingProxyType(
    {
        "system": Role.SYSTEM,
        "developer": Role.SYSTEM,
        "user": Role.USER,
        "human": Role.USER,
        "assistant": Role.ASSISTANT,
        "ai": Role.ASSISTANT,
        "aimessagechunk": Role.ASSISTANT,
        "agent": Role.ASSISTANT,
        "model": Role.ASSISTANT,
        "bot": Role.ASSISTANT,
        "tool": Role.TOOL,
        "function": Role.TOOL,
    }
)
_CALL_PARTS = frozenset({"tool_use", "tool_call", "tool-call", "function_call"})
_TEXT_KEYS = ("content", "text", "reply", "response", "output", "answer")


def write_tools(tools: Iterable[ToolOffer]) -> list[Json]:
    """Tool definitions as Chat Completions takes them."""
    written: list[Json] = []
    for tool in tools:
        function: dict[str, Json] = {
            "name": tool.name,
            "description": tool.description,
            "parameters": dict(tool.input_schema),
        }
        if tool.strict:
            function["strict"] = True
        written.append({"type": "function", "function": function})
    return written


def write_messages(messages: Iterable[Message]) -> list[Json]:
    """The conversation as a list of messages; one tool message for each result."""
    written: list[Json] = []
    legacy: set[str] = set()
    for message in messages:
        if message.role is Role.TOOL:
            written.extend(_write_result(result, legacy) for result in message.results)
        elif message.role is Role.ASSISTANT:
            written.append(_write_assistant(message, legacy))
        else:
            written.append({"role": message.role.value, "content": message.text or ""})
    return written


def _write_assistant(message: Message, legacy: set[str]) -> Json:
    written: dict[str, Json] = {"role": "assistant", "content": message.text}
    native = as_mapping(message.native.get(NAME))
    if native.get("function_call") and message.calls:
        call = message.calls[0]
        legacy.add(call.id)
        written["function_call"] = {"name": call.name, "arguments": arguments_text(call)}
        return written
    if message.calls:
        written["tool_calls"] = native.get("tool_calls") or [
            {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": arguments_text(call)}}
            for call in message.calls
        ]
    if "reasoning_details" in native:
        written["reasoning_details"] = native["reasoning_details"]
    return written


def _write_result(result: ToolResult, legacy: set[str]) -> Json:
    if result.call_id in legacy:
        return {"role": "function", "name": result.name, "content": to_text(result.content)}
    return {"role": "tool", "tool_call_id": result.call_id, "content": to_text(result.content)}


def read_messages(items: Iterable[Json]) -> tuple[Message, ...]:
    """Every message of a list; results get the name of the call they answer. Anything not a message is left out."""
    messages: list[Message] = []
    names: dict[str, str] = {}
    for item in items:
        if not isinstance(item, Mapping):
            continue
        message = read_message(item, names)
        if message is not None:
            messages.append(message)
            names.update({call.id: call.name for call in message.calls})
    return tuple(messages)


def read_message(item: Mapping[str, Json], names: Mapping[str, str] | None = None) -> Message | None:
    """One message, or None when it has no known role. An object without a role is the assistant's."""
    role = read_role(item)
    if role is None:
        return None
    if role is Role.TOOL:
        return _read_result(item, names or {})
    if role is not Role.ASSISTANT:
        return Message(role=role, text=join_parts(content_of(item)))
    calls = read_calls(item)
    refusal = text_or_none(as_text(item.get("refusal")))
    text = text_or_none(join_parts(content_of(item)))
    if text is None and refusal is None:
        refusal = text_or_none(
            "".join(as_text(as_mapping(part).get("refusal")) for part in as_list(item.get("content")))
        )
    return Message(
        role=role, text=text or refusal, calls=calls, refusal=text is None and refusal is not None, native=_native(item)
    )


def read_role(item: Mapping[str, Json]) -> Role | None:
    """The role under `role` or LangChain's `type`; the assistant's where neither is there."""
    named = item.get("role", item.get("type"))
    if named is None or named == "message":
        return Role.ASSISTANT
    return ROLES.get(as_text(named).lower())


def content_of(item: Mapping[str, Json]) -> Json:
    """What stands under the first of the keys that carry a message's text."""
    for key in _TEXT_KEYS:
        if item.get(key) is not None:
            return item[key]
    return None


def read_calls(item: Mapping[str, Json]) -> tuple[ToolCall, ...]:
    """The calls of a message: `tool_calls`, calls among the parts of its content, or the legacy `function_call`."""
    parts = [part for part in as_list(item.get("content")) if as_mapping(part).get("type") in _CALL_PARTS]
    calls = [read_tool_call(call) for call in (*as_list(item.get("tool_calls")), *parts) if isinstance(call, Mapping)]
    legacy = item.get("function_call")
    if not calls and isinstance(legacy, Mapping) and legacy.get("name"):
        calls.append(read_call(legacy.get("id"), legacy.get("name"), legacy.get("arguments")))
    return tuple(calls)


def read_tool_call(call: Mapping[str, Json]) -> ToolCall:
    """One entry of `tool_calls`, with or without the wrapper that names its kind (`function`, `custom`)."""
    inner = as_mapping(call.get("function")) or as_mapping(call.get("custom")) or call
    name = inner.get("name", call.get("name", call.get("toolName")))
    if name is None:
        name = call.get("function")
    arguments: Json = None
    for key in ("arguments", "args", "input", "parameters"):
        if inner.get(key) is not None:
            arguments = inner[key]
            break
    return read_call(call.get("id", call.get("tool_call_id")), name, arguments)


def _read_result(item: Mapping[str, Json], names: Mapping[str, str]) -> Message:
    call_id = to_text(item.get("tool_call_id") or item.get("call_id") or item.get("id") or "")
    name = as_text(item.get("name")) or as_text(item.get("function")) or names.get(call_id, "")
    content = content_of(item)
    is_parts = isinstance(content, list) and all(isinstance(part, Mapping) and "type" in part for part in content)
    result = ToolResult(
        call_id=call_id,
        name=name,
        content=join_parts(content) if is_parts and content else content,
        is_error=item.get("is_error") is True or item.get("status") == "error" or bool(item.get("error")),
    )
    return Message(role=Role.TOOL, results=(result,))


def _native(item: Mapping[str, Json]) -> Mapping[str, Any]:
    """What must go back unchanged: reasoning blocks, signatures beside calls, and that a call was a legacy one."""
    kept: dict[str, Json] = {}
    calls = as_list(item.get("tool_calls"))
    if any(isinstance(call, Mapping) and "extra_content" in call for call in calls):
        kept["tool_calls"] = list(calls)
    if item.get("reasoning_details"):
        kept["reasoning_details"] = item["reasoning_details"]
    if not calls and as_mapping(item.get("function_call")).get("name"):
        kept["function_call"] = True
    return MappingProxyType({NAME: kept}) if kept else MappingProxyType({})
