"""The ports use cases are handed. Adapters above `app` implement them; tests hand in their own."""

from __future__ import annotations

from typing import Protocol


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
