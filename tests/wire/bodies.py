"""Responses for codecs: JSON, event streams, and how a turn looks on one line."""

import json

from abs_gate.wire.base import HttpResponse


def answer(body, content_type="application/json"):
    data = body if isinstance(body, bytes) else body.encode() if isinstance(body, str) else json.dumps(body).encode()
    return HttpResponse(status=200, headers={"content-type": content_type}, body=data)


def stream(*events, done=False, named=False, line_end="\n"):
    """An event stream of JSON events (or of texts, as they are)."""
    blocks = []
    for event in events:
        data = event if isinstance(event, str) else json.dumps(event)
        name = f"event: {event['type']}{line_end}" if named and isinstance(event, dict) else ""
        blocks.append(f"{name}data: {data}{line_end}{line_end}")
    if done:
        blocks.append(f"data: [DONE]{line_end}{line_end}")
    return answer("".join(blocks), "text/event-stream; charset=utf-8")


def told(turn):
    """What a turn says, in order: each message as role, text, calls and results, with its marks."""
    parts = []
    for message in turn.messages:
        words = [message.role.value]
        if message.text is not None:
            words.append(repr(message.text))
        for call in message.calls:
            arguments = call.raw_arguments if call.arguments is None else json.dumps(call.arguments, default=dict)
            words.append(f"{call.name}({arguments})#{call.id}")
        for result in message.results:
            words.append(f"{result.name}#{result.call_id}={result.content!r}{'!' if result.is_error else ''}")
        words.extend(mark for mark in ("refusal", "truncated") if getattr(message, mark))
        parts.append(" ".join(words))
    return "; ".join(parts)
