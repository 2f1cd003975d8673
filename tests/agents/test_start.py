import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from abs_gate.agents import build_agent
from abs_gate.conversation import AgentRequest, Message, Role
from abs_gate.errors import AgentUnavailable, ConfigurationError
from abs_gate.settings.model import AgentSettings, StartSettings
from abs_gate.sources.redaction import Redactor
from abs_gate.transport import Transport

from .processes import is_alive, wait_until_gone

SCRIPTS = Path(__file__).parent / "scripts"


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as reserved:
        return reserved.getsockname()[1]


def settings(port, *, command=None, ready=True, timeout=10.0, **fields):
    url = f"http://127.0.0.1:{port}"
    return AgentSettings(
        url=f"{url}/chat",
        start=StartSettings(
            command=command or f"{sys.executable} {SCRIPTS / 'http_agent.py'} {port} 0.2",
            ready=f"{url}/health" if ready else None,
            timeout=timeout,
        ),
        **fields,
    )


def build(agent_settings, transport, **fields):
    return build_agent(
        agent_settings, transport, **{"allow_commands": True, "redactor": Redactor(["hunter22"]), **fields}
    )


@pytest.mark.parametrize("ready", [True, False])
def test_the_agent_is_started_asked_and_ended_with_all_it_started(ready):
    port = free_port()
    with Transport() as transport, build(settings(port, ready=ready), transport) as agent:
        with agent.connect("a") as connection:
            request = AgentRequest(messages=(Message(role=Role.USER, text="hi"),))
            pid = int(connection.reply(request).messages[0].text)
        assert is_alive(pid)
    assert wait_until_gone(pid)
    with pytest.raises(OSError, match="refused"):
        socket.create_connection(("127.0.0.1", port), timeout=1)


def test_one_that_ends_at_once_is_told_with_what_it_wrote():
    command = f"{sys.executable} -c \"import sys; print('port in use, token hunter22'); sys.exit(1)\""
    with Transport() as transport:
        agent = build(settings(free_port(), command=command), transport)
        with pytest.raises(AgentUnavailable, match=r"ended before it was ready\. It wrote: port in use, token \*\*\*"):
            agent.__enter__()


def test_one_that_is_never_ready_is_given_up_and_ended():
    command = f"{sys.executable} -c \"import time, os; print('pid', os.getpid(), flush=True); time.sleep(300)\""
    with Transport() as transport:
        agent = build(settings(free_port(), command=command, timeout=1.0), transport)
        with pytest.raises(AgentUnavailable, match="was not ready within 1 s") as caught:
            agent.__enter__()
    pid = int(str(caught.value).split("pid ")[1].split()[0])
    assert wait_until_gone(pid)


def test_much_output_blocks_nobody(tmp_path):
    port = free_port()
    script = tmp_path / "loud.py"
    agent_text = (SCRIPTS / "http_agent.py").read_text()
    script.write_text(agent_text.replace('print("starting up"', 'print("x" * 2_000_000'))
    command = f"{sys.executable} {script} {port}"
    with Transport() as transport, build(settings(port, command=command), transport):
        pass


def test_starting_needs_permission_and_a_directory_inside():
    with Transport() as transport:
        with pytest.raises(ConfigurationError, match="allow-commands"):
            build(settings(1), transport, allow_commands=False)
        outside = AgentSettings(url="http://127.0.0.1:1/", start=StartSettings(command="true", cwd=".."))
        with pytest.raises(ConfigurationError, match="outside the workspace"):
            build(outside, transport, root=str(SCRIPTS))


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM])
def test_the_agent_ends_even_when_the_gate_is_killed(how):
    port = free_port()
    gate = subprocess.Popen(
        [
            sys.executable,
            "-c",
            f"""
import time
from abs_gate.agents import build_agent
from abs_gate.settings.model import AgentSettings, StartSettings
from abs_gate.sources.redaction import Redactor
from abs_gate.transport import Transport
settings = AgentSettings(
    url="http://127.0.0.1:{port}/chat",
    start=StartSettings(command=r"{sys.executable} {SCRIPTS / "http_agent.py"} {port}", ready="http://127.0.0.1:{port}/"),
)
with Transport() as transport, build_agent(settings, transport, allow_commands=True, redactor=Redactor()) as agent:
    print("ready", flush=True)
    time.sleep(300)
""",
        ],
        stdout=subprocess.PIPE,
    )
    assert gate.stdout.readline() == b"ready\n"
    os.kill(gate.pid, how)
    gate.wait()
    gate.stdout.close()
    end = time.monotonic() + 5
    while time.monotonic() < end:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError:
            return
        time.sleep(0.05)
    pytest.fail("the agent outlived the gate")
