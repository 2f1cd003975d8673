import json
import sys
import threading
import time
from pathlib import Path

import pytest

from abs_gate.agents import build_agent
from abs_gate.conversation import AgentRequest, Message, Role, ToolOffer
from abs_gate.errors import AgentUnavailable, ConfigurationError
from abs_gate.settings.model import AgentSettings, StartSettings
from abs_gate.sources.redaction import Redactor
from abs_gate.transport import Transport

from .processes import is_alive, wait_until_gone

SCRIPTS = Path(__file__).parent / "scripts"
ECHO = f"{sys.executable} {SCRIPTS / 'echo_agent.py'}"


@pytest.fixture
def open_agent(monkeypatch):
    monkeypatch.setattr("abs_gate.transport.children.GRACE_S", 0.5)
    opened = []
    with Transport() as transport:

        def build(command=ECHO, *, allow_commands=True, environ=None, secrets=(), **fields):
            settings = AgentSettings(format="command", command=command, **fields)
            agent = build_agent(
                settings, transport, allow_commands=allow_commands, redactor=Redactor(secrets), environ=environ
            )
            opened.append(agent)
            return agent

        yield build
        for agent in opened:
            agent.__exit__(None, None, None)


def says(text, **fields):
    return AgentRequest(messages=(Message(role=Role.USER, text=text),), **fields)


def test_one_process_serves_one_conversation(open_agent):
    agent = open_agent()
    with agent.connect("a") as first, agent.connect("b") as second:
        assert [first.reply(says("x")).messages[0].text, first.reply(says("y")).messages[0].text] == ["1:x", "2:y"]
        assert second.reply(says("z")).messages[0].text == "1:z"


def test_the_line_holds_the_conversation_tools_and_key(open_agent, tmp_path):
    script = tmp_path / "copy.py"
    script.write_text(
        "import sys\nline = sys.stdin.readline()\nopen('seen.json', 'w').write(line)\nprint('{\"content\": \"ok\"}')\n"
    )
    tool = ToolOffer(name="t", description="d", input_schema={"type": "object"})
    with Transport() as transport:
        settings = AgentSettings(format="command", command=f"{sys.executable} copy.py")
        agent = build_agent(settings, transport, allow_commands=True, redactor=Redactor(), root=str(tmp_path))
        with agent, agent.connect("a") as connection:
            connection.reply(says("line\nbreak ü", tools=(tool,), turn_key="k"))
    assert json.loads((tmp_path / "seen.json").read_text()) == {
        "messages": [{"role": "user", "content": "line\nbreak ü"}],
        "tools": [
            {"type": "function", "function": {"name": "t", "description": "d", "parameters": {"type": "object"}}}
        ],
        "turn_key": "k",
    }


def test_calls_without_ids_get_ids(open_agent):
    with open_agent().connect("a") as connection:
        (call,) = connection.reply(says("call")).messages[0].calls
    assert (call.name, dict(call.arguments), bool(call.id)) == ("look", {"q": 1}, True)


def test_a_crash_is_told_with_what_it_wrote(open_agent):
    with (
        open_agent().connect("a") as connection,
        pytest.raises(AgentUnavailable, match=r"ended with status 3 without answering\. It said: .*out of cheese"),
    ):
        connection.reply(says("crash"))


def test_a_hang_meets_the_timeout(open_agent):
    with open_agent(timeout=0.3).connect("a") as connection:
        started = time.monotonic()
        with pytest.raises(AgentUnavailable, match=r"did not answer within 0\.3 s"):
            connection.reply(says("hang"))
        assert time.monotonic() - started < 2


def test_the_sessions_deadline_counts_when_it_is_nearer(open_agent):
    with open_agent(timeout=60).connect("a") as connection, pytest.raises(AgentUnavailable, match=r"within 0\.2 s"):
        connection.reply(says("hang", deadline_s=0.2))


def test_a_closed_output_is_not_waited_for(open_agent):
    started = time.monotonic()
    with open_agent().connect("a") as connection, pytest.raises(AgentUnavailable, match="without answering"):
        connection.reply(says("silence"))
    assert time.monotonic() - started < 8


def test_output_that_is_no_answer_is_an_error(open_agent):
    with open_agent().connect("a") as connection, pytest.raises(AgentUnavailable, match="some debugging"):
        connection.reply(says("noise"))


def test_an_answer_nobody_asked_for_is_an_error(open_agent):
    with open_agent().connect("a") as connection:
        assert connection.reply(says("twice")).messages[0].text == "first"
        time.sleep(0.2)
        with pytest.raises(AgentUnavailable, match=r"nothing had asked for"):
            connection.reply(says("x"))


def test_an_endless_answer_is_cut(open_agent):
    with open_agent().connect("a") as connection, pytest.raises(AgentUnavailable, match="more than 8,388,608 bytes"):
        connection.reply(says("flood"))


