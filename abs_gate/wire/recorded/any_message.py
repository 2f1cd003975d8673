"""A message of whatever form: Chat Completions, Anthropic, Gemini, Bedrock, Responses, OpenTelemetry, LangChain.

Recordings mix these freely, so one reader knows all their parts by the names they go under.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from msgspec.structs import replace

from abs_gate.conversation import Message, Role, ToolCall, ToolResult
from abs_gate.findings import Json
from abs_gate.wire.call_ids import fill_call_ids
from abs_gate.wire.json_text import to_text
from abs_gate.wire.openai_messages import ROLES, read_tool_call
from abs_gate.wire.turn_builder import TurnBuilder
from abs_gate.wire.values import as_list, as_mapping, as_text, read_call

_ROLES: Mapping[str, Role] = {
    **ROLES,
    "gpt": Role.ASSISTANT,
    "chatbot": Role.ASSISTANT,
    "tool-call": Role.ASSISTANT,
    "observation": Role.TOOL,
    "tool-response": Role.TOOL,
}
_CALL_TYPES = frozenset(
    {"tool_use", "server_tool_use", "mcp_tool_use", "tool_call", "tool-call", "function_call", "custom_tool_call"}
)
_RESULT_TYPES = frozenset(
    {"tool_result", "tool_call_response", "tool-result", "function_call_output", "custom_tool_call_output"}
)
_THOUGHT_TYPES = frozenset({"thinking", "redacted_thinking", "reasoning"})
_ID_KEYS = ("tool_call_id", "toolCallId", "toolUseId", "tool_use_id", "call_id", "id")
_CONTENT_KEYS = ("content", "response", "result", "output", "value", "text")
_CUT = frozenset({"length", "max_tokens", "MAX_TOKENS"})


def is_message(value: Json) -> bool:
    """Whether a value looks like one message of a conversation."""
    item = _unwrap(as_mapping(value))
    if item.get("type") in _CALL_TYPES | _RESULT_TYPES:
        return True
    has_content = any(key in item for key in ("content", "parts", "tool_calls", "function_call", "value", "text"))
    return _role(item) is not None and has_content


def read_history(items: Iterable[Json], system: Json = None) -> tuple[Message, ...]:
    """A whole conversation, the system text first. Anything that is not a message is left out."""
    messages: list[Message] = []
    text = "".join(_texts(_parts_of(system)))
    if text.strip():
        messages.append(Message(role=Role.SYSTEM, text=text))
    for item in items:
        for message in read_any_message(item):
            # Calls that stand beside a message as items of their own belong to it.
            is_bare_call = as_mapping(item).get("type") in _CALL_TYPES
            if is_bare_call and messages and messages[-1].role is Role.ASSISTANT:
                messages[-1] = replace(messages[-1], calls=messages[-1].calls + message.calls)
            else:
                messages.append(message)
    return fill_call_ids(messages)


def read_any_message(value: Json) -> tuple[Message, ...]:
    """One message, or the several that it comes to when it holds results beside text."""
    item = _unwrap(as_mapping(value))
    if item.get("type") in _CALL_TYPES | _RESULT_TYPES:
        return _assemble([item])
    role = _role(item)
    if role is None:
        return ()
    parts = list(_parts_of(item))
    if role is Role.ASSISTANT:
        messages = _assemble([*parts, *as_list(item.get("tool_calls")), *_legacy_call(item)])
        cut = item.get("finish_reason", item.get("stop_reason")) in _CUT
        return tuple(replace(message, truncated=True) if cut else message for message in messages)
    results = [part for part in parts if _kind(part) == "result"]
    if role is Role.TOOL and not results:
        return (Message(role=role, results=(_read_result(item),)),)
    messages = tuple(Message(role=Role.TOOL, results=(_read_result(part),)) for part in results)
    text = "".join(_texts(parts))
    if text or not messages:
        messages = (*messages, Message(role=Role.USER if role is Role.TOOL else role, text=text))
    return messages


def _assemble(parts: Iterable[Json]) -> tuple[Message, ...]:
    """The messages that an assistant's parts add up to."""
    builder = TurnBuilder()
    for part in parts:
        kind = _kind(part)
        if kind == "text":
            builder.add_text(_text(part))
        elif kind == "refusal":
            builder.add_refusal(as_text(part.get("refusal")))
        elif kind == "call":
            builder.add_call(_read_call(part))
        elif kind == "result":
            builder.add_result(_read_result(part))
    return builder.messages()


def _unwrap(item: Mapping[str, Json]) -> Mapping[str, Json]:
    """Take off the wrapping of LangChain (`kwargs`, `data`) and ADK (`content` with a role and parts)."""
    for key in ("kwargs", "data"):
        inner = item.get(key)
        if isinstance(inner, Mapping) and "content" in inner and "role" not in item:
            return {"type": item.get("type"), **inner}
    inner = item.get("content")
    if isinstance(inner, Mapping) and "parts" in inner and "role" not in item:
        return inner
    return item


