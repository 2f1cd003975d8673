"""Anthropic Messages API."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any

from msgspec.structs import replace

from abs_gate.conversation import AgentRequest, AgentTurn
from abs_gate.findings import Json
from abs_gate.wire import claude_messages
from abs_gate.wire.base import HttpRequest, HttpResponse, WireOptions
from abs_gate.wire.json_text import parse_json
from abs_gate.wire.sse import Event, is_stream, read_events
from abs_gate.wire.unreadable import one_line, provider_error, unreadable, unreadable_body
from abs_gate.wire.values import as_mapping, as_text, read_usage, text_or_none

EXPECTED = "an Anthropic message"
API_VERSION = "2023-06-01"
DEFAULT_MAX_TOKENS = 4096
"""The API wants a limit in every request."""
_CUT = frozenset({"max_tokens", "model_context_window_exceeded", "stream_cut"})


class ClaudeCodec:
    """The Messages API."""

    name = claude_messages.NAME

    def encode(self, request: AgentRequest, url: str, options: WireOptions) -> HttpRequest:
        body: dict[str, Json] = {
            "max_tokens": options.max_output_tokens or DEFAULT_MAX_TOKENS,
            "messages": claude_messages.write_messages(request.messages),
        }
        if options.model:
            body["model"] = options.model
        system = claude_messages.write_system(request.messages)
        if system:
            body["system"] = system
        if request.tools:
            body["tools"] = claude_messages.write_tools(request.tools)
        if options.stream:
            body["stream"] = True
        if options.temperature is not None:
            body["temperature"] = options.temperature
        headers = MappingProxyType({"anthropic-version": API_VERSION})
        return HttpRequest(method="POST", url=url, headers=headers, body=body)

    def decode(self, response: HttpResponse) -> AgentTurn:
        if is_stream(response):
            return _read_message(assemble(read_events(response.body)))
        try:
            value = parse_json(response.body)
        except ValueError as error:
            raise unreadable_body(EXPECTED, response, str(error)) from None
        return _read_message(as_mapping(value))


def _read_message(value: Mapping[str, Json]) -> AgentTurn:
    if value.get("type") == "error" or value.get("error"):
        raise unreadable(EXPECTED, f"it reports an error: {provider_error(value.get('error'))}")
    if "content" not in value:
        keys = ", ".join(one_line(key, 30) for key in list(value)[:8]) or "none"
        raise unreadable(EXPECTED, f"it has no content (its keys: {keys})", "Check agent.format.")
    messages = claude_messages.read_reply(value["content"])
    reason = as_text(value.get("stop_reason"))
    warnings: tuple[str, ...] = ()
    if reason in _CUT:
        messages = (*messages[:-1], *(replace(message, truncated=True) for message in messages[-1:]))
        warnings = (f"The reply was cut short (stop_reason {reason}).",)
    elif reason == "refusal":
        messages = tuple(replace(message, refusal=message.text is not None) for message in messages)
        warnings = ("The model refused (stop_reason refusal).",)
    elif reason == "pause_turn":
        warnings = ("The provider paused the turn (stop_reason pause_turn); what it was about to do is not seen.",)
    return AgentTurn(
        messages=messages,
        usage=read_usage(value.get("usage"), ("input_tokens", "output_tokens")),
        model=text_or_none(as_text(value.get("model"))[:200]),
        warnings=warnings,
    )


def assemble(events: Iterable[Event]) -> Mapping[str, Json]:
    """The message that a stream's events add up to.

    Raises:
        AgentUnavailable: an error event, data that is not JSON, or no message in it.
    """
    message: dict[str, Json] = {}
    usage: dict[str, Json] = {}
    blocks: dict[object, _Block] = {}
    stopped = False
    for event in events:
        if event.is_done:
            continue
        try:
            data = as_mapping(event.json())
        except ValueError as error:
            raise unreadable(EXPECTED, f"in one of its events {error}") from None
        kind = data.get("type") or event.name
        if kind == "error":
            raise unreadable(EXPECTED, f"it reports an error: {provider_error(data.get('error') or data)}")
        if kind == "message_start":
            message = dict(as_mapping(data.get("message")))
            usage.update(as_mapping(message.get("usage")))
        elif kind == "content_block_start":
            blocks[data.get("index")] = _Block(as_mapping(data.get("content_block")))
        elif kind == "content_block_delta":
            block = blocks.setdefault(data.get("index"), _Block({}))
            block.add(as_mapping(data.get("delta")))
        elif kind == "message_delta":
            message.update(as_mapping(data.get("delta")))
            usage.update({name: count for name, count in as_mapping(data.get("usage")).items() if count is not None})
        elif kind == "message_stop":
            stopped = True
    if not message and not blocks:
        raise unreadable(
            "a streamed Anthropic message", "none of its events is one of that format", "Check agent.format."
        )
    message["content"] = [block.value() for block in blocks.values()]
    message["usage"] = usage
    if not stopped and not message.get("stop_reason"):
        if not blocks:
            raise unreadable("a streamed Anthropic message", "it ended before anything was said")
        message["stop_reason"] = "stream_cut"
    return message


class _Block:
    """One content block under construction."""

    def __init__(self, start: Mapping[str, Json]) -> None:
        self._block: dict[str, Any] = dict(start)
        self._input: list[str] = []

    def add(self, delta: Mapping[str, Json]) -> None:
        kind = delta.get("type")
        if kind == "input_json_delta":
            self._input.append(as_text(delta.get("partial_json")))
        elif kind == "citations_delta":
            self._block["citations"] = [*(self._block.get("citations") or []), delta.get("citation")]
        else:
            for name in ("text", "thinking", "signature"):
                if name in delta:
                    self._block[name] = as_text(self._block.get(name)) + as_text(delta[name])
                    self._block.setdefault("type", "text" if name == "text" else "thinking")

    def value(self) -> Json:
        """The block; an input that was streamed stays text when it is not JSON, and so never matches."""
        text = "".join(self._input)
        if text.strip():
            try:
                self._block["input"] = parse_json(text)
            except ValueError:
                self._block["input"] = text
        return self._block
