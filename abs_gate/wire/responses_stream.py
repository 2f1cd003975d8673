"""A streamed response put back together.

`response.completed` holds the whole response and is believed over the pieces before it; the pieces serve
when a stream ends without it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from abs_gate.findings import Json
from abs_gate.wire.sse import Event
from abs_gate.wire.unreadable import provider_error, unreadable
from abs_gate.wire.values import as_list, as_mapping, as_text

EXPECTED = "a streamed response of the Responses API"
_FINAL = frozenset(
    {"response.completed", "response.incomplete", "response.failed", "response.cancelled", "response.done"}
)


def assemble(events: Iterable[Event]) -> Mapping[str, Json]:
    """The response object that the events of a stream give.

    Raises:
        AgentUnavailable: an error event, data that is not JSON, or no event of this format.
    """
    pieces = _Pieces()
    created: Mapping[str, Json] = {}
    for event in events:
        if event.is_done:
            continue
        try:
            data = as_mapping(event.json())
        except ValueError as error:
            raise unreadable(EXPECTED, f"in one of its events {error}") from None
        kind = as_text(data.get("type")) or event.name
        if kind == "error":
            raise unreadable(EXPECTED, f"it reports an error: {provider_error(data.get('error') or data)}")
        if kind in _FINAL:
            return _final(kind, as_mapping(data.get("response")), pieces)
        if kind in ("response.created", "response.in_progress"):
            created = as_mapping(data.get("response")) or created
        elif kind.startswith("response."):
            pieces.add(kind, data)
    if not pieces.items:
        why = "it ended before anything was said" if created else "none of its events is one of that format"
        raise unreadable(EXPECTED, why, "" if created else "Check agent.format.")
    return {
        **created,
        "output": pieces.output(),
        "status": "incomplete",
        "incomplete_details": {"reason": "the stream ended without response.completed"},
    }


def _final(kind: str, response: Mapping[str, Json], pieces: _Pieces) -> Mapping[str, Json]:
    """The response of the last event; an empty output there is filled from the pieces, as some servers leave it."""
    status = kind.removeprefix("response.")
    final: dict[str, Json] = {"status": "completed" if status == "done" else status, **response}
    if not as_list(final.get("output")) and final["status"] in ("completed", "incomplete"):
        final["output"] = pieces.output()
    return final


class _Pieces:
    """Output items as far as deltas have told them."""

    def __init__(self) -> None:
        self.items: dict[object, dict[str, Any]] = {}

    def add(self, kind: str, data: Mapping[str, Json]) -> None:
        key = data.get("output_index", data.get("item_id", 0))
        if kind in ("response.output_item.added", "response.output_item.done"):
            known = self.items.get(key, {})
            item = as_mapping(data.get("item"))
            merged = {**known, **{name: value for name, value in item.items() if value not in ("", None, [])}}
            self.items[key] = merged
            return
        item_so_far = self.items.setdefault(key, {})
        if kind == "response.output_text.delta":
            self._append(item_so_far, "message", "text", as_text(data.get("delta")))
        elif kind == "response.output_text.done":
            item_so_far["text"] = as_text(data.get("text"))
            item_so_far.setdefault("type", "message")
        elif kind == "response.refusal.delta":
            self._append(item_so_far, "message", "refusal", as_text(data.get("delta")))
        elif kind in ("response.function_call_arguments.delta", "response.mcp_call_arguments.delta"):
            self._append(item_so_far, "function_call", "arguments", as_text(data.get("delta")))
        elif kind in ("response.function_call_arguments.done", "response.mcp_call_arguments.done"):
            item_so_far["arguments"] = as_text(data.get("arguments"))
            item_so_far.setdefault("type", "function_call")

    def _append(self, item: dict[str, Any], kind: str, name: str, text: str) -> None:
        item.setdefault("type", kind)
        item[name] = as_text(item.get(name)) + text

    def output(self) -> list[Json]:
        """The items, those that never got a whole content with the text their deltas gave."""
        output: list[Json] = []
        for item in self.items.values():
            text = item.pop("text", "")
            refusal = item.pop("refusal", "")
            if item.get("type") == "message" and not item.get("content"):
                item["content"] = [
                    *([{"type": "output_text", "text": text}] if text else []),
                    *([{"type": "refusal", "refusal": refusal}] if refusal else []),
                ]
            if item.get("type"):
                output.append(item)
        return output
