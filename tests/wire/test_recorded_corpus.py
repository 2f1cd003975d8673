"""Recordings as they are found in the world. What each holds was counted by reading the file, not with this code."""

from pathlib import Path

import pytest

from abs_gate.conversation import Role
from abs_gate.errors import ConfigurationError
from abs_gate.wire.recorded import load_traces

DATA = Path(__file__).parent / "data"

# File: for each conversation the roles in order (s system, u user, a assistant, t tool) and the calls.
EXPECTED = {
    "adk-order_query.test.json": [
        (
            "uaauaauaauaa",
            [
                ("send_email", {"email": "alice@example.com", "user_id": "user_a"}),
                ("get_order_status", {"order_id": "1"}),
                ("get_order_ids_for_user", {"user_id": "user_a"}),
                ("get_order_status", {"order_id": "1"}),
                ("get_order_status", {"order_id": "4"}),
                ("cancel_order", {"order_id": "4"}),
                ("get_order_ids_for_user", {"user_id": "user_b"}),
            ],
        )
    ],
    "adk-successful_test.session.json": [
        (
            "uauata",
            [
                (
                    "update_fc",
                    {
                        "data_four": ["1", "hello", "3.14"],
                        "data_two": "3.141529",
                        "data_three": ["apple", "banana"],
                        "data_one": "RRRR",
                    },
                )
            ],
        )
    ],
    "inspect-log_read_sample.json": [("sua", [])],
    "inspect-log_tool_call_error.json": [("t" * 11, [])],
    "otel-arize-otel_genai_client_span_tool_calls.json": [("uata", [("get_weather", {"location": "Paris"})])],
    "otel-arize-otel_genai_tool_execution_span.json": [("at", [("get_weather", {"city": "New York"})])],
    "otel-openai_agents_genai_live_spans.json": [
        (
            "suatata",
            [
                ("ask_research_specialist", {"query": "current stock price of AMZN"}),
                ("ask_math_specialist", {"query": "240.98 multiplied by 1000"}),
            ],
        ),
        ("suata", [("lookup_stock_price", {"ticker": "AMZN"})]),
        ("suatata", [("multiply_numbers", {"a": 240, "b": 1000}), ("multiply_numbers", {"a": 0, "b": 1000})]),
    ],
    "otel-openinference_live_spans.json": [
        ("suauat", [("get_weather", {"city": "Taipei"}), ("finish", {"answer": "Taipei is warmer"})])
    ],
    "otel-pydantic_ai_live_spans.json": [("suata", [("get_weather", {"city": "Seattle"})])],
    "sweagent-6e44b9__sweagenttestrepo-1c2844.json": [
        (
            "suatatatat",
            [
                ("find_file", {"file_name": "missing_colon.py"}),
                ("open", {"path": "/SWE-agent__test-repo/tests/missing_colon.py"}),
                (
                    "edit",
                    {
                        "search": "def division(a: float, b: float) -> float",
                        "replace": "def division(a: float, b: float) -> float:",
                        "replace-all": False,
                    },
                ),
                ("bash", {"command": "python3 /SWE-agent__test-repo/tests/missing_colon.py"}),
            ],
        )
    ],
    "tau-airline-task43-trial0-reward1.json": [
        (
            "suauatauauatau",
            [
                ("get_reservation_details", {"reservation_id": "3RK2T9"}),
                (
                    "update_reservation_passengers",
                    {
                        "reservation_id": "3RK2T9",
                        "passengers": [
                            {"first_name": "Anya", "last_name": "Garcia", "dob": "1992-11-12"},
                            {"first_name": "Mei", "last_name": "Garcia", "dob": "1989-12-13"},
                        ],
                    },
                ),
            ],
        )
    ],
    "tau-airline-task43-trial1-reward0.json": [
        ("suauatauauauau", [("get_reservation_details", {"reservation_id": "3RK2T9"})])
    ],
    "tau-airline-task43-trial3-reward0.json": [
        (
            "suauatauauat",
            [("get_reservation_details", {"reservation_id": "3RK2T9"}), ("transfer_to_human_agents", ...)],
        )
    ],
    "tau-airline-task44-trial0-reward1.json": [
        (
            "suauatatauauauau",
            [
                ("get_reservation_details", {"reservation_id": "JMO1MG"}),
                ("get_user_details", {"user_id": "anya_garcia_5901"}),
            ],
        )
    ],
    "tau-airline-task44-trial2-reward1.json": [
        (
            "suauatatauau",
            [
                ("get_reservation_details", {"reservation_id": "JMO1MG"}),
                ("get_user_details", {"user_id": "anya_garcia_5901"}),
            ],
        )
    ],
    "tau-airline-task44-trial3-reward0.json": [("suauau", [])],
    "toolbench-G2_answer-127_ChatGPT_DFS_woFilter_w2.json": [
        (
            "suatuata",
            [
                ("api_tracking_for_pack_send", {"reference": "YZA890"}),
                ("api_tracking_for_pack_send", {"reference": "YZA890"}),
                ("Finish", {"return_type": "give_up_and_restart"}),
            ],
        )
    ],
    "wire-openinference-reasoning_tool_use_streaming.json": [("a", [("get_weather", {"location": "San Francisco"})])],
    "wire-openinference-test_multiple_tools.yaml": [
        (
            "suatta",
            [("get_temperature", {"location": "San Francisco"}), ("get_humidity", {"location": "San Francisco"})],
        )
    ],
    "wire-openllmetry-test_agent_with_handoff_spans.yaml": [("suata", [("transfer_to_agenta", {})])],
    "wire-openllmetry-test_ollama_chat_tool_calls_legacy.yaml": [
        ("ata", [("get_current_weather", {"location": "San Francisco"})])
    ],
    "wire-openllmetry-test_open_ai_function_calls_tools_parallel_with_events_with_no_content.yaml": [
        (
            "ua",
            [("get_current_weather", {"location": "San Francisco"}), ("get_current_weather", {"location": "Boston"})],
        ),
        (
            "ua",
            [
                ("get_current_weather", {"location": "San Francisco, CA"}),
                ("get_current_weather", {"location": "Boston, MA"}),
            ],
        ),
    ],
    "wire-openllmetry-test_parallel_tool_calls.yaml": [
        ("ua", [("get_weather", {"location": "San Francisco"}), ("get_news", {"location": "San Francisco"})])
    ],
    "wire-openllmetry-test_tool_calls_anthropic_text_block_and_history_with_events_with_content.yaml": [
        ("uata", [("get_weather", {"location": "San Francisco"}), ("get_news", {"location": "San Francisco"})])
    ],
    "wire-otel-test_async_chat_completion_multiple_tools_streaming_no_content.yaml": [
        (
            "sua",
            [
                ("get_current_weather", {"location": "Seattle, WA"}),
                ("get_current_weather", {"location": "San Francisco, CA"}),
            ],
        )
    ],
    "wire-otel-test_converse_tool_call_no_content.yaml": [
        (
            "uatta",
            [("get_current_weather", {"location": "Seattle"}), ("get_current_weather", {"location": "San Francisco"})],
        )
    ],
    "wire-pydantic-ai-test_openai_tool_call_roundtrip_wire_stable_ag_ui_.yaml": [
        ("uataua", [("get_weather", {"city": "Paris"})]),
        ("uataua", [("get_weather", {"city": "Paris"})]),
    ],
}
REFUSED = {
    "bfcl-multi_turn_base-first3.json": "benchmark case",
    "inspect-log_with_nan.txt": "NaN",
}


