"""Replays the way GitHub's runner starts a container action: inputs, event file, file commands, a checkout.

The repository is real, made of the embedded example: `main` and a pull request's branch, checked out as
`actions/checkout` leaves it, at the test merge with its two parents.
"""

import json
import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
DEMO = ROOT / "abs_gate" / "cli" / "demo"
TOKEN = "ghs_fixture-token"


def git(repository: Path, *arguments: str) -> str:
    environment = {k: v for k, v in os.environ.items() if not k.startswith("GIT_")}
    environment |= {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    done = subprocess.run(
        ["git", "-c", "user.name=t", "-c", "user.email=t@t", "-C", str(repository), *arguments],
        capture_output=True,
        text=True,
        env=environment,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@dataclass
class Checkout:
    """The runner's workspace for one pull request."""

    workspace: Path
    origin: Path
    base_sha: str
    head_sha: str
    merge_sha: str
    port: int


def checkout(tmp_path: Path, pull_request: str, *, depth_one: bool = True) -> Checkout:
    """A workspace at the test merge of one of the example's pull requests, shallow as the runner has it."""
    origin, port = tmp_path / "octocat" / "hello", free_port()
    shutil.copytree(DEMO / "base", origin, ignore=shutil.ignore_patterns("__pycache__"))
    config = origin / "abs-gate.yaml"
    text = config.read_text().replace("8765", str(port)).replace("python agent.py", f'\\"{sys.executable}\\" agent.py')
    config.write_text(text)
    git(tmp_path, "init", "-q", "-b", "main", str(origin))
    git(origin, "add", "-A")
    git(origin, "commit", "-qm", "base")
    base_sha = git(origin, "rev-parse", "HEAD")
    git(origin, "switch", "-qc", "pr")
    shutil.copytree(DEMO / pull_request, origin, dirs_exist_ok=True)
    git(origin, "add", "-A")
    git(origin, "commit", "-qm", "change")
    head_sha = git(origin, "rev-parse", "HEAD")
    git(origin, "switch", "-q", "main")
    (origin / "OTHER.md").write_text("main went on")
    git(origin, "add", "-A")
    git(origin, "commit", "-qm", "main goes on")
    git(origin, "merge", "-q", "--no-ff", "-m", "test merge", "pr")
    merge_sha = git(origin, "rev-parse", "HEAD")
    git(origin, "update-ref", "refs/pull/2/merge", merge_sha)
    base_sha = git(origin, "rev-parse", "HEAD^1")
    git(origin, "reset", "-q", "--hard", base_sha)
    git(origin, "config", "uploadpack.allowAnySHA1InWant", "true")
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    git(workspace, "init", "-q")
    git(workspace, "remote", "add", "origin", f"file://{origin}")
    depth = ["--depth=1"] if depth_one else []
    git(workspace, "fetch", "-q", *depth, "--no-tags", "origin", "+refs/pull/2/merge:refs/remotes/pull/2/merge")
    git(workspace, "checkout", "-q", "--detach", "refs/remotes/pull/2/merge")
    return Checkout(workspace, origin, base_sha, head_sha, merge_sha, port)


@dataclass
class Step:
    """What the step left behind."""

    code: int
    log: str
    outputs: dict[str, str]
    summary: str
    workspace: Path


def run_action(
    place: Checkout,
    tmp_path: Path,
    *,
    api_url: str,
    inputs: dict[str, str] | None = None,
    payload: dict | None = None,
    event: str = "pull_request",
    run_id: int = 100,
    environ: dict[str, str] | None = None,
    timeout: float = 60,
    meanwhile: Callable[[subprocess.Popen, Path], None] = lambda process, log: None,
) -> Step:
    """Start the entrypoint as the runner does; `meanwhile` gets the process and the file of its log."""
    commands = tmp_path / f"commands-{run_id}"
    commands.mkdir()
    event_file = commands / "event.json"
    event_file.write_text(json.dumps(payload if payload is not None else pull_request_event(place)))
    (commands / "output").touch()
    (commands / "summary").touch()
    server = f"file://{place.origin.parent.parent}"
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(tmp_path),
        "CI": "true",
        "GITHUB_ACTIONS": "true",
        "GITHUB_API_URL": api_url,
        "GITHUB_SERVER_URL": server,
        "GITHUB_REPOSITORY": "octocat/hello",
        "GITHUB_EVENT_NAME": event,
        "GITHUB_EVENT_PATH": str(event_file),
        "GITHUB_WORKSPACE": str(place.workspace),
        "GITHUB_OUTPUT": str(commands / "output"),
        "GITHUB_STEP_SUMMARY": str(commands / "summary"),
        "GITHUB_SHA": place.merge_sha,
        "GITHUB_REF": "refs/pull/2/merge",
        "GITHUB_HEAD_REF": "pr",
        "GITHUB_BASE_REF": "main",
        "GITHUB_RUN_ID": str(run_id),
        "GITHUB_RUN_ATTEMPT": "1",
        "GITHUB_ACTOR": "octocat",
        "GITHUB_WORKFLOW": "gate",
        "GITHUB_JOB": "gate",
        "ACTIONS_RUNTIME_TOKEN": "runtime-token-never-to-be-passed-on",
        # Every input of action.yml is set, empty where the workflow does not give it.
        **{f"INPUT_{name.upper()}": "" for name in ("config", "agent-url", "agent-token", "sessions", "contracts")},
        "INPUT_GITHUB-TOKEN": TOKEN,
        "INPUT_WORKING-DIRECTORY": ".",
        "INPUT_ALLOW-COMMANDS": "false",
        **{f"INPUT_{name.upper()}": value for name, value in (inputs or {}).items()},
        **(environ or {}),
    }
    log = commands / "log"
    with log.open("wb") as written:
        process = subprocess.Popen(
            [sys.executable, "-I", "-u", "-X", "utf8", str(ROOT / "entrypoint")],
            cwd=place.workspace,
            env=environment,
            stdout=written,
            stderr=subprocess.STDOUT,
        )
    try:
        meanwhile(process, log)
        process.wait(timeout)
    finally:
        process.kill()
        process.wait()
    return Step(
        code=process.returncode,
        log=log.read_bytes().decode("utf-8", "replace"),
        outputs=read_outputs((commands / "output").read_text()),
        summary=(commands / "summary").read_text(),
        workspace=place.workspace,
    )


def pull_request_event(place: Checkout, **changes) -> dict:
    """The parts of a pull_request payload that matter, as GitHub names them."""
    repository = {"full_name": "octocat/hello", "default_branch": "main", "id": 1, "owner": {"login": "octocat"}}
    pull = {
        "number": 2,
        "draft": False,
        "labels": [],
        "user": {"login": "octocat"},
        "head": {"sha": place.head_sha, "ref": "pr", "repo": repository},
        "base": {"sha": place.base_sha, "ref": "main", "repo": repository},
    }
    return {"action": "synchronize", "number": 2, "pull_request": pull | changes, "repository": repository}


def read_outputs(text: str) -> dict[str, str]:
    """What the runner reads from GITHUB_OUTPUT: `name<<DELIMITER`, lines, `DELIMITER`."""
    outputs, lines = {}, iter(text.splitlines())
    for line in lines:
        name, _, delimiter = line.partition("<<")
        if not delimiter:
            name, _, value = line.partition("=")
            outputs[name] = value
            continue
        value = []
        for inner in lines:
            if inner == delimiter:
                break
            value.append(inner)
        outputs[name] = "\n".join(value)
    return outputs
