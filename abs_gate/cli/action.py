"""The GitHub Action: inputs from the environment, then the same run as on the command line."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from abs_gate.errors import ConfigurationError

DEFAULT_REPORT_DIR = "abs-gate-report"


def main() -> int:
    """Run the action; gives its exit code."""
    from abs_gate.cli.main import guarded

    return guarded(_run, debug=os.environ.get("RUNNER_DEBUG") == "1")


def _run() -> int:
    from abs_gate.cli import signals
    from abs_gate.cli.gate import Request, run
    from abs_gate.cli.no_result import Given, tell_no_result
    from abs_gate.cli.wiring import read_context
    from abs_gate.github.log import WorkflowLog
    from abs_gate.settings.given import read_inputs

    signals.install()
    inputs = read_inputs(os.environ)
    event = None
    # Agents, contracts and exceptions all end up in the log: while we run, the runner takes nothing in it as a command.
    with WorkflowLog(sys.stdout) as log:
        try:
            event = read_context(os.environ)
            if directory := inputs.pop("working-directory", ""):
                _enter(directory)
            inputs.setdefault("report-dir", DEFAULT_REPORT_DIR)
            return run(Request(inputs=inputs, log=log))
        except Exception as fault:
            given = Given.by(inputs, is_untrusted=event is not None and bool(event.untrusted))
            tell_no_result(fault, environ=os.environ, given=given, event=event, log=log)
            raise


def _enter(directory: str) -> None:
    """Go to the input working-directory, which may not leave the workspace."""
    root = Path(os.path.realpath(os.environ.get("GITHUB_WORKSPACE", ".")))
    target = Path(os.path.realpath(root / directory))
    if not target.is_relative_to(root) or not target.is_dir():
        raise ConfigurationError(
            f"The input working-directory `{directory}` is not a directory inside the workspace.",
            hint="Give a path from the root of the repository.",
        )
    os.chdir(target)
