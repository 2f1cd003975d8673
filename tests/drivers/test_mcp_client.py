"""Pulling tools from real servers, over stdio and HTTP, and what is left behind afterwards: nothing."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from abs_gate.contracts.load import load_contracts
from abs_gate.drivers.mcp_client import PulledTools, pull_tools, write_snapshot
from abs_gate.errors import CannotVerify, ConfigurationError

SERVER = Path(__file__).with_name("mcp_demo_server.py")
STDIO = f"{sys.executable} {SERVER} stdio"
NAMES = ["cancel_order", "get_order", "list_orders", "refund_order", "ship_order"]


def names(pulled: PulledTools) -> list[str]:
    return [str(tool["name"]) for tool in pulled.tools]


def is_running(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


@pytest.fixture
def free_port() -> int:
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return int(sock.getsockname()[1])


@pytest.fixture
def http_server(free_port: int) -> Iterator[str]:
    command = [sys.executable, str(SERVER), "http", "--port", str(free_port), "--token", "tok-4711-secret"]
    with subprocess.Popen(command) as process:
        try:
            for _ in range(400):
                with socket.socket() as sock:
                    if sock.connect_ex(("127.0.0.1", free_port)) == 0:
                        break
                time.sleep(0.05)
            yield f"http://127.0.0.1:{free_port}/mcp"
        finally:
            process.terminate()


def test_stdio_lists_every_tool_by_name() -> None:
    pulled = pull_tools(command=STDIO, timeout_s=60)
    assert names(pulled) == NAMES
    assert (pulled.server_name, pulled.server_version) == ("demo", "7")
    assert pulled.instructions == "Look before you write."


def test_pages_are_followed_to_the_last() -> None:
    assert names(pull_tools(command=f"{STDIO} --pages 2", timeout_s=60)) == NAMES


def test_pages_in_a_circle_are_refused() -> None:
    with pytest.raises(CannotVerify, match="circle"):
        pull_tools(command=f"{STDIO} --circle", timeout_s=60)


def test_the_whole_process_group_is_ended(tmp_path: Path) -> None:
    note = tmp_path / "child"
    pull_tools(command=f"{STDIO} --child {note}", timeout_s=60)
    pid = int(note.read_text())
    for _ in range(100):
        if not is_running(pid):
            return
        time.sleep(0.05)
    pytest.fail(f"process {pid} outlived its server")


def test_a_server_that_never_answers_is_ended_in_time(tmp_path: Path) -> None:
    note = tmp_path / "child"
    start = time.monotonic()
    with pytest.raises(CannotVerify, match=r"within 1\.5 s\. It said: thinking about it"):
        pull_tools(command=f"{STDIO} --mute --child {note}", timeout_s=1.5)
    assert time.monotonic() - start < 15
    if note.exists() and note.read_text():
        assert not is_running(int(note.read_text()))


def test_only_listed_variables_reach_the_server(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DEPLOY_KEY", "key-0815-not-for-servers")
    monkeypatch.setenv("ORDERS_TOKEN", "tok-4711-for-this-server")
    pulled = pull_tools(command=f"{STDIO} --echo-env", environment_names=["ORDERS_TOKEN"], timeout_s=60)
    text = write_snapshot(pulled)
    assert "DEPLOY_KEY" not in text and "key-0815" not in text
    assert "ORDERS_TOKEN=***" in text and "tok-4711" not in text


def test_a_variable_that_is_not_set_is_named() -> None:
    with pytest.raises(ConfigurationError, match="NOT_SET_ANYWHERE"):
        pull_tools(command=STDIO, environment_names=["NOT_SET_ANYWHERE"])


def test_a_program_that_is_not_there_is_named() -> None:
    with pytest.raises(ConfigurationError, match="no program `no-such-server`"):
        pull_tools(command="no-such-server --stdio")


def test_a_server_that_dies_is_quoted() -> None:
    code = "import sys; sys.exit('port is taken')"
    with pytest.raises(CannotVerify, match=r"It said: port is taken\. The server ended with status 1\. "):
        pull_tools(command=f'{sys.executable} -c "{code}"', timeout_s=30)


def test_what_a_dead_server_said_is_quoted_from_the_start_of_a_line_or_word() -> None:
    code = "import sys; sys.exit('words of a first line that is long\\n' * 50 + 'the last line')"
    with pytest.raises(CannotVerify) as caught:
        pull_tools(command=f'{sys.executable} -c "{code}"', timeout_s=30)
    assert "It said: words of a first line" in str(caught.value)
    code = (
        "import sys; sys.stderr.write('word ' * 500); sys.stderr.flush(); import os, signal; os.kill(os.getppid(), 9)"
    )
    with pytest.raises(CannotVerify) as caught:
        pull_tools(command=f'{sys.executable} -c "{code}"', timeout_s=30)
    assert "It said: … word word" in str(caught.value)


def test_http_lists_every_tool(http_server: str) -> None:
    assert names(pull_tools(url=http_server, headers={"X-Token": "tok-4711-secret"}, timeout_s=60)) == NAMES


def test_http_refusal_says_nothing_of_the_token(http_server: str) -> None:
    with pytest.raises(CannotVerify) as caught:
        pull_tools(url=http_server, headers={"X-Token": "tok-wrong-secret"}, timeout_s=30)
    assert "did not list its tools: HTTP status 401, the server wants to know who asks. Give" in str(caught.value)
    assert "--header" in str(caught.value) and "tok-wrong" not in str(caught.value)


def test_http_nobody_there(free_port: int) -> None:
    with pytest.raises(CannotVerify, match=f"127.0.0.1:{free_port}"):
        pull_tools(url=f"http://127.0.0.1:{free_port}/mcp", timeout_s=20)


def test_metadata_services_are_not_asked() -> None:
    with pytest.raises(ConfigurationError):
        pull_tools(url="http://169.254.169.254/mcp")


def test_one_of_the_two_is_needed() -> None:
    with pytest.raises(ConfigurationError, match="either"):
        pull_tools()


def test_without_the_sdk_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "mcp", None)
    with pytest.raises(ConfigurationError, match=r"abs-gate\[mcp\]"):
        pull_tools(command=STDIO)


def test_a_snapshot_is_stable_and_is_a_contract_file(tmp_path: Path) -> None:
    left = PulledTools(tools=({"name": "b", "inputSchema": {"type": "object", "properties": {}}, "description": "ü"},))
    right = PulledTools(tools=({"description": "ü", "inputSchema": {"properties": {}, "type": "object"}, "name": "b"},))
    text = write_snapshot(left)
    assert text == write_snapshot(right)
    assert text.endswith("}\n") and "ü" in text and text.index('"name"') < text.index('"description"')
    (tmp_path / "tools.json").write_text(text)
    loaded = load_contracts(_Directory(tmp_path), ["tools.json"])
    assert [tool.name for tool in loaded.tools] == ["b"]


class _Directory:
    def __init__(self, root: Path) -> None:
        self._root = root

    def read_bytes(self, path: str, *, limit: int = 5 * 1024 * 1024) -> bytes:
        return (self._root / path).read_bytes()[:limit]

    def is_file(self, path: str) -> bool:
        return (self._root / path).is_file()

    def is_directory(self, path: str) -> bool:
        return (self._root / path).is_dir()

    def list_files(self, path: str) -> tuple[str, ...]:
        return tuple(sorted(str(file.relative_to(self._root)) for file in (self._root / path).rglob("*")))


@pytest.fixture(scope="session")
def everything() -> str:
    """The reference server from npm, installed once into a cache directory."""
    npm = shutil.which("npm")
    if npm is None or shutil.which("node") is None:
        pytest.skip("node and npm are not installed")
    cache = Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser()
    cache = cache / "abs-gate-tests" / "everything-2026.1.26"
    program = cache / "node_modules" / ".bin" / "mcp-server-everything"
    if not program.exists():
        cache.mkdir(parents=True, exist_ok=True)
        package = "@modelcontextprotocol/server-everything@2026.1.26"
        install = [npm, "install", "--no-audit", "--no-fund", "--prefix", str(cache), package]
        try:
            subprocess.run(install, check=True, capture_output=True, timeout=90)
        except (subprocess.SubprocessError, OSError) as error:
            pytest.skip(f"npm could not install the server: {error}")
    return str(program)


def test_a_real_server_over_stdio(everything: str) -> None:
    pulled = pull_tools(command=f"{everything} stdio", timeout_s=60)
    assert "echo" in names(pulled) and pulled.server_name
    assert json.loads(write_snapshot(pulled))["tools"][0]["inputSchema"]["type"] == "object"


def test_a_real_server_over_http(everything: str, free_port: int) -> None:
    environment = {**os.environ, "PORT": str(free_port)}
    pipes = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    with subprocess.Popen([everything, "streamableHttp"], env=environment, **pipes) as process:
        try:
            for _ in range(400):
                with socket.socket() as sock:
                    if sock.connect_ex(("127.0.0.1", free_port)) == 0:
                        break
                time.sleep(0.05)
            pulled = pull_tools(url=f"http://127.0.0.1:{free_port}/mcp", timeout_s=60)
        finally:
            process.terminate()
    assert "echo" in names(pulled)


GARBAGE = """
import sys
print("Welcome to the \\033[1mtool\\033[0m server", flush=True)
for line in sys.stdin:
    print("no idea", flush=True)
