"""What is printed to a person's terminal moves no cursor and hides nothing, whatever files and agents hold."""

import json
import re

import pytest

from tests.acceptance.processes import CountingAgent, gate
from tests.acceptance.repositories import SESSION, write

EVIL = "\x1b[2J\x1b]0;owned\x07\r\u202e\x9b31m\u2028::error::x ##[error]y"
FILE = "evil\x1b[31m\r\u202e"
MOVING = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u202a-\u202e\u2028\u2029\ufeff]")
TOOL = {"name": EVIL, "description": EVIL, "inputSchema": {"type": "object", "properties": {EVIL: {"type": "string"}}}}
OTHER = {**TOOL, "inputSchema": {"type": "object", "properties": {EVIL: {"type": "integer"}}, "required": [EVIL]}}
NATIVE = {"tool_id": EVIL, "tool_version": EVIL, "policy": {"effect": EVIL, "approval": EVIL}, EVIL: EVIL}


@pytest.fixture
def place(tmp_path):
    text = json.dumps(EVIL)[1:-1]
    files = {
        "old.json": json.dumps({"tools": [TOOL]}),
        "new.json": json.dumps({"tools": [OTHER]}),
        f"contracts/{FILE}.json": json.dumps(NATIVE),
        f"broken/{FILE}.abs.yaml": SESSION + "  - {\n",
        f"sessions/{FILE}.abs.yaml": SESSION.replace("Where is my order", f'"{text}"'),
        "abs-gate.yaml": f'version: 1\n"{text}": 1\nagent: {{url: "{text}", format: "{text}"}}\n',
    }
    write(tmp_path, files)
    return tmp_path


@pytest.mark.parametrize(
    ("command", "code"),
    [
        (["lint", "contracts"], 2),
        (["lint", "old.json", "--format", "json"], 1),
        (["diff", "old.json", "new.json"], 1),
        (["diff", "old.json", "new.json", "--format", "json"], 1),
        (["diff", "old.json", EVIL], 2),
        (["fingerprint", "new.json"], 0),
        (["validate", "broken"], 2),
        (["run"], 2),
        ([EVIL], 2),
    ],
)
def test_files_and_arguments(place, command, code):
    done = gate(*command, cwd=place)
    assert done.returncode == code, done.stderr
    assert done.stdout + done.stderr
    assert MOVING.findall(done.stdout + done.stderr) == []


@pytest.mark.parametrize("form", ["text", "json", "junit", "markdown"])
def test_sessions(place, form):
    with CountingAgent(lambda text, before: EVIL) as agent:
        done = gate("sessions", "sessions", "--agent", agent.url, "--format", form, cwd=place)
    assert done.returncode == 1, done.stderr
    assert MOVING.findall(done.stdout + done.stderr) == []
