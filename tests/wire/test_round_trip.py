"""What a codec writes of an assistant's message, it reads again as the same message."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from abs_gate.conversation import AgentRequest, Message, Role, ToolCall
from abs_gate.errors import AgentUnavailable
from abs_gate.wire import CODECS
from abs_gate.wire.base import HttpResponse, WireOptions

from .bodies import answer

REPLIES = {
    "openai": lambda body: {"choices": [{"message": body["messages"][0], "finish_reason": "stop"}]},
    "messages": lambda body: {"message": body["messages"][0]},
    "responses": lambda body: {"status": "completed", "output": [as_item(item) for item in body["input"]]},
    "claude": lambda body: {"type": "message", "content": body["messages"][0]["content"]},
    "gemini": lambda body: {"candidates": [{"content": body["contents"][0]}]},
}


def as_item(item):
    """An input message in the shape the same message has in an output."""
    if "role" not in item:
        return item
    return {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": item["content"]}]}


values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(codec="utf-8"), max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)
names = st.from_regex(r"[a-zA-Z0-9_-]{1,12}", fullmatch=True)
texts = st.text(st.characters(codec="utf-8"), min_size=1, max_size=20).filter(str.strip)


@st.composite
def assistant_messages(draw):
    text = draw(st.none() | texts)
    count = draw(st.integers(0 if text else 1, 3))
    calls = tuple(
        ToolCall(id=f"c{n}", name=draw(names), arguments=draw(st.dictionaries(st.text(max_size=5), values, max_size=3)))
        for n in range(count)
    )
    return Message(role=Role.ASSISTANT, text=text, calls=calls)


@pytest.mark.parametrize("name", list(CODECS))
@given(message=assistant_messages())
def test_an_assistants_message_survives(name, message):
    body = CODECS[name].encode(AgentRequest(messages=(message,)), "http://x", WireOptions()).body
    (read,) = CODECS[name].decode(answer(json.dumps(REPLIES[name](body)))).messages
    assert (read.text, read.refusal, read.truncated) == (message.text, False, False)
    assert [(c.id, c.name, dict(c.arguments)) for c in read.calls] == [
        (c.id, c.name, dict(c.arguments)) for c in message.calls
    ]


@pytest.mark.parametrize("name", list(CODECS))
@given(body=st.binary(max_size=200), kind=st.sampled_from(["application/json", "text/event-stream", "text/html", ""]))
def test_any_bytes_give_a_turn_or_an_error_in_words(name, body, kind):
    try:
        turn = CODECS[name].decode(HttpResponse(status=200, headers={"content-type": kind}, body=body))
    except AgentUnavailable as error:
        assert len(str(error)) < 700
        assert str(error).isprintable()
    else:
        assert isinstance(turn.messages, tuple)


keys = st.sampled_from(
    [
        "choices",
        "message",
        "messages",
        "content",
        "role",
        "tool_calls",
        "function",
        "arguments",
        "output",
        "type",
        "text",
        "candidates",
        "parts",
        "functionCall",
        "error",
        "usage",
        "delta",
        "status",
        "response",
        "index",
        "data",
        "refusal",
    ]
)
words = st.sampled_from(
    ["assistant", "user", "tool", "text", "message", "function_call", "tool_use", "{}", "[", "", "completed"]
)
odd = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | words,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=4),
    max_leaves=12,
)


@pytest.mark.parametrize("name", list(CODECS))
@given(value=odd, streamed=st.booleans())
def test_any_json_gives_a_turn_or_an_error_in_words(name, value, streamed):
    text = json.dumps(value)
    body = answer(
        f"data: {text}\n\ndata: {text}\n\n" if streamed else text,
        "text/event-stream" if streamed else "application/json",
    )
    try:
        turn = CODECS[name].decode(body)
    except AgentUnavailable as error:
        assert len(str(error)) < 700
    else:
        for message in turn.messages:
            assert message.text is None or message.text.strip()
            assert all(call.arguments is None or isinstance(dict(call.arguments), dict) for call in message.calls)
