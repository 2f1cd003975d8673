"""OpenAI Chat Completions, and the bare shapes that agents behind such an address answer with."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec.structs import replace

from abs_gate.conversation import AgentRequest, AgentTurn, Message, Usage
from abs_gate.findings import Json
from abs_gate.wire.bare import read_bare
from abs_gate.wire.base import HttpRequest, HttpResponse, WireOptions
from abs_gate.wire.json_text import parse_json
from abs_gate.wire.openai_messages import NAME, read_message, write_messages, write_tools
from abs_gate.wire.openai_stream import assemble
from abs_gate.wire.sse import Event, is_stream, read_events
from abs_gate.wire.unreadable import provider_error, unreadable, unreadable_body
from abs_gate.wire.values import as_list, as_mapping, as_text, read_usage, text_or_none

EXPECTED = "a chat completion"
_CUT = frozenset({"length", "max_tokens", "stream_cut"})


class OpenAICodec:
    """Chat Completions."""

    name = NAME

    def encode(self, request: AgentRequest, url: str, options: WireOptions) -> HttpRequest:
        body: dict[str, Json] = {"messages": write_messages(request.messages)}
        if options.model:
            body["model"] = options.model
        if request.tools:
            body["tools"] = write_tools(request.tools)
        if options.stream:
            body["stream"] = True
            body["stream_options"] = {"include_usage": True}
        if options.max_output_tokens is not None:
            body["max_completion_tokens"] = options.max_output_tokens
        if options.temperature is not None:
            body["temperature"] = options.temperature
        return HttpRequest(method="POST", url=url, body=body)

    def decode(self, response: HttpResponse) -> AgentTurn:
        return decode_chat(response)


def decode_chat(response: HttpResponse) -> AgentTurn:
    """Read a completion or a bare answer, streamed or not.

    Raises:
        AgentUnavailable: the body is neither.
    """
    if is_stream(response):
        return read_answer(assemble(read_events(response.body)))
    try:
        value = parse_json(response.body)
    except ValueError as error:
        lines = [line for line in response.body.splitlines() if line.strip()]
        if len(lines) > 1 and all(line.lstrip()[:1] == b"{" for line in lines):
            return read_answer(assemble(Event(name="", data=line.decode("utf-8", "replace")) for line in lines))
        raise unreadable_body(EXPECTED, response, str(error)) from None
    return read_answer(value)


def read_answer(value: Json) -> AgentTurn:
    """Read the parsed answer."""
    if isinstance(value, Mapping) and "choices" in value:
        return _read_completion(value)
    outer = as_mapping(value)
    messages = read_bare(value)
    warnings: tuple[str, ...] = ()
    if messages:
        last, warnings = _finish(messages[-1], as_text(outer.get("finish_reason") or outer.get("done_reason")))
        messages = (*messages[:-1], last)
    return AgentTurn(
        messages=messages, usage=_usage(as_mapping(outer.get("usage"))), model=_model(outer), warnings=warnings
    )


def _read_completion(value: Mapping[str, Json]) -> AgentTurn:
    if value.get("error"):
        raise unreadable(EXPECTED, f"it reports an error: {provider_error(value['error'])}")
    choices = [choice for choice in as_list(value["choices"]) if isinstance(choice, Mapping)]
    if not choices:
        raise unreadable(EXPECTED, "it has no choices", "The model behind it may have failed; see its log.")
    choice = choices[0]
    item = choice.get("message")
    if not isinstance(item, Mapping):
        item = {"role": "assistant", "content": item if isinstance(item, str) else choice.get("text")}
    message = read_message({**item, "role": "assistant"})
    assert message is not None
    message, warnings = _finish(message, as_text(choice.get("finish_reason")))
    return AgentTurn(
        messages=(message,), usage=_usage(as_mapping(value.get("usage"))), model=_model(value), warnings=warnings
    )


def _finish(message: Message, reason: str) -> tuple[Message, tuple[str, ...]]:
    """What the finish reason adds: cut short, filtered, or calls announced that are not there."""
    if reason == "stream_cut":
        return replace(message, truncated=True), ("The stream ended without its end mark; the reply may be cut short.",)
    if reason in _CUT:
        return replace(message, truncated=True), (f"The reply was cut short (finish_reason {reason}).",)
    if reason == "content_filter":
        withheld = replace(message, refusal=message.text is not None)
        return withheld, ("The provider's content filter withheld the reply or part of it.",)
    if reason in ("tool_calls", "function_call") and not message.calls:
        return message, (f"The finish_reason is {reason}, but the message holds no call.",)
    return message, ()


def _usage(usage: Mapping[str, Json]) -> Usage:
    return read_usage(usage, ("prompt_tokens", "completion_tokens"), ("input_tokens", "output_tokens"))


def _model(value: Mapping[str, Json]) -> str | None:
    return text_or_none(as_text(value.get("model"))[:200])
