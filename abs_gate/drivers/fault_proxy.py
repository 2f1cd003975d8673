"""A TCP proxy that lets a request reach its server and take effect, and cuts the answer."""

from __future__ import annotations

import contextlib
import socket
import threading

_CONNECT_S = 5.0
_ANSWER_S = 30.0


class FaultProxy:
    """Listens on loopback. Connections carry requests on, wait for the answer, and lose it."""

    def __init__(self, host: str, port: int, *, after: bytes = b"") -> None:
        """With `after`, only answers to what was sent once these bytes had gone by are lost; others are passed on."""
        self._target = (host, port)
        self._after = after
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._open: set[socket.socket] = set()
        self._lock = threading.Lock()
        self._thread = threading.Thread(target=self._accept, name="fault-proxy", daemon=True)
        self._thread.start()

    @property
    def port(self) -> int:
        """Where it listens."""
        return int(self._listener.getsockname()[1])

    def close(self) -> None:
        """Stop listening and end every connection."""
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        with self._lock:
            for each in self._open:
                with contextlib.suppress(OSError):
                    each.shutdown(socket.SHUT_RDWR)
        self._thread.join(timeout=2)

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._lose, args=(client,), name="fault-proxy-call", daemon=True).start()

    def _lose(self, client: socket.socket) -> None:
        with client, contextlib.suppress(OSError), socket.create_connection(self._target, timeout=_CONNECT_S) as server:
            with self._lock:
                self._open |= {client, server}
            try:
                server.settimeout(_ANSWER_S)
                armed = threading.Event()
                carry = threading.Thread(target=_carry, args=(client, server, self._after, armed), daemon=True)
                carry.start()
                while data := server.recv(65536):
                    # The first byte of an answer says that the server is done; 100 Continue says nothing.
                    if armed.is_set() and not data.startswith(b"HTTP/1.1 100"):
                        return
                    client.sendall(data)
            finally:
                with self._lock:
                    self._open -= {client, server}
                # The server's side first: a retry must not come before it can know that nobody listens.
                for each in (server, client):
                    with contextlib.suppress(OSError):
                        each.shutdown(socket.SHUT_RDWR)


def _carry(source: socket.socket, target: socket.socket, after: bytes, armed: threading.Event) -> None:
    """Carry requests on, and arm once what is waited for has gone by."""
    tail = b""
    with contextlib.suppress(OSError):
        while data := source.recv(65536):
            tail = (tail + data)[-(65536 + len(after)) :]
            if after in tail:
                armed.set()
            target.sendall(data)
