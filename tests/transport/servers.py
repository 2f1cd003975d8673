"""Loopback servers that do exactly what a test scripts, byte for byte."""

import contextlib
import socket
import threading


class ScriptedServer:
    """Accepts connections and hands each request to `answer(request, sock)`.

    `answer` returns bytes to send (the connection is kept), or None when it did everything itself (the connection is
    then closed). Every accepted socket and every request is recorded.
    """

    def __init__(self, answer):
        self._answer = answer
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self.accepted = 0
        self.requests = []
        self.done = threading.Event()
        self._sockets = []
        self._thread = threading.Thread(target=self._accept, daemon=True)
        self._thread.start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.done.set()
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for sock in self._sockets:
            with contextlib.suppress(OSError):
                sock.shutdown(socket.SHUT_RDWR)
            sock.close()
        self._thread.join(timeout=2)

    def _accept(self):
        while True:
            try:
                sock, _ = self._listener.accept()
            except OSError:
                return
            self.accepted += 1
            self._sockets.append(sock)
            threading.Thread(target=self._serve, args=(sock,), daemon=True).start()

    def _serve(self, sock):
        buffer = b""
        with contextlib.suppress(OSError):
            while True:
                while b"\r\n\r\n" not in buffer:
                    data = sock.recv(65536)
                    if not data:
                        return
                    buffer += data
                head, _, buffer = buffer.partition(b"\r\n\r\n")
                request = Request(head)
                while len(buffer) < request.length:
                    data = sock.recv(65536)
                    if not data:
                        return
                    buffer += data
                request.body, buffer = buffer[: request.length], buffer[request.length :]
                self.requests.append(request)
                reply = self._answer(request, sock)
                if reply is None:
                    sock.shutdown(socket.SHUT_RDWR)
                    sock.close()
                    return
                sock.sendall(reply)


class Request:
    def __init__(self, head):
        lines = head.decode("latin-1").split("\r\n")
        self.method, self.path, _ = lines[0].split(" ", 2)
        self.headers = {
            name.strip().lower(): value.strip() for name, _, value in (line.partition(":") for line in lines[1:])
        }
        self.length = int(self.headers.get("content-length", "0"))
        self.body = b""


def http(body=b"{}", status="200 OK", content_type="application/json", **headers):
    """A complete response."""
    if isinstance(body, str):
        body = body.encode()
    lines = [f"HTTP/1.1 {status}", f"Content-Type: {content_type}", f"Content-Length: {len(body)}"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body
