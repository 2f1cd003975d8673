"""Contents in the shape of Google's Gemini API: parts of text, function calls and function responses.

Both spellings are read, `functionCall` of the REST API and `function_call` of the SDKs and ADK.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any

from abs_gate.conversation import Message, Role, ToolCall, ToolOffer, ToolResult
from abs_gate.findings import Json
from abs_gate.wire.call_ids import ID_PREFIX
from abs_gate.wire.turn_builder import TurnBuilder
from abs_gate.wire.values import as_list, as_text, read_call, text_or_none

NAME = "gemini"


def write_tools(tools: Iterable[ToolOffer]) -> list[Json]:
    """Function declarations; their parameters as JSON Schema, whole."""
    declarations = [
        {"name": tool.name, "description": tool.description, "parametersJsonSchema": dict(tool.input_schema)}
        for tool in tools
    ]
    return [{"functionDeclarations": declarations}]


def write_contents(messages: Iterable[Message]) -> list[Json]:
    """The conversation without system messages; contents of one role in a row become one."""
    contents: list[dict[str, Any]] = []
    for message in messages:
        if message.role is Role.SYSTEM:
            continue
        role = "model" if message.role is Role.ASSISTANT else "user"
        parts = _write_parts(message)
        if not parts:
            continue
        if contents and contents[-1]["role"] == role:
            contents[-1]["parts"].extend(parts)
        else:
            contents.append({"role": role, "parts": parts})
    return [*contents]


def _write_parts(message: Message) -> list[Json]:
    native = message.native.get(NAME)
    if isinstance(native, Mapping):
        return list(as_list(native.get("parts")))
    parts: list[Json] = [_write_response(result) for result in message.results]
    if text_or_none(message.text):
        parts.append({"text": message.text})
    parts.extend(
        {"functionCall": _with_id({"name": c.name, "args": dict(c.arguments or {})}, c.id)} for c in message.calls
    )
    return parts


def _write_response(result: ToolResult) -> Json:
    """A function response, which must be an object."""
    content = result.content
    if result.is_error:
        content = {"error": content}
    elif not isinstance(content, Mapping):
        content = {"result": content}
    return {"functionResponse": _with_id({"name": result.name, "response": content}, result.call_id)}


def _with_id(value: dict[str, Json], call_id: str) -> dict[str, Json]:
    return {"id": call_id, **value} if call_id and not call_id.startswith(ID_PREFIX) else value


def read_parts(parts: Json) -> tuple[Message, ...]:
    """The messages of one answer's parts; thoughts are no text."""
    items = [part for part in as_list(parts) if isinstance(part, Mapping)]
    builder = TurnBuilder()
    for part in items:
        call = part.get("functionCall") or part.get("function_call")
        response = part.get("functionResponse") or part.get("function_response")
        if isinstance(call, Mapping):
            builder.add_call(_read_call(call))
        elif isinstance(response, Mapping):
            builder.add_result(read_function_response(response))
        elif not part.get("thought"):
            builder.add_text(as_text(part.get("text")))
    messages = builder.messages()
    if not any("thoughtSignature" in part or "thought_signature" in part or part.get("thought") for part in items):
        return messages
    # Signatures of thoughts go back unchanged and where they stood, all with the first message.
    first, *others = messages or (Message(role=Role.ASSISTANT),)
    return (_with_native(first, {"parts": items}), *(_with_native(message, {"parts": []}) for message in others))


def read_function_response(response: Mapping[str, Json]) -> ToolResult:
    """A result. Its content stays the object that the format asks for, since a wrapping cannot be told from data."""
    content = response.get("response")
    return ToolResult(
        call_id=as_text(response.get("id")),
        name=as_text(response.get("name")),
        content=content,
        is_error=isinstance(content, Mapping) and set(content) == {"error"},
    )


def _read_call(call: Mapping[str, Json]) -> ToolCall:
    return read_call(call.get("id"), call.get("name"), call.get("args"))


def _with_native(message: Message, native: Mapping[str, Json]) -> Message:
    return Message(
        role=message.role,
        text=message.text,
        calls=message.calls,
        results=message.results,
        native=MappingProxyType({NAME: native}),
    )
