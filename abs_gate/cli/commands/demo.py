"""`abs-gate demo`: one good and one bad pull request, played against the embedded refund agent."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import tempfile
from importlib import resources
from pathlib import Path

import click

from abs_gate.cli import output
from abs_gate.cli.options import common
from abs_gate.errors import ConfigurationError

EXAMPLE = "abs_gate.cli.demo"
PORT_IN_EXAMPLE = "8765"
AUTHOR = ["-c", "user.name=abs-gate demo", "-c", "user.email=demo@localhost", "-c", "commit.gpgsign=false"]
STORIES = {
    "good": (
        "A good pull request: get_order learns an optional argument, nothing else changes.",
        0,
    ),
    "bad": (
        "A bad pull request: issue_refund requires a reason, its approval drops from always to never,\n"
        "and a new prompt lets the agent claim refunds that it does not make.",
        1,
    ),
}
"""Pull request to what it changes and the exit code that a trustworthy gate gives it."""


@click.command()
@click.option(
    "--dir",
    "directory",
    type=click.Path(file_okay=False),
    help="Where to put the repository and the reports. Must not exist yet. Default: a new temporary directory.",
)
@common
def command(directory: str | None, quiet: bool, no_color: bool, debug: bool) -> int:
    """Play one good and one bad pull request against the embedded agent.

    Uses no network but loopback, and no key.
    """
    home = _new_directory(directory)
    repository = home / "repository"
    _make_repository(repository, port=_free_port())
    wrong = []
    for name, (story, expected) in STORIES.items():
        output.data(f"\n── {story}\n")
        code, comment = _play(repository, name, home / name)
        output.data(comment)
        output.data(f"Exit code {code}. Reports: {home / name}")
        if code != expected:
            wrong.append(f"the {name} pull request ended with exit code {code} instead of {expected}")
    if wrong:
        output.error(f"The demo did not go as it should: {'; '.join(wrong)}.")
        return 1
    output.data(
        "\nThe gate let the good pull request through and blocked the bad one.\n"
        f"Open {home / 'bad' / 'report.html'} in a browser to see why; the repository is {repository}."
    )
    return 0


def _new_directory(directory: str | None) -> Path:
    if directory is None:
        return Path(tempfile.mkdtemp(prefix="abs-gate-demo-"))
    path = Path(directory).resolve()
    try:
        path.mkdir(parents=True)
    except FileExistsError:
        raise ConfigurationError(f"{path} exists already.", hint="Name a directory that does not exist.") from None
    return path


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _make_repository(repository: Path, *, port: int) -> None:
    """Base on `main`, and a branch for each pull request."""
    _overlay("base", repository)
    configuration = repository / "abs-gate.yaml"
    text = configuration.read_text(encoding="utf-8").replace(PORT_IN_EXAMPLE, str(port))
    configuration.write_text(text.replace("python agent.py", f'\\"{sys.executable}\\" agent.py'), encoding="utf-8")
    (repository / ".gitignore").write_text("abs-gate-report/\n__pycache__/\n", encoding="utf-8")
    _git(repository, "init", "--quiet", "--initial-branch=main")
    _commit(repository, "The refund agent")
    for name in STORIES:
        _git(repository, "switch", "--quiet", "--create", name, "main")
        _overlay(name, repository)
        _commit(repository, STORIES[name][0].splitlines()[0])


def _overlay(name: str, repository: Path) -> None:
    with resources.as_file(resources.files(EXAMPLE) / name) as files:
        shutil.copytree(files, repository, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__"))


def _commit(repository: Path, message: str) -> None:
    _git(repository, "add", "--all")
    _git(repository, *AUTHOR, "commit", "--quiet", "-m", message)


def _git(repository: Path, *arguments: str) -> None:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    try:
        done = subprocess.run(
            ["git", "-C", str(repository), *arguments],
            capture_output=True,
            text=True,
            env=environment | {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"},
            check=False,
        )
    except FileNotFoundError:
        raise ConfigurationError("The demo needs git, and there is none.", hint="Install git.") from None
    if done.returncode:
        raise ConfigurationError(f"git {arguments[0]} failed: {done.stderr.strip()[:300]}")


def _play(repository: Path, branch: str, reports: Path) -> tuple[int, str]:
    """Check the branch out and run the gate on it as a user would; give its exit code and the comment it would post."""
    _git(repository, "switch", "--quiet", branch)
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("GITHUB_", "INPUT_"))}
    done = subprocess.run(
        [sys.executable, "-m", "abs_gate", "run", "--base", "main", "--report-dir", str(reports), "--quiet"],
        cwd=repository,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    result = reports / "result.json"
    if not result.is_file():
        return done.returncode, done.stdout + done.stderr
    from abs_gate.gate.load import load_result
    from abs_gate.reports.comment import render_comment

    return done.returncode, render_comment(load_result(result.read_text(encoding="utf-8")))
