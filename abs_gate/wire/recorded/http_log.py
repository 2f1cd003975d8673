"""Conversations from recorded HTTP: VCR cassettes, HAR files, lists of requests with their responses."""

from __future__ import annotations

import base64
import binascii
import json
import zlib
from collections.abc import Iterable, Mapping

from abs_gate.conversation import AgentTurn, Message
from abs_gate.errors import AgentUnavailable
from abs_gate.findings import Json
from abs_gate.wire.base import Codec, HttpResponse
from abs_gate.wire.call_ids import fill_call_ids
from abs_gate.wire.claude import ClaudeCodec
from abs_gate.wire.gemini import GeminiCodec
from abs_gate.wire.json_text import parse_json
from abs_gate.wire.openai import OpenAICodec
from abs_gate.wire.recorded.any_message import read_any_message, read_history
from abs_gate.wire.recorded.aws_stream import assemble_converse, is_event_stream, read_event_stream
from abs_gate.wire.recorded.model import NotUnderstood, RecordedConversation
from abs_gate.wire.recorded.threads import Threads
from abs_gate.wire.responses import ResponsesCodec
from abs_gate.wire.sse import is_stream, read_events
from abs_gate.wire.values import as_list, as_mapping, as_text, read_usage

FORM = "recorded HTTP"
MAX_UNPACKED_BYTES = 16 * 1024 * 1024


def is_http_log(value: Json) -> bool:
    """Whether a value is a cassette, a HAR file, or one exchange."""
    item = as_mapping(value)
    if isinstance(item.get("interactions"), list) or isinstance(as_mapping(item.get("log")).get("entries"), list):
        return True
    if isinstance(item.get("request"), Mapping) and isinstance(item.get("response"), Mapping):
        return True
    return "status" in item and "headers" in item and "body" in item


def read_http_log(value: Json, place: str) -> tuple[RecordedConversation, ...]:
    """Every conversation whose requests or answers were recorded.

    Raises:
        NotUnderstood: none of the exchanges holds messages; says what the first one holds.
    """
    threads = Threads()
    problem = "it holds no exchange"
    for number, exchange in enumerate(_exchanges(as_mapping(value)), start=1):
        request = as_mapping(exchange.get("request"))
        try:
            asked = as_mapping(_request_body(request))
            sent = _sent(asked)
            turn, answer = _read_answer(as_mapping(exchange.get("response")), strictly=not sent)
        except (NotUnderstood, ValueError, AgentUnavailable) as error:
            said = error.message if isinstance(error, AgentUnavailable) else str(error)
            problem = f"its exchange {number} is none with a model: {said.rstrip('.')}"
            continue
        threads.add(
            sent,
            turn.messages,
            model=turn.model or as_text(asked.get("model")) or None,
            usage=turn.usage,
            response_id=as_text(answer.get("id")),
            previous_id=as_text(asked.get("previous_response_id")),
        )
    found = [thread for thread in threads.all if thread.messages]
    if not found:
        raise NotUnderstood(problem)
    return tuple(
        RecordedConversation(
            name=place if len(found) == 1 else f"{place} #{number}",
            messages=fill_call_ids(thread.messages),
            form=FORM,
            model=thread.model,
            usage=thread.usage,
        )
        for number, thread in enumerate(found, start=1)
    )


def _exchanges(value: Mapping[str, Json]) -> Iterable[Mapping[str, Json]]:
    if isinstance(value.get("interactions"), list):
        return map(as_mapping, value["interactions"])
    if "log" in value:
        return map(as_mapping, as_list(as_mapping(value["log"]).get("entries")))
    return (value,) if "response" in value else ({"response": value},)


def _sent(asked: Mapping[str, Json]) -> tuple[Message, ...]:
    """The messages of a request, whichever API it was made to."""
    system = asked.get("system") or asked.get("instructions") or asked.get("systemInstruction")
    for key in ("messages", "input", "contents"):
        items = asked.get(key)
        if isinstance(items, str):
            return read_history([{"role": "user", "content": items}], system)
        if isinstance(items, list):
            return read_history(items, system)
    prompt = asked.get("prompt", asked.get("message"))
    return read_history([{"role": "user", "content": prompt}], system) if isinstance(prompt, str) else ()


def _read_answer(response: Mapping[str, Json], *, strictly: bool) -> tuple[AgentTurn, Mapping[str, Json]]:
    """The turn of a response, read by the codec that its body fits, and the body where it is an object.

    `strictly` refuses bodies that bear no provider's marks: without messages in the request, they may be anything.
    """
    status = response.get("status")
    code = as_mapping(status).get("code", status)
    if isinstance(code, int) and not 200 <= code < 300:
        raise NotUnderstood(f"the answer's status is {code}")
    headers = {"content-type": _header(response.get("headers"), "content-type")}
    body = _response_body(response)
    http = HttpResponse(status=200, headers=headers, body=body)
    value: Json = {}
    if is_event_stream(body):
        return _read_event_stream(body), {}
    if not is_stream(http) and not _is_json_lines(body):
        value = parse_json(body)
        output = as_mapping(as_mapping(value).get("output"))
        if isinstance(output.get("message"), Mapping):
            return _read_converse(as_mapping(value), output["message"]), as_mapping(value)
    return _codec_for(http, value, strictly=strictly).decode(http), as_mapping(value)


