"""Read-only looks at the system of record."""

from __future__ import annotations

import contextlib
import hashlib
import json
import sqlite3
from collections.abc import Callable, Mapping
from pathlib import Path

from abs_gate.errors import AgentUnavailable, CannotVerify
from abs_gate.findings import Json
from abs_gate.transport import Transport
from abs_gate.verification.model import AnswerKind, ToolDriver
from abs_gate.verification.script import resolve_pointer
from abs_gate.wire.base import HttpRequest

MOST_ROWS = 100_000
MOST_BYTES = 64 * 1024 * 1024
_TIMEOUT_S = 10.0
_READING = {
    sqlite3.SQLITE_SELECT,
    sqlite3.SQLITE_READ,
    sqlite3.SQLITE_FUNCTION,
    getattr(sqlite3, "SQLITE_RECURSIVE", 33),
}


class HttpProbe:
    """What a GET answers."""

    def __init__(self, options: Mapping[str, Json], transport: Transport, headers: Mapping[str, str]) -> None:
        self._options = options
        self._transport = transport
        self._headers = headers

    def read(self) -> Json:
        """Raises CannotVerify: no answer, or not a success."""
        request = HttpRequest(method="GET", url=self._options["url"], headers=self._headers)
        try:
            response = self._transport.send(
                request, timeout_s=float(self._options.get("timeout") or _TIMEOUT_S), retries=1
            )
        except AgentUnavailable as problem:
            raise CannotVerify(f"The probe got no answer: {problem.message}") from problem
        text = response.body.decode("utf-8", "replace")
        if not 200 <= response.status < 300:
            raise CannotVerify(f"The probe was answered with status {response.status}: {text[:100]}")
        try:
            value = json.loads(text)
        except (ValueError, RecursionError):
            value = text
        return resolve_pointer(value, self._options.get("at") or "")


class ToolProbe:
    """What a read-only MCP tool answers. `check` is asked once, before the first call."""

    def __init__(self, driver: ToolDriver, arguments: Mapping[str, Json], at: str, check: Callable[[], None]) -> None:
        self._driver, self._arguments, self._at = driver, arguments, at
        self._check: Callable[[], None] | None = check

    def read(self) -> Json:
        """Raises CannotVerify: the tool is not declared read-only, or did not succeed."""
        if self._check is not None:
            self._check()
            self._check = None
        answer = self._driver.call(self._arguments)
        if answer.kind is not AnswerKind.RESULT:
            raise CannotVerify(f"The probe's tool gave no result: {answer.message or answer.kind.value}")
        return resolve_pointer(answer.content, self._at)


class SqliteProbe:
    """Rows of a SELECT, on a connection that cannot write."""

    def __init__(self, file: Path, query: str) -> None:
        self._file = file
        self._query = query

    def read(self) -> Json:
        """Rows as objects. A file that is not there yet has none. Raises CannotVerify: the query fails."""
        if not self._file.exists():
            return []
        try:
            with contextlib.closing(
                sqlite3.connect(f"{self._file.resolve().as_uri()}?mode=ro", uri=True, timeout=5)
            ) as connection:
                connection.set_authorizer(
                    lambda action, *_: sqlite3.SQLITE_OK if action in _READING else sqlite3.SQLITE_DENY
                )
                cursor = connection.execute(self._query)
                names = [column[0] for column in cursor.description or ()]
                rows = cursor.fetchmany(MOST_ROWS)
        except sqlite3.Error as problem:
            raise CannotVerify(f"The probe's query on {self._file.name} failed: {problem}") from problem
        return [dict(zip(names, map(_plain, row), strict=True)) for row in rows]


class FileProbe:
    """A file's hash, text, lines or JSON. A file that is not there is null."""

    def __init__(self, path: Path, form: str, at: str) -> None:
        self._path, self._form, self._at = path, form, at

    def read(self) -> Json:
        """Raises CannotVerify: too large, or not what it is said to be."""
        try:
            with self._path.open("rb") as file:
                data = file.read(MOST_BYTES + 1)
        except FileNotFoundError:
            return [] if self._form == "lines" else None
        except OSError as problem:
            raise CannotVerify(f"The probe cannot read {self._path.name}: {problem.strerror}") from problem
        if len(data) > MOST_BYTES:
            raise CannotVerify(f"The probe's file {self._path.name} is larger than {MOST_BYTES // 2**20} MiB.")
        if self._form == "hash":
            return hashlib.sha256(data).hexdigest()
        text = data.decode("utf-8", "replace")
        if self._form == "lines":
            return [_line(line) for line in text.splitlines() if line.strip()]
        if self._form == "json":
            try:
                return resolve_pointer(json.loads(text), self._at)
            except (ValueError, RecursionError) as problem:
                raise CannotVerify(f"The probe's file {self._path.name} is no JSON.") from problem
        return text


def _line(line: str) -> Json:
    """A line of JSON Lines as its value, any other as text."""
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return line


def _plain(value: object) -> Json:
    return value.hex() if isinstance(value, bytes) else value
