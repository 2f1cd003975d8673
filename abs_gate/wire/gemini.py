"""Google Gemini API: generateContent, whole or streamed (as events or as one JSON array)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import groupby
from urllib.parse import quote

from msgspec.structs import replace

from abs_gate.conversation import AgentRequest, AgentTurn, Role
from abs_gate.findings import Json
from abs_gate.wire import gemini_contents
from abs_gate.wire.base import HttpRequest, HttpResponse, WireOptions
from abs_gate.wire.json_text import parse_json
from abs_gate.wire.sse import is_stream, read_events
from abs_gate.wire.unreadable import one_line, provider_error, unreadable, unreadable_body
from abs_gate.wire.values import as_list, as_mapping, as_text, read_usage, text_or_none

EXPECTED = "a Gemini response"
_USAGE = (("promptTokenCount", "candidatesTokenCount"), ("prompt_token_count", "candidates_token_count"))
_WITHHELD = frozenset(
    {"SAFETY", "RECITATION", "LANGUAGE", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "IMAGE_SAFETY", "OTHER"}
)


class GeminiCodec:
    """generateContent."""

    name = gemini_contents.NAME

    def encode(self, request: AgentRequest, url: str, options: WireOptions) -> HttpRequest:
        body: dict[str, Json] = {"contents": gemini_contents.write_contents(request.messages)}
        system = "\n\n".join(m.text for m in request.messages if m.role is Role.SYSTEM and m.text)
        if system:
            body["systemInstruction"] = {"parts": [{"text": system}]}
        if request.tools:
            body["tools"] = gemini_contents.write_tools(request.tools)
        generation: dict[str, Json] = {}
        if options.max_output_tokens is not None:
            generation["maxOutputTokens"] = options.max_output_tokens
        if options.temperature is not None:
            generation["temperature"] = options.temperature
        if generation:
            body["generationConfig"] = generation
        return HttpRequest(method="POST", url=model_url(url, options), body=body)

    def decode(self, response: HttpResponse) -> AgentTurn:
        try:
            if is_stream(response):
                value: Json = [event.json() for event in read_events(response.body) if not event.is_done]
            else:
                value = parse_json(response.body)
        except ValueError as error:
            raise unreadable_body(EXPECTED, response, str(error)) from None
        if isinstance(value, list):
            return _read_response(_join(value), streamed=True)
        return _read_response(_join([value]), streamed=False)


def model_url(url: str, options: WireOptions) -> str:
    """The address of the method to call: the API has the model and whether to stream in its path."""
    if ":generateContent" in url or ":streamGenerateContent" in url or not options.model:
        return url
    base, _, query = url.partition("?")
    model = options.model if options.model.startswith(("models/", "tunedModels/")) else f"models/{options.model}"
    method = "streamGenerateContent" if options.stream else "generateContent"
    queries = [part for part in (query, "alt=sse" if options.stream else "") if part]
    return f"{base.rstrip('/')}/{quote(model, safe='/')}:{method}{'?' + '&'.join(queries) if queries else ''}"


def _join(chunks: Iterable[Json]) -> Mapping[str, Json]:
    """One response from the chunks of a stream: parts in order, everything else from the last chunk that has it."""
    whole: dict[str, Json] = {}
    parts: list[Json] = []
    candidate: dict[str, Json] = {}
    found = False
    for chunk in map(as_mapping, chunks):
        if chunk.get("error"):
            return chunk
        whole.update(chunk)
        for item in map(as_mapping, as_list(chunk.get("candidates"))[:1]):
            found = True
            candidate.update({name: value for name, value in item.items() if value is not None})
            parts.extend(as_list(as_mapping(item.get("content")).get("parts")))
    if found:
        whole["candidates"] = [{**candidate, "content": {"parts": _join_texts(parts)}}]
    return whole


def _join_texts(parts: Iterable[Json]) -> list[Json]:
    """The parts, with those that are nothing but text joined where they follow one another."""
    joined: list[Json] = []
    for is_text, group in groupby(parts, key=lambda part: isinstance(part, Mapping) and set(part) == {"text"}):
        if is_text:
            joined.append({"text": "".join(as_text(part["text"]) for part in group)})
        else:
            joined.extend(group)
    return joined


def _read_response(value: Mapping[str, Json], *, streamed: bool) -> AgentTurn:
    if value.get("error"):
        raise unreadable(EXPECTED, f"it reports an error: {provider_error(value['error'])}")
    candidates = as_list(value.get("candidates"))
    feedback = as_mapping(value.get("promptFeedback") or value.get("prompt_feedback"))
    if not candidates:
        blocked = feedback.get("blockReason") or feedback.get("block_reason")
        if blocked:
            raise unreadable(EXPECTED, f"the prompt was blocked ({one_line(blocked, 40)})")
        keys = ", ".join(one_line(key, 30) for key in list(value)[:8]) or "none"
        raise unreadable(EXPECTED, f"it has no candidates (its keys: {keys})", "Check agent.format.")
    candidate = as_mapping(candidates[0])
    messages = gemini_contents.read_parts(as_mapping(candidate.get("content")).get("parts"))
    reason = as_text(candidate.get("finishReason") or candidate.get("finish_reason"))
    warnings: tuple[str, ...] = ()
    if streamed and not reason:
        if not messages:
            raise unreadable(EXPECTED, "its stream ended before anything was said")
        reason = "STREAM_CUT"
    if reason in ("MAX_TOKENS", "STREAM_CUT"):
        messages = (*messages[:-1], *(replace(message, truncated=True) for message in messages[-1:]))
        warnings = (f"The reply was cut short (finishReason {reason}).",)
    elif reason in _WITHHELD:
        messages = tuple(replace(message, refusal=message.text is not None) for message in messages)
        warnings = (f"The provider withheld the reply or part of it (finishReason {reason}).",)
    elif reason not in ("", "STOP", "FINISH_REASON_UNSPECIFIED"):
        warnings = (f"The reply ended with finishReason {one_line(reason, 40)}.",)
    return AgentTurn(
        messages=messages,
        usage=read_usage(value.get("usageMetadata") or value.get("usage_metadata"), *_USAGE),
        model=text_or_none(as_text(value.get("modelVersion") or value.get("model_version"))[:200]),
        warnings=warnings,
    )
