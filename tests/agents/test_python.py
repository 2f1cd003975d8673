import asyncio
import sys
import time

import pytest

from abs_gate.agents import build_agent
from abs_gate.conversation import AgentRequest, Message, Role, ToolOffer
from abs_gate.errors import AgentUnavailable, ConfigurationError
from abs_gate.settings.model import AgentSettings
from abs_gate.sources.redaction import Redactor
from abs_gate.transport import Transport

SEEN = []


def text(messages, tools):
    SEEN.append((messages, tools))
    return f"you said {messages[-1]['content']}"


def message(messages, tools):
    return {
        "role": "assistant",
        "content": "hm",
        "tool_calls": [{"id": "1", "function": {"name": "t", "arguments": "{}"}}],
    }


def several(messages, tools):
    return [
        {"role": "assistant", "tool_calls": [{"id": "1", "function": {"name": "t", "arguments": {"a": 1}}}]},
        {"role": "tool", "tool_call_id": "1", "content": "done"},
        {"role": "assistant", "content": "there"},
    ]


async def awaited(messages, tools):
    await asyncio.sleep(0)
    return "later"


def slow(messages, tools):
    time.sleep(5)


def broken(messages, tools):
    raise RuntimeError("no such thing hunter22")


def not_json(messages, tools):
    return {"content": object()}


def not_a_number(messages, tools):
    return {"content": "x", "score": float("nan")}


def exits(messages, tools):
    sys.exit(1)


def endless(messages, tools):
    value = []
    value.append(value)
    return value


@pytest.fixture
def ask():
    with Transport() as transport:

        def ask(name, **fields):
            settings = AgentSettings(format="python", command=f"{__name__}:{name}", timeout=0.5)
            agent = build_agent(settings, transport, allow_commands=True, redactor=Redactor(["hunter22"]))
            request = AgentRequest(messages=(Message(role=Role.USER, text="hi"),), **fields)
            with agent, agent.connect("a") as connection:
                return connection.reply(request).messages

        yield ask


def test_it_is_given_messages_and_tools_and_may_return_text(ask):
    SEEN.clear()
    (said,) = ask("text", tools=(ToolOffer(name="t", description="d", input_schema={}),))
    assert said.text == "you said hi"
    ((messages, tools),) = SEEN
    assert messages == [{"role": "user", "content": "hi"}]
    assert tools[0]["function"]["name"] == "t"


def test_it_may_return_a_message_or_several(ask):
    (one,) = ask("message")
    assert (one.text, one.calls[0].name) == ("hm", "t")
    called, result, said = ask("several")
    assert (called.calls[0].arguments, result.results[0].content, said.text) == ({"a": 1}, "done", "there")


def test_a_coroutine_function_is_awaited(ask):
    assert ask("awaited")[0].text == "later"


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("slow", r"did not return within 0\.5 s"),
        ("broken", r"raised RuntimeError: no such thing \*\*\*"),
        ("not_json", "not JSON"),
        ("not_a_number", "not JSON"),
        ("exits", "raised SystemExit"),
        ("endless", "not JSON"),
    ],
)
def test_what_goes_wrong_inside_is_an_unavailable_agent(ask, name, reason):
    with pytest.raises(AgentUnavailable, match=reason):
        ask(name)


@pytest.mark.parametrize(
    ("reference", "reason"),
    [
        ("no_such_module_anywhere:f", "There is no module"),
        ("json:no_such_function", "has no function"),
        ("json", "does not name a function"),
        (":f", "does not name a function"),
        ("json:__name__", "has no function"),
    ],
)
def test_functions_that_are_not_there(reference, reason):
    with Transport() as transport, pytest.raises(ConfigurationError, match=reason):
        build_agent(
            AgentSettings(format="python", command=reference), transport, allow_commands=True, redactor=Redactor()
        )


def test_modules_are_found_in_the_working_directory_but_replace_none(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "path", list(sys.path))
    (tmp_path / "my_agent_module.py").write_text(
        "import json\ndef reply(messages, tools): return json.dumps('local')\n"
    )
    (tmp_path / "json.py").write_text("raise RuntimeError('stood in for the real one')\n")
    (tmp_path / "bad_agent_module.py").write_text("1/0\n")
    with Transport() as transport:

        def build(reference):
            settings = AgentSettings(format="python", command=reference)
            return build_agent(settings, transport, allow_commands=True, redactor=Redactor(), root=str(tmp_path))

        with build("my_agent_module:reply").connect("a") as connection:
            assert connection.reply(AgentRequest(messages=())).messages[0].text == '"local"'
        with pytest.raises(ConfigurationError, match="failed: ZeroDivisionError"):
            build("bad_agent_module:reply")


def test_functions_need_permission():
    with Transport() as transport, pytest.raises(ConfigurationError, match="allow-commands"):
        build_agent(
            AgentSettings(format="python", command="json:dumps"), transport, allow_commands=False, redactor=Redactor()
        )
