"""Amazon's binary event streams, as Bedrock answers with when it streams.

A frame is its length, the length of its headers, a checksum, headers, payload, a checksum (all numbers
big-endian); a text header is a name, the byte 7 and a value with its length.
"""

from __future__ import annotations

import base64
import binascii
import struct
from collections.abc import Iterator, Mapping
from typing import Any

from abs_gate.findings import Json
from abs_gate.wire.json_text import parse_json
from abs_gate.wire.recorded.model import NotUnderstood
from abs_gate.wire.values import as_mapping, as_text

_TEXT = 7
_PRELUDE = 12
_CHECKSUM = 4


def is_event_stream(body: bytes) -> bool:
    """Whether a body is such a stream, by the header every frame has."""
    return b":message-type" in body[:400]


def read_event_stream(body: bytes) -> Iterator[tuple[str, Mapping[str, Json]]]:
    """The name and the JSON payload of each frame. A payload of base64 (`bytes`) is given decoded.

    Raises:
        NotUnderstood: a frame is damaged, or its payload is not JSON.
    """
    at = 0
    while at + _PRELUDE + _CHECKSUM <= len(body):
        length, header_length = struct.unpack_from(">II", body, at)
        end = at + length
        start = at + _PRELUDE + header_length
        if not at + _PRELUDE + _CHECKSUM <= end <= len(body) or start > end - _CHECKSUM:
            raise NotUnderstood("its event stream is damaged")
        name = _headers(body[at + _PRELUDE : start]).get(":event-type", "")
        try:
            payload = as_mapping(parse_json(body[start : end - _CHECKSUM]))
            if "bytes" in payload:
                payload = as_mapping(parse_json(base64.b64decode(as_text(payload["bytes"]), validate=True)))
        except (ValueError, binascii.Error):
            raise NotUnderstood("an event of its stream is not JSON") from None
        yield name, payload
        at = end


def _headers(data: bytes) -> Mapping[str, str]:
    """The text headers of a frame, as far as they can be read."""
    headers: dict[str, str] = {}
    at = 0
    while at < len(data):
        name_end = at + 1 + data[at]
        if name_end + 3 > len(data) or data[name_end] != _TEXT:
            break
        (size,) = struct.unpack_from(">H", data, name_end + 1)
        value_end = name_end + 3 + size
        headers[data[at + 1 : name_end].decode("utf-8", "replace")] = data[name_end + 3 : value_end].decode(
            "utf-8", "replace"
        )
        at = value_end
    return headers


def assemble_converse(events: Iterator[tuple[str, Mapping[str, Json]]]) -> Mapping[str, Json]:
    """The Converse answer that the events of a ConverseStream add up to."""
    blocks: dict[object, dict[str, Any]] = {}
    answer: dict[str, Json] = {}
    role = "assistant"
    for name, payload in events:
        block = blocks.setdefault(payload.get("contentBlockIndex"), {}) if name.startswith("contentBlock") else {}
        if name == "messageStart":
            role = as_text(payload.get("role")) or role
        elif name == "contentBlockStart":
            block.update(as_mapping(payload.get("start")))
        elif name == "contentBlockDelta":
            delta = as_mapping(payload.get("delta"))
            if "text" in delta:
                block["text"] = as_text(block.get("text")) + as_text(delta["text"])
            if "toolUse" in delta:
                call = block["toolUse"] = dict(as_mapping(block.get("toolUse")))
                call["input"] = as_text(call.get("input")) + as_text(as_mapping(delta["toolUse"]).get("input"))
        elif name == "messageStop":
            answer["stopReason"] = payload.get("stopReason")
        elif name == "metadata":
            answer["usage"] = payload.get("usage")
    return {**answer, "output": {"message": {"role": role, "content": [block for block in blocks.values() if block]}}}