def _read_event_stream(body: bytes) -> AgentTurn:
    """The answer of a Bedrock model that streamed: Converse's events, or those of the model's own API."""
    events = list(read_event_stream(body))
    if all(name == "chunk" for name, _ in events):
        stream = "".join(f"data: {json.dumps(dict(payload))}\n\n" for _, payload in events).encode()
        http = HttpResponse(status=200, headers={"content-type": "text/event-stream"}, body=stream)
        return _codec_for(http, {}, strictly=False).decode(http)
    value = assemble_converse(iter(events))
    return _read_converse(value, as_mapping(as_mapping(value["output"])["message"]))


def _is_json_lines(body: bytes) -> bool:
    """Whether a body is several objects, one a line, as Ollama streams them."""
    lines = [line for line in body.splitlines() if line.strip()]
    return len(lines) > 1 and all(line[:1] == b"{" and line.rstrip()[-1:] == b"}" for line in lines)


def _read_converse(value: Mapping[str, Json], message: Mapping[str, Json]) -> AgentTurn:
    """The answer of Bedrock's Converse API."""
    return AgentTurn(
        messages=read_any_message({**message, "stop_reason": value.get("stopReason")}),
        usage=read_usage(value.get("usage"), ("inputTokens", "outputTokens")),
    )


def _codec_for(http: HttpResponse, value: Json, *, strictly: bool) -> Codec:
    """The codec for a body, by its own marks: they are surer than the address it came from."""
    first = value
    if is_stream(http):
        first = {}
        for event in read_events(http.body):
            if not event.is_done:
                first = as_mapping(event.json())
                break
    if isinstance(first, list):
        first = first[0] if first else {}
    keys = as_mapping(first)
    kind = as_text(keys.get("type"))
    if kind.startswith("response.") or keys.get("object") == "response":
        return ResponsesCodec()
    if kind in ("message", "message_start"):
        return ClaudeCodec()
    if "candidates" in keys or "promptFeedback" in keys:
        return GeminiCodec()
    if strictly and "choices" not in keys:
        raise NotUnderstood("neither its request nor its answer holds messages")
    return OpenAICodec()


def _request_body(request: Mapping[str, Json]) -> Json:
    parsed = request.get("parsed_body")
    if parsed is not None:
        return parsed
    body = request.get("body", as_mapping(request.get("postData")).get("text"))
    if isinstance(body, Mapping):
        if "string" not in body:
            return body
        body = body["string"]
    if not body:
        return {}
    return parse_json(body if isinstance(body, bytes) else as_text(body))


def _response_body(response: Mapping[str, Json]) -> bytes:
    """The bytes of a body as they were before compression."""
    if response.get("parsed_body") is not None:
        return json.dumps(response["parsed_body"], default=str).encode()
    body = response.get("body", response.get("content"))
    encoding = ""
    if isinstance(body, Mapping):
        encoding = as_text(body.get("encoding"))
        if not {"string", "text", "base64_string"} & set(body):
            return json.dumps(dict(body), default=str).encode()
        body = next((body[key] for key in ("string", "text", "base64_string") if key in body), "")
        encoding = "base64" if "base64_string" in as_mapping(response.get("body")) else encoding
    if encoding == "base64" and isinstance(body, str):
        try:
            body = base64.b64decode(body, validate=True)
        except binascii.Error:
            raise NotUnderstood("its body is not the base64 it is said to be") from None
    data = body if isinstance(body, bytes) else as_text(body).encode()
    return _unpack(data)


def _unpack(data: bytes) -> bytes:
    """Undo gzip, bounded; anything else is left as it is."""
    if not data.startswith(b"\x1f\x8b"):
        return data
    unpacker = zlib.decompressobj(31)
    try:
        unpacked = unpacker.decompress(data, MAX_UNPACKED_BYTES)
    except zlib.error:
        raise NotUnderstood("its body is damaged gzip") from None
    if unpacker.unconsumed_tail:
        raise NotUnderstood(f"its body is larger than {MAX_UNPACKED_BYTES:,} bytes")
    return unpacked


def _header(headers: Json, name: str) -> str:
    """A header's value from a mapping (with one value or several) or from HAR's list of pairs."""
    if isinstance(headers, list):
        headers = {as_text(as_mapping(pair).get("name")): as_mapping(pair).get("value") for pair in headers}
    for key, value in as_mapping(headers).items():
        if str(key).lower() == name:
            return as_text(value[0] if isinstance(value, list) and value else value)
    return ""
