"""A streamed chat completion put back together: deltas by index into the answer they were cut from."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from abs_gate.findings import Json
from abs_gate.wire.openai_messages import content_of
from abs_gate.wire.sse import Event
from abs_gate.wire.unreadable import provider_error, unreadable
from abs_gate.wire.values import as_list, as_mapping, as_text, join_parts

EXPECTED = "a streamed chat completion"


def assemble(events: Iterable[Event]) -> Json:
    """The completion that the events of one stream add up to, in the shape of one that was not streamed.

    Raises:
        AgentUnavailable: an error event, data that is not JSON, or a stream that was cut before it said anything.
    """
    choice = _Choice()
    usage: Json = None
    model: Json = None
    finished = False
    for event in events:
        if event.is_done:
            finished = True
            continue
        try:
            chunk = event.json()
        except ValueError as error:
            raise unreadable(EXPECTED, f"in one of its events {error}") from None
        if isinstance(chunk, str):
            choice.texts.append(chunk)
            continue
        chunk = as_mapping(chunk)
        if chunk.get("error") or event.name == "error":
            raise unreadable(EXPECTED, f"it reports an error: {provider_error(chunk.get('error') or chunk)}")
        usage = chunk.get("usage") or usage
        model = chunk.get("model") or model
        if "choices" in chunk:
            for part in as_list(chunk["choices"]):
                if isinstance(part, Mapping) and part.get("index", 0) == 0:
                    choice.add(as_mapping(part.get("delta") or part.get("message")), part.get("finish_reason"))
        else:
            # Agents of one's own stream bare messages, whole or in pieces.
            bare = as_mapping(chunk.get("message")) or as_mapping(chunk.get("delta")) or chunk
            choice.add(bare, chunk.get("finish_reason") or chunk.get("done_reason"))
            finished = finished or chunk.get("done") is True
            choice.texts.append(as_text(chunk.get("message")) or as_text(chunk.get("delta")))
    if choice.finish_reason is None and not finished:
        if choice.is_empty:
            raise unreadable(EXPECTED, "it ended before anything was said")
        choice.finish_reason = "stream_cut"
    return {
        "choices": [{"message": choice.message(), "finish_reason": choice.finish_reason}],
        "usage": usage,
        "model": model,
    }


class _Choice:
    """What the deltas of the first choice add up to so far."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.finish_reason: Json = None
        self._refusals: list[str] = []
        self._calls: dict[object, dict[str, Any]] = {}
        self._legacy: dict[str, Any] | None = None
        self._reasoning: list[Json] = []

    def add(self, delta: Mapping[str, Json], finish_reason: Json) -> None:
        self.finish_reason = finish_reason or self.finish_reason
        self.texts.append(join_parts(content_of(delta)))
        self._refusals.append(as_text(delta.get("refusal")))
        self._reasoning.extend(as_list(delta.get("reasoning_details")))
        for position, call in enumerate(as_list(delta.get("tool_calls"))):
            if isinstance(call, Mapping):
                self._add_call(position, call)
        legacy = delta.get("function_call")
        if isinstance(legacy, Mapping):
            self._legacy = self._legacy or {"name": "", "arguments": ""}
            self._legacy["name"] += as_text(legacy.get("name"))
            self._legacy["arguments"] += as_text(legacy.get("arguments"))

    def _add_call(self, position: int, call: Mapping[str, Json]) -> None:
        """Add a piece of a call. Some servers give no index, or the same one to every call; a new id tells."""
        key: object = call.get("index", position)
        known = self._calls.get(key)
        call_id = as_text(call.get("id"))
        if known is not None and call_id and known["id"] and call_id != known["id"]:
            key = call_id
            known = self._calls.get(key)
        function = as_mapping(call.get("function")) or as_mapping(call.get("custom")) or call
        arguments = function.get("arguments", function.get("input"))
        if known is None:
            known = self._calls[key] = {"id": call_id, "function": {"name": "", "arguments": ""}}
        known["id"] = known["id"] or call_id
        if "extra_content" in call:
            known["extra_content"] = call["extra_content"]
        merged = known["function"]
        merged["name"] += as_text(function.get("name"))
        if isinstance(arguments, Mapping):
            merged["arguments"] = arguments
        elif isinstance(merged["arguments"], str):
            merged["arguments"] += as_text(arguments)

    @property
    def is_empty(self) -> bool:
        """Whether nothing was said or called so far."""
        return not (any(self.texts) or any(self._refusals) or self._calls or self._legacy)

    def message(self) -> Json:
        message: dict[str, Json] = {"role": "assistant", "content": "".join(self.texts)}
        if any(self._refusals):
            message["refusal"] = "".join(self._refusals)
        if self._calls:
            message["tool_calls"] = list(self._calls.values())
        if self._legacy:
            message["function_call"] = self._legacy
        if self._reasoning:
            message["reasoning_details"] = self._reasoning
        return message
