"""Writes down every exchange with an agent, secrets removed, so that the gate can decide again without it.

One file a conversation, one line an exchange: `{"version": 1, "session": ..., "hash": ..., "request": ...,
"reply": ...}`, or `"error": ...` where no answer could be had.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from types import TracebackType
from typing import IO, Self

from abs_gate.agents.exchanges import FORMAT_VERSION, canonical_hash, request_to_json, turn_to_json
from abs_gate.conversation import Agent, AgentRequest, AgentTurn, Connection
from abs_gate.errors import AgentUnavailable, ConfigurationError
from abs_gate.findings import Json
from abs_gate.sources.redaction import Redactor


def recording_name(session_key: str) -> str:
    """The file of one conversation."""
    return hashlib.sha256(session_key.encode("utf-8", "surrogatepass")).hexdigest()[:24] + ".jsonl"


class RecordingAgent:
    """Another agent, with every exchange written to a directory."""

    def __init__(self, agent: Agent, *, directory: Path, redactor: Redactor) -> None:
        self._agent = agent
        self._directory = directory
        self._redactor = redactor
        try:
            directory.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise ConfigurationError(f"Nothing can be recorded in {directory}: {error.strerror}.") from error

    def connect(self, session_key: str) -> RecordingConnection:
        path = self._directory / recording_name(session_key)
        connection = self._agent.connect(session_key)
        try:
            # A recording replaces an earlier one of the same conversation.
            file = path.open("w", encoding="utf-8")
        except OSError as error:
            raise ConfigurationError(f"Nothing can be recorded in {self._directory}: {error.strerror}.") from error
        return RecordingConnection(connection, session_key=session_key, file=file, redactor=self._redactor)


class RecordingConnection:
    """One conversation that is written down."""

    def __init__(self, connection: Connection, *, session_key: str, file: IO[str], redactor: Redactor) -> None:
        self._connection = connection
        self._session_key = session_key
        self._file = file
        self._redactor = redactor

    def reply(self, request: AgentRequest) -> AgentTurn:
        asked = self._redactor.redact_json(request_to_json(request))
        try:
            turn = self._connection.reply(request)
        except AgentUnavailable as error:
            self._write(asked, {"error": self._redactor.redact(str(error))})
            raise
        self._write(asked, {"reply": self._redactor.redact_json(turn_to_json(turn))})
        return turn

    def _write(self, asked: Json, outcome: dict[str, Json]) -> None:
        line = {
            "version": FORMAT_VERSION,
            "session": self._redactor.redact(self._session_key),
            "hash": canonical_hash(asked),
            "request": asked,
            **outcome,
        }
        self._file.write(json.dumps(line, separators=(",", ":")) + "\n")
        self._file.flush()

    def __enter__(self) -> Self:
        self._connection.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None, /
    ) -> None:
        self._file.close()
        self._connection.__exit__(kind, error, trace)