def load(name):
    return load_traces((DATA / name).read_bytes(), name)


def test_every_recording_is_accounted_for():
    assert {path.name for path in DATA.iterdir()} - {"README.md"} == set(EXPECTED) | set(REFUSED)


@pytest.mark.parametrize("name", list(EXPECTED))
def test_messages_and_calls(name):
    conversations = load(name)
    assert len(conversations) == len(EXPECTED[name])
    for conversation, (roles, calls) in zip(conversations, EXPECTED[name], strict=True):
        assert "".join(message.role.value[0] for message in conversation.messages) == roles
        found = [(call.name, call.arguments) for message in conversation.messages for call in message.calls]
        assert len(found) == len(calls)
        for (name_found, arguments_found), (tool, arguments) in zip(found, calls, strict=True):
            assert name_found == tool
            assert arguments is ... or dict(arguments_found) == arguments


@pytest.mark.parametrize("name", list(EXPECTED))
def test_calls_have_ids_of_their_own_and_results_name_their_call(name):
    for conversation in load(name):
        calls = {call.id: call.name for message in conversation.messages for call in message.calls}
        assert "" not in calls
        assert len(calls) == sum(len(message.calls) for message in conversation.messages)
        for message in conversation.messages:
            for result in message.results:
                assert message.role is Role.TOOL
                assert result.name
                assert not calls or calls[result.call_id] == result.name


