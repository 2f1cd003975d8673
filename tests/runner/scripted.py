"""An agent that says what it was told to say, and sessions to play with it, all in this process."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Self

from abs_gate.conversation import AgentRequest, AgentTurn, Message, Role, ToolCall, ToolResult, Usage
from abs_gate.documents.load import LoadOptions, load_sessions
from abs_gate.documents.model import Case, Session
from abs_gate.errors import AgentUnavailable
from abs_gate.evaluators import evaluator_shapes
from abs_gate.runner.loop import run_trial
from abs_gate.runner.options import RunOptions
from abs_gate.runner.result import TrialResult

Reply = Mapping[str, Any]
"""`{text, calls: [{name, arguments}]}`, `{messages: [...]}` for several, `{unavailable: why}` for none."""


class OneFile:
    """A workspace with a single session file in it."""

    def __init__(self, text: str) -> None:
        self._data = text.encode()

    def read_bytes(self, path: str, *, limit: int = 0) -> bytes:
        return self._data

    def is_file(self, path: str) -> bool:
        return path == "session.abs.yaml"

    def is_directory(self, path: str) -> bool:
        return False

    def list_files(self, path: str) -> tuple[str, ...]:
        return ("session.abs.yaml",)


def load(text: str, actions: Mapping[str, str] | None = None) -> Session:
    """The one session of a document; `abs_version` is put in where it is missing."""
    if "abs_version" not in text:
        text = f'abs_version: "0.2"\n{text}'
    if "\nsession:" not in f"\n{text}":
        text = f"session: s\n{text}"
    options = LoadOptions(evaluators=evaluator_shapes(), actions=actions or {})
    (session,) = load_sessions(OneFile(text), ["session.abs.yaml"], options).sessions  # type: ignore[arg-type]
    return session


def case(session: Session | str, row: Mapping[str, Any] | None = None) -> Case:
    """A case of a session, with a row of its data set or none."""
    loaded = load(session) if isinstance(session, str) else session
    return Case(session=loaded, row=None if row is None else 0, values=row or {}, id="case")


class ScriptedAgent:
    """Gives one scripted reply a request, in order; running out of them is an error. Keeps every request."""

    def __init__(self, replies: Sequence[Reply] | Callable[[AgentRequest], Reply]) -> None:
        self._replies = replies
        self.requests: list[AgentRequest] = []

    def connect(self, session_key: str) -> Self:
        return self

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        return None

    def reply(self, request: AgentRequest) -> AgentTurn:
        self.requests.append(request)
        if callable(self._replies):
            return turn_of(self._replies(request))
        if len(self.requests) > len(self._replies):
            raise AssertionError(f"the script has {len(self._replies)} replies, and one more was asked for")
        return turn_of(self._replies[len(self.requests) - 1])


def turn_of(reply: Reply) -> AgentTurn:
    """A scripted reply as the neutral conversation has it."""
    if "unavailable" in reply:
        raise AgentUnavailable(reply["unavailable"])
    messages = tuple(message_of(entry) for entry in reply.get("messages", [reply]))
    return AgentTurn(messages=messages, usage=Usage(input_tokens=1, output_tokens=2), model="scripted")


def message_of(entry: Reply) -> Message:
    """One message of a script. `role` is assistant when left out; a `result` makes it a tool message."""
    if "result" in entry:
        content = entry["result"]
        result = ToolResult(call_id=entry.get("id", "call_1"), name=entry.get("name", ""), content=content)
        return Message(role=Role.TOOL, results=(result,))
    calls = tuple(_call(call, number) for number, call in enumerate(entry.get("calls", ()), start=1))
    return Message(
        role=Role(entry.get("role", "assistant")),
        text=entry.get("text"),
        calls=calls,
        refusal=entry.get("refusal", False),
        truncated=entry.get("truncated", False),
    )


def _call(call: Mapping[str, Any], number: int) -> ToolCall:
    raw = call["raw"] if "raw" in call else json.dumps(call.get("arguments", {}))
    try:
        arguments = json.loads(raw)
    except ValueError:
        arguments = None
    return ToolCall(
        id=call.get("id", f"call_{number}"),
        name=call["name"],
        arguments=arguments if isinstance(arguments, dict) else None,
        raw_arguments=raw,
    )


def play(
    session: Session | str,
    replies: Sequence[Reply] | Callable[[AgentRequest], Reply],
    row: Mapping[str, Any] | None = None,
    **options: Any,
) -> tuple[TrialResult, list[AgentRequest]]:
    """Run one trial. Returns its result and the requests the agent saw."""
    agent = ScriptedAgent(replies)
    result = run_trial(case(session, row), agent, RunOptions(**options))
    return result, agent.requests


def outcomes(result: TrialResult) -> list[str]:
    """The outcome of each behavior, in order."""
    return [str(behavior.outcome) for behavior in result.behaviors]
