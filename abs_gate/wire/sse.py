"""Streamed bodies: server-sent events (WHATWG HTML section 9.2.6) and JSON lines, as values."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from abs_gate.findings import Json
from abs_gate.wire.base import HttpResponse
from abs_gate.wire.json_text import parse_json

DONE = "[DONE]"
"""The end mark of OpenAI-style streams."""


class Event(Struct, frozen=True, kw_only=True):
    """One event of a stream."""

    name: str
    """The `event` field; empty when it had none."""
    data: str

    @property
    def is_done(self) -> bool:
        return self.data.strip() == DONE

    def json(self) -> Json:
        """Raises ValueError when the data is not JSON."""
        return parse_json(self.data)


def is_stream(response: HttpResponse) -> bool:
    """Whether the body is a stream of events, by its content type or, failing that, by its looks."""
    if "text/event-stream" in response.headers.get("content-type", "").lower():
        return True
    return response.body[:64].lstrip().decode("utf-8", "replace").startswith(("data:", "event:"))


def read_events(body: bytes) -> Iterator[Event]:
    """The events of a body. One that ends without its blank line counts too; comments and retries do not."""
    name = ""
    data: list[str] = []
    for line in _lines(body.decode("utf-8-sig", "replace")):
        if not line:
            if data:
                yield Event(name=name, data="\n".join(data))
            name, data = "", []
            continue
        field, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if field == "data":
            data.append(value)
        elif field == "event":
            name = value
    if data:
        yield Event(name=name, data="\n".join(data))


def _lines(text: str) -> Iterator[str]:
    """Lines ended by LF, CR or both; no other character ends one."""
    return iter(text.replace("\r\n", "\n").replace("\r", "\n").split("\n"))