def _role(item: Mapping[str, Json]) -> Role | None:
    for key in ("role", "type", "from", "author"):
        role = _ROLES.get(as_text(item.get(key)).lower())
        if role is not None:
            return role
    return None


def _parts_of(item: Json) -> Iterator[Json]:
    """The parts of a message, whichever key they stand under; a text is one part."""
    if isinstance(item, str):
        yield item
    elif isinstance(item, list):
        yield from item
    elif isinstance(item, Mapping):
        if isinstance(item.get("parts"), list):
            yield from item["parts"]
        else:
            for key in ("content", "value", "text"):
                content = item.get(key)
                if isinstance(content, Mapping):
                    yield from _parts_of(content) if "parts" in content else (content,)
                elif content is not None:
                    yield from content if isinstance(content, list) else (content,)
                    break
        if item.get("refusal"):
            yield {"type": "refusal", "refusal": item["refusal"]}


def _kind(part: Json) -> str:
    """What a part is: text, call, result, refusal, or other."""
    if isinstance(part, str):
        return "text"
    if not isinstance(part, Mapping):
        return "other"
    named = as_text(part.get("type"))
    if named in _THOUGHT_TYPES or part.get("thought"):
        return "other"
    if named in _RESULT_TYPES or named.endswith("_tool_result"):
        return "result"
    if any(isinstance(part.get(key), Mapping) for key in ("functionResponse", "function_response", "toolResult")):
        return "result"
    if named in _CALL_TYPES or any(
        isinstance(part.get(key), Mapping) for key in ("functionCall", "function_call", "toolUse", "function")
    ):
        return "call"
    if named == "refusal":
        return "refusal"
    if isinstance(part.get("function"), str) and "arguments" in part:
        return "call"
    if {"name", "args"} <= set(part) or {"name", "arguments"} <= set(part):
        return "call"
    return "text" if _text(part) else "other"


def _text(part: Json) -> str:
    if isinstance(part, str):
        return part
    return as_text(part.get("text")) or as_text(part.get("content"))


def _texts(parts: Iterable[Json]) -> Iterator[str]:
    return (_text(part) for part in parts if _kind(part) == "text")


def _legacy_call(item: Mapping[str, Json]) -> tuple[Json, ...]:
    legacy = item.get("function_call")
    return () if not isinstance(legacy, Mapping) or item.get("tool_calls") else ({"function": legacy},)


def _read_call(part: Mapping[str, Json]) -> ToolCall:
    for key in ("functionCall", "function_call", "toolUse"):
        inner = part.get(key)
        if isinstance(inner, Mapping):
            arguments = inner.get("args", inner.get("input", inner.get("arguments")))
            return read_call(inner.get("id", inner.get("toolUseId")), inner.get("name"), arguments)
    if part.get("type") in ("function_call", "custom_tool_call") and part.get("call_id"):
        return read_call(part["call_id"], part.get("name"), part.get("arguments", part.get("input")))
    if "toolName" in part:
        return read_call(part.get("toolCallId"), part["toolName"], part.get("args", part.get("input")))
    return read_tool_call(part)


def _read_result(part: Mapping[str, Json]) -> ToolResult:
    for key in ("functionResponse", "function_response", "toolResult"):
        if isinstance(part.get(key), Mapping):
            part = part[key]
            break
    call_id = next((to_text(part[key]) for key in _ID_KEYS if part.get(key)), "")
    if not call_id and as_list(part.get("tool_call_ids")):
        call_id = as_text(part["tool_call_ids"][0])
    name = next((part[key] for key in ("name", "tool_name", "toolName", "function") if as_text(part.get(key))), "")
    content = next((part[key] for key in _CONTENT_KEYS if part.get(key) is not None), None)
    is_error = (
        part.get("is_error") is True
        or part.get("isError") is True
        or part.get("status") == "error"
        or bool(part.get("error"))
    )
    return ToolResult(call_id=call_id, name=name, content=_plain_content(content), is_error=is_error)


def _plain_content(content: Json) -> Json:
    """A result's content without the wrapping of its parts: text joined, one JSON part taken out."""
    if isinstance(content, Mapping) and set(content) == {"type", "value"}:
        return content["value"]
    if not isinstance(content, list) or not content or not all(isinstance(part, Mapping) for part in content):
        return content
    if len(content) == 1 and set(content[0]) == {"json"}:
        return content[0]["json"]
    texts = [part.get("text", part.get("content")) for part in content]
    return "".join(texts) if all(isinstance(text, str) for text in texts) else content
