"""The command line in real processes, and an agent behind real HTTP that counts what it is asked."""

import contextlib
import json
import os
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

GATE = [sys.executable, "-m", "abs_gate"]


def environment(**changes: str) -> dict[str, str]:
    """This process's environment, without what would make the gate think that it runs in a workflow."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("GITHUB_", "INPUT_", "ABS_")) and k != "CI"}
    return kept | changes


def gate(*arguments: str, cwd: Path | None = None, **environ: str) -> subprocess.CompletedProcess[str]:
    """Run the gate to its end."""
    return subprocess.run(
        [*GATE, *map(str, arguments)],
        capture_output=True,
        text=True,
        cwd=cwd,
        env=environment(**environ),
        check=False,
        timeout=200,
    )


def start_gate(*arguments: str, cwd: Path, **environ: str) -> subprocess.Popen[str]:
    """Start the gate; its output goes to files, so that it can be killed at any time."""
    out, err = (cwd / "stdout.txt").open("w"), (cwd / "stderr.txt").open("w")
    with out, err:
        return subprocess.Popen(
            [*GATE, *map(str, arguments)], stdout=out, stderr=err, text=True, cwd=cwd, env=environment(**environ)
        )


class CountingAgent:
    """Answers in OpenAI's form. `answer` gets the user's text and how often it has been asked before."""

    def __init__(self, answer: Callable[[str, int], str] | None = None, *, latency: float = 0) -> None:
        self.answer = answer or (lambda text, before: "Your order is on the way.")
        self.latency = latency
        self.asked: Counter[str] = Counter()
        self.finished = 0
        self._lock = threading.Lock()
        agent = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                text = body["messages"][-1]["content"]
                with agent._lock:
                    before = agent.asked[text]
                    agent.asked[text] += 1
                time.sleep(agent.latency)
                message = {"role": "assistant", "content": agent.answer(text, before)}
                usage = {"prompt_tokens": 100, "completion_tokens": 50, "total_tokens": 150}
                answer = json.dumps({"choices": [{"message": message}], "usage": usage}).encode()
                with contextlib.suppress(OSError):
                    self.send_response(200)
                    self.send_header("Content-Type", "application/json")
                    self.send_header("Content-Length", str(len(answer)))
                    self.end_headers()
                    self.wfile.write(answer)
                with agent._lock:
                    agent.finished += 1

            def log_message(self, format: str, *args: object) -> None: ...

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}/chat"

    @property
    def calls(self) -> int:
        return self.asked.total()

    def __enter__(self) -> "CountingAgent":
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()
        return self

    def __exit__(self, *exc: object) -> None:
        self._server.shutdown()
        self._server.server_close()


SESSION = """\
session: {name}
abs_version: "0.2"
{dataset}behaviors:
  - {{actor: user, action: says, content: "Where is order {order}?"}}
  - actor: assistant
    action: informs
    id: answer
    evaluations:
      - {{type: contains, value: on the way}}
"""


def write_session(place: Path, *, rows: int = 0, name: str = "Where is my order", file: str = "order") -> Path:
    """A session of one question and one answer; with rows, one for each order."""
    dataset = ""
    if rows:
        dataset = f"dataset: {{id: cases, path: {file}-rows.jsonl}}\n"
        (place / f"{file}-rows.jsonl").write_text("".join(f'{{"order": {number}}}\n' for number in range(rows)))
    path = place / f"{file}.abs.yaml"
    path.write_text(SESSION.format(name=name, dataset=dataset, order="{{cases.order}}" if rows else "7"))
    return path


def wait_until(condition: Callable[[], bool], *, timeout: float = 30) -> None:
    """Wait for something that happens in another process."""
    end = time.monotonic() + timeout
    while not condition():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.01)
