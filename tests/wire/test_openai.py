import json

import pytest

from abs_gate.conversation import AgentRequest, Message, Role, ToolCall, ToolOffer, ToolResult, Usage
from abs_gate.errors import AgentUnavailable
from abs_gate.wire import CODECS
from abs_gate.wire.base import WireOptions

from .bodies import answer, stream, told

CODEC = CODECS["openai"]


def completion(message, finish_reason="stop", **more):
    return {"choices": [{"index": 0, "message": message, "finish_reason": finish_reason}], **more}


def call(call_id, name, arguments):
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ({"role": "assistant", "content": "hi"}, "assistant 'hi'"),
        ({"role": "assistant", "content": ""}, ""),
        ({"role": "assistant", "content": None}, ""),
        ({"role": "assistant", "content": "  \n"}, ""),
        ({"content": "no role"}, "assistant 'no role'"),
        (
            {"role": "assistant", "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]},
            "assistant 'ab'",
        ),
        ({"role": "assistant", "content": [{"type": "refusal", "refusal": "no"}]}, "assistant 'no' refusal"),
        ({"role": "assistant", "content": None, "refusal": "I can't."}, 'assistant "I can\'t." refusal'),
        ({"role": "assistant", "content": "ok", "refusal": None}, "assistant 'ok'"),
        (
            {"role": "assistant", "content": None, "tool_calls": [call("c1", "f", '{"a": 1.0}')]},
            'assistant f({"a": 1.0})#c1',
        ),
        (
            {"role": "assistant", "content": "both", "tool_calls": [call("c1", "f", "{}"), call("c2", "g", "")]},
            "assistant 'both' f({})#c1 g({})#c2",
        ),
        ({"role": "assistant", "tool_calls": [call("c1", "f", {"a": {"b": []}})]}, 'assistant f({"a": {"b": []}})#c1'),
        ({"role": "assistant", "tool_calls": [call("c1", "f", None)]}, "assistant f({})#c1"),
        ({"role": "assistant", "tool_calls": [call("c1", "f", '["list"]')]}, 'assistant f(["list"])#c1'),
        ({"role": "assistant", "tool_calls": [call("c1", "f", '{"a": NaN}')]}, 'assistant f({"a": NaN})#c1'),
        ({"role": "assistant", "tool_calls": [call("c1", "f", '{"cut": ')]}, 'assistant f({"cut": )#c1'),
        ({"role": "assistant", "tool_calls": [{"name": "f", "args": {"a": 1}}]}, 'assistant f({"a": 1})#'),
        (
            {
                "role": "assistant",
                "tool_calls": [{"id": "c1", "type": "custom", "custom": {"name": "f", "input": "raw"}}],
            },
            "assistant f(raw)#c1",
        ),
        ({"role": "assistant", "content": None, "function_call": {"name": "f", "arguments": "{}"}}, "assistant f({})#"),
        (
            {"role": "assistant", "content": [{"type": "tool_use", "id": "c1", "name": "f", "input": {"a": 1}}]},
            'assistant f({"a": 1})#c1',
        ),
    ],
)
def test_messages(message, expected):
    turn = CODEC.decode(answer(completion(message)))
    assert told(turn) == (expected or "assistant")
    assert (turn.messages[0].text is None) == ("'" not in expected and '"I' not in expected)


def test_arguments_that_are_no_object_are_kept_as_text_and_never_an_object():
    turn = CODEC.decode(
        answer(completion({"tool_calls": [call("1", "f", '"text"'), call("2", "g", "5"), call("3", "h", "x")]}))
    )
    assert [(c.arguments, c.raw_arguments) for c in turn.messages[0].calls] == [
        (None, '"text"'),
        (None, "5"),
        (None, "x"),
    ]


@pytest.mark.parametrize(
    ("reason", "truncated", "warned"),
    [
        ("stop", False, ""),
        ("length", True, "length"),
        ("content_filter", False, "filter"),
        ("tool_calls", False, "no call"),
    ],
)
def test_finish_reasons(reason, truncated, warned):
    turn = CODEC.decode(answer(completion({"role": "assistant", "content": "so far"}, reason)))
    assert turn.messages[0].truncated is truncated
    assert warned in " ".join(turn.warnings)
    assert bool(turn.warnings) is bool(warned)


