"""What spans say about conversations, in each convention for it.

OpenTelemetry GenAI (`gen_ai.input.messages`; earlier one event for each message), OpenLLMetry
(`gen_ai.prompt.0.role`), OpenInference (`llm.input_messages.0.message.role`), Pydantic AI and Logfire
(`all_messages`, `events`), Vercel's AI SDK (`ai.prompt.messages`).
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from abs_gate.conversation import Message, ToolCall, ToolResult, Usage
from abs_gate.findings import Json
from abs_gate.wire.json_text import parse_json
from abs_gate.wire.recorded.any_message import read_history
from abs_gate.wire.recorded.spans import Span
from abs_gate.wire.values import as_list, as_mapping, as_text, read_call, read_usage, text_or_none

_USAGE = (
    ("gen_ai.usage.input_tokens", "gen_ai.usage.output_tokens"),
    ("gen_ai.usage.prompt_tokens", "gen_ai.usage.completion_tokens"),
    ("llm.token_count.prompt", "llm.token_count.completion"),
    ("ai.usage.promptTokens", "ai.usage.completionTokens"),
)
_CONVERSATION_IDS = (
    "gen_ai.conversation.id",
    "gcp.vertex.agent.session_id",
    "session.id",
    "traceloop.association.properties.session_id",
)
_TOOL_ARGUMENTS = (
    "gen_ai.tool.call.arguments",
    "input.value",
    "traceloop.entity.input",
    "ai.toolCall.args",
    "gcp.vertex.agent.tool_call_args",
    "tool_arguments",
    "tool.parameters",
    "input",
)
_TOOL_RESULTS = (
    "gen_ai.tool.call.result",
    "output.value",
    "traceloop.entity.output",
    "ai.toolCall.result",
    "gcp.vertex.agent.tool_response",
    "tool_response",
    "output",
)


class ModelCall(Struct, frozen=True, kw_only=True):
    """One request to a model, as its span tells it."""

    sent: tuple[Message, ...]
    answered: tuple[Message, ...]
    model: str | None
    usage: Usage


def read_model_call(span: Span) -> ModelCall | None:
    """The request and answer of a span, or None when it holds no messages."""
    attributes = span.attributes
    for read in (_semantic, _indexed, _openinference, _adk, _vercel, _history, _events, _bodies):
        sent, answered = read(span)
        if sent or answered:
            model = _first(attributes, "gen_ai.response.model", "gen_ai.request.model", "llm.model_name", "ai.model.id")
            return ModelCall(
                sent=sent,
                answered=answered,
                model=text_or_none(as_text(model)[:200]),
                usage=read_usage(attributes, *_USAGE),
            )
    return None


def is_agent_span(span: Span) -> bool:
    """Whether a span stands for a whole run, whose messages its model calls tell already."""
    operation = span.attributes.get("gen_ai.operation.name")
    kind = as_text(span.attributes.get("openinference.span.kind")) or as_text(
        span.attributes.get("traceloop.span.kind")
    )
    return operation in ("invoke_agent", "create_agent") or kind.lower() in ("agent", "chain", "workflow", "task")


def read_tool_run(span: Span) -> tuple[ToolCall, ToolResult] | None:
    """The call and its result where a span stands for a tool that ran; else None.

    Arguments that were not recorded are unknown, which is not the same as none: they match nothing.
    """
    attributes = span.attributes
    kinds = (attributes.get("openinference.span.kind"), attributes.get("traceloop.span.kind"))
    is_tool = (
        attributes.get("gen_ai.operation.name") == "execute_tool"
        or any(as_text(kind).lower() == "tool" for kind in kinds)
        or "ai.toolCall.name" in attributes
    )
    if not is_tool:
        return None
    name = _first(attributes, "gen_ai.tool.name", "tool.name", "ai.toolCall.name", "traceloop.entity.name") or span.name
    arguments = _first(attributes, *_TOOL_ARGUMENTS)
    result = _first(attributes, *_TOOL_RESULTS)
    call_id = as_text(_first(attributes, "gen_ai.tool.call.id", "tool_call.id", "tool.id", "ai.toolCall.id"))
    inner = as_mapping(_parsed(result))
    if "tool_call_id" in inner and "content" in inner:
        call_id, result = call_id or as_text(inner["tool_call_id"]), inner["content"]
    call = (
        ToolCall(id=call_id, name=as_text(name), arguments=None, raw_arguments="(not recorded)")
        if arguments is None
        else read_call(call_id, name, _keywords(_parsed(arguments)))
    )
    failed = bool(attributes.get("error.type")) or inner.get("status") == "error"
    return call, ToolResult(call_id=call_id, name=call.name, content=result, is_error=failed)


def _keywords(arguments: Json) -> Json:
    """The keyword arguments where a Python call was recorded with both kinds."""
    item = as_mapping(arguments)
    return item["kwargs"] if {"args", "kwargs"} <= set(item) and not item["args"] else arguments


def conversation_id(span: Span) -> str:
    """The conversation a span belongs to where it says so."""
    return as_text(_first(span.attributes, *_CONVERSATION_IDS))


def _semantic(span: Span) -> tuple[tuple[Message, ...], tuple[Message, ...]]:
    """`gen_ai.input.messages` and its siblings, on the span or on its details event."""
    sources = [span.attributes, *(attributes for _, attributes in span.events)]
    for attributes in sources:
        sent = _parsed(attributes.get("gen_ai.input.messages"))
        answered = _parsed(attributes.get("gen_ai.output.messages"))
        if sent or answered:
            system = _parsed(attributes.get("gen_ai.system_instructions"))
            return read_history(as_list(sent), system), read_history(as_list(answered))
    return (), ()


def _indexed(span: Span) -> tuple[tuple[Message, ...], tuple[Message, ...]]:
    """`gen_ai.prompt.0.content` and `gen_ai.completion.0.content`."""
    return (
        read_history(map(_indexed_message, _unflatten(span.attributes, "gen_ai.prompt."))),
        read_history(
            {"role": "assistant", **_indexed_message(item)}
            for item in _unflatten(span.attributes, "gen_ai.completion.")
        ),
    )


def _indexed_message(item: Json) -> Mapping[str, Json]:
    message = dict(as_mapping(item))
    content = message.get("content")
    if isinstance(content, str) and content.lstrip()[:1] == "[":
        parts = _parsed(content)
        if all("type" in as_mapping(part) for part in as_list(parts)):
            message["content"] = parts
    message["tool_calls"] = _values(message.get("tool_calls"))
    return message


def _openinference(span: Span) -> tuple[tuple[Message, ...], tuple[Message, ...]]:
    """`llm.input_messages.0.message.content` and `llm.output_messages...`; runs may have their input as one text."""
    sent = read_history(map(_openinference_message, _unflatten(span.attributes, "llm.input_messages.")))
    answered = read_history(map(_openinference_message, _unflatten(span.attributes, "llm.output_messages.")))
    asked = span.attributes.get("input.value")
    if answered and not sent and isinstance(asked, str) and _parsed(asked) is asked:
        sent = read_history([{"role": "user", "content": asked}])
    return sent, answered


def _adk(span: Span) -> tuple[tuple[Message, ...], tuple[Message, ...]]:
    """Google's Agent Development Kit keeps the whole Gemini request and response."""
    request = as_mapping(_parsed(span.attributes.get("gcp.vertex.agent.llm_request")))
    response = as_mapping(_parsed(span.attributes.get("gcp.vertex.agent.llm_response")))
    answer = {"role": "model", **as_mapping(response.get("content"))}
    system = as_mapping(request.get("config")).get("system_instruction")
    return read_history(as_list(request.get("contents")), system), read_history([answer] if "parts" in answer else [])