"""
PAGE = """
import http.server, sys

class Page(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        self.rfile.read(int(self.headers.get("content-length", 0)))
        self.send_response(200)
        self.send_header("content-type", sys.argv[2])
        self.end_headers()
        self.wfile.write(b"data: <html>sign in</html>\\n\\n")
    do_GET = do_DELETE = do_POST
    def log_message(self, *_): pass

http.server.HTTPServer(("127.0.0.1", int(sys.argv[1])), Page).serve_forever()
"""


def pull(*arguments: str) -> tuple[int, str]:
    """As a process: the library logs to standard error only where nothing else listens, as pytest does."""
    words = [sys.executable, "-m", "abs_gate", "pull", *arguments, "-o", os.devnull]
    done = subprocess.run(words, capture_output=True, text=True, timeout=60)
    return done.returncode, done.stdout + done.stderr


def test_a_server_that_prints_garbage_is_told_in_words(tmp_path: Path) -> None:
    (tmp_path / "garbage.py").write_text(GARBAGE, "utf-8")
    code, said = pull("--mcp-command", f"{sys.executable} {tmp_path / 'garbage.py'}", "--timeout", "3")
    assert code == 3
    assert "It sent what is no MCP message: `Welcome to the" in said
    assert "Traceback" not in said and "pydantic" not in said and "\033" not in said


@pytest.mark.parametrize("content_type", ["application/json", "text/event-stream", "text/html"])
def test_an_address_that_answers_with_a_page_is_told_in_words(
    tmp_path: Path, free_port: int, content_type: str
) -> None:
    (tmp_path / "page.py").write_text(PAGE, "utf-8")
    with subprocess.Popen([sys.executable, str(tmp_path / "page.py"), str(free_port), content_type]) as process:
        try:
            for _ in range(400):
                with socket.socket() as sock:
                    if sock.connect_ex(("127.0.0.1", free_port)) == 0:
                        break
                time.sleep(0.05)
            code, said = pull("--mcp-url", f"http://127.0.0.1:{free_port}/mcp", "--timeout", "5")
        finally:
            process.terminate()
    assert code == 3
    assert "did not list its tools" in said
    assert "Traceback" not in said and "pydantic" not in said and len(said.splitlines()) == 1


BY_HAND = """
import json, os, sys, time
MODE = sys.argv[1]
while MODE == "noise":
    sys.stderr.write("noise " * 2_000)
for line in sys.stdin:
    asked = json.loads(line)
    if "id" not in asked:
        continue
    answer = {"protocolVersion": asked.get("params", {}).get("protocolVersion"), "capabilities": {"tools": {}},
              "serverInfo": {"name": "hand", "version": "1"}}
    if asked["method"] == "tools/list":
        if MODE == "crash":
            os.abort()
        limit = float("nan") if MODE == "nan" else 1
        schema = {"type": "object", "properties": {"x": {"type": "number", "maximum": limit}}}
        answer = {"none": {"tools": []}, "bare": {"tools": [{"name": "x"}]}}.get(
            MODE, {"tools": [{"name": "x", "inputSchema": schema}]})
    elif asked["method"] != "initialize":
        print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "error": {"code": -32601, "message": "?"}}), flush=True)
        continue
    print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": answer}), flush=True)
