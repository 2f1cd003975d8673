"""Answers from a recording. A request gets what was answered to an equal one in the same conversation, in order."""

from __future__ import annotations

from collections import deque
from pathlib import Path
from types import TracebackType
from typing import Self

from abs_gate.agents.exchanges import FORMAT_VERSION, canonical_hash, request_to_json, turn_from_json
from abs_gate.agents.record import recording_name
from abs_gate.conversation import AgentRequest, AgentTurn
from abs_gate.errors import AgentUnavailable, ConfigurationError
from abs_gate.sources.redaction import Redactor
from abs_gate.wire.json_text import parse_json
from abs_gate.wire.unreadable import one_line
from abs_gate.wire.values import as_mapping, as_text

MAX_RECORDING_BYTES = 64 * 1024 * 1024
_AGAIN = "Record again with --record, from an agent that can be reached."


class ReplayAgent:
    """Stands in for the agent that a directory of recordings was made from."""

    def __init__(self, *, directory: Path, redactor: Redactor) -> None:
        if not directory.is_dir():
            raise ConfigurationError(f"There is no directory of recordings at {directory}.", hint=_AGAIN)
        self._directory = directory
        self._redactor = redactor

    def connect(self, session_key: str) -> ReplayConnection:
        return ReplayConnection(
            self._directory / recording_name(session_key), session_key=session_key, redactor=self._redactor
        )


class ReplayConnection:
    """One recorded conversation."""

    def __init__(self, path: Path, *, session_key: str, redactor: Redactor) -> None:
        self._path = path
        self._session_key = session_key
        self._redactor = redactor
        self._answers: dict[str, deque[AgentTurn | AgentUnavailable]] | None = None

    def reply(self, request: AgentRequest) -> AgentTurn:
        if self._answers is None:
            self._answers = self._load()
        asked = self._redactor.redact_json(request_to_json(request))
        waiting = self._answers.get(canonical_hash(asked))
        if not waiting:
            raise AgentUnavailable(
                f"There is no recording of this turn of {one_line(self._session_key, 100)}: {_last_said(request)}.",
                hint=f"The session or the tools offered changed since it was recorded. {_AGAIN}",
            )
        answer = waiting.popleft()
        if isinstance(answer, AgentUnavailable):
            raise answer
        return answer

    def _load(self) -> dict[str, deque[AgentTurn | AgentUnavailable]]:
        shown = one_line(self._session_key, 100)
        try:
            if self._path.stat().st_size > MAX_RECORDING_BYTES:
                raise AgentUnavailable(f"The recording of {shown} is larger than {MAX_RECORDING_BYTES:,} bytes.")
            lines = self._path.read_bytes().splitlines()
        except FileNotFoundError:
            raise AgentUnavailable(f"There is no recording of {shown}.", hint=_AGAIN) from None
        except OSError as error:
            raise AgentUnavailable(f"The recording of {shown} cannot be read: {error.strerror}.") from error
        answers: dict[str, deque[AgentTurn | AgentUnavailable]] = {}
        for number, line in enumerate(lines, start=1):
            try:
                entry = as_mapping(parse_json(line))
                if entry.get("version") != FORMAT_VERSION:
                    raise ValueError(f"its version is not {FORMAT_VERSION}")
                answer = (
                    AgentUnavailable(as_text(entry["error"]))
                    if "error" in entry
                    else turn_from_json(entry.get("reply"))
                )
            except ValueError as error:
                raise AgentUnavailable(f"{self._path.name}:{number}: this recording is damaged: {error}.") from None
            answers.setdefault(as_text(entry.get("hash")), deque()).append(answer)
        return answers

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None, /
    ) -> None:
        pass


def _last_said(request: AgentRequest) -> str:
    """What was asked, for the message: the last text, or the results given."""
    for message in reversed(request.messages):
        if message.results:
            return "the last message gave the result of " + one_line(", ".join(r.name for r in message.results), 80)
        if message.text:
            return f'the last message was "{one_line(message.text, 80)}"'
    return "there was no message yet"
