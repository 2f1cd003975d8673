"""Builds the image and starts it as GitHub's runner does. Skips where that cannot be done."""

import os
import shutil
import subprocess
import uuid
from dataclasses import dataclass, field
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
BASE = "docker.io/library/python:3.12-slim-bookworm"
CERTIFICATES = Path("/etc/ssl/certs/ca-certificates.crt")
MOUNTS = {
    "_temp": "/github/runner_temp",
    "_home": "/github/home",
    "_workflow": "/github/workflow",
    "_files": "/github/file_commands",
}


def podman(*arguments, timeout=90, **options) -> subprocess.CompletedProcess:
    environ = {"CONTAINERS_CONF": str(Path(__file__).with_name("containers.conf")), **os.environ}
    return subprocess.run(
        ["podman", *map(str, arguments)],
        env=environ,
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
        **options,
    )


def build() -> str:
    """The image's name. Skips without podman, or without the base and a registry to get it from."""
    if not shutil.which("podman"):
        pytest.skip("podman is not installed")
    if podman("image", "exists", BASE).returncode != 0:
        pytest.skip(f"{BASE} is not here; pull it, or run tests/container/make_base.sh")
    name = "localhost/abs-gate-test:latest"
    options = ["--isolation", "chroot", "--network", "host", "--pull-never"]
    if CERTIFICATES.exists():
        options += ["--volume", f"{CERTIFICATES}:{CERTIFICATES}:ro"]
    try:
        done = podman("build", *options, "--tag", name, ROOT, timeout=110)
    except subprocess.TimeoutExpired:
        pytest.skip("the image did not build within 110 s")
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return name


@dataclass
class Step:
    """One step of a job that uses the action: what the runner mounts and passes, and what came of it."""

    image: str
    place: Path
    workspace: Path
    inputs: dict[str, str] = field(default_factory=dict)
    environ: dict[str, str] = field(default_factory=dict)
    event: str = "{}"
    network: str = "none"
    name: str = field(default_factory=lambda: f"abs-gate-{uuid.uuid4().hex[:12]}")

    def command(self) -> list[str]:
        for directory in MOUNTS:
            (self.place / directory).mkdir(exist_ok=True)
        (self.place / "_workflow" / "event.json").write_text(self.event)
        for file in ("output", "summary", "env", "path", "state"):
            (self.place / "_files" / file).touch()
        given = {
            "HOME": "/github/home",
            "CI": "true",
            "GITHUB_ACTIONS": "true",
            "GITHUB_WORKSPACE": "/github/workspace",
            "GITHUB_EVENT_PATH": "/github/workflow/event.json",
            "GITHUB_OUTPUT": "/github/file_commands/output",
            "GITHUB_STEP_SUMMARY": "/github/file_commands/summary",
            "GITHUB_ENV": "/github/file_commands/env",
            "GITHUB_PATH": "/github/file_commands/path",
            "GITHUB_STATE": "/github/file_commands/state",
            "GITHUB_REPOSITORY": "octo/repo",
            "GITHUB_RUN_ID": "10",
            "GITHUB_RUN_ATTEMPT": "1",
            "GITHUB_API_URL": "http://127.0.0.1:9",
            "GITHUB_SERVER_URL": "http://127.0.0.1:9",
            "RUNNER_TEMP": "/github/runner_temp",
            **{f"INPUT_{name.upper()}": value for name, value in self.inputs.items()},
            **self.environ,
        }
        command = ["run", "--name", self.name, "--workdir", "/github/workspace", "--rm", "--network", self.network]
        for variable, value in given.items():
            command += ["-e", f"{variable}={value}"]
        for directory, inside in MOUNTS.items():
            command += ["-v", f"{self.place / directory}:{inside}"]
        return [*command, "-v", f"{self.workspace}:/github/workspace", self.image]

    def run(self, timeout=90) -> subprocess.CompletedProcess:
        return podman(*self.command(), timeout=timeout)

    def file(self, name: str) -> str:
        return (self.place / "_files" / name).read_text()