@pytest.mark.parametrize(
    ("usage", "expected"),
    [
        ({"prompt_tokens": 3, "completion_tokens": 5}, Usage(input_tokens=3, output_tokens=5)),
        ({"input_tokens": 3, "output_tokens": 5}, Usage(input_tokens=3, output_tokens=5)),
        ({"prompt_tokens": "3", "completion_tokens": -1}, Usage()),
        ({"prompt_tokens": True, "completion_tokens": 10**30}, Usage()),
        ({"prompt_tokens": 2.5}, Usage()),
        (None, Usage()),
        ([], Usage()),
    ],
)
def test_usage(usage, expected):
    turn = CODEC.decode(answer(completion({"content": "x"}, usage=usage, model="gpt-x")))
    assert turn.usage == expected
    assert turn.model == "gpt-x"


BARE = [
    ({"message": "hi"}, "assistant 'hi'"),
    ({"message": {"role": "assistant", "content": "hi"}}, "assistant 'hi'"),
    ({"message": {"content": "hi", "tool_calls": [call("c", "f", "{}")]}}, "assistant 'hi' f({})#c"),
    ({"role": "assistant", "content": "hi"}, "assistant 'hi'"),
    ({"content": "hi"}, "assistant 'hi'"),
    ({"response": "hi"}, "assistant 'hi'"),
    ({"output": "hi"}, "assistant 'hi'"),
    ({"text": "hi"}, "assistant 'hi'"),
    ({"reply": "hi"}, "assistant 'hi'"),
    ({"answer": "hi", "sources": []}, "assistant 'hi'"),
    ({"result": {"message": {"content": "hi"}}}, "assistant 'hi'"),
    ({"response": {"role": "assistant", "content": "hi"}, "session_id": "x"}, "assistant 'hi'"),
    ({"response": "hi", "tool_calls": [call("c", "f", "{}")]}, "assistant 'hi' f({})#c"),
    ({"tool_calls": [{"name": "f", "arguments": {"a": 1}}]}, 'assistant f({"a": 1})#'),
    ('"hi"', "assistant 'hi'"),
    ([{"role": "assistant", "content": "hi"}], "assistant 'hi'"),
    ({"content": ""}, "assistant"),
    ({"message": None}, "assistant"),
    ({"messages": []}, ""),
    ([{"type": "text", "text": "a"}, {"type": "text", "text": "b"}], "assistant 'ab'"),
    ({"type": "final", "content": "hi"}, "assistant 'hi'"),
    (
        {
            "messages": [
                {"role": "assistant", "content": "I look.", "tool_calls": [call("c", "f", "{}")]},
                {"role": "tool", "tool_call_id": "c", "content": "seen"},
                {"role": "assistant", "content": "done"},
            ]
        },
        "assistant 'I look.' f({})#c; tool f#c='seen'; assistant 'done'",
    ),
    (
        {
            "messages": [
                {"type": "human", "content": "earlier"},
                {"type": "ai", "content": "old"},
                {"type": "human", "content": "now"},
                {"type": "ai", "content": "", "tool_calls": [{"name": "f", "args": {}, "id": "c"}]},
                {"type": "tool", "content": "seen", "tool_call_id": "c", "status": "error"},
                {"type": "ai", "content": "new"},
            ]
        },
        "assistant f({})#c; tool f#c='seen'!; assistant 'new'",
    ),
    ({"message": {"role": "assistant", "content": "hi"}, "done": True, "done_reason": "stop"}, "assistant 'hi'"),
    ({"message": {"role": "assistant", "content": "hi"}, "done_reason": "length"}, "assistant 'hi' truncated"),
]