@pytest.mark.parametrize(
    ("name", "conversation", "contents"),
    [
        ("adk-successful_test.session.json", 0, [{}]),
        ("otel-arize-otel_genai_client_span_tool_calls.json", 0, ["rainy, 57°F"]),
        ("otel-openai_agents_genai_live_spans.json", 1, ["AMZN: $240.98"]),
        ("otel-openai_agents_genai_live_spans.json", 2, ["240000", "0"]),
        ("otel-openinference_live_spans.json", 0, ["Taipei is warmer than Seattle."]),
        ("otel-pydantic_ai_live_spans.json", 0, ["62°F, cloudy with light rain"]),
        ("wire-openinference-test_multiple_tools.yaml", 0, ["72°F", "65%"]),
        ("wire-openllmetry-test_agent_with_handoff_spans.yaml", 0, ['{"assistant": "AgentA"}']),
        (
            "wire-otel-test_converse_tool_call_no_content.yaml",
            0,
            [{"weather": "50 degrees and raining"}, {"weather": "70 degrees and sunny"}],
        ),
        ("wire-pydantic-ai-test_openai_tool_call_roundtrip_wire_stable_ag_ui_.yaml", 0, ["sunny in Paris"]),
    ],
)
def test_results(name, conversation, contents):
    found = [result.content for message in load(name)[conversation].messages for result in message.results]
    assert found == contents


def test_results_that_were_errors():
    (conversation,) = load("inspect-log_tool_call_error.json")
    assert all(result.is_error for message in conversation.messages for result in message.results)
    assert conversation.name == "1 (epoch 4)"


@pytest.mark.parametrize(
    ("name", "conversation", "model", "tokens"),
    [
        ("otel-pydantic_ai_live_spans.json", 0, "us.anthropic.claude-sonnet-4-5-20250929-v1:0", (1251, 78)),
        ("otel-openai_agents_genai_live_spans.json", 0, "gpt-4o-mini-2024-07-18", (905, 80)),
        ("wire-openinference-reasoning_tool_use_streaming.json", 0, "claude-sonnet-4-6", (596, 99)),
        ("wire-openinference-test_multiple_tools.yaml", 0, "gpt-4o-mini-2024-07-18", (346, 74)),
        ("wire-otel-test_converse_tool_call_no_content.yaml", 0, None, (968, 260)),
        ("tau-airline-task43-trial0-reward1.json", 0, None, (0, 0)),
    ],
)
def test_models_and_tokens(name, conversation, model, tokens):
    found = load(name)[conversation]
    assert (found.model, (found.usage.input_tokens, found.usage.output_tokens)) == (model, tokens)


def test_the_last_words():
    assert load("otel-arize-otel_genai_client_span_tool_calls.json")[0].messages[-1].text == (
        "The weather in Paris is currently rainy with a temperature of 57°F."
    )
    assert (
        load("wire-openinference-reasoning_tool_use_streaming.json")[0]
        .messages[0]
        .text.startswith("Sure! Let me check")
    )
    assert (
        load("adk-order_query.test.json")[0].messages[-1].text == "User user_b has placed one order with order ID 2.\n"
    )


@pytest.mark.parametrize(("name", "reason"), list(REFUSED.items()))
def test_what_holds_no_conversation_is_refused_with_the_reason(name, reason):
    with pytest.raises(ConfigurationError, match=reason) as caught:
        load(name)
    (finding,) = caught.value.findings
    assert finding.location.file == name