def _bodies(span: Span) -> tuple[tuple[Message, ...], tuple[Message, ...]]:
    """Log records with `input` and `output` messages in their body, as AWS's distribution writes them."""
    for _, body in span.events:
        sent = as_list(as_mapping(body.get("input")).get("messages"))
        answered = as_list(as_mapping(body.get("output")).get("messages"))
        if sent or answered:
            return read_history(map(_body_message, sent)), read_history(map(_body_message, answered))
    return (), ()


def _body_message(item: Json) -> Json:
    """A message whose content may be LangChain's result as JSON text."""
    message = dict(as_mapping(item))
    generations = as_list(as_mapping(_parsed(message.get("content"))).get("generations"))
    first = as_mapping(as_list(generations[0])[0]) if generations and as_list(generations[0]) else {}
    if first:
        message["content"] = first.get("text")
        message["tool_calls"] = as_mapping(first.get("message")).get("tool_calls")
    return message


def _openinference_message(item: Json) -> Mapping[str, Json]:
    message = dict(as_mapping(as_mapping(item).get("message")))
    contents = _values(message.get("contents"))
    if contents:
        message["content"] = [as_mapping(part).get("message_content") for part in contents]
    elif isinstance(message.get("content"), Mapping):
        message["content"] = _values(message["content"])
    message["tool_calls"] = [as_mapping(call).get("tool_call") for call in _values(message.get("tool_calls"))]
    return message


