"""What is shown while a run goes on: a live line on a terminal, plain lines now and then elsewhere, or nothing."""

from __future__ import annotations

import os
import sys
import time

from abs_gate.cli import output
from abs_gate.reports.figures import count_of
from abs_gate.reports.untrusted import one_line
from abs_gate.sources.excerpt import cut_at_word

PLAIN_INTERVAL_S = 15.0
LIVE_INTERVAL_S = 0.1
LONGEST_REASON = 160
MOST_FAILURES = 20
"""Distinct failures told while a run goes on; the report has them all."""


class Silent:
    """Shows nothing."""

    def plan(self, trials: int) -> None: ...

    def trial_done(self, session: str, outcome: str, reason: str) -> None: ...

    def note(self, text: str) -> None: ...

    def close(self) -> None: ...


class Plain(Silent):
    """Lines for logs: the plan, failures as they come, and how far it is every few seconds."""

    def __init__(self) -> None:
        self._planned = self._done = self._failed = self._unverified = 0
        self._told: set[tuple[str, str, str]] = set()
        self._started = self._shown = time.monotonic()

    def plan(self, trials: int) -> None:
        self._planned = trials
        self._started = time.monotonic()
        self._say(f"Running {count_of(trials, 'trial')}.")

    def trial_done(self, session: str, outcome: str, reason: str) -> None:
        self._done += 1
        self._failed += outcome == "failed"
        self._unverified += outcome == "unverified"
        if outcome != "passed":
            self._tell((outcome, session, cut_at_word(one_line(reason, 1000), LONGEST_REASON)))
        self._tick()

    def _tell(self, failure: tuple[str, str, str]) -> None:
        """Say a failure as it comes: each once, and no more than a person reads."""
        if len(self._told) < MOST_FAILURES and failure not in self._told:
            self._told.add(failure)
            outcome, session, reason = failure
            self._say(f"{outcome}: {one_line(session)}: {reason}")

    def note(self, text: str) -> None:
        self._say(f"{text[:1].upper()}{text[1:]}.")

    def _tick(self) -> None:
        if time.monotonic() - self._shown >= PLAIN_INTERVAL_S:
            self._shown = time.monotonic()
            self._say(self._standing())

    def _standing(self) -> str:
        failed = f", {self._failed:,} failed" if self._failed else ""
        unverified = f", {self._unverified:,} not verified" if self._unverified else ""
        return f"{self._done:,} of {self._planned:,} trials{failed}{unverified}{self._remaining()}"

    def _remaining(self) -> str:
        spent = time.monotonic() - self._started
        if self._done < 3 or spent < 1 or self._done >= self._planned:
            return ""
        left = spent / self._done * (self._planned - self._done)
        return f", about {left / 60:.0f} min left" if left >= 90 else f", about {left:.0f} s left"

    def _say(self, text: str) -> None:
        output.error(text)


class Live(Plain):
    """One line that is drawn over, with failures above it."""

    def trial_done(self, session: str, outcome: str, reason: str) -> None:
        self._session = session
        super().trial_done(session, outcome, reason)

    def _tick(self) -> None:
        if time.monotonic() - self._shown >= LIVE_INTERVAL_S:
            self._shown = time.monotonic()
            line = f"{self._standing()}: {one_line(self._session)}"
            sys.stderr.write(f"\r\x1b[2K{line[: _columns() - 1]}")
            sys.stderr.flush()

    def _say(self, text: str) -> None:
        sys.stderr.write("\r\x1b[2K")
        output.error(text)

    def close(self) -> None:
        sys.stderr.write("\r\x1b[2K")
        sys.stderr.flush()


def _columns() -> int:
    try:
        return os.get_terminal_size(sys.stderr.fileno()).columns or 80
    except OSError:
        return 80


def choose_progress(*, quiet: bool) -> Silent:
    """Live on a terminal, plain elsewhere, silent when asked to be quiet."""
    if quiet:
        return Silent()
    return Live() if sys.stderr.isatty() else Plain()