@pytest.mark.parametrize(("body", "expected"), BARE, ids=lambda value: json.dumps(value)[:50])
@pytest.mark.parametrize("name", ["openai", "messages"])
def test_bare_answers(name, body, expected):
    assert told(CODECS[name].decode(answer(body))) == expected


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ({"choices": []}, "no choices"),
        ({"choices": None}, "no choices"),
        ({"choices": [5]}, "no choices"),
        ({"role": "user", "content": "x"}, "role is user"),
        ({"error": "quota"}, "quota"),
        ({"error": {"message": "bad key", "type": "auth"}}, r"bad key \(auth\)"),
        ({"error": "bad", "message": "explained"}, "bad"),
        ({"choices": [], "error": {"message": "overloaded"}}, "overloaded"),
        ({"detail": "x"}, "keys detail"),
        ({}, "keys none"),
        (None, "it is null"),
        (5, "it is 5"),
        ({"role": "martian", "content": "x"}, "role is martian"),
        ([{"type": "function_call", "name": "f"}], "not a message"),
        ([5], "not a message"),
        ({"output": [{"type": "function_call", "name": "f"}]}, "not a message"),
        ({"candidates": []}, "keys candidates"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_answers_that_are_none(body, reason):
    with pytest.raises(AgentUnavailable, match=reason):
        CODEC.decode(answer(body))


def chunk(delta=None, finish=None, **more):
    return {"choices": [{"index": 0, "delta": delta or {}, "finish_reason": finish}], "model": "m", **more}


def piece(index, **fields):
    function = {name: fields.pop(name) for name in ("name", "arguments") if name in fields}
    return {"index": index, **fields, "function": function}


STREAMS = [
    (
        stream(chunk({"role": "assistant", "content": "Hel"}), chunk({"content": "lo"}), chunk({}, "stop"), done=True),
        "'Hello'",
    ),
    (stream(chunk({"content": "a"}), chunk({"content": "b"}, "stop"), line_end="\r\n"), "'ab'"),
    (
        stream(
            chunk({"tool_calls": [piece(0, id="c1", name="f", arguments="")]}),
            chunk({"tool_calls": [piece(0, arguments='{"a"')]}),
            chunk({"tool_calls": [piece(1, id="c2", name="g", arguments="{}")]}),
            chunk({"tool_calls": [piece(0, arguments=": 1}")]}),
            chunk({}, "tool_calls"),
            done=True,
        ),
        'f({"a": 1})#c1 g({})#c2',
    ),
    (
        stream(
            chunk({"tool_calls": [{"index": 0, "id": "c1", "function": {"name": "f", "arguments": "{}"}}]}),
            chunk({"tool_calls": [{"index": 0, "id": "c2", "function": {"name": "g", "arguments": "{}"}}]}),
            chunk({}, "tool_calls"),
        ),
        "f({})#c1 g({})#c2",
    ),
    (
        stream(
            chunk({"tool_calls": [{"id": "c1", "function": {"name": "f", "arguments": {"a": 1}}}]}, "tool_calls"),
        ),
        'f({"a": 1})#c1',
    ),
    (
        stream(
            chunk({"function_call": {"name": "f", "arguments": ""}}),
            chunk({"function_call": {"arguments": "{}"}}, "stop"),
        ),
        "f({})#",
    ),
    (stream(chunk({"refusal": "I "}), chunk({"refusal": "won't"}), chunk({}, "stop")), '"I won\'t" refusal'),
    (stream(chunk({"content": "cut"}), chunk({}, "length")), "'cut' truncated"),
    (stream(chunk({"content": "the line went d"})), "'the line went d' truncated"),
    (stream({"content": "a"}, {"content": "b"}, done=True), "'ab'"),
    (stream({"delta": "a"}, {"delta": "b"}, done=True), "'ab'"),
    (stream({"message": {"content": "a"}}, {"message": {"content": "b"}, "done": True}), "'ab'"),
    (stream('"a"', '"b"', done=True), "'ab'"),
    (stream(": ping", chunk({"content": "x"}, "stop")), None),
    (
        answer(': comment\n\nretry: 5\nid: 1\ndata: {"choices":[{"delta":{"content":"x"},"finish_reason":"stop"}]}'),
        None,
    ),
    (answer('data:{"choices":[{"delta":{"content":"x"},"finish_reason":"stop"}]}\n\n', "application/json"), "'x'"),
    (
        answer(
            '{"message":{"content":"a"},"done":false}\n{"message":{"content":"b"},"done":true}\n',
            "application/x-ndjson",
        ),
        "'ab'",
    ),
]


@pytest.mark.parametrize(("body", "expected"), STREAMS, ids=range(len(STREAMS)))
@pytest.mark.parametrize("name", ["openai", "messages"])
def test_streams(name, body, expected):
    if expected is None:
        try:
            assert told(CODECS[name].decode(body)) == "assistant 'x'"
        except AgentUnavailable as error:
            assert "not JSON" in str(error)
        return
    turn = CODECS[name].decode(body)
    assert told(turn) == f"assistant {expected}"
    assert bool(turn.warnings) is ("truncated" in expected)


def test_usage_of_a_stream_comes_in_its_last_chunk():
    usage = {"prompt_tokens": 1, "completion_tokens": 2}
    turn = CODEC.decode(
        stream(chunk({"content": "x"}, "stop"), {"choices": [], "usage": usage, "model": "m"}, done=True)
    )
    assert (turn.usage, turn.model) == (Usage(input_tokens=1, output_tokens=2), "m")


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (stream({"error": {"message": "overloaded"}}), "overloaded"),
        (stream(chunk({"content": "x"}), "{broken"), "not JSON"),
        (stream(chunk({"content": "x"}), "[" * 5000), "nested deeper"),
    ],
)
def test_streams_that_are_no_answer(body, reason):
    with pytest.raises(AgentUnavailable, match=reason):
        CODEC.decode(body)


