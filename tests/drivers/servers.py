"""A loopback HTTP server that answers from a function and remembers what it was asked."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Asked:
    """One request."""

    def __init__(self, handler, body):
        self.method, self.path, self.body = handler.command, handler.path, body
        self.headers = {name.lower(): value for name, value in handler.headers.items()}

    @property
    def json(self):
        return json.loads(self.body) if self.body else None


@contextmanager
def serving(answer) -> Iterator[tuple[str, list[Asked]]]:
    """`answer(asked)` gives a status and a body; texts are sent as HTML."""
    asked: list[Asked] = []

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def serve(self):
            body = self.rfile.read(int(self.headers.get("content-length") or 0))
            asked.append(Asked(self, body))
            status, value = answer(asked[-1])
            is_text = isinstance(value, str)
            data = (value if is_text else json.dumps(value)).encode()
            self.send_response(status)
            self.send_header("Content-Type", "text/html" if is_text else "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(data)

        do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = do_HEAD = serve

        def log_message(self, *_):
            pass

    class Server(ThreadingHTTPServer):
        daemon_threads = True

        def handle_error(self, *_):
            pass

    server = Server(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=lambda: server.serve_forever(poll_interval=0.02), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}", asked
    finally:
        server.shutdown()
        server.server_close()
        thread.join(5)
