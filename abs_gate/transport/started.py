"""A server that the gate starts and stops: an agent, or a service under verification."""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import threading
import time
from collections.abc import Mapping
from types import TracebackType
from typing import Self
from urllib.parse import urlsplit

from abs_gate.errors import AgentUnavailable
from abs_gate.settings.model import StartSettings
from abs_gate.sources.redaction import Redactor
from abs_gate.transport import Transport
from abs_gate.transport.children import KEPT_OUTPUT_BYTES, Child, child_environment, inside
from abs_gate.transport.destinations import shown_url
from abs_gate.wire.base import HttpRequest
from abs_gate.wire.unreadable import one_line

POLL_S = 0.1
_PROBE_TIMEOUT_S = 2.0


class StartedServer:
    """The server's process from its start to its certain end. A context manager."""

    def __init__(
        self,
        settings: StartSettings,
        *,
        url: str | None,
        transport: Transport,
        redactor: Redactor,
        root: str,
        environ: Mapping[str, str],
        what: str = "The agent's command",
        hint: str = "Check agent.start.ready, or raise agent.start.timeout.",
    ) -> None:
        """`what` names the command in messages; `hint` says what to do where it is not ready in time."""
        self._what, self._hint = what, hint
        self._settings = settings
        self._url = url
        self._transport = transport
        self._redactor = redactor
        self._cwd = inside(root, settings.cwd)
        self._env = child_environment(environ, settings.env)
        self._child: Child | None = None
        self._guardian: subprocess.Popen[bytes] | None = None
        self._output = bytearray()
        self._reader: threading.Thread | None = None

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None, /
    ) -> None:
        self.stop()

    def start(self) -> None:
        """Start the command and wait until it is ready.

        Raises:
            ConfigurationError: the command cannot be started.
            AgentUnavailable: it ended, or was not ready in time; with the end of what it wrote.
        """
        reading, writing = os.pipe()
        try:
            with os.fdopen(writing, "wb") as output:
                self._child = Child(self._settings.command, cwd=self._cwd, env=self._env, output=output)
        except BaseException:
            os.close(reading)
            raise
        self._reader = threading.Thread(target=self._keep_output, args=(reading,), name="server-output", daemon=True)
        self._reader.start()
        self._guardian = _guard(self._child.group)
        try:
            self._wait_until_ready(self._child)
        except BaseException:
            self.stop()
            raise

    def stop(self) -> None:
        """End the process and everything it started. May be called again."""
        if self._child is not None:
            self._child.close()
        if self._guardian is not None:
            with contextlib.suppress(OSError):
                self._guardian.communicate(b"done\n", timeout=5)
            self._guardian = None
        if self._reader is not None:
            self._reader.join(timeout=2)
            self._reader = None

    def _wait_until_ready(self, child: Child) -> None:
        end = time.monotonic() + self._settings.timeout
        while True:
            if self._is_ready():
                return
            if child.has_ended():
                time.sleep(POLL_S)
                raise AgentUnavailable(f"{self._what} {child.shown} ended before it was ready.{self._said()}")
            if time.monotonic() >= end:
                place = shown_url(self._settings.ready or self._url or "")
                raise AgentUnavailable(
                    f"{self._what} {child.shown} was not ready within {self._settings.timeout:g} s "
                    f"(asking {place}).{self._said()}",
                    hint=self._hint,
                )
            time.sleep(POLL_S)

    def _is_ready(self) -> bool:
        if self._settings.ready is not None:
            request = HttpRequest(method="GET", url=self._settings.ready)
            try:
                return self._transport.send(request, timeout_s=_PROBE_TIMEOUT_S, retries=0).status < 500
            except AgentUnavailable:
                return False
        if self._url is None:
            return True
        parts = urlsplit(self._url)
        port = parts.port or (443 if parts.scheme == "https" else 80)
        try:
            with socket.create_connection((parts.hostname or "", port), timeout=_PROBE_TIMEOUT_S):
                return True
        except OSError:
            return False

    def _keep_output(self, reading: int) -> None:
        """Read what the command writes, so that it never blocks, and keep the end of it."""
        with contextlib.suppress(OSError):
            while chunk := os.read(reading, 65536):
                self._output += chunk
                del self._output[:-KEPT_OUTPUT_BYTES]
        os.close(reading)

    def _said(self) -> str:
        text = one_line(bytes(self._output[-1000:]).decode("utf-8", "replace"), 400)
        return f" It wrote: {self._redactor.redact(text)}" if text else ""


def _guard(group: int) -> subprocess.Popen[bytes] | None:
    """A tiny process that ends the group when the gate is gone without having said so, even by SIGKILL."""
    script = 'read -r word; [ "$word" = done ] || kill -s KILL -- "-$1"'
    with contextlib.suppress(OSError):
        return subprocess.Popen(
            ["/bin/sh", "-c", script, "guardian", str(group)],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
    return None