def _vercel(span: Span) -> tuple[tuple[Message, ...], tuple[Message, ...]]:
    attributes = span.attributes
    if "ai.prompt.messages" not in attributes:
        return (), ()
    answer = {
        "role": "assistant",
        "content": attributes.get("ai.response.text"),
        "tool_calls": _parsed(attributes.get("ai.response.toolCalls")),
    }
    return read_history(as_list(_parsed(attributes["ai.prompt.messages"]))), read_history([answer])


def _history(span: Span) -> tuple[tuple[Message, ...], tuple[Message, ...]]:
    """One attribute with all messages of a run, the answer among them."""
    for key in ("pydantic_ai.all_messages", "all_messages", "all_messages_events", "events"):
        items = as_list(_parsed(span.attributes.get(key)))
        named = [(as_text(as_mapping(item).get("event.name")), as_mapping(item)) for item in items]
        if any(name.startswith("gen_ai.") for name, _ in named):
            return read_history(_event_message(name, body) for name, body in named), ()
        messages = read_history(items)
        if messages:
            return messages, ()
    return (), ()


def _events(span: Span) -> tuple[tuple[Message, ...], tuple[Message, ...]]:
    """One event for each message: `gen_ai.user.message`, `gen_ai.tool.message`, `gen_ai.choice`, ..."""
    sent = [_event_message(name, body) for name, body in span.events if name.endswith((".message", "content.prompt"))]
    chosen = [
        _event_message(name, body)
        for name, body in span.events
        if name in ("gen_ai.choice", "gen_ai.content.completion")
    ]
    return read_history(sent), read_history(chosen)


def _event_message(name: str, body: Mapping[str, Json]) -> Json:
    """The message of one event; its role is in the event's name when nowhere else."""
    for key in ("gen_ai.prompt", "gen_ai.completion"):
        if key in body:
            value = _parsed(body[key])
            return value[0] if isinstance(value, list) and len(value) == 1 else value
    message = dict(body)
    inner = _parsed(message.pop("message", None))
    if isinstance(inner, Mapping):
        message.update(inner)
    elif inner is not None:
        message["content"] = inner
    role = name.removeprefix("gen_ai.").removesuffix(".message")
    message.setdefault("role", "assistant" if role == "choice" else role)
    parts = _parsed(message.get("content"))
    if isinstance(parts, list) and all(isinstance(part, Mapping) for part in parts):
        message["content"] = parts
    if "toolRequests" in message or "tool_calls" in message:
        message["tool_calls"] = as_list(_parsed(message.get("tool_calls") or message.get("toolRequests")))
    return message


def _unflatten(attributes: Mapping[str, Json], prefix: str) -> list[Json]:
    """Attributes named `prefix0.a.b` as a list of nested objects, in the order of their numbers."""
    root: dict[str, Json] = {}
    for key, value in attributes.items():
        if not key.startswith(prefix):
            continue
        path = key.removeprefix(prefix).split(".")[:12]
        place = root
        for step in path[:-1]:
            inner = place.get(step)
            if not isinstance(inner, dict):
                inner = place[step] = {}
            place = inner
        place.setdefault(path[-1], value)
    return _values(root)


def _values(numbered: Json) -> list[Json]:
    """The values of an object whose keys are numbers, in their order; a list as it is."""
    if isinstance(numbered, list):
        return numbered
    keys = [key for key in as_mapping(numbered) if key.isdigit() and len(key) < 10]
    return [numbered[key] for key in sorted(keys, key=int)]


def _parsed(value: Json) -> Json:
    """The text of a JSON list or object as its value; any other text, and whatever is no text, as it is."""
    if not isinstance(value, str) or value.lstrip()[:1] not in ("[", "{"):
        return value
    try:
        return parse_json(value)
    except ValueError:
        return value


def _first(attributes: Mapping[str, Json], *keys: str) -> Json:
    return next((attributes[key] for key in keys if attributes.get(key) not in (None, "")), None)
