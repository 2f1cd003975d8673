"""The ports use cases are handed. Adapters above `app` implement them; tests hand in their own."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

from abs_gate.gate.trial_note import TrialNote


class Clock(Protocol):
    """Time as an argument."""

    def monotonic(self) -> float: ...

    def now(self) -> str:
        """RFC 3339 UTC."""
        ...

    def today(self) -> str:
        """ISO date, UTC."""
        ...


class Progress(Protocol):
    """Told what happens while it happens. Implementations write to standard error."""

    def plan(self, trials: int) -> None: ...

    def trial_done(self, session: str, outcome: str, reason: str) -> None: ...

    def note(self, text: str) -> None: ...

    def close(self) -> None: ...


class Journal(Protocol):
    """Where finished trials are written as they finish, so that an interrupted run can go on."""

    def replay(self) -> Iterator[TrialNote]:
        """The trials that an earlier run finished; to be asked once, before `has`."""
        ...

    def has(self, case_id: str, trial: int) -> bool:
        """Whether a trial was replayed."""
        ...

    def append(self, note: TrialNote) -> None:
        """Keep a finished trial."""
        ...
