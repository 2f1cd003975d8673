"""Every codec against a server that is not ours: aimock speaks the providers' protocols (npm, no dependencies)."""

import json
import shutil
import socket
import subprocess
import time

import pytest
import requests

from abs_gate.agents import build_agent
from abs_gate.conversation import AgentRequest, Message, Role, ToolOffer, ToolResult
from abs_gate.errors import AgentUnavailable
from abs_gate.settings.model import AgentSettings
from abs_gate.sources.redaction import Redactor
from abs_gate.transport import Transport

PACKAGE = "@copilotkit/aimock@1.43.0"
FIXTURES = {
    "fixtures": [
        {
            "match": {"userMessage": "weather in two cities", "hasToolResult": False},
            "response": {
                "content": "Let me look.",
                "reasoning": "Two cities, two calls.",
                "reasoningSignature": "sig-abc",
                "toolCalls": [
                    {"name": "get_weather", "arguments": {"city": "Paris", "unit": "c"}},
                    {"name": "get_weather", "arguments": {"city": 'Łódź "x"'}},
                ],
            },
        },
        {
            "match": {
                "userMessage": "weather in two cities",
                "hasToolResult": True,
                "toolResultContains": "12 degrees",
            },
            "response": {"content": "Paris 20, Łódź 12."},
        },
        {
            "match": {"userMessage": "just say it"},
            "response": {"content": "Just text, over several chunks of the stream."},
        },
        {
            "match": {"userMessage": "cut me short"},
            "response": {"content": "This is where it", "finishReason": "length"},
        },
        {
            "match": {"userMessage": "fail please"},
            "response": {"error": {"message": "model overloaded", "type": "server_error"}, "status": 500},
        },
    ]
}
TOOLS = (
    ToolOffer(
        name="get_weather",
        description="Weather of a city.",
        input_schema={"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
    ),
)
PATHS = {
    "openai": "/v1/chat/completions",
    "responses": "/v1/responses",
    "claude": "/v1/messages",
    "gemini": "/v1beta",
}


@pytest.fixture(scope="module")
def aimock(tmp_path_factory):
    npm, node = shutil.which("npm"), shutil.which("node")
    if not npm or not node:
        pytest.skip("aimock needs node and npm, which are not installed")
    place = tmp_path_factory.mktemp("aimock")
    command = [
        npm,
        "install",
        "--no-save",
        "--no-audit",
        "--no-fund",
        "--ignore-scripts",
        "--prefix",
        str(place),
        PACKAGE,
    ]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    except subprocess.TimeoutExpired:
        pytest.skip("npm could not install aimock within 60 s (no network?)")
    if done.returncode:
        pytest.skip(f"npm could not install aimock: {done.stderr[-200:]}")
    (place / "fixtures.json").write_text(json.dumps(FIXTURES))
    with socket.create_server(("127.0.0.1", 0)) as reserved:
        port = reserved.getsockname()[1]
    program = str(place / "node_modules/@copilotkit/aimock/dist/cli.js")
    options = ["-p", str(port), "-f", str(place / "fixtures.json"), "--strict", "-c", "7", "--log-level", "warn"]
    server = subprocess.Popen([node, program, *options], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    url = f"http://127.0.0.1:{port}"
    try:
        for _ in range(100):
            try:
                requests.get(f"{url}/__aimock/journal", timeout=1).close()
                break
            except requests.ConnectionError:
                time.sleep(0.1)
        yield url
    finally:
        server.terminate()
        server.wait(timeout=10)


@pytest.fixture(params=[(name, stream) for name in PATHS for stream in (False, True)], ids=str)
def agent(request, aimock):
    name, stream = request.param
    settings = AgentSettings(url=aimock + PATHS[name], format=name, model="test-model", stream=stream, retries=0)
    with (
        Transport() as transport,
        build_agent(settings, transport, allow_commands=False, redactor=Redactor()) as opened,
    ):
        yield opened


def user(text):
    return Message(role=Role.USER, text=text)


SYSTEM = Message(role=Role.SYSTEM, text="You know the weather.")


def test_text(agent):
    with agent.connect("s") as connection:
        turn = connection.reply(AgentRequest(messages=(SYSTEM, user("just say it"))))
    (message,) = turn.messages
    assert message.text == "Just text, over several chunks of the stream."
    assert (message.calls, message.truncated, message.refusal) == ((), False, False)


def test_parallel_calls_and_their_results(agent):
    first = (SYSTEM, user("weather in two cities"))
    with agent.connect("s") as connection:
        (called,) = connection.reply(AgentRequest(messages=first, tools=TOOLS)).messages
        assert called.text == "Let me look."
        assert [call.name for call in called.calls] == ["get_weather"] * 2
        assert [dict(call.arguments) for call in called.calls] == [
            {"city": "Paris", "unit": "c"},
            {"city": 'Łódź "x"'},
        ]
        assert len({call.id for call in called.calls}) == 2
        results = Message(
            role=Role.TOOL,
            results=tuple(
                ToolResult(call_id=call.id, name=call.name, content=content)
                for call, content in zip(called.calls, ({"weather": "20 degrees"}, "12 degrees"), strict=True)
            ),
        )
        (said,) = connection.reply(AgentRequest(messages=(*first, called, results), tools=TOOLS)).messages
    assert said.text == "Paris 20, Łódź 12."


def test_what_the_server_understood(agent, aimock):
    first = (SYSTEM, user("weather in two cities"))
    with agent.connect("s") as connection:
        (called,) = connection.reply(AgentRequest(messages=first, tools=TOOLS)).messages
        results = Message(
            role=Role.TOOL,
            results=tuple(
                ToolResult(call_id=call.id, name=call.name, content=f"{count}2 degrees")
                for count, call in enumerate(called.calls)
            ),
        )
        connection.reply(AgentRequest(messages=(*first, called, results), tools=TOOLS))
    entry = requests.get(f"{aimock}/__aimock/journal", timeout=5).json()[-1]
    understood = entry["body"]
    messages = understood["messages"]
    assert [message["content"] for message in messages if message["role"] == "system"] == ["You know the weather."]
    assert [message["content"] for message in messages if message["role"] == "user"] == ["weather in two cities"]
    calls = [call for message in messages for call in message.get("tool_calls") or ()]
    assert [json.loads(call["function"]["arguments"]) for call in calls] == [dict(c.arguments) for c in called.calls]
    answered = [message for message in messages if message["role"] == "tool"]
    assert [message["tool_call_id"] for message in answered] == [call["id"] for call in calls]
    assert ["02 degrees" in message["content"] for message in answered] == [True, False]
    (tool,) = understood["tools"]
    assert tool["function"]["name"] == "get_weather"


def test_a_reply_cut_short(agent):
    with agent.connect("s") as connection:
        turn = connection.reply(AgentRequest(messages=(user("cut me short"),)))
    assert turn.messages[-1].truncated
    assert turn.messages[-1].text == "This is where it"
    assert turn.warnings


def test_an_error_of_the_provider(agent):
    with agent.connect("s") as connection, pytest.raises(AgentUnavailable, match="model overloaded"):
        connection.reply(AgentRequest(messages=(user("fail please"),)))
