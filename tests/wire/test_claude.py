import json

import pytest

from abs_gate.conversation import AgentRequest, Message, Role, ToolCall, ToolOffer, ToolResult, Usage
from abs_gate.errors import AgentUnavailable
from abs_gate.wire import CODECS
from abs_gate.wire.base import WireOptions

from .bodies import answer, stream, told

CODEC = CODECS["claude"]
TEXT = {"type": "text", "text": "hi"}
CALL = {"type": "tool_use", "id": "t1", "name": "f", "input": {"a": 1}}
THOUGHT = {"type": "thinking", "thinking": "hm", "signature": "sig"}


def reply(*content, stop_reason="end_turn", **more):
    return {"type": "message", "role": "assistant", "content": list(content), "stop_reason": stop_reason, **more}


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (reply(TEXT), "assistant 'hi'"),
        (reply(), ""),
        (reply({"type": "text", "text": ""}), ""),
        (reply(TEXT, {"type": "text", "text": " there"}), "assistant 'hi there'"),
        (reply(TEXT, CALL, stop_reason="tool_use"), "assistant 'hi' f({\"a\": 1})#t1"),
        (reply(CALL, {**CALL, "id": "t2", "input": {}}), 'assistant f({"a": 1})#t1 f({})#t2'),
        (reply({**CALL, "input": None}), "assistant f({})#t1"),
        (reply({**CALL, "input": "text"}), "assistant f(text)#t1"),
        (reply(THOUGHT, TEXT), "assistant 'hi'"),
        (reply(THOUGHT), "assistant"),
        (reply({"type": "redacted_thinking", "data": "x"}, CALL), 'assistant f({"a": 1})#t1'),
        (reply(TEXT, stop_reason="max_tokens"), "assistant 'hi' truncated"),
        (reply(TEXT, stop_reason="model_context_window_exceeded"), "assistant 'hi' truncated"),
        (reply(TEXT, stop_reason="refusal"), "assistant 'hi' refusal"),
        (reply(stop_reason="max_tokens"), ""),
        ({"content": "plain", "role": "assistant"}, "assistant 'plain'"),
        ({"content": [None, 5, {"type": "new_kind"}, TEXT]}, "assistant 'hi'"),
        (
            reply(
                {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {"query": "q"}},
                {
                    "type": "web_search_tool_result",
                    "tool_use_id": "s1",
                    "content": [{"type": "web_search_result", "url": "u"}],
                },
                TEXT,
            ),
            'assistant web_search({"query": "q"})#s1; '
            "tool web_search#s1=[{'type': 'web_search_result', 'url': 'u'}]; assistant 'hi'",
        ),
        (
            reply(
                {"type": "mcp_tool_use", "id": "m1", "name": "look", "server_name": "s", "input": {}},
                {
                    "type": "mcp_tool_result",
                    "tool_use_id": "m1",
                    "is_error": True,
                    "content": [{"type": "text", "text": "no"}],
                },
                CALL,
            ),
            "assistant look({})#m1; tool look#m1='no'!; assistant f({\"a\": 1})#t1",
        ),
    ],
)
def test_replies(body, expected):
    assert told(CODEC.decode(answer(body))) == expected


def test_usage_and_model():
    turn = CODEC.decode(answer(reply(TEXT, usage={"input_tokens": 7, "output_tokens": 2}, model="claude-x")))
    assert (turn.usage, turn.model) == (Usage(input_tokens=7, output_tokens=2), "claude-x")


@pytest.mark.parametrize("reason", ["max_tokens", "refusal", "pause_turn"])
def test_unusual_stop_reasons_are_warned_of(reason):
    assert reason in CODEC.decode(answer(reply(TEXT, stop_reason=reason))).warnings[0]


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (
            {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}},
            r"Overloaded \(overloaded_error\)",
        ),
        ({"choices": []}, "no content .*choices"),
        ([], "no content"),
        ({}, "none"),
    ],
)
def test_answers_that_are_none(body, reason):
    with pytest.raises(AgentUnavailable, match=reason):
        CODEC.decode(answer(body))


def event(kind, **fields):
    return {"type": kind, **fields}


def delta(index, kind, **fields):
    return event("content_block_delta", index=index, delta={"type": kind, **fields})


