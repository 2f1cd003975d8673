"""Tools of MCP servers over both transports: results, errors, lost answers, read-only declarations, ending."""

import json
import os
import socket
import subprocess
import sys
import threading
import time
from contextlib import ExitStack
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from abs_gate.drivers.mcp_tool import McpServers, McpTool
from abs_gate.errors import CannotVerify, ConfigurationError
from abs_gate.verification.model import AnswerKind

SERVER = Path(__file__).with_name("mcp_ledger_server.py")


@pytest.fixture
def closing():
    with ExitStack() as stack:
        yield stack


def stdio(closing, ledger, tool, timeout_s=10.0):
    server = McpServers(closing).server(
        command=f"{sys.executable} {SERVER} {ledger}", url=None, cwd=".", env=dict(os.environ), headers={}
    )
    return McpTool(server, tool, timeout_s=timeout_s)


@pytest.fixture
def http(closing, tmp_path):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    process = subprocess.Popen([sys.executable, str(SERVER), str(tmp_path / "ledger"), str(port)])
    closing.callback(process.wait)
    closing.callback(process.terminate)
    for _ in range(200):
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                break
        time.sleep(0.05)
    return McpServers(closing).server(
        command=None, url=f"http://127.0.0.1:{port}/mcp", cwd=".", env={}, headers={"X-Test": "1"}
    )


def entries(tmp_path):
    return [json.loads(line) for line in (tmp_path / "ledger").read_text().splitlines()]


def test_stdio_results_errors_and_declarations(closing, tmp_path):
    add = stdio(closing, tmp_path / "ledger", "add")
    answer = add.call({"a": 1})
    assert (answer.kind, answer.content) == (AnswerKind.RESULT, {"added": {"a": 1}})
    assert entries(tmp_path) == [{"a": 1}]
    assert not add.can_lose_answers
    assert not add.is_declared_read_only()
    assert McpTool(add._server, "list", timeout_s=5).is_declared_read_only()
    refused = McpTool(add._server, "nothing", timeout_s=5).call({})
    assert (refused.kind, refused.code, refused.retryable) == (AnswerKind.TOOL_ERROR, "NO_SUCH_TOOL", False)


def test_a_call_that_takes_too_long_has_no_answer(closing, tmp_path):
    assert stdio(closing, tmp_path / "ledger", "slow", timeout_s=0.3).call({}).kind is AnswerKind.NO_ANSWER


def test_the_server_ends_with_the_suite(tmp_path):
    with ExitStack() as closing:
        stdio(closing, tmp_path / "ledger", "add").call({})
        assert _running(tmp_path)
    for _ in range(50):
        if not _running(tmp_path):
            return
        time.sleep(0.1)
    pytest.fail("the server is still there")


def test_over_http_the_answer_of_a_call_is_lost_and_its_effect_stays(http, tmp_path):
    add = McpTool(http, "add", timeout_s=10)
    assert add.call({"n": 1}).kind is AnswerKind.RESULT
    assert add.can_lose_answers
    assert add.call_and_lose({"n": 2}).kind is AnswerKind.NO_ANSWER
    assert add.call({"n": 3}).kind is AnswerKind.RESULT
    assert entries(tmp_path) == [{"n": 1}, {"n": 2}, {"n": 3}]


def test_a_server_that_is_not_there_cannot_be_verified(closing):
    servers = McpServers(closing)
    nobody = servers.server(command=None, url="http://127.0.0.1:9/mcp", cwd=".", env={}, headers={})
    with pytest.raises(CannotVerify, match="could not be reached"):
        McpTool(nobody, "x", timeout_s=2).call({})
    absent = servers.server(command="no-such-program-here", url=None, cwd=".", env={}, headers={})
    with pytest.raises(ConfigurationError, match="no program"):
        McpTool(absent, "x", timeout_s=2).call({})


def test_tools_of_one_server_share_a_connection(closing):
    servers = McpServers(closing)
    given = {"command": "x", "url": None, "cwd": ".", "env": {"A": "1"}, "headers": {}}
    assert servers.server(**given) is servers.server(**given)
    assert servers.server(**given) is not servers.server(**{**given, "env": {"A": "2"}})


def _running(tmp_path):
    listed = subprocess.run(["ps", "-ww", "-eo", "args"], capture_output=True, text=True, check=True).stdout
    return [line for line in listed.splitlines() if str(tmp_path / "ledger") in line and "ps -ww" not in line]


def test_garbage_between_messages_is_told_and_logged_nowhere(tmp_path):
    (tmp_path / "garbage.py").write_text("print('no idea', flush=True)\nimport time\ntime.sleep(1)\n", "utf-8")
    program = f"""
import os
from contextlib import ExitStack
from abs_gate.drivers.mcp_tool import McpServers, McpTool
with ExitStack() as closing:
    server = McpServers(closing).server(
        command={f"{sys.executable} {tmp_path / 'garbage.py'}"!r}, url=None, cwd=".", env=dict(os.environ), headers={{}}
    )
    try:
        print(McpTool(server, "add", timeout_s=3).call({{}}).message)
    except Exception as error:
        print(error)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert "It sent what is no MCP message: `no idea`" in done.stdout
    assert done.stderr == ""


def test_a_server_that_wants_a_credential_says_so(closing):
    class Refusing(BaseHTTPRequestHandler):
        def do_POST(self):
            self.rfile.read(int(self.headers.get("content-length", 0)))
            self.send_response(403)
            self.send_header("content-length", "0")
            self.end_headers()

        do_GET = do_DELETE = do_POST

        def log_message(self, *_):
            pass

    listening = closing.enter_context(ThreadingHTTPServer(("127.0.0.1", 0), Refusing))
    threading.Thread(target=listening.serve_forever, daemon=True).start()
    closing.callback(listening.shutdown)
    url = f"http://127.0.0.1:{listening.server_port}/mcp"
    server = McpServers(closing).server(command=None, url=url, cwd=".", env={}, headers={})
    with pytest.raises(CannotVerify, match="HTTP status 403, the server refuses whoever asks"):
        McpTool(server, "x", timeout_s=5).call({})
