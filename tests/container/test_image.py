"""The image, built and started for real the way a runner does it."""

import json
import os
import re
import threading
import time
from pathlib import Path

import pytest

from abs_gate import __version__

from .checkout import BROKEN, CONTRACT, SESSION, owned_by_others, pull_request
from .engine import BASE, podman

pytestmark = pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="the engine needs root here")


def test_arguments_go_to_the_command(image):
    for arguments in (("abs-gate", "--version"), ("--version",)):
        done = podman("run", "--rm", "--network", "none", image, *arguments)
        assert done.stdout.strip() == f"abs-gate {__version__}"
    done = podman("run", "--rm", "--network", "none", image, "abs-gate", "--help")
    assert (done.returncode, done.stderr) == (0, "")
    assert "Usage: abs-gate" in done.stdout


def test_the_command_is_on_the_path_for_jobs_that_use_a_shell(image):
    done = podman(
        "run", "--rm", "--network", "none", "--entrypoint", "sh", image, "-c", "abs-gate --version && git --version"
    )
    assert done.returncode == 0
    assert f"abs-gate {__version__}\ngit version" in done.stdout


def test_no_compiler_and_no_leftovers(image):
    leftovers = "/build /var/lib/apt/lists /root/.cache -type f"
    script = f"command -v cc gcc make; find {leftovers} 2>/dev/null; find /opt /root /tmp -name '*.whl'"
    done = podman("run", "--rm", "--network", "none", "--entrypoint", "sh", image, "-c", script)
    assert done.stdout.split() == []


def test_size_over_the_base(image):
    sizes = [int(podman("image", "inspect", "--format", "{{.Size}}", name).stdout) for name in (image, BASE)]
    assert sizes[0] - sizes[1] < 120_000_000


def test_it_starts_fast(image):
    times = []
    for _ in range(3):
        started = time.monotonic()
        podman("run", "--rm", "--network", "none", image, "--version")
        times.append(time.monotonic() - started)
    assert min(times) < 3


def test_a_pull_request_that_breaks_a_contract(step):
    base = pull_request(step, BROKEN)
    done = step.run()
    assert done.returncode == 1, done.stdout + done.stderr
    outputs = step.file("output")
    assert re.search(r"verdict<<(\S+)\nfailed\n\1\n", outputs)
    assert re.search(r"exit-code<<(\S+)\n1\n\1\n", outputs)
    assert "issue_refund" in step.file("summary")
    assert base[:7] in step.file("summary")
    assert "::error title=" in done.stdout
    assert done.stdout.index("::stop-commands::") < done.stdout.index("::error title=")
    assert (step.workspace / "abs-gate-report" / "result.json").is_file()
    assert (step.file("env"), step.file("path"), step.file("state")) == ("", "", "")


def test_a_pull_request_that_changes_nothing(step):
    pull_request(step, CONTRACT)
    done = step.run()
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"verdict<<(\S+)\npassed\n\1\n", step.file("output"))


def test_nothing_of_root_is_left_in_the_workspace(step):
    pull_request(step, BROKEN)
    step.run()
    assert owned_by_others(step.workspace) == []


def test_inputs_with_dashes_arrive(step):
    pull_request(step, BROKEN)
    step.inputs = {"report-dir": "elsewhere/reports", "junit-file": "unit.xml"}
    done = step.run()
    assert (step.workspace / "elsewhere" / "reports" / "unit.xml").is_file(), done.stdout + done.stderr
    assert re.search(r"junit-file<<(\S+)\nelsewhere/reports/unit\.xml\n\1\n", step.file("output"))
    assert owned_by_others(step.workspace) == []


def test_a_base_that_cannot_be_read_is_not_no_changes(step):
    pull_request(step, CONTRACT, depth=1)
    done = step.run()
    assert done.returncode == 3, done.stdout + done.stderr
    assert "fetch-depth: 0" in done.stdout + done.stderr + step.file("summary")


def test_the_workspace_is_never_imported(step):
    pull_request(step, CONTRACT)
    for name in ("click", "yaml", "requests", "json", "abs_gate", "sitecustomize", "usercustomize"):
        (step.workspace / f"{name}.py").write_text("open('/github/workspace/mark', 'w')\nraise SystemExit(0)\n")
    step.environ |= {"PYTHONPATH": "/github/workspace", "PYTHONSTARTUP": "/github/workspace/json.py"}
    done = step.run()
    assert not (step.workspace / "mark").exists()
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"verdict<<", step.file("output"))


