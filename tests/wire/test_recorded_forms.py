import base64
import gzip
import json
import struct
import time

import pytest

from abs_gate.errors import ConfigurationError
from abs_gate.wire.recorded import MAX_TRACE_BYTES, load_traces

CALL = {"id": "c1", "type": "function", "function": {"name": "look", "arguments": '{"q": 1}'}}
CHAT = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": "Look!"},
    {"role": "assistant", "content": None, "tool_calls": [CALL]},
    {"role": "tool", "tool_call_id": "c1", "content": "seen"},
    {"role": "assistant", "content": "I saw it."},
]
TOLD = "system:Be brief. | user:Look! | call look {'q': 1} c1 | result look seen c1 | assistant:I saw it."


def load(value, name="file.json"):
    if isinstance(value, str):
        data = value.encode()
    elif isinstance(value, bytes):
        data = value
    else:
        data = json.dumps(value).encode()
    return load_traces(data, name)


def tell(conversation):
    """A conversation on one line."""
    parts = []
    for message in conversation.messages:
        if message.text is not None:
            parts.append(f"{message.role.value}:{message.text}")
        parts.extend(
            f"call {call.name} {dict(call.arguments) if call.arguments is not None else call.raw_arguments} {call.id}"
            for call in message.calls
        )
        parts.extend(
            f"result {result.name} {result.content} {result.call_id}{' error' if result.is_error else ''}"
            for result in message.results
        )
    return " | ".join(parts)


def lines(*values):
    return "\n".join(json.dumps(value) for value in values) + "\n"


ANTHROPIC = {
    "system": "Be brief.",
    "messages": [
        {"role": "user", "content": "Look!"},
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "hm", "signature": "s"},
                {"type": "tool_use", "id": "c1", "name": "look", "input": {"q": 1}},
            ],
        },
        {
            "role": "user",
            "content": [{"type": "tool_result", "tool_use_id": "c1", "content": [{"type": "text", "text": "seen"}]}],
        },
        {"role": "assistant", "content": [{"type": "text", "text": "I saw "}, {"type": "text", "text": "it."}]},
    ],
}
GEMINI = {
    "systemInstruction": {"parts": [{"text": "Be brief."}]},
    "instructions": {"parts": [{"text": "Be brief."}]},
    "contents": [
        {"role": "user", "parts": [{"text": "Look!"}]},
        {"role": "model", "parts": [{"functionCall": {"id": "c1", "name": "look", "args": {"q": 1}}}]},
        {"role": "user", "parts": [{"functionResponse": {"id": "c1", "name": "look", "response": "seen"}}]},
        {"role": "model", "parts": [{"text": "hidden", "thought": True}, {"text": "I saw it."}]},
    ],
}
RESPONSES = {
    "instructions": "Be brief.",
    "input": [
        {"role": "user", "content": [{"type": "input_text", "text": "Look!"}]},
        {"type": "reasoning", "summary": []},
        {"type": "function_call", "call_id": "c1", "name": "look", "arguments": '{"q": 1}'},
        {"type": "function_call_output", "call_id": "c1", "output": "seen"},
    ],
    "output": [
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "I saw it."}]},
    ],
}
LANGCHAIN = [
    {"type": "system", "data": {"content": "Be brief."}},
    {"type": "human", "data": {"content": "Look!"}},
    {"type": "ai", "data": {"content": "", "tool_calls": [{"name": "look", "args": {"q": 1}, "id": "c1"}]}},
    {"type": "tool", "data": {"content": "seen", "tool_call_id": "c1", "name": "look"}},
    {"lc": 1, "type": "constructor", "kwargs": {"content": "I saw it.", "type": "ai"}},
]
VERCEL = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": [{"type": "text", "text": "Look!"}]},
    {"role": "assistant", "content": [{"type": "tool-call", "toolCallId": "c1", "toolName": "look", "args": {"q": 1}}]},
    {
        "role": "tool",
        "content": [
            {
                "type": "tool-result",
                "toolCallId": "c1",
                "toolName": "look",
                "output": {"type": "text", "value": "seen"},
            }
        ],
    },
    {"role": "assistant", "content": "I saw it."},
]
BEDROCK = [
    {"role": "system", "content": [{"text": "Be brief."}]},
    {"role": "user", "content": [{"text": "Look!"}]},
    {"role": "assistant", "content": [{"toolUse": {"toolUseId": "c1", "name": "look", "input": {"q": 1}}}]},
    {"role": "user", "content": [{"toolResult": {"toolUseId": "c1", "content": [{"text": "seen"}]}}]},
    {"role": "assistant", "content": [{"text": "I saw it."}]},
]
TAU2 = {
    "info": {"seed": 1},
    "tasks": [{"id": "0"}],
    "simulations": [
        {
            "id": "sim-1",
            "messages": [
                {"role": "system", "content": "Be brief."},
                {"role": "user", "content": "Look!"},
                {
                    "role": "assistant",
                    "content": None,
                    "tool_calls": [{"id": "c1", "name": "look", "arguments": {"q": 1}, "requestor": "assistant"}],
                },
                {"id": "c1", "role": "tool", "content": "seen", "requestor": "assistant", "error": False},
                {"role": "assistant", "content": "I saw it."},
            ],
        }
    ],
}