"""


@pytest.mark.parametrize(
    ("mode", "seconds", "said"),
    [
        ("none", 30, "lists no tools, so there is nothing to write"),
        ("bare", 30, "the answer is not as the protocol has it: `tools.0.inputSchema`: Field required"),
        ("nan", 30, "The schema of the tool `x` holds NaN or Infinity"),
        ("crash", 30, "It said: The server was ended by SIGABRT."),
        ("noise", 1.5, "within 1.5 s. It said: … noise noise"),
    ],
)
def test_what_is_wrong_with_a_server_is_told_and_the_file_is_kept(
    tmp_path: Path, mode: str, seconds: float, said: str
) -> None:
    (tmp_path / "server.py").write_text(BY_HAND, "utf-8")
    kept = tmp_path / "tools.json"
    kept.write_text("as it was", "utf-8")
    command = f"{sys.executable} {tmp_path / 'server.py'} {mode}"
    words = [sys.executable, "-m", "abs_gate", "pull", "--mcp-command", command, "--timeout", str(seconds)]
    done = subprocess.run([*words, "-o", str(kept)], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout, kept.read_text("utf-8")) == (3, "", "as it was")
    assert said in done.stderr and len(done.stderr.splitlines()) == 1
    assert mode == "crash" or "The server ended" not in done.stderr


def test_an_answer_without_end_is_not_read_to_its_end(
    tmp_path: Path, free_port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("abs_gate.drivers.mcp_http.MAX_ANSWER", 20)
    (tmp_path / "page.py").write_text(PAGE, "utf-8")
    with subprocess.Popen([sys.executable, str(tmp_path / "page.py"), str(free_port), "application/json"]) as process:
        try:
            for _ in range(400):
                with socket.socket() as sock:
                    if sock.connect_ex(("127.0.0.1", free_port)) == 0:
                        break
                time.sleep(0.05)
            with pytest.raises(CannotVerify, match="longer than 20 bytes"):
                pull_tools(url=f"http://127.0.0.1:{free_port}/mcp", timeout_s=10)
        finally:
            process.terminate()
