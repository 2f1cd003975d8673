"""A hard end for every request, whatever the server does.

Socket timeouts start anew with every byte, so a server that drips one byte a second never meets them.
A watchdog thread looks at the requests under way a few times a second and shuts the socket of one whose
time is up; the thread that waits on it then gets an error at once. This costs a request two assignments.
"""

from __future__ import annotations

import socket
import threading
import time
import weakref
from contextlib import suppress
from typing import Any

TICK_S = 0.05
"""How late a cut may come."""


class Watch:
    """One worker thread's request under way."""

    def __init__(self) -> None:
        self.connection: Any = None
        """The connection last opened or used by this thread; has `sock`."""
        self.sock: Any = None
        """Its socket: a connection lets go of it when the server's answer ends with the connection."""
        self._lock = threading.Lock()
        self._due: float | None = None
        self._expired = False

    def begin(self, due: float) -> None:
        """A request starts that must be over at `due` (monotonic seconds)."""
        with self._lock:
            self._due = due
            self._expired = False

    def end(self) -> bool:
        """The request is over; True when its connection was cut because its time was up."""
        with self._lock:
            self._due = None
            return self._expired

    @property
    def expired(self) -> bool:
        return self._expired

    def check(self, now: float) -> None:
        """Cut the connection when the time is up. Called again until `end`, since a new socket may have come."""
        with self._lock:
            if self._due is None or now < self._due:
                return
            self._expired = True
            sock = getattr(self.connection, "sock", None) or self.sock
            if isinstance(sock, socket.socket):
                with suppress(OSError):
                    # Not SSLSocket.shutdown: that would pull the TLS object from under the reading thread.
                    socket.socket.shutdown(sock, socket.SHUT_RDWR)


class Watchdog:
    """The thread that checks every watch. Started with the first watch, ended by `close`."""

    def __init__(self) -> None:
        self._watches: weakref.WeakSet[Watch] = weakref.WeakSet()
        self._lock = threading.Lock()
        self._closed = threading.Event()
        self._thread: threading.Thread | None = None

    def add(self, watch: Watch) -> None:
        with self._lock:
            self._watches.add(watch)
            if self._thread is None:
                self._thread = threading.Thread(target=self._patrol, name="request-deadlines", daemon=True)
                self._thread.start()

    def close(self) -> None:
        self._closed.set()
        if self._thread is not None:
            self._thread.join(timeout=1)

    def _patrol(self) -> None:
        while not self._closed.wait(TICK_S):
            now = time.monotonic()
            with self._lock:
                watches = list(self._watches)
            for watch in watches:
                watch.check(now)
