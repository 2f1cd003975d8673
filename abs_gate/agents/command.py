"""An agent that is a command: one child process for each conversation, one line of JSON each way for each turn.

The gate writes a line with the whole conversation, `{"messages": [...], "tools": [...], "turn_key": "..."}` in the
shape of Chat Completions, and reads one line in any shape that `agent.format: openai` reads. Standard error is the
agent's to log on. When the conversation is over the gate closes the input, and the process should end.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Self

from abs_gate.agents.turns import settle
from abs_gate.conversation import AgentRequest, AgentTurn
from abs_gate.errors import AgentUnavailable
from abs_gate.sources.redaction import Redactor
from abs_gate.transport.children import Child
from abs_gate.wire.base import HttpResponse
from abs_gate.wire.openai import decode_chat
from abs_gate.wire.openai_messages import write_messages, write_tools

_JSON = {"content-type": "application/json"}


class CommandAgent:
    """Starts the command anew for every conversation."""

    def __init__(self, command: str, *, cwd: str, env: Mapping[str, str], timeout_s: float, redactor: Redactor) -> None:
        self._start: Callable[[], Child] = lambda: Child(command, cwd=cwd, env=env)
        self._timeout_s = timeout_s
        self._redactor = redactor
        self._lock = threading.Lock()
        self._running: set[CommandConnection] = set()

    def connect(self, session_key: str) -> CommandConnection:
        connection = CommandConnection(
            self._start(), timeout_s=self._timeout_s, redactor=self._redactor, closed=self._forget
        )
        with self._lock:
            self._running.add(connection)
        return connection

    def close(self) -> None:
        """End every process, those of conversations that were given up too."""
        with self._lock:
            running = tuple(self._running)
        for connection in running:
            connection.end()

    def _forget(self, connection: CommandConnection) -> None:
        with self._lock:
            self._running.discard(connection)


class CommandConnection:
    """One conversation with one child process."""

    def __init__(
        self, child: Child, *, timeout_s: float, redactor: Redactor, closed: Callable[[CommandConnection], None]
    ) -> None:
        self._child = child
        self._timeout_s = timeout_s
        self._redactor = redactor
        self._closed = closed

    def reply(self, request: AgentRequest) -> AgentTurn:
        timeout_s = self._timeout_s if request.deadline_s is None else min(self._timeout_s, request.deadline_s)
        line = json.dumps(
            {
                "messages": write_messages(request.messages),
                "tools": write_tools(request.tools),
                "turn_key": request.turn_key,
            },
            separators=(",", ":"),
        )
        try:
            answer = self._child.exchange(line.encode(), timeout_s=timeout_s)
            return settle(decode_chat(HttpResponse(status=200, headers=_JSON, body=answer)), request)
        except AgentUnavailable as error:
            redact = self._redactor.redact
            raise AgentUnavailable(redact(error.message), hint=redact(error.hint)) from None

    def end(self) -> None:
        """End the process and everything it started, from whatever thread; a turn under way fails."""
        self._child.end()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None, /
    ) -> None:
        self._child.close()
        self._closed(self)
