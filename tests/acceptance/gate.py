"""Runs `abs-gate` as its own process, as a person does."""

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Done:
    """What a run left behind."""

    code: int
    out: str
    err: str

    @property
    def result(self):
        """The result document, for `--format json`."""
        return json.loads(self.out)

    @property
    def session(self):
        (session,) = self.result["sessions"]
        return session

    @property
    def reasons(self):
        """Every reason of every behavior and evaluation, one text."""
        found = []
        for session in self.result["sessions"]:
            for part in (*session["behaviors"], *session["evaluations"]):
                found += [reason["text"] if isinstance(reason, dict) else str(reason) for reason in part["reasons"]]
        return "\n".join(found)


def sessions(tmp_path: Path, *arguments, format: str | None = "json", environ=None, timeout=30) -> Done:
    """`abs-gate sessions` in a directory. Without a network beyond loopback, and without the caller's settings."""
    form = () if format is None else ("--format", format)
    return gate("sessions", *arguments, *form, cwd=tmp_path, environ=environ, timeout=timeout)


def gate(*arguments, cwd: Path, environ=None, timeout=30) -> Done:
    kept = {
        k: v for k, v in os.environ.items() if not k.startswith(("ABS_", "GITHUB_", "INPUT_")) and "_API_KEY" not in k
    }
    done = subprocess.run(
        [sys.executable, "-m", "abs_gate", *map(str, arguments)],
        capture_output=True,
        text=True,
        cwd=cwd,
        env={**kept, **(environ or {})},
        timeout=timeout,
        check=False,
    )
    assert "Traceback" not in done.stderr + done.stdout, done.stderr
    return Done(done.returncode, done.stdout, done.stderr)