START = event(
    "message_start",
    message={"role": "assistant", "content": [], "model": "c", "usage": {"input_tokens": 9, "output_tokens": 1}},
)
STREAMED = (
    START,
    event("content_block_start", index=0, content_block={"type": "thinking", "thinking": "", "signature": ""}),
    event("ping"),
    delta(0, "thinking_delta", thinking="h"),
    delta(0, "thinking_delta", thinking="m"),
    delta(0, "signature_delta", signature="sig"),
    event("content_block_stop", index=0),
    event("content_block_start", index=1, content_block={"type": "text", "text": ""}),
    delta(1, "text_delta", text="Hel"),
    delta(1, "text_delta", text="lo"),
    event("content_block_stop", index=1),
    event("content_block_start", index=2, content_block={"type": "tool_use", "id": "t1", "name": "f", "input": {}}),
    delta(2, "input_json_delta", partial_json=""),
    delta(2, "input_json_delta", partial_json='{"a": '),
    delta(2, "input_json_delta", partial_json="1}"),
    event("content_block_stop", index=2),
    event("content_block_start", index=3, content_block={"type": "tool_use", "id": "t2", "name": "g", "input": {}}),
    event("content_block_stop", index=3),
    event("message_delta", delta={"stop_reason": "tool_use"}, usage={"output_tokens": 30}),
    event("message_stop"),
)


@pytest.mark.parametrize("named", [True, False])
def test_a_stream(named):
    turn = CODEC.decode(stream(*STREAMED, named=named))
    assert told(turn) == "assistant 'Hello' f({\"a\": 1})#t1 g({})#t2"
    assert (turn.usage, turn.model, turn.warnings) == (Usage(input_tokens=9, output_tokens=30), "c", ())
    native = turn.messages[0].native["claude"]["content"]
    assert native[0] == THOUGHT
    assert native[2] == {"type": "tool_use", "id": "t1", "name": "f", "input": {"a": 1}}


@pytest.mark.parametrize(
    ("events", "expected"),
    [
        (STREAMED[:10], "assistant 'Hello' truncated"),
        (STREAMED[:14], "assistant 'Hello' f({\"a\": )#t1 truncated"),
        ((START, delta(0, "text_delta", text="x"), event("message_stop")), "assistant 'x'"),
    ],
)
def test_streams_that_end_early(events, expected):
    turn = CODEC.decode(stream(*events))
    assert told(turn) == expected
    assert bool(turn.warnings) is ("truncated" in expected)


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (stream(START, event("error", error={"type": "overloaded_error", "message": "Overloaded"})), "Overloaded"),
        (stream("{oops"), "not JSON"),
        (stream({"choices": []}), "none of its events"),
        (stream(event("ping")), "none of its events"),
        (stream(START, event("ping")), "ended before anything was said"),
    ],
)
def test_streams_that_are_no_answer(body, reason):
    with pytest.raises(AgentUnavailable, match=reason):
        CODEC.decode(body)


def encode(*messages, **options):
    tools = (ToolOffer(name="f", description="d", input_schema={"type": "object"}),)
    return CODEC.encode(AgentRequest(messages=messages, tools=tools), "http://x", WireOptions(**options))


def test_the_request_body():
    request = encode(
        Message(role=Role.SYSTEM, text="One."),
        Message(role=Role.USER, text="a"),
        Message(role=Role.USER, text="b"),
        Message(role=Role.ASSISTANT, text="c", calls=(ToolCall(id="t1", name="f", arguments={"a": 1}),)),
        Message(role=Role.TOOL, results=(ToolResult(call_id="t1", name="f", content={"x": 1}),)),
        Message(role=Role.TOOL, results=(ToolResult(call_id="t2", name="f", content="no", is_error=True),)),
        Message(role=Role.SYSTEM, text="Two."),
        Message(role=Role.USER, text="d"),
        Message(role=Role.ASSISTANT),
        model="m",
        stream=True,
    )
    assert request.headers["anthropic-version"] == "2023-06-01"
    assert request.body == {
        "model": "m",
        "max_tokens": 4096,
        "stream": True,
        "system": "One.\n\nTwo.",
        "tools": [{"name": "f", "description": "d", "input_schema": {"type": "object"}}],
        "messages": [
            {"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]},
            {
                "role": "assistant",
                "content": [
                    {"type": "text", "text": "c"},
                    {"type": "tool_use", "id": "t1", "name": "f", "input": {"a": 1}},
                ],
            },
            {
                "role": "user",
                "content": [
                    {"type": "tool_result", "tool_use_id": "t1", "content": '{"x":1}'},
                    {"type": "tool_result", "tool_use_id": "t2", "content": "no", "is_error": True},
                    {"type": "text", "text": "d"},
                ],
            },
        ],
    }


def test_thinking_and_provider_run_blocks_go_back_unchanged_and_in_order():
    blocks = [
        THOUGHT,
        {"type": "mcp_tool_use", "id": "m1", "name": "look", "server_name": "s", "input": {}},
        {"type": "mcp_tool_result", "tool_use_id": "m1", "content": [{"type": "text", "text": "seen"}]},
        {"type": "text", "text": "so", "citations": [{"type": "char_location"}]},
        CALL,
    ]
    messages = CODEC.decode(answer(reply(*blocks))).messages
    result = Message(role=Role.TOOL, results=(ToolResult(call_id="t1", name="f", content="x"),))
    written = encode(*messages, result).body["messages"]
    assert written == [
        {"role": "assistant", "content": blocks},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": "x"}]},
    ]
    assert json.dumps(written)
