"""OpenAI Responses API."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType

from msgspec.structs import replace

from abs_gate.conversation import AgentRequest, AgentTurn, Message, Role, ToolOffer, ToolResult
from abs_gate.findings import Json
from abs_gate.wire.base import HttpRequest, HttpResponse, WireOptions
from abs_gate.wire.json_text import parse_json, to_text
from abs_gate.wire.responses_stream import assemble
from abs_gate.wire.sse import is_stream, read_events
from abs_gate.wire.turn_builder import TurnBuilder
from abs_gate.wire.unreadable import one_line, provider_error, unreadable, unreadable_body
from abs_gate.wire.values import (
    arguments_text,
    as_list,
    as_mapping,
    as_text,
    join_parts,
    read_call,
    read_usage,
    text_or_none,
)

NAME = "responses"
EXPECTED = "a response of the Responses API"
_PLAIN_ITEMS = frozenset({"message", "function_call"})


class ResponsesCodec:
    """The Responses API, stateless: the whole conversation is sent as input items each time."""

    name = NAME

    def encode(self, request: AgentRequest, url: str, options: WireOptions) -> HttpRequest:
        body: dict[str, Json] = {"input": write_items(request.messages)}
        if options.model:
            body["model"] = options.model
        instructions = "\n\n".join(m.text for m in request.messages if m.role is Role.SYSTEM and m.text)
        if instructions:
            body["instructions"] = instructions
        if request.tools:
            body["tools"] = write_tools(request.tools)
        if options.stream:
            body["stream"] = True
        if options.max_output_tokens is not None:
            body["max_output_tokens"] = options.max_output_tokens
        if options.temperature is not None:
            body["temperature"] = options.temperature
        return HttpRequest(method="POST", url=url, body=body)

    def decode(self, response: HttpResponse) -> AgentTurn:
        if is_stream(response):
            return read_response(assemble(read_events(response.body)))
        try:
            value = parse_json(response.body)
        except ValueError as error:
            raise unreadable_body(EXPECTED, response, str(error)) from None
        return read_response(as_mapping(value))


def write_tools(tools: Iterable[ToolOffer]) -> list[Json]:
    """Tool definitions as the Responses API takes them. It reads a missing `strict` as true, so it is always said."""
    return [
        {
            "type": "function",
            "name": tool.name,
            "description": tool.description,
            "parameters": dict(tool.input_schema),
            "strict": tool.strict,
        }
        for tool in tools
    ]


def write_items(messages: Iterable[Message]) -> list[Json]:
    """The conversation as input items, without the system messages (they are the instructions)."""
    items: list[Json] = []
    for message in messages:
        native = message.native.get(NAME)
        if isinstance(native, Mapping):
            items.extend(as_list(native.get("items")))
        elif message.role is Role.USER:
            items.append({"role": "user", "content": message.text or ""})
        elif message.role is Role.ASSISTANT:
            if text_or_none(message.text):
                items.append({"role": "assistant", "content": message.text})
            items.extend(
                {"type": "function_call", "call_id": call.id, "name": call.name, "arguments": arguments_text(call)}
                for call in message.calls
            )
        elif message.role is Role.TOOL:
            items.extend(
                {"type": "function_call_output", "call_id": result.call_id, "output": to_text(result.content)}
                for result in message.results
            )
    return items


def read_response(value: Mapping[str, Json]) -> AgentTurn:
    """Read the response object.

    Raises:
        AgentUnavailable: it failed, was cancelled or is not finished, or is no response object.
    """
    status = as_text(value.get("status"))
    if value.get("error") or status == "failed":
        raise unreadable(EXPECTED, f"it reports an error: {provider_error(value.get('error') or 'a failed response')}")
    if status in ("cancelled", "queued", "in_progress"):
        raise unreadable(EXPECTED, f"its status is {status}", "Background responses are not waited for.")
    if not isinstance(value.get("output"), list):
        keys = ", ".join(one_line(key, 30) for key in list(value)[:8]) or "none"
        raise unreadable(EXPECTED, f"it has no output (its keys: {keys})", "Check agent.format.")
    messages = read_output(value["output"])
    warnings: tuple[str, ...] = ()
    if status == "incomplete":
        reason = one_line(as_mapping(value.get("incomplete_details")).get("reason") or "no reason given", 40)
        messages = (*messages[:-1], *(replace(message, truncated=True) for message in messages[-1:]))
        warnings = (f"The response is incomplete ({reason}).",)
    return AgentTurn(
        messages=messages,
        usage=read_usage(value.get("usage"), ("input_tokens", "output_tokens")),
        model=text_or_none(as_text(value.get("model"))[:200]),
        warnings=warnings,
    )


def read_output(output: Iterable[Json]) -> tuple[Message, ...]:
    """The messages that output items add up to. Each message item is one text; calls join the message before them."""
    items = [item for item in output if isinstance(item, Mapping)]
    builder = TurnBuilder()
    for item in items:
        _read_item(item, builder)
    messages = builder.messages()
    if all(item.get("type") in _PLAIN_ITEMS for item in items):
        return messages
    # Reasoning and provider-run items go back unchanged and in order, all with the first message.
    first, *others = messages or (Message(role=Role.ASSISTANT),)
    return (
        replace(first, native=MappingProxyType({NAME: {"items": items}})),
        *(replace(message, native=MappingProxyType({NAME: {"items": []}})) for message in others),
    )


def _read_item(item: Mapping[str, Json], builder: TurnBuilder) -> None:
    kind = item.get("type")
    if kind == "message":
        builder.close_message()
        content = item.get("content")
        builder.add_text(join_parts(content))
        builder.add_refusal("".join(as_text(as_mapping(part).get("refusal")) for part in as_list(content)))
    elif kind == "function_call":
        builder.add_call(read_call(item.get("call_id") or item.get("id"), item.get("name"), item.get("arguments")))
    elif kind == "custom_tool_call":
        builder.add_call(read_call(item.get("call_id"), item.get("name"), item.get("input")))
    elif kind == "mcp_call":
        call = read_call(item.get("id"), item.get("name"), item.get("arguments"))
        builder.add_call(call)
        failed = item.get("error") is not None
        content = item.get("error") if failed else item.get("output")
        builder.add_result(ToolResult(call_id=call.id, name=call.name, content=content, is_error=failed))
    elif kind in ("function_call_output", "custom_tool_call_output"):
        output = item.get("output")
        content = join_parts(output) if isinstance(output, list) else output
        builder.add_result(ToolResult(call_id=as_text(item.get("call_id")), name="", content=content))
