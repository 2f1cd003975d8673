"""A tool that is a command: one line of JSON for each call, one line that answers it.

The gate writes `{"tool": ..., "arguments": {...}, "key": ..., "context": {...}}` and reads `{"result": ...}` or
`{"error": {"code": ..., "message": ..., "retryable": ...}}`.
"""

from __future__ import annotations

import contextlib
import json
import queue
import threading
from collections.abc import Callable, Mapping

from abs_gate.drivers.envelopes import no_answer, read_value
from abs_gate.errors import AgentUnavailable
from abs_gate.findings import Json
from abs_gate.transport.children import Child
from abs_gate.verification.model import NO_CONTEXT, AnswerKind, ToolAnswer


class CommandTool:
    """Keeps its processes for the whole suite; one at a time unless the suite says that several may serve."""

    can_lose_answers = False

    def __init__(self, name: str, start: Callable[[], Child], *, timeout_s: float, concurrent: bool) -> None:
        self._name = name
        self._start = start
        self._timeout_s = timeout_s
        self.is_concurrent = concurrent
        self._lock = threading.Lock()
        self._idle: queue.SimpleQueue[Child] = queue.SimpleQueue()
        self._all: list[Child] = []

    def call(
        self, arguments: Mapping[str, Json], *, key: str | None = None, context: Mapping[str, Json] = NO_CONTEXT
    ) -> ToolAnswer:
        line = {"tool": self._name, "arguments": dict(arguments), "key": key, "context": dict(context)}
        with contextlib.nullcontext() if self.is_concurrent else self._lock:
            return self._exchange(json.dumps(line, separators=(",", ":")).encode())

    def call_and_lose(self, arguments: Mapping[str, Json], *, key: str | None = None) -> ToolAnswer:
        self.call(arguments, key=key)
        return no_answer("the answer was thrown away")

    def close(self) -> None:
        """End every process with what it started."""
        for child in self._all:
            child.close()

    def _exchange(self, line: bytes) -> ToolAnswer:
        try:
            child = self._idle.get_nowait()
        except queue.Empty:
            child = self._start()
            self._all.append(child)
        try:
            answer = child.exchange(line, timeout_s=self._timeout_s)
        except AgentUnavailable as problem:
            child.close()
            return no_answer(problem.message)
        self._idle.put(child)
        text = answer.decode("utf-8", "replace")
        try:
            return read_value(json.loads(text))
        except (ValueError, RecursionError):
            message = f"the line is no JSON: {text[:200]}"
            return ToolAnswer(kind=AnswerKind.PROTOCOL_ERROR, message=message, raw=text)
