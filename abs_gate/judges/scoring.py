"""Judges of one's own: a Python function, or a command that reads a question and writes a judgement.

The question is `{"type": "llm_judge", "inputs": {...}}`. The answer is an object with `score` (0..1), `passed`,
or both, and perhaps `reason`; whether it can be believed is decided where judgements are read.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from abs_gate.errors import AgentUnavailable, JudgeUnavailable
from abs_gate.findings import Json
from abs_gate.sources.redaction import Redactor
from abs_gate.transport.callables import call_within
from abs_gate.transport.children import Child
from abs_gate.wire.json_text import parse_json
from abs_gate.wire.unreadable import one_line


class PythonJudge:
    """Calls `function(question)`. The function must be safe for threads."""

    def __init__(self, function: Callable[..., Any], *, shown: str, timeout_s: float, redactor: Redactor) -> None:
        self._function = function
        self._shown = shown
        self._timeout_s = timeout_s
        self._redactor = redactor

    def score(self, kind: str, inputs: Mapping[str, Json]) -> Json:
        question = {"type": kind, "inputs": dict(inputs)}
        try:
            value = call_within(self._function, question, seconds=self._timeout_s, shown=self._shown)
            return parse_json(json.dumps(value))
        except AgentUnavailable as error:
            raise JudgeUnavailable(self._redactor.redact(f"The judge failed: {error.message}")) from None
        except (TypeError, ValueError, RecursionError) as error:
            raise JudgeUnavailable(f"The judge {self._shown} returned something that is not JSON: {error}.") from None


class CommandJudge:
    """Runs the command once a question: JSON on standard input, JSON on standard output."""

    def __init__(self, command: str, *, cwd: str, env: Mapping[str, str], timeout_s: float, redactor: Redactor) -> None:
        self._command = command
        self._cwd = cwd
        self._env = env
        self._timeout_s = timeout_s
        self._redactor = redactor

    def score(self, kind: str, inputs: Mapping[str, Json]) -> Json:
        question = json.dumps({"type": kind, "inputs": dict(inputs)}).encode()
        child = Child(self._command, cwd=self._cwd, env=self._env)
        try:
            output = child.run(question + b"\n", timeout_s=self._timeout_s)
        except AgentUnavailable as error:
            raise JudgeUnavailable(self._redactor.redact(f"The judge failed: {error.message}")) from None
        finally:
            child.close()
        try:
            return parse_json(output)
        except ValueError as error:
            said = self._redactor.redact(one_line(output.decode("utf-8", "replace"), 100))
            raise JudgeUnavailable(
                f"The judge {child.shown} answered something unreadable: {error} ({said})."
            ) from None