CONVERSATION = (
    Message(role=Role.SYSTEM, text="Be kind."),
    Message(role=Role.USER, text="Hi"),
    Message(
        role=Role.ASSISTANT,
        text="I look.",
        calls=(
            ToolCall(id="c1", name="f", arguments={"a": 1}, raw_arguments='{"a":1 }'),
            ToolCall(id="c2", name="g", arguments=None, raw_arguments="{oops"),
        ),
    ),
    Message(
        role=Role.TOOL,
        results=(
            ToolResult(call_id="c1", name="f", content={"b": "ü"}),
            ToolResult(call_id="c2", name="g", content="plain"),
        ),
    ),
    Message(role=Role.ASSISTANT, text="Done."),
)
TOOLS = (ToolOffer(name="f", description="does f", input_schema={"type": "object"}, strict=True),)


def test_the_request_body():
    options = WireOptions(model="m", stream=True, max_output_tokens=9, temperature=0.0)
    request = CODEC.encode(AgentRequest(messages=CONVERSATION, tools=TOOLS), "http://x/chat", options)
    assert (request.method, request.url) == ("POST", "http://x/chat")
    assert request.body == {
        "model": "m",
        "stream": True,
        "stream_options": {"include_usage": True},
        "max_completion_tokens": 9,
        "temperature": 0.0,
        "tools": [
            {
                "type": "function",
                "function": {
                    "name": "f",
                    "description": "does f",
                    "parameters": {"type": "object"},
                    "strict": True,
                },
            }
        ],
        "messages": [
            {"role": "system", "content": "Be kind."},
            {"role": "user", "content": "Hi"},
            {
                "role": "assistant",
                "content": "I look.",
                "tool_calls": [call("c1", "f", '{"a":1 }'), call("c2", "g", "{oops")],
            },
            {"role": "tool", "tool_call_id": "c1", "content": '{"b":"ü"}'},
            {"role": "tool", "tool_call_id": "c2", "content": "plain"},
            {"role": "assistant", "content": "Done."},
        ],
    }


def test_nothing_is_sent_that_was_not_asked_for():
    for name in ("openai", "messages"):
        body = CODECS[name].encode(AgentRequest(messages=()), "http://x", WireOptions()).body
        assert body == {"messages": []}


def test_the_plain_format_sends_messages_model_and_tools_only():
    options = WireOptions(model="m", stream=True, max_output_tokens=9, temperature=0.0)
    body = CODECS["messages"].encode(AgentRequest(messages=CONVERSATION, tools=TOOLS), "http://x", options).body
    assert set(body) == {"messages", "model", "tools"}


def test_a_legacy_call_is_answered_in_the_legacy_way():
    (message,) = CODEC.decode(
        answer(completion({"content": None, "function_call": {"name": "f", "arguments": "{}"}}))
    ).messages
    result = Message(role=Role.TOOL, results=(ToolResult(call_id=message.calls[0].id, name="f", content="x"),))
    body = CODEC.encode(AgentRequest(messages=(message, result)), "http://x", WireOptions()).body
    assert body["messages"] == [
        {"role": "assistant", "content": None, "function_call": {"name": "f", "arguments": "{}"}},
        {"role": "function", "name": "f", "content": "x"},
    ]


def test_signatures_and_reasoning_go_back_unchanged():
    signed = {**call("c1", "f", "{}"), "extra_content": {"google": {"thought_signature": "sig"}}}
    reasoning = [{"type": "reasoning.text", "text": "hm", "signature": "s"}]
    item = {"role": "assistant", "content": None, "tool_calls": [signed], "reasoning_details": reasoning}
    streamed = stream(chunk({"tool_calls": [{"index": 0, **signed}], "reasoning_details": reasoning}, "tool_calls"))
    for body in (answer(completion(item)), streamed):
        (message,) = CODEC.decode(body).messages
        (written,) = CODEC.encode(AgentRequest(messages=(message,)), "http://x", WireOptions()).body["messages"]
        assert written["tool_calls"][0]["extra_content"] == signed["extra_content"]
        assert written["reasoning_details"] == reasoning
