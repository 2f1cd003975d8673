import pytest

from abs_gate.conversation import AgentRequest, Message, Role, ToolCall, ToolOffer, ToolResult, Usage
from abs_gate.errors import AgentUnavailable
from abs_gate.wire import CODECS
from abs_gate.wire.base import WireOptions

from .bodies import answer, stream, told

CODEC = CODECS["gemini"]
CALL = {"functionCall": {"name": "f", "args": {"a": 1}}}


def candidate(*parts, finish="STOP", **more):
    return {"candidates": [{"content": {"role": "model", "parts": list(parts)}, "finishReason": finish}], **more}


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (candidate({"text": "hi"}), "assistant 'hi'"),
        (candidate({"text": "a"}, {"text": "b"}), "assistant 'ab'"),
        (candidate({"text": ""}), ""),
        (candidate(), ""),
        ({"candidates": [{"finishReason": "STOP"}]}, ""),
        (candidate({"text": "hm", "thought": True}, {"text": "hi"}), "assistant 'hi'"),
        (candidate(CALL), 'assistant f({"a": 1})#'),
        (candidate({"functionCall": {"id": "g1", "name": "f"}}), "assistant f({})#g1"),
        (candidate({"text": "I look."}, CALL, CALL), 'assistant \'I look.\' f({"a": 1})# f({"a": 1})#'),
        (candidate({"function_call": {"name": "f", "args": {}}}), "assistant f({})#"),
        (candidate({"text": "cut"}, finish="MAX_TOKENS"), "assistant 'cut' truncated"),
        (candidate({"text": "part"}, finish="SAFETY"), "assistant 'part' refusal"),
        (candidate(finish="RECITATION"), ""),
        (candidate(None, 5, {"inlineData": {}}, {"text": "hi"}), "assistant 'hi'"),
        (
            candidate(CALL, {"functionResponse": {"name": "f", "response": {"result": 1}}}, {"text": "done"}),
            "assistant f({\"a\": 1})#; tool f#={'result': 1}; assistant 'done'",
        ),
        ([candidate({"text": "a"}), candidate({"text": "b"})], "assistant 'ab'"),
    ],
)
def test_candidates(body, expected):
    assert told(CODEC.decode(answer(body))) == expected


def test_usage_and_model():
    body = candidate({"text": "x"}, usageMetadata={"promptTokenCount": 4, "candidatesTokenCount": 2}, modelVersion="g")
    turn = CODEC.decode(answer(body))
    assert (turn.usage, turn.model) == (Usage(input_tokens=4, output_tokens=2), "g")


@pytest.mark.parametrize("reason", ["MAX_TOKENS", "SAFETY", "MALFORMED_FUNCTION_CALL"])
def test_unusual_finish_reasons_are_warned_of(reason):
    assert reason in CODEC.decode(answer(candidate({"text": "x"}, finish=reason))).warnings[0]


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ({"candidates": []}, "no candidates"),
        ({"promptFeedback": {"blockReason": "SAFETY"}}, r"blocked \(SAFETY\)"),
        ({"error": {"code": 400, "message": "API key not valid", "status": "INVALID_ARGUMENT"}}, "API key not valid"),
        ([{"error": {"message": "quota"}}], "quota"),
        ({"choices": []}, "no candidates .*choices"),
        ([], "none"),
        (None, "none"),
    ],
)
def test_answers_that_are_none(body, reason):
    with pytest.raises(AgentUnavailable, match=reason):
        CODEC.decode(answer(body))


CHUNKS = (
    candidate({"text": "Hel"}, finish=None),
    candidate({"text": "lo"}, finish=None, usageMetadata={"promptTokenCount": 1}),
    candidate({"functionCall": {"name": "f", "args": {}}, "thoughtSignature": "sig"}, finish=None),
    candidate(
        {"text": ""}, finish="STOP", usageMetadata={"promptTokenCount": 4, "candidatesTokenCount": 2}, modelVersion="g"
    ),
)