@pytest.mark.parametrize(
    "value",
    [
        CHAT,
        {"messages": CHAT},
        lines(*CHAT),
        lines({"messages": CHAT}),
        ANTHROPIC,
        GEMINI,
        RESPONSES,
        LANGCHAIN,
        VERCEL,
        BEDROCK,
        TAU2,
        {"traj": CHAT, "reward": 1.0},
        "\ufeff" + json.dumps(CHAT),
        json.dumps(CHAT, indent=2).replace("\n", "\r\n"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_one_conversation_in_many_forms(value):
    (conversation,) = load(value)
    assert tell(conversation) == TOLD


def test_json_lines_hold_one_conversation_each_with_their_names():
    first, second, third = load(
        lines({"id": 7, "messages": CHAT[:2]}, {"name": "Refund", "messages": CHAT}, {"messages": CHAT[1:2]}),
        "runs.jsonl",
    )
    assert [first.name, second.name, third.name] == ["7", "Refund", "runs #3"]
    assert tell(second) == TOLD


def test_a_list_of_conversations():
    assert [
        conversation.name for conversation in load([{"id": "a", "messages": CHAT}, {"id": "b", "messages": CHAT}])
    ] == [
        "a",
        "b",
    ]
    assert len(load([CHAT, CHAT])) == 2


def test_legacy_function_calls_and_sharegpt():
    legacy = [
        {"role": "user", "content": "Look!"},
        {"role": "assistant", "content": None, "function_call": {"name": "look", "arguments": '{"q": 1}'}},
        {"role": "function", "name": "look", "content": "seen"},
    ]
    assert tell(load(legacy)[0]) == "user:Look! | call look {'q': 1} gate_call_1 | result look seen gate_call_1"
    sharegpt = {"conversations": [{"from": "human", "value": "Look!"}, {"from": "gpt", "value": "I saw it."}]}
    assert tell(load(sharegpt)[0]) == "user:Look! | assistant:I saw it."


def test_parallel_results_without_ids_find_their_calls_by_name():
    contents = [
        {"role": "model", "parts": [{"functionCall": {"name": "a", "args": {}}}, {"functionCall": {"name": "b"}}]},
        {
            "role": "user",
            "parts": [
                {"functionResponse": {"name": "b", "response": {"n": 2}}},
                {"functionResponse": {"name": "a", "response": {"n": 1}}},
            ],
        },
    ]
    assert tell(load({"contents": contents})[0]) == (
        "call a {} gate_call_1 | call b {} gate_call_2 | result b {'n': 2} gate_call_2 | result a {'n': 1} gate_call_1"
    )


def test_arguments_that_are_no_json_object_stay_as_they_were():
    broken = {"id": "c1", "function": {"name": "look", "arguments": '{"q": '}}
    ((message,),) = [c.messages for c in load([{"role": "assistant", "content": "", "tool_calls": [broken]}])]
    assert (message.calls[0].arguments, message.calls[0].raw_arguments, message.text) == (None, '{"q": ', None)


# Spans


def span(attributes, *, span_id="s1", parent="p", start=1, trace="t1", **more):
    return {
        "trace_id": trace,
        "span_id": span_id,
        "parent_span_id": parent,
        "name": "x",
        "start_time": start,
        "attributes": attributes,
        **more,
    }


INDEXED = [
    span(
        {
            "gen_ai.prompt.0.role": "system",
            "gen_ai.prompt.0.content": "Be brief.",
            "gen_ai.prompt.1.role": "user",
            "gen_ai.prompt.1.content": '[{"type": "text", "text": "Look!"}]',
            "gen_ai.completion.0.role": "assistant",
            "gen_ai.completion.0.finish_reason": "tool_calls",
            "gen_ai.completion.0.tool_calls.0.id": "c1",
            "gen_ai.completion.0.tool_calls.0.name": "look",
            "gen_ai.completion.0.tool_calls.0.arguments": '{"q": 1}',
            "gen_ai.usage.prompt_tokens": 5,
            "gen_ai.usage.completion_tokens": 2,
        }
    ),
    span(
        {
            "gen_ai.prompt.0.role": "system",
            "gen_ai.prompt.0.content": "Be brief.",
            "gen_ai.prompt.1.role": "user",
            "gen_ai.prompt.1.content": "Look!",
            "gen_ai.prompt.2.role": "assistant",
            "gen_ai.prompt.2.tool_calls.0.id": "c1",
            "gen_ai.prompt.2.tool_calls.0.name": "look",
            "gen_ai.prompt.2.tool_calls.0.arguments": '{"q": 1}',
            "gen_ai.prompt.3.role": "tool",
            "gen_ai.prompt.3.tool_call_id": "c1",
            "gen_ai.prompt.3.content": "seen",
            "gen_ai.completion.0.role": "assistant",
            "gen_ai.completion.0.content": "I saw it.",
            "gen_ai.usage.prompt_tokens": 9,
            "gen_ai.usage.completion_tokens": 3,
            "gen_ai.response.model": "m-2",
        },
        span_id="s2",
        start=2,
    ),
]


def event(name, **attributes):
    return {"name": name, "attributes": attributes}


EVENTS = [
    span(
        {"gen_ai.operation.name": "chat"},
        events=[
            event("gen_ai.system.message", content="Be brief."),
            event("gen_ai.user.message", content="Look!"),
            event("gen_ai.assistant.message", tool_calls=json.dumps([CALL])),
            event("gen_ai.tool.message", id="c1", content="seen"),
            event("gen_ai.choice", index=0, finish_reason="stop", message='{"content": "I saw it."}'),
        ],
    )
]
STRANDS = [
    span(
        {"gen_ai.operation.name": "chat"},
        span_events=[
            event("gen_ai.system.message", content="Be brief."),
            event("gen_ai.user.message", content='[{"text": "Look!"}]'),
            event("gen_ai.choice", message='[{"toolUse": {"toolUseId": "c1", "name": "look", "input": {"q": 1}}}]'),
        ],
    ),
    span(
        {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": "look",
            "gen_ai.tool.call.id": "c1",
            "gen_ai.tool.call.arguments": '{"q": 1}',
            "gen_ai.tool.call.result": "seen",
        },
        span_id="s3",
        start=2,
    ),
    span(
        {"gen_ai.operation.name": "chat"},
        span_id="s4",
        start=3,
        span_events=[
            event("gen_ai.system.message", content="Be brief."),
            event("gen_ai.user.message", content='[{"text": "Look!"}]'),
            event(
                "gen_ai.assistant.message",
                content='[{"toolUse": {"toolUseId": "c1", "name": "look", "input": {"q": 1}}}]',
            ),
            event(
                "gen_ai.tool.message", content='[{"toolResult": {"toolUseId": "c1", "content": [{"text": "seen"}]}}]'
            ),
            event("gen_ai.choice", message='[{"text": "I saw it."}]'),
        ],
    ),
]


def otlp(value):
    if isinstance(value, bool):
        return {"boolValue": value}
    if isinstance(value, int):
        return {"intValue": str(value)}
    if isinstance(value, list):
        return {"arrayValue": {"values": [otlp(item) for item in value]}}
    if isinstance(value, dict):
        return {"kvlistValue": {"values": [{"key": k, "value": otlp(v)} for k, v in value.items()]}}
    return {"stringValue": value}


def as_otlp(spans):
    return {
        "resourceSpans": [
            {
                "resource": {},
                "scopeSpans": [
                    {
                        "scope": {"name": "x"},
                        "spans": [
                            {
                                "traceId": item["trace_id"],
                                "spanId": item["span_id"],
                                "parentSpanId": item["parent_span_id"],
                                "name": "x",
                                "startTimeUnixNano": str(item["start_time"]),
                                "attributes": [
                                    {"key": key, "value": otlp(value)} for key, value in item["attributes"].items()
                                ],
                                "events": [
                                    {
                                        "name": e["name"],
                                        "attributes": [
                                            {"key": k, "value": otlp(v)} for k, v in e["attributes"].items()
                                        ],
                                    }
                                    for e in item.get("events", [])
                                ],
                            }
                            for item in spans
                        ],
                    }
                ],
            }
        ]
    }


SEMANTIC = [
    span(
        {
            "gen_ai.system_instructions": '[{"type": "text", "content": "Be brief."}]',
            "gen_ai.input.messages": json.dumps([{"role": "user", "parts": [{"type": "text", "content": "Look!"}]}]),
            "gen_ai.output.messages": json.dumps(
                [
                    {
                        "role": "assistant",
                        "parts": [{"type": "tool_call", "id": "c1", "name": "look", "arguments": {"q": 1}}],
                        "finish_reason": "tool_call",
                    }
                ]
            ),
        }
    ),
    span(
        {
            "gen_ai.system_instructions": '[{"type": "text", "content": "Be brief."}]',
            "gen_ai.input.messages": json.dumps(
                [
                    {"role": "user", "parts": [{"type": "text", "content": "Look!"}]},
                    {
                        "role": "assistant",
                        "parts": [{"type": "tool_call", "id": "c1", "name": "look", "arguments": {"q": 1}}],
                    },
                    {"role": "tool", "parts": [{"type": "tool_call_response", "id": "c1", "response": "seen"}]},
                ]
            ),
            "gen_ai.output.messages": json.dumps(
                [{"role": "assistant", "parts": [{"type": "text", "content": "I saw it."}], "finish_reason": "stop"}]
            ),
        },
        span_id="s2",
        start=2,
    ),
]
AI_SDK = [
    span(
        {
            "ai.operationId": "ai.generateText.doGenerate",
            "ai.prompt.messages": json.dumps(VERCEL[:2]),
            "ai.response.text": "",
            "ai.response.toolCalls": json.dumps([{"toolCallId": "c1", "toolName": "look", "args": '{"q": 1}'}]),
        }
    ),
    span(
        {
            "ai.toolCall.name": "look",
            "ai.toolCall.id": "c1",
            "ai.toolCall.args": '{"q": 1}',
            "ai.toolCall.result": "seen",
        },
        span_id="s2",
        start=2,
    ),
    span({"ai.prompt.messages": json.dumps(VERCEL[:4]), "ai.response.text": "I saw it."}, span_id="s3", start=3),
]


@pytest.mark.parametrize(
    "value",
    [
        INDEXED,
        EVENTS,
        STRANDS,
        SEMANTIC,
        AI_SDK,
        as_otlp(SEMANTIC),
        as_otlp(EVENTS),
        lines(*SEMANTIC),
        lines(as_otlp(SEMANTIC)),
        list(reversed(SEMANTIC)),
        "\n".join(json.dumps(item, indent=4) for item in SEMANTIC),
        {"spans": SEMANTIC},
    ],
    ids=lambda value: str(value)[:60],
)
def test_one_conversation_in_many_conventions_of_spans(value):
    (conversation,) = load(value)
    assert tell(conversation) == TOLD


def test_models_and_tokens_of_all_calls_count():
    (conversation,) = load(INDEXED)
    assert conversation.model == "m-2"
    assert (conversation.usage.input_tokens, conversation.usage.output_tokens) == (14, 5)


def test_log_records_are_read_as_the_events_of_their_span():
    def record(name, body):
        return {
            "traceId": "t1",
            "spanId": "s1",
            "attributes": [{"key": "event.name", "value": otlp(name)}],
            "body": otlp(body),
        }

    logs = {
        "resourceLogs": [
            {
                "scopeLogs": [
                    {
                        "logRecords": [
                            record("gen_ai.system.message", {"content": "Be brief."}),
                            record("gen_ai.user.message", {"content": "Look!"}),
                            record("gen_ai.assistant.message", {"tool_calls": [CALL]}),
                            record("gen_ai.tool.message", {"id": "c1", "content": "seen"}),
                            record("gen_ai.choice", {"index": 0, "message": {"content": "I saw it."}}),
                        ]
                    }
                ]
            }
        ]
    }
    (conversation,) = load(logs)
    assert tell(conversation) == TOLD


def test_a_tool_whose_arguments_were_not_recorded_has_unknown_ones():
    (conversation,) = load([span({"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "look"})])
    (message,) = conversation.messages
    assert message.calls[0].arguments is None


def test_interleaved_traces_are_told_apart():
    other = [dict(item, trace_id="t2") for item in SEMANTIC]
    first, second = load([SEMANTIC[0], other[0], SEMANTIC[1], other[1]])
    assert (tell(first), tell(second)) == (TOLD, TOLD)
    assert (first.name, second.name) == ("t1", "t2")


def test_turns_of_one_conversation_in_several_traces_are_one():
    first = span(
        {
            "gen_ai.conversation.id": "conv",
            "gen_ai.input.messages": '[{"role":"user","parts":[{"type":"text","content":"a"}]}]',
            "gen_ai.output.messages": '[{"role":"assistant","parts":[{"type":"text","content":"b"}]}]',
        }
    )
    second = span(
        {
            "gen_ai.conversation.id": "conv",
            "gen_ai.input.messages": '[{"role":"user","parts":[{"type":"text","content":"c"}]}]',
            "gen_ai.output.messages": '[{"role":"assistant","parts":[{"type":"text","content":"d"}]}]',
        },
        trace="t2",
        start=2,
    )
    (conversation,) = load([first, second])
    assert tell(conversation) == "user:a | assistant:b | user:c | assistant:d"
    assert conversation.name == "conv"


def test_spans_without_content_say_what_to_turn_on():
    with pytest.raises(ConfigurationError, match="CAPTURE_MESSAGE_CONTENT"):
        load([span({"gen_ai.operation.name": "chat", "gen_ai.usage.input_tokens": 5})])


# Recorded HTTP


def interaction(request, response, **body):
    return {
        "request": {"method": "POST", "uri": "https://x/v1", "body": json.dumps(request), "headers": {}},
        "response": {
            "status": {"code": 200},
            "headers": {"Content-Type": ["application/json"]},
            "body": body or {"string": json.dumps(response)},
        },
    }


def completion(message):
    return {"choices": [{"message": message, "finish_reason": "stop"}], "model": "m"}


EXCHANGES = [
    interaction({"messages": CHAT[:2]}, completion(CHAT[2])),
    interaction({"messages": CHAT[:4]}, completion(CHAT[4])),
]


@pytest.mark.parametrize(
    "value",
    [
        {"interactions": EXCHANGES, "version": 1},
        lines(*EXCHANGES),
        {
            "interactions": [
                EXCHANGES[0],
                interaction(
                    {"messages": CHAT[:4]},
                    None,
                    base64_string=base64.b64encode(gzip.compress(json.dumps(completion(CHAT[4])).encode())).decode(),
                ),
            ]
        },
        {
            "log": {
                "entries": [
                    {
                        "request": {
                            "method": "POST",
                            "url": "https://x",
                            "postData": {"text": item["request"]["body"]},
                        },
                        "response": {
                            "status": 200,
                            "headers": [{"name": "Content-Type", "value": "application/json"}],
                            "content": {"text": item["response"]["body"]["string"]},
                        },
                    }
                    for item in EXCHANGES
                ]
            }
        },
        {
            "interactions": [
                {
                    "request": {"method": "GET", "uri": "https://x/health", "body": ""},
                    "response": {"status": {"code": 200}, "body": {"string": "ok"}, "headers": {}},
                },
                *EXCHANGES,
                {
                    "request": {"body": "{}"},
                    "response": {"status": {"code": 500}, "body": {"string": "no"}, "headers": {}},
                },
            ]
        },
    ],
    ids=["cassette", "lines", "packed", "har", "with others"],
)
def test_recorded_http_is_woven_into_one_conversation(value):
    (conversation,) = load(value)
    assert tell(conversation) == TOLD


def test_a_request_asked_twice_is_two_conversations():
    first, second = load({"interactions": [EXCHANGES[0], EXCHANGES[0]]}, "twice.json")
    assert tell(first) == tell(second)
    assert (first.name, second.name) == ("twice #1", "twice #2")


def test_responses_that_build_on_an_earlier_one():
    first = interaction(
        {"input": "Look!", "instructions": "Be brief."},
        {"id": "r1", "object": "response", "status": "completed", "output": [RESPONSES["input"][2]]},
    )
    second = interaction(
        {"previous_response_id": "r1", "input": [RESPONSES["input"][3]]},
        {"id": "r2", "object": "response", "status": "completed", "output": RESPONSES["output"]},
    )
    assert tell(load({"interactions": [first, second]})[0]) == TOLD


def frame(name, payload):
    headers = b""
    for key, value in ((b":event-type", name.encode()), (b":message-type", b"event")):
        headers += bytes([len(key)]) + key + b"\x07" + struct.pack(">H", len(value)) + value
    body = json.dumps(payload).encode()
    return struct.pack(">III", 16 + len(headers) + len(body), len(headers), 0) + headers + body + b"\0\0\0\0"


CONVERSE = b"".join(
    frame(name, payload)
    for name, payload in [
        ("messageStart", {"role": "assistant"}),
        ("contentBlockDelta", {"contentBlockIndex": 0, "delta": {"text": "I "}}),
        ("contentBlockDelta", {"contentBlockIndex": 0, "delta": {"text": "look."}}),
        ("contentBlockStop", {"contentBlockIndex": 0}),
        ("contentBlockStart", {"contentBlockIndex": 1, "start": {"toolUse": {"toolUseId": "c1", "name": "look"}}}),
        ("contentBlockDelta", {"contentBlockIndex": 1, "delta": {"toolUse": {"input": '{"q"'}}}),
        ("contentBlockDelta", {"contentBlockIndex": 1, "delta": {"toolUse": {"input": ": 1}"}}}),
        ("messageStop", {"stopReason": "max_tokens"}),
        ("metadata", {"usage": {"inputTokens": 3, "outputTokens": 4}}),
    ]
)
CHUNKED = b"".join(
    frame("chunk", {"bytes": base64.b64encode(json.dumps(event).encode()).decode()})
    for event in [
        {"type": "message_start", "message": {"role": "assistant", "content": [], "usage": {"input_tokens": 3}}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "I look."}},
        {"type": "message_delta", "delta": {"stop_reason": "max_tokens"}, "usage": {"output_tokens": 4}},
        {"type": "message_stop"},
    ]
)


@pytest.mark.parametrize(
    ("body", "told"),
    [
        (CONVERSE, "user:Look! | assistant:I look. | call look {'q': 1} c1"),
        (CHUNKED, "user:Look! | assistant:I look."),
    ],
)
def test_streams_of_bedrock(body, told):
    packed = base64.b64encode(body).decode()
    request = {"messages": [{"role": "user", "content": [{"text": "Look!"}]}]}
    (conversation,) = load({"interactions": [interaction(request, None, base64_string=packed)]})
    assert tell(conversation) == told
    assert conversation.messages[-1].truncated
    assert (conversation.usage.input_tokens, conversation.usage.output_tokens) == (3, 4)


@pytest.mark.parametrize("body", [CONVERSE[:-20], CONVERSE[:60], b"\0\0\0\x10" + CONVERSE[4:], b":message-type" * 9])
def test_damaged_streams_of_bedrock_are_findings(body):
    packed = base64.b64encode(body).decode()
    with pytest.raises(ConfigurationError, match="exchange 1"):
        load({"interactions": [interaction({"messages": CHAT[:2]}, None, base64_string=packed)]})


def test_http_that_is_no_conversation_says_so():
    item = {
        "request": {"body": '{"vector": [1]}'},
        "response": {"status": {"code": 200}, "body": {"string": '{"result": "ok"}'}, "headers": {}},
    }
    with pytest.raises(ConfigurationError, match="exchange 1 is none with a model: neither its request nor its answer"):
        load({"interactions": [item]})


# What is not understood


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        ("", "is empty"),
        ("   \n", "is empty"),
        ("[]", "empty list"),
        ("{}", "keys \\(none\\)"),
        ('{"foo": 1}', "keys foo"),
        ('{"messages": []}', "messages is empty"),
        ('{"messages": [{"role": "martian", "content": "x"}]}', "not a message"),
        ("just some text", "plain text"),
        ("<html><body>Not found</body></html>", "HTML or XML"),
        ("42", "plain text"),
        ("{", "cannot be read"),
        ('{"messages": [', "cannot be read"),
        ("[" * 100_000, "cannot be read: it is nested deeper than 100 levels"),
        ("- " * 100_000, "neither JSON nor YAML"),
        ('{"a": ' * 100_000, "nested deeper"),
        ('{"messages": [{"role": "user", "content": NaN}]}', "NaN"),
        (lines(CHAT[0]) + "{oops\n" + lines(CHAT[1]), ":2: This line cannot be read"),
        ('{"interactions": []}', "holds no exchange"),
        ('{"eval": {}, "samples": []}', "without samples"),
        ("key: !!python/object/apply:os.system ['true']", "neither JSON nor YAML"),
        ("a: *unknown", "neither JSON nor YAML"),
        (b"\xff\xfe\x00\x01binary\x00", "neither JSON nor YAML"),
        (b"\x1f\x8b\x08\x00", "neither JSON nor YAML"),
    ],
)
def test_what_is_not_understood_is_a_finding(data, reason):
    started = time.perf_counter()
    with pytest.raises(ConfigurationError, match=reason) as caught:
        load(data, "traces/x.json")
    (finding,) = caught.value.findings
    assert finding.location.file == "traces/x.json"
    assert finding.rule in ("trace-unreadable", "trace-not-understood")
    assert len(finding.message) < 500
    assert time.perf_counter() - started < 5


def test_a_recording_over_the_bound_is_refused_unread():
    with pytest.raises(ConfigurationError, match="larger than"):
        load(b"[" + b" " * MAX_TRACE_BYTES + b"]")


def test_yaml_aliases_that_stand_for_too_much_are_refused():
    bomb = "a: &a [x, x, x, x, x, x, x, x, x, x]\n"
    for before, after in zip("abcdefg", "bcdefgh", strict=True):
        bomb += f"{after}: &{after} [{', '.join(['*' + before] * 10)}]\n"
    started = time.perf_counter()
    with pytest.raises(ConfigurationError, match="aliases"):
        load(bomb + "interactions: *h\n", "bomb.yaml")
    assert time.perf_counter() - started < 2


def test_a_yaml_recording_that_contains_itself_is_refused():
    with pytest.raises(ConfigurationError):
        load("interactions: &a\n- *a\n", "loop.yaml")


@pytest.mark.parametrize(
    "value",
    [
        {"messages": [{"role": "user", "content": 5}, {"role": "assistant", "content": {"a": [1]}, "tool_calls": "x"}]},
        {
            "messages": [
                {"role": "tool", "content": None},
                {"role": "assistant", "tool_calls": [None, 5, {}, {"function": 7}]},
            ]
        },
        {"messages": [{"role": "user", "content": [None, 5, [], {"type": 7}, {"text": 5}]}]},
        [
            span({"gen_ai.input.messages": "not json", "gen_ai.output.messages": 5}),
            span({"gen_ai.prompt.x.role": "user"}),
        ],
        [span({"gen_ai.input.messages": '[5, null, {"role": 7, "parts": "x"}]', "llm.input_messages.0": "x"})],
        [span({"llm.input_messages.99999999999999.message.role": "user", "llm.input_messages.0.message": 5})],
        {
            "resourceSpans": [
                {"scopeSpans": [{"spans": [{"attributes": [{"key": "gen_ai.prompt", "value": 5}, 7, None]}]}]}
            ]
        },
        {
            "interactions": [
                None,
                5,
                {"request": 5, "response": []},
                {"response": {"body": {"string": 5}, "status": "x"}},
            ]
        },
        {"log": {"entries": [None, {"request": {}, "response": {"status": "200", "content": []}}]}},
        {"eval_cases": [None, {"conversation": [None, {"user_content": 5, "intermediate_data": [1]}]}]},
        {"events": [{"author": "user", "content": 5}, {"author": None, "content": {"parts": [None, 5]}}]},
        {"eval": {}, "samples": [None, {"messages": [None, {"role": "user", "content": "attachment://x"}]}]},
        {"answer_generation": {"train_messages": [[None], 5]}},
        {"version": 1, "session": 5, "hash": None, "request": {"messages": [{"calls": [None], "results": 5}]}},
    ],
    ids=lambda value: str(value)[:50],
)
def test_odd_recordings_never_end_in_a_traceback(value):
    try:
        conversations = load(value)
    except ConfigurationError as error:
        assert error.findings
    else:
        assert all(conversation.messages for conversation in conversations)
