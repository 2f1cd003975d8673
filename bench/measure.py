"""How things are measured: real processes, the best of several rounds, ratios in one run."""

from __future__ import annotations

import contextlib
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path


def seconds(command: Sequence[str], *, rounds: int = 5, cwd: Path | None = None, ok: Sequence[int] = (0,)) -> float:
    """The best wall time of a command over some rounds."""
    return min(_once(command, cwd, ok)[0] for _ in range(rounds))


def seconds_and_peak(command: Sequence[str], *, cwd: Path | None = None, ok: Sequence[int] = (0,)) -> tuple[float, int]:
    """Wall time and peak resident memory (bytes) of one run, by GNU time's way: wait4."""
    return _once(command, cwd, ok)


def _once(command: Sequence[str], cwd: Path | None, ok: Sequence[int]) -> tuple[float, int]:
    started = time.perf_counter()
    process = subprocess.Popen(command, cwd=cwd, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    assert process.stderr
    errors = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    took = time.perf_counter() - started
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in ok:
        raise SystemExit(f"{command} ended with {process.returncode}:\n{errors.decode()[-2000:]}")
    return took, usage.ru_maxrss * 1024


@contextlib.contextmanager
def agent(*, latency: float = 0) -> Iterator[str]:
    """The bench agent as a process of its own; gives its URL."""
    script = Path(__file__).with_name("agent.py")
    process = subprocess.Popen(
        [sys.executable, str(script), "--latency", str(latency)], stdout=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout
        port = process.stdout.readline().strip()
        assert re.fullmatch(r"\d+", port)
        yield f"http://127.0.0.1:{port}/chat"
    finally:
        process.terminate()
        process.wait()


class Table:
    """Collects rows `what, measured, goal, ok` and prints them as a Markdown table."""

    def __init__(self) -> None:
        self.rows: list[tuple[str, str, str, bool | None]] = []

    def add(self, what: str, measured: str, goal: str = "", kept: bool | None = None) -> None:
        self.rows.append((what, measured, goal, kept))
        print(f"  {what}: {measured}" + (f" (goal {goal})" if goal else ""), file=sys.stderr, flush=True)

    def markdown(self) -> str:
        lines = ["| what | measured | goal | kept |", "|---|---|---|---|"]
        for what, measured, goal, kept in self.rows:
            lines.append(f"| {what} | {measured} | {goal} | {'' if kept is None else 'yes' if kept else 'no'} |")
        return "\n".join(lines)
