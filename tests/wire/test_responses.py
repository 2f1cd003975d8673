import pytest

from abs_gate.conversation import AgentRequest, Message, Role, ToolCall, ToolOffer, ToolResult, Usage
from abs_gate.errors import AgentUnavailable
from abs_gate.wire import CODECS
from abs_gate.wire.base import WireOptions

from .bodies import answer, stream, told

CODEC = CODECS["responses"]
CALL = {"type": "function_call", "id": "fc_1", "call_id": "c1", "name": "f", "arguments": '{"a": 1}'}
REASONING = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "xyz"}


def said(*texts):
    return {
        "type": "message",
        "role": "assistant",
        "content": [{"type": "output_text", "text": text} for text in texts],
    }


def response(*output, status="completed", **more):
    return {"object": "response", "status": status, "output": list(output), **more}


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (response(said("hi")), "assistant 'hi'"),
        (response(said("a", "b")), "assistant 'ab'"),
        (response(said("a"), said("b")), "assistant 'a'; assistant 'b'"),
        (response(said("")), ""),
        (response(), ""),
        (response(CALL), 'assistant f({"a": 1})#c1'),
        (
            response(said("I look."), CALL, {**CALL, "call_id": "c2"}),
            'assistant \'I look.\' f({"a": 1})#c1 f({"a": 1})#c2',
        ),
        (response({**CALL, "arguments": ""}), "assistant f({})#c1"),
        (response({**CALL, "arguments": {"a": 1}}), 'assistant f({"a": 1})#c1'),
        (response({"type": "custom_tool_call", "call_id": "c1", "name": "g", "input": "raw"}), "assistant g(raw)#c1"),
        (response({"type": "message", "content": [{"type": "refusal", "refusal": "no"}]}), "assistant 'no' refusal"),
        (response(REASONING, said("hi")), "assistant 'hi'"),
        (response(REASONING), "assistant"),
        (
            response(said("cut"), status="incomplete", incomplete_details={"reason": "max_output_tokens"}),
            "assistant 'cut' truncated",
        ),
        (response(status="incomplete"), ""),
        ({"output": [said("hi")]}, "assistant 'hi'"),
        (response(None, 5, {"type": "new_kind"}, said("hi")), "assistant 'hi'"),
        (
            response(
                {"type": "mcp_call", "id": "m1", "name": "look", "arguments": "{}", "output": "seen", "error": None},
                {"type": "mcp_call", "id": "m2", "name": "look", "arguments": "{}", "output": None, "error": "broken"},
                said("hi"),
            ),
            "assistant look({})#m1; tool look#m1='seen'; assistant look({})#m2; tool look#m2='broken'!; assistant 'hi'",
        ),
        (
            response(CALL, {"type": "function_call_output", "call_id": "c1", "output": "seen"}, said("hi")),
            "assistant f({\"a\": 1})#c1; tool f#c1='seen'; assistant 'hi'",
        ),
    ],
)
def test_responses(body, expected):
    assert told(CODEC.decode(answer(body))) == expected


def test_usage_model_and_warning():
    body = response(
        said("cut"),
        status="incomplete",
        incomplete_details={"reason": "max_output_tokens"},
        usage={"input_tokens": 3, "output_tokens": 4},
        model="gpt-x",
    )
    turn = CODEC.decode(answer(body))
    assert (turn.usage, turn.model) == (Usage(input_tokens=3, output_tokens=4), "gpt-x")
    assert "max_output_tokens" in turn.warnings[0]


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (response(status="failed", error={"code": "server_error", "message": "The model failed"}), "The model failed"),
        (response(status="failed"), "a failed response"),
        (response(said("x"), error={"message": "late"}), "late"),
        (response(status="cancelled"), "cancelled"),
        (response(status="in_progress"), "in_progress"),
        (response(status="queued"), "queued"),
        ({"choices": []}, "no output .*choices"),
        ({"output": "text"}, "no output"),
        ([], "none"),
    ],
)
def test_answers_that_are_none(body, reason):
    with pytest.raises(AgentUnavailable, match=reason):
        CODEC.decode(answer(body))


def event(kind, **fields):
    return {"type": f"response.{kind}", **fields}


