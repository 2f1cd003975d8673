"""The one writer of a workflow's log. The runner reads the log for commands, so text of others passes through here.

Between `start` and `end` the runner obeys nothing, and every line is made harmless besides; annotations are ours
and step out of that for themselves. Whoever else writes to standard output or error (a child) cannot end it,
because the token is random and told to nobody.
"""

from __future__ import annotations

import secrets
import threading
from typing import TextIO

from abs_gate.reports.annotations import resume_commands, sanitise_log, stop_commands


class WorkflowLog:
    """Writes lines to the log; thread-safe. A context manager: commands are stopped inside it."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._token = secrets.token_hex(24)
        self._stopped = False
        self._lock = threading.Lock()

    def __enter__(self) -> WorkflowLog:
        with self._lock:
            self._stop()
        return self

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._resume()

    def line(self, text: str) -> None:
        """Write text of any origin as one or more lines."""
        with self._lock:
            self._stream.write(sanitise_log(text) + "\n")
            self._stream.flush()

    def commands(self, commands: str) -> None:
        """Write workflow commands that `reports.annotations` rendered, one a line."""
        if not commands:
            return
        with self._lock:
            was_stopped = self._stopped
            self._resume()
            self._stream.write(commands if commands.endswith("\n") else commands + "\n")
            if was_stopped:
                self._stop()
            self._stream.flush()

    def _stop(self) -> None:
        if not self._stopped:
            self._stream.write(stop_commands(self._token) + "\n")
            self._stream.flush()
            self._stopped = True

    def _resume(self) -> None:
        if self._stopped:
            self._stream.write(resume_commands(self._token) + "\n")
            self._stream.flush()
            self._stopped = False
