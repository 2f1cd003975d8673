"""An agent that is a Python function: `function(messages, tools)` gives a text, a message, or a list of messages.

Messages and tools have the shape of Chat Completions; so has what comes back, in any form that
`agent.format: openai` reads. A coroutine function is awaited.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from abs_gate.agents.stateless import StatelessConnection
from abs_gate.agents.turns import settle
from abs_gate.conversation import AgentRequest, AgentTurn
from abs_gate.errors import AgentUnavailable
from abs_gate.sources.redaction import Redactor
from abs_gate.transport.callables import call_within
from abs_gate.wire.json_text import parse_json
from abs_gate.wire.openai import read_answer
from abs_gate.wire.openai_messages import write_messages, write_tools


class PythonAgent:
    """Calls a function of this process for every turn. It must be safe for threads."""

    def __init__(self, function: Callable[..., Any], *, shown: str, timeout_s: float, redactor: Redactor) -> None:
        self._function = function
        self._shown = shown
        self._timeout_s = timeout_s
        self._redactor = redactor

    def connect(self, session_key: str) -> StatelessConnection:
        return StatelessConnection(self.ask)

    def ask(self, request: AgentRequest) -> AgentTurn:
        """One turn. Raises AgentUnavailable, its message free of secrets."""
        seconds = self._timeout_s if request.deadline_s is None else min(self._timeout_s, request.deadline_s)
        try:
            value = call_within(
                self._function,
                write_messages(request.messages),
                write_tools(request.tools),
                seconds=seconds,
                shown=self._shown,
            )
            return settle(read_answer(self._as_json(value)), request)
        except AgentUnavailable as error:
            redact = self._redactor.redact
            raise AgentUnavailable(redact(error.message), hint=redact(error.hint)) from None

    def _as_json(self, value: Any) -> Any:
        """What was returned as plain JSON values: its own copy, without anything JSON does not have."""
        try:
            return parse_json(json.dumps(value))
        except (TypeError, ValueError, RecursionError) as error:
            raise AgentUnavailable(f"{self._shown} returned something that is not JSON: {error}.") from None