def test_commands_of_the_repository_do_not_run(step):
    pull_request(step, CONTRACT)
    settings = step.workspace / "abs-gate.yaml"
    agent = "agent: {url: 'http://127.0.0.1:1', start: {command: 'touch /github/workspace/mark'}}\n"
    sessions = "sessions: {paths: [s.abs.yaml]}\n"
    settings.write_text(settings.read_text() + agent + sessions)
    (step.workspace / "s.abs.yaml").write_text(SESSION)
    step.inputs = {"allow-commands": "false"}
    done = step.run()
    assert done.returncode == 2, done.stdout + done.stderr
    assert "allow-commands" in done.stdout + done.stderr
    assert not (step.workspace / "mark").exists()


def test_a_configuration_error_is_an_annotation_and_no_traceback(step):
    pull_request(step, CONTRACT)
    (step.workspace / "abs-gate.yaml").write_text("version: 1\ncontarcts: {paths: [contracts/]}\n")
    done = step.run()
    assert done.returncode == 2
    assert "abs-gate.yaml:2:1" in done.stdout + done.stderr
    assert "Traceback" not in done.stdout + done.stderr


def test_pull_request_target_is_refused(step):
    pull_request(step, CONTRACT)
    step.environ["GITHUB_EVENT_NAME"] = "pull_request_target"
    done = step.run()
    assert done.returncode == 2
    assert "pull_request_target" in done.stdout + done.stderr


SILENT_AGENT = """
import pathlib, socket
server = socket.create_server(("127.0.0.1", 8080))
pathlib.Path("/shared/listening").touch()
kept = []
while True:
    kept.append(server.accept())
    pathlib.Path("/shared/asked").touch()
"""


@pytest.fixture
def silent_agent(step, tmp_path):
    """An agent that takes the request and never answers, in the network that the step then shares."""
    shared = tmp_path / "shared"
    shared.mkdir()
    (shared / "agent.py").write_text(SILENT_AGENT)
    name = f"{step.name}-agent"
    entry = ["--entrypoint", "python3", "-v", f"{shared}:/shared"]
    podman("run", "--detach", "--rm", "--name", name, "--network", "none", *entry, step.image, "/shared/agent.py")
    step.network = f"container:{name}"
    try:
        _wait_for(shared / "listening")
        yield shared / "asked"
    finally:
        podman("rm", "--force", "--time", "0", name)


@pytest.mark.parametrize(("signal", "code"), [("INT", 130), ("TERM", 143)])
def test_cancelling_ends_it_with_a_report(step, silent_agent, signal, code):
    """The runner's cancel is SIGINT, 7.5 s, SIGTERM, 2.5 s, and then no more chance to say anything."""
    pull_request(step, CONTRACT)
    (step.workspace / "s.abs.yaml").write_text(SESSION)
    step.inputs = {"agent-url": "http://127.0.0.1:8080/chat", "sessions": "s.abs.yaml"}
    results = []
    thread = threading.Thread(target=lambda: results.append(step.run()))
    thread.start()
    try:
        _wait_for(silent_agent)
        cancelled = time.monotonic()
        podman("kill", "--signal", signal, step.name)
        thread.join(20)
        assert results, "it did not end"
        assert time.monotonic() - cancelled < 7
        assert results[0].returncode == code, results[0].stdout + results[0].stderr
        report = json.loads((step.workspace / "abs-gate-report" / "result.json").read_text())
        assert report["verdict"] == "cancelled"
    finally:
        podman("rm", "--force", "--time", "0", step.name)
        thread.join(20)


def _wait_for(path, seconds=20):
    end = time.monotonic() + seconds
    while not path.exists():
        assert time.monotonic() < end, f"{path.name} did not happen"
        time.sleep(0.05)


def test_files_the_image_needs_are_the_only_ones_in_its_context():
    ignored = (Path(__file__).parents[2] / ".dockerignore").read_text().splitlines()
    rules = [line for line in ignored if line and not line.startswith("#")]
    assert rules[0] == "*"
    assert not any(".git" in rule or "tests" in rule for rule in rules)