@pytest.mark.parametrize("body", [stream(*CHUNKS), answer(list(CHUNKS)), stream(*CHUNKS, line_end="\r\n")])
def test_streams_of_events_and_as_one_array(body):
    turn = CODEC.decode(body)
    assert told(turn) == "assistant 'Hello' f({})#"
    assert (turn.usage, turn.model) == (Usage(input_tokens=4, output_tokens=2), "g")


def test_a_stream_that_ends_early_is_cut_short():
    turn = CODEC.decode(stream(*CHUNKS[:2]))
    assert told(turn) == "assistant 'Hello' truncated"
    assert turn.warnings
    with pytest.raises(AgentUnavailable, match="ended before anything was said"):
        CODEC.decode(stream(candidate({"text": ""}, finish=None)))


def test_a_stream_that_is_no_answer():
    with pytest.raises(AgentUnavailable, match="not JSON"):
        CODEC.decode(stream("{oops"))
    with pytest.raises(AgentUnavailable, match="overloaded"):
        CODEC.decode(stream(CHUNKS[0], {"error": {"message": "overloaded"}}))


@pytest.mark.parametrize(
    ("url", "options", "expected"),
    [
        ("https://g.test/v1beta", {"model": "m"}, "https://g.test/v1beta/models/m:generateContent"),
        ("https://g.test/v1beta/?key=1", {"model": "models/m"}, "https://g.test/v1beta/models/m:generateContent?key=1"),
        (
            "https://g.test/v1beta",
            {"model": "m", "stream": True},
            "https://g.test/v1beta/models/m:streamGenerateContent?alt=sse",
        ),
        ("https://g.test/v1/models/x:generateContent", {"model": "m"}, "https://g.test/v1/models/x:generateContent"),
        ("https://g.test/chat", {}, "https://g.test/chat"),
        ("https://g.test/v1beta", {"model": "a?b#c"}, "https://g.test/v1beta/models/a%3Fb%23c:generateContent"),
    ],
)
def test_the_model_and_the_method_stand_in_the_address(url, options, expected):
    assert CODEC.encode(AgentRequest(messages=()), url, WireOptions(**options)).url == expected


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
            calls=(
                ToolCall(id="gate_call_1", name="f", arguments={"a": 1}),
                ToolCall(id="g2", name="f", arguments={}),
            ),
        ),
        Message(
            role=Role.TOOL,
            results=(
                ToolResult(call_id="gate_call_1", name="f", content="plain"),
                ToolResult(call_id="g2", name="f", content={"ok": 1}),
                ToolResult(call_id="g3", name="f", content="no", is_error=True),
            ),
        ),
        Message(role=Role.USER, text="c"),
        temperature=0.0,
        max_output_tokens=7,
    )
    assert body == {
        "systemInstruction": {"parts": [{"text": "One."}]},
        "generationConfig": {"temperature": 0.0, "maxOutputTokens": 7},
        "tools": [
            {"functionDeclarations": [{"name": "f", "description": "d", "parametersJsonSchema": {"type": "object"}}]}
        ],
        "contents": [
            {"role": "user", "parts": [{"text": "a"}]},
            {
                "role": "model",
                "parts": [
                    {"text": "b"},
                    {"functionCall": {"name": "f", "args": {"a": 1}}},
                    {"functionCall": {"id": "g2", "name": "f", "args": {}}},
                ],
            },
            {
                "role": "user",
                "parts": [
                    {"functionResponse": {"name": "f", "response": {"result": "plain"}}},
                    {"functionResponse": {"id": "g2", "name": "f", "response": {"ok": 1}}},
                    {"functionResponse": {"id": "g3", "name": "f", "response": {"error": "no"}}},
                    {"text": "c"},
                ],
            },
        ],
    }


def test_thought_signatures_go_back_where_they_stood():
    parts = [
        {"text": "hm", "thought": True},
        {"text": "I look."},
        {"functionCall": {"name": "f", "args": {}}, "thoughtSignature": "sig"},
        {"functionCall": {"name": "g", "args": {}}},
    ]
    messages = CODEC.decode(answer(candidate(*parts))).messages
    assert encode(*messages)["contents"] == [{"role": "model", "parts": parts}]