CREATED = event("created", response=response(status="in_progress", model="m"))
DELTAS = (
    CREATED,
    event(
        "output_item.added", output_index=0, item={"type": "message", "id": "m1", "role": "assistant", "content": []}
    ),
    event("output_text.delta", output_index=0, item_id="m1", delta="Hel"),
    event("output_text.delta", output_index=0, item_id="m1", delta="lo"),
    event("output_item.added", output_index=1, item={**CALL, "arguments": ""}),
    event("function_call_arguments.delta", output_index=1, item_id="fc_1", delta='{"a"'),
    event("function_call_arguments.delta", output_index=1, item_id="fc_1", delta=": 1}"),
    event("function_call_arguments.done", output_index=1, item_id="fc_1", arguments='{"a": 1}'),
)


@pytest.mark.parametrize(
    ("events", "expected"),
    [
        (
            (*DELTAS, event("completed", response=response(said("The whole."), CALL))),
            "assistant 'The whole.' f({\"a\": 1})#c1",
        ),
        ((*DELTAS, event("completed", response=response())), "assistant 'Hello' f({\"a\": 1})#c1"),
        ((*DELTAS, event("done", response={"output": [said("done")]})), "assistant 'done'"),
        (DELTAS, "assistant 'Hello' f({\"a\": 1})#c1 truncated"),
        (DELTAS[:4], "assistant 'Hello' truncated"),
        (
            (*DELTAS[:4], event("incomplete", response=response(said("Hel"), status="incomplete"))),
            "assistant 'Hel' truncated",
        ),
        ((event("output_item.done", output_index=0, item=said("x")), event("completed", response={})), "assistant 'x'"),
        (
            (event("refusal.delta", output_index=0, delta="no"), event("completed", response={})),
            "assistant 'no' refusal",
        ),
        ((event("output_text.done", output_index=0, text="x"), event("completed", response={})), "assistant 'x'"),
        (
            (
                event("completed", response=response(said("first"))),
                event("completed", response=response(said("second"))),
            ),
            "assistant 'first'",
        ),
    ],
)
@pytest.mark.parametrize("named", [True, False])
def test_streams(events, expected, named):
    turn = CODEC.decode(stream(*events, named=named))
    assert told(turn) == expected
    assert bool(turn.warnings) is ("truncated" in expected)


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (stream(*DELTAS, event("failed", response=response(status="failed", error={"message": "boom"}))), "boom"),
        (stream(CREATED, {"type": "error", "message": "rate limited", "code": "429"}), r"rate limited \(429\)"),
        (stream(event("cancelled", response=response(status="cancelled"))), "cancelled"),
        (stream({"choices": []}), "none of its events"),
        (stream(CREATED), "ended before anything was said"),
        (stream("{oops"), "not JSON"),
    ],
)
def test_streams_that_are_no_answer(body, reason):
    with pytest.raises(AgentUnavailable, match=reason):
        CODEC.decode(body)


def encode(*messages, **options):
    tools = (ToolOffer(name="f", description="d", input_schema={"type": "object"}),)
    return CODEC.encode(AgentRequest(messages=messages, tools=tools), "http://x", WireOptions(**options)).body


def test_the_request_body():
    body = encode(
        Message(role=Role.SYSTEM, text="One."),
        Message(role=Role.USER, text="a"),
        Message(
            role=Role.ASSISTANT,
            text="b",
            calls=(ToolCall(id="c1", name="f", arguments={"a": 1}, raw_arguments='{"a":1}'),),
        ),
        Message(role=Role.TOOL, results=(ToolResult(call_id="c1", name="f", content=[1]),)),
        Message(role=Role.SYSTEM, text="Two."),
        model="m",
        stream=True,
        max_output_tokens=5,
    )
    assert body == {
        "model": "m",
        "stream": True,
        "max_output_tokens": 5,
        "instructions": "One.\n\nTwo.",
        "tools": [
            {"type": "function", "name": "f", "description": "d", "parameters": {"type": "object"}, "strict": False}
        ],
        "input": [
            {"role": "user", "content": "a"},
            {"role": "assistant", "content": "b"},
            {"type": "function_call", "call_id": "c1", "name": "f", "arguments": '{"a":1}'},
            {"type": "function_call_output", "call_id": "c1", "output": "[1]"},
        ],
    }


def test_reasoning_and_provider_run_items_go_back_unchanged_and_in_order():
    items = [
        REASONING,
        {"type": "mcp_call", "id": "m1", "name": "look", "arguments": "{}", "output": "seen", "error": None},
        said("so"),
        CALL,
    ]
    messages = CODEC.decode(answer(response(*items))).messages
    result = Message(role=Role.TOOL, results=(ToolResult(call_id="c1", name="f", content="x"),))
    assert encode(*messages, result)["input"] == [
        *items,
        {"type": "function_call_output", "call_id": "c1", "output": "x"},
    ]