def test_much_logging_blocks_nobody(open_agent):
    with open_agent(timeout=20).connect("a") as connection:
        assert connection.reply(says("chatty")).messages[0].text == "1:chatty"


def test_a_conversation_larger_than_a_pipe_goes_through(open_agent):
    with open_agent().connect("a") as connection:
        assert connection.reply(says("x" * 1_000_000)).messages[0].text == "1:" + "x" * 1_000_000


def test_the_whole_process_group_ends_with_the_conversation(open_agent):
    with open_agent().connect("a") as connection:
        pid = int(connection.reply(says("grandchild")).messages[0].text.split(":")[1])
        assert is_alive(pid)
    assert wait_until_gone(pid)


def test_a_group_that_ignores_everything_is_killed(open_agent):
    with open_agent(f"{sys.executable} {SCRIPTS / 'stubborn.py'}").connect("a") as connection:
        pid = int(connection.reply(says("x")).messages[0].text)
        leader = connection._child.group
        assert is_alive(pid) and is_alive(leader)
    assert wait_until_gone(pid)
    assert wait_until_gone(leader)


def test_leaving_the_agent_ends_conversations_that_hang_in_other_threads(open_agent):
    agent = open_agent(timeout=60)
    connection = agent.connect("a")
    failures = []

    def talk():
        with connection, pytest.raises(AgentUnavailable) as caught:
            connection.reply(says("hang"))
        failures.append(caught.value)

    thread = threading.Thread(target=talk)
    thread.start()
    time.sleep(0.3)
    agent.__exit__(None, None, None)
    thread.join(timeout=5)
    assert not thread.is_alive()
    assert "SIGTERM" in str(failures[0])


def test_the_child_sees_listed_variables_only(open_agent):
    environ = {
        "PATH": "/usr/bin:/bin",
        "LC_ALL": "C.UTF-8",
        "GITHUB_TOKEN": "ghs_x",
        "ACTIONS_RUNTIME_TOKEN": "x",
        "INPUT_AGENT-TOKEN": "x",
        "OPENAI_API_KEY": "sk-mine",
        "MY_KEY": "granted",
    }
    start = StartSettings(command="unused", env={"PLAIN": "1", "MODEL_KEY": "${MY_KEY}", "TEXT": "a ${MY_KEY}"})
    with open_agent(environ=environ, start=start).connect("a") as connection:
        seen = json.loads(connection.reply(says("env")).messages[0].text.partition(":")[2])
    assert {name for name in seen if name not in ("PWD", "SHLVL", "_", "LC_CTYPE")} == {
        "PATH",
        "LC_ALL",
        "PLAIN",
        "MODEL_KEY",
        "TEXT",
    }
    assert (seen["MODEL_KEY"], seen["TEXT"]) == ("granted", "a ${MY_KEY}")


@pytest.mark.parametrize(
    "value", ["${GITHUB_TOKEN}", "${ACTIONS_ID_TOKEN_REQUEST_TOKEN}", "${INPUT_AGENT_TOKEN}", "${NOT_SET}"]
)
def test_the_workflows_own_variables_are_never_handed_on(open_agent, value):
    environ = {"GITHUB_TOKEN": "x", "ACTIONS_ID_TOKEN_REQUEST_TOKEN": "x", "INPUT_AGENT_TOKEN": "x"}
    with pytest.raises(ConfigurationError, match=value[2:-1]):
        open_agent(environ=environ, start=StartSettings(command="x", env={"A": value}))


def test_commands_need_permission(open_agent):
    with pytest.raises(ConfigurationError, match="allow-commands"):
        open_agent(allow_commands=False)


@pytest.mark.parametrize(
    ("command", "message"),
    [("no-such-command-here x", "could not be started"), ("'open quote", "cannot be read"), ("  ", "is empty")],
)
def test_commands_that_cannot_be_started(open_agent, command, message):
    with pytest.raises(ConfigurationError, match=message):
        open_agent(command).connect("a")


def test_secrets_in_what_the_command_says_are_removed(open_agent):
    command = f"{sys.executable} -c \"import sys; sys.exit('token hunter22')\""
    agent = open_agent(command, secrets=["hunter22"])
    with agent.connect("a") as connection, pytest.raises(AgentUnavailable) as caught:
        connection.reply(says("x"))
    assert "hunter22" not in str(caught.value)
    assert "***" in str(caught.value)


def test_no_file_descriptor_or_thread_is_left_behind(open_agent):
    agent = open_agent()
    with agent.connect("warm") as connection:
        connection.reply(says("x"))
    before = (len(list(Path("/proc/self/fd").iterdir())), threading.active_count())
    for number in range(5):
        with agent.connect(str(number)) as connection:
            connection.reply(says("x"))
    assert (len(list(Path("/proc/self/fd").iterdir())), threading.active_count()) == before
