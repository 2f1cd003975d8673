"""A provider that answers as it is told: a server on loopback for testing adapters."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from abs_gate.verification.model import ProviderAnswer, ProviderRequest

MOST_BODY = 8 * 1024 * 1024


class StandInServer:
    """Starts with its first use of `url`; ended by `close`, which also ends answers that still wait."""

    def __init__(self) -> None:
        self._answer: Callable[[ProviderRequest], ProviderAnswer] = lambda _: ProviderAnswer(status=404)
        self._closed = threading.Event()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True

            def _serve(self) -> None:
                outer._serve(self)

            do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = do_HEAD = _serve

            def log_message(self, *_: Any) -> None:
                """Nothing is logged."""

        class Server(ThreadingHTTPServer):
            daemon_threads = True
            block_on_close = False

            def handle_error(self, *_: Any) -> None:
                """The adapter closed its side."""

        self._server = Server(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(
            target=lambda: self._server.serve_forever(poll_interval=0.05), name="stand-in", daemon=True
        )
        self._thread.start()

    @property
    def url(self) -> str:
        """Its address, without a path."""
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def play(self, answer: Callable[[ProviderRequest], ProviderAnswer]) -> None:
        """Answer every request from now on like this."""
        self._answer = answer

    def close(self) -> None:
        """Stop listening."""
        self._closed.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(timeout=2)

    def _serve(self, handler: BaseHTTPRequestHandler) -> None:
        length = handler.headers.get("content-length", "0")
        data = handler.rfile.read(min(int(length) if length.isdigit() else 0, MOST_BODY))
        text = data.decode("utf-8", "replace")
        try:
            body = json.loads(text) if text else None
        except (ValueError, RecursionError):
            body = text
        request = ProviderRequest(
            method=handler.command,
            path=handler.path,
            headers={name.lower(): value for name, value in handler.headers.items()},
            body=body,
        )
        answer = self._answer(request)
        if answer.delay and self._closed.wait(answer.delay):
            return
        self._send(handler, answer)

    def _send(self, handler: BaseHTTPRequestHandler, answer: ProviderAnswer) -> None:
        handler.close_connection = True
        if answer.cut == "before":
            handler.connection.shutdown(socket.SHUT_RDWR)
            return
        data = answer.body if isinstance(answer.body, str) else json.dumps(answer.body)
        payload = data.encode()
        handler.send_response(answer.status)
        headers = {"Content-Type": "application/json", **answer.headers}
        for name, value in headers.items():
            handler.send_header(name, value)
        handler.send_header("Content-Length", str(len(payload)))
        handler.send_header("Connection", "close")
        handler.end_headers()
        if handler.command == "HEAD":
            return
        if answer.cut == "half":
            handler.wfile.write(payload[: len(payload) // 2])
            handler.wfile.flush()
            handler.connection.shutdown(socket.SHUT_RDWR)
            return
        handler.wfile.write(payload)
