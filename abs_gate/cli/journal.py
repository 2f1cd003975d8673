"""The journal on disk: finished trials, a line each, so that a run that was cut off can go on."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from abs_gate.errors import ConfigurationError
from abs_gate.gate.journal import Resumed, header_line, note_line, read_journal
from abs_gate.gate.trial_note import TrialNote
from abs_gate.sources.redaction import Redactor

FILE_NAME = "journal.jsonl"


class NoJournal:
    """Of a run that writes nothing."""

    def replay(self) -> Iterator[TrialNote]:
        return iter(())

    def has(self, case_id: str, trial: int) -> bool:
        return False

    def append(self, note: TrialNote) -> None: ...


class DiskJournal:
    """One file, appended to, without secrets. What was half written when a run died counts as not written."""

    def __init__(self, path: Path, identity: str, *, resume: bool, redactor: Redactor) -> None:
        self._path = path
        self._identity = identity
        self._redactor = redactor
        self._resume = resume and path.exists()
        self._done = Resumed()
        self._file: BinaryIO | None = None

    def replay(self) -> Iterator[TrialNote]:
        if not self._resume:
            return
        with self._path.open("rb") as lines:
            if not lines.readline().endswith(b"\n"):
                # The run died before it had said what it is, so nothing is written whole.
                self._resume = False
                return
            lines.seek(0)
            for note in read_journal(lines, self._identity):
                if self._done.add(note):
                    yield note

    def has(self, case_id: str, trial: int) -> bool:
        return self._done.has(case_id, trial)

    def append(self, note: TrialNote) -> None:
        if self._file is None:
            self._file = self._open()
        shown: TrialNote = {
            **note,
            "variables": self._redactor.redact_json(note["variables"]),
            "behaviors": self._redactor.redact_json(note["behaviors"]),
            "evaluations": self._redactor.redact_json(note["evaluations"]),
            "forbidden": self._redactor.redact_json(note["forbidden"]),
            "record": self._redactor.redact_json(note["record"]),
        }
        self._file.write(note_line(shown).encode("utf-8", "surrogatepass"))
        self._file.flush()

    def _open(self) -> BinaryIO:
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            file: BinaryIO
            if not self._resume:
                file = self._path.open("wb")
                file.write(header_line(self._identity).encode())
                return file
            file = self._path.open("r+b")
            if not _ends_with_newline(file):
                file.write(b"\n")
            return file
        except OSError as problem:
            raise ConfigurationError(f"Cannot write the journal {self._path}: {problem.strerror}.") from problem


def _ends_with_newline(file: BinaryIO) -> bool:
    """Go to the end; a torn last line is closed so that the next one stands by itself."""
    if file.seek(0, 2) == 0:
        return True
    file.seek(-1, 2)
    return file.read(1) == b"\n"
