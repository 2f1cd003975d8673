"""The journal on disk: finished trials, a line each, so that a run that was cut off can go on."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from abs_gate.errors import ConfigurationError
from abs_gate.gate.journal import Resumed, header_line, note_line, read_journal
from abs_gate.gate.trial_note import TrialNote

FILE_NAME = "journal.jsonl"


class NoJournal:
    """Of a run that writes nothing."""

    def replay(self) -> Iterator[TrialNote]:
        return iter(())

    def has(self, case_id: str, trial: int) -> bool:
        return False

    def append(self, note: TrialNote) -> None: ...


class DiskJournal:
    """One file, appended to. What was half written when a run died is cut off before going on."""

    def __init__(self, path: Path, identity: str, *, resume: bool) -> None:
        self._path = path
        self._identity = identity
        self._resume = resume and path.exists()
        self._done = Resumed()
        self._file: BinaryIO | None = None

    def replay(self) -> Iterator[TrialNote]:
        if not self._resume:
            return
        with self._path.open("rb") as lines:
            for note in read_journal(lines, self._identity):
                if self._done.add(note):
                    yield note

    def has(self, case_id: str, trial: int) -> bool:
        return self._done.has(case_id, trial)

    def append(self, note: TrialNote) -> None:
        if self._file is None:
            self._file = self._open()
        self._file.write(note_line(note).encode("utf-8", "surrogatepass"))
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
