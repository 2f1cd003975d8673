"""A scripted agent behind a real address on this machine, speaking the Chat Completions format."""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

Reply = Mapping[str, Any]
"""One scripted reply: `text`, `calls: [{name, arguments|raw, id}]`, `messages: [...]` for an agent that runs its own
tools, `status` with `body` for an error, or `close: true` to hang up. `finish` is the finish reason."""


class ScriptedAgentServer:
    """Gives the scripted replies in order, then the last one again. Keeps every request body."""

    def __init__(self) -> None:
        self.requests: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.connections = 0
        self.tokens = 0
        """Tokens granted at `/token`."""
        self._script: Sequence[Reply] = ()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1/chat/completions"

    def script(self, replies: Sequence[Reply]) -> None:
        """Begin a new script."""
        self.requests.clear()
        self.headers.clear()
        self.connections = 0
        self._script = replies

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *exc: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    def _next(self, body: dict[str, Any], headers: Mapping[str, str]) -> Reply:
        self.requests.append(body)
        self.headers.append({name.lower(): value for name, value in headers.items()})
        return {"turn": len(self.requests), **self._script[min(len(self.requests), len(self._script)) - 1]}

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        owner = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            wbufsize = -1

            def setup(self) -> None:
                owner.connections += 1
                super().setup()

            def do_POST(self) -> None:
                raw = self.rfile.read(int(self.headers["Content-Length"]))
                if self.path == "/token":
                    owner.tokens += 1
                    self._answer(200, {"access_token": f"granted-{owner.tokens}", "expires_in": 3600})
                    return
                body = json.loads(raw)
                reply = owner._next(body, dict(self.headers))
                if reply.get("close"):
                    self.close_connection = True
                    return
                self._answer(reply.get("status", 200), reply.get("body", completion(reply)))

            def _answer(self, status: int, body: Any) -> None:
                data = json.dumps(body).encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)
                self.wfile.flush()

            def log_message(self, format: str, *args: Any) -> None:
                return

        return Handler


def completion(reply: Reply) -> Any:
    """A reply as Chat Completions has it; several messages as the bare list that agents with own tools answer."""
    if "messages" in reply:
        return {"messages": [_message(entry) for entry in reply["messages"]]}
    finish = reply.get("finish", "tool_calls" if reply.get("calls") else "stop")
    return {
        "id": "x",
        "object": "chat.completion",
        "model": "scripted-1",
        "choices": [{"index": 0, "message": _message(reply), "finish_reason": finish}],
        "usage": {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15},
    }


def _message(entry: Reply) -> dict[str, Any]:
    if "result" in entry:
        result = entry["result"]
        content = result if isinstance(result, str) else json.dumps(result)
        return {"role": "tool", "tool_call_id": entry.get("id", "call_1_1"), "content": content}
    message: dict[str, Any] = {"role": "assistant", "content": entry.get("text")}
    if entry.get("refusal"):
        message["refusal"] = entry["refusal"]
    if entry.get("calls"):
        message["tool_calls"] = [
            {
                "id": call.get("id", f"call_{entry.get('turn', 1)}_{number}"),
                "type": "function",
                "function": {"name": call["name"], "arguments": call.get("raw", json.dumps(call.get("arguments", {})))},
            }
            for number, call in enumerate(entry["calls"], start=1)
        ]
    return message
