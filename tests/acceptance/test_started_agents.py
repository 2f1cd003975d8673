"""Agents that the action starts: what they are told, what they may print, and that they end with it."""

import json
import os
import signal
import sys
import time

import pytest

from tests.acceptance.processes import wait_until
from tests.acceptance.repositories import FILES, checkout_of
from tests.acceptance.runner import free_port, run_action
from tests.acceptance.test_attacks import commands_of
from tests.github.fake_api import FakeGitHub
from tests.reports.test_annotations import COMMAND

SECRET = "agent-token-of-the-workflow"
AGENT = """\
import http.server, json, os, signal, sys, time

signal.signal(signal.SIGINT, signal.SIG_IGN)
open("child.json", "w").write(json.dumps({"pid": os.getpid(), "environ": dict(os.environ)}))
print("::error::owned ##[error]owned\\r::set-output name=x::y", flush=True)
print("\\xa0::add-mask::owned", file=sys.stderr, flush=True)


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()

    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        open("asked", "w").close()
        time.sleep(600 if os.path.exists("hang") else 0)
        answer = json.dumps({"choices": [{"message": {"role": "assistant", "content": "on the way"}}]}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *arguments):
        print("##[error]owned\\r::error::owned", flush=True)


http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
"""


@pytest.fixture
def github():
    with FakeGitHub() as fake:
        yield fake


def started(tmp_path, *, hang):
    port = free_port()
    address = f"http://127.0.0.1:{port}"
    start = f'{{command: \'"{sys.executable}" agent.py {port}\', ready: "{address}/", timeout: 20}}'
    config = (
        f'version: 1\nagent: {{url: "{address}/chat", start: {start}}}\nsessions: {{paths: [sessions/], trials: 2}}\n'
    )
    files = {**FILES, "abs-gate.yaml": config, "agent.py": AGENT} | ({"hang": ""} if hang else {})
    return checkout_of(tmp_path, files, {})


def child_of(step):
    return json.loads((step.workspace / "child.json").read_text())


def is_alive(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


INPUTS = {"allow-commands": "true", "agent-token": SECRET}


def test_a_started_agent_learns_no_secret_and_commands_nothing(tmp_path, github):
    place = started(tmp_path, hang=False)
    step = run_action(place, tmp_path, api_url=github.url, inputs=INPUTS, environ={"NPM_TOKEN": "npm-secret"})
    assert step.code == 0, step.log
    environ = child_of(step)["environ"]
    assert not [name for name in environ if name.startswith(("INPUT_", "ACTIONS_", "GITHUB_", "NPM_"))]
    assert SECRET not in str(environ)
    assert all(COMMAND.fullmatch(line) or line.strip(":").isalnum() for line in commands_of(step.log)), step.log
    assert "owned" not in "".join(commands_of(step.log))
    assert not is_alive(child_of(step)["pid"])


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_cancelled_step_tells_what_it_knows_in_time_and_ends_its_agent(tmp_path, github, number, code):
    place = started(tmp_path, hang=True)
    github.before_write = lambda: time.sleep(3 if number == signal.SIGINT else 0)  # GitHub is slow just now
    took = []

    def cancel(process, log):
        wait_until((place.workspace / "asked").exists)
        process.send_signal(number)
        since = time.monotonic()
        wait_until(lambda: (tmp_path / "commands-100" / "output").read_text().count("exit-code") == 1)
        took.append(time.monotonic() - since)

    step = run_action(place, tmp_path, api_url=github.url, inputs=INPUTS, meanwhile=cancel)
    assert took[0] < 2.5
    assert step.outputs["verdict"] == "cancelled"
    assert step.outputs["exit-code"] == str(code)
    assert "cancelled before a verdict" in step.summary
    assert json.loads((step.workspace / "abs-gate-report/result.json").read_text())["verdict"] == "cancelled"
    assert not is_alive(child_of(step)["pid"])
    assert step.code == code
