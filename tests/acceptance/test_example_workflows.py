"""The workflows that people copy, their steps replayed: the action as the runner starts it, scripts in bash."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from tests.acceptance.processes import CountingAgent
from tests.acceptance.repositories import BROKEN_CONTRACT, FILES, checkout_of
from tests.acceptance.runner import ROOT, TOKEN, pull_request_event, read_outputs, run_action
from tests.github.fake_api import FakeGitHub

EXAMPLES = ROOT / "examples" / "workflows"
INSTALLED = "pip install abs-gate"


@pytest.fixture
def github():
    with FakeGitHub() as fake:
        yield fake
        assert fake.complaints == []


@pytest.fixture
def agent():
    with CountingAgent() as agent:
        yield agent


def steps_of(name: str, job: str):
    return yaml.safe_load((EXAMPLES / name).read_text())["jobs"][job]["steps"]


def filled_in(value, **matrix: str) -> str:
    """An expression as GitHub would fill it in, for those that the examples use."""
    known = {"github.token": TOKEN, "secrets.STAGING_AGENT_TOKEN": "staging-token", **matrix}
    return re.sub(r"\$\{\{ ?(.+?) ?\}\}", lambda found: known[found[1]], str(value))


def inputs_of(steps, address: str, **matrix: str) -> dict[str, str]:
    [step] = [step for step in steps if step.get("uses", "").startswith("abs-gate/")]
    return {
        name: address if name == "agent-url" else filled_in(value, **matrix)
        for name, value in step.get("with", {}).items()
    }


def run_scripts(steps, place: Path, environ: dict[str, str]) -> subprocess.CompletedProcess[str]:
    """The job's scripts but for the install, one after the other; the last is returned."""
    bin_directory = str(Path(sys.executable).parent)
    for step in steps:
        if "run" in step and not step["run"].startswith(INSTALLED):
            given = {name: environ.get(name) or filled_in(value) for name, value in step.get("env", {}).items()}
            kept = {"PATH": f"{bin_directory}:{os.environ['PATH']}", "HOME": str(place)}
            done = subprocess.run(
                ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]],
                cwd=place,
                env=kept | environ | given,
                capture_output=True,
                text=True,
                timeout=60,
                check=False,
            )
            if done.returncode:
                return done
    return done


def workflow_environ(tmp_path: Path, place: Path, github: FakeGitHub, event: str, payload) -> dict[str, str]:
    for name in ("output", "summary"):
        (tmp_path / name).touch()
    (tmp_path / "temp").mkdir(exist_ok=True)
    (tmp_path / "event.json").write_text(json.dumps(payload))
    return {
        "CI": "true",
        "GITHUB_ACTIONS": "true",
        "GITHUB_API_URL": github.url,
        "GITHUB_REPOSITORY": "octocat/hello",
        "GITHUB_EVENT_NAME": event,
        "GITHUB_EVENT_PATH": str(tmp_path / "event.json"),
        "GITHUB_WORKSPACE": str(place),
        "GITHUB_OUTPUT": str(tmp_path / "output"),
        "GITHUB_STEP_SUMMARY": str(tmp_path / "summary"),
        "GITHUB_RUN_ID": "200",
        "RUNNER_TEMP": str(tmp_path / "temp"),
    }


def test_a_forks_pull_request_is_judged_without_rights_and_told_by_the_second_workflow(tmp_path, github, agent):
    config = f"{FILES['abs-gate.yaml']}agent: {{url: '{agent.url}'}}\n"
    place = checkout_of(tmp_path, FILES | {"abs-gate.yaml": config}, {"contracts/orders.yaml": BROKEN_CONTRACT})
    github.controls.read_only = True
    event = pull_request_event(place)
    event["pull_request"]["head"]["repo"] = {"full_name": "stranger/hello", "owner": {"login": "stranger"}}
    inputs = inputs_of(steps_of("forks.yml", "gate"), agent.url)
    first = run_action(place, tmp_path, api_url=github.url, inputs=inputs, payload=event)
    assert first.code == 1, first.log
    assert "not ready to merge" in first.summary
    assert github.comments == {}

    github.controls.read_only = False
    github.pulls.append({"number": 2, "head": {"sha": place.head_sha, "ref": "pr", "user": {"login": "stranger"}}})
    run = {
        "head_sha": place.head_sha,
        "head_branch": "pr",
        "head_repository": {"full_name": "stranger/hello", "owner": {"login": "stranger"}},
        "repository": {"full_name": "octocat/hello"},
        "pull_requests": [],
    }
    second = tmp_path / "second"
    second.mkdir()
    environ = workflow_environ(tmp_path, second, github, "workflow_run", {"workflow_run": run})
    (tmp_path / "temp" / "result").mkdir()
    shutil.copy(first.workspace / first.outputs["result-file"], tmp_path / "temp" / "result" / "result.json")
    done = run_scripts(steps_of("forks-report.yml", "report"), second, environ)
    assert done.returncode == 1, done.stdout + done.stderr
    [body] = github.bodies()
    assert "## ❌ abs-gate: not ready to merge" in body
    assert place.head_sha in body.splitlines()[0]
    assert list(second.iterdir()) == []
    (tmp_path / "temp" / "result" / "result.json").write_text('{"verdict": "passed"}')
    done = run_scripts(steps_of("forks-report.yml", "report"), second, environ | {"GITHUB_RUN_ID": "201"})
    assert done.returncode == 2
    assert "wrong configuration" in github.bodies()[0]


def test_the_command_line_gates_and_writes_the_summary(tmp_path, github, agent):
    place = checkout_of(tmp_path, FILES, {"contracts/orders.yaml": BROKEN_CONTRACT})
    environ = workflow_environ(tmp_path, place.workspace, github, "pull_request", pull_request_event(place))
    environ |= {"ABS_GATE_AGENT_URL": agent.url, "GITHUB_SERVER_URL": f"file://{place.origin.parent.parent}"}
    done = run_scripts(steps_of("command-line.yml", "gate")[:4], place.workspace, environ)
    assert done.returncode == 1, done.stdout + done.stderr
    assert "FAILED" in done.stdout
    run_scripts(steps_of("command-line.yml", "gate")[4:], place.workspace, environ)
    assert "not ready to merge" in (tmp_path / "summary").read_text()


def test_shards_are_decided_over_once_and_a_missing_one_is_never_green(tmp_path, github, agent):
    steps = steps_of("shards.yml", "shard")
    place = checkout_of(tmp_path, FILES, {})
    shards = place.workspace / "shards"
    for number in (1, 2):
        inputs = inputs_of(steps, agent.url, **{"matrix.shard": str(number)})
        inputs["shard"] = inputs["shard"].replace("/8", "/2")
        step = run_action(place, tmp_path, api_url=github.url, inputs=inputs, run_id=300 + number)
        (shards / str(number)).mkdir(parents=True)
        shutil.copy(place.workspace / step.outputs["result-file"], shards / str(number) / "result.json")
    assert github.comments == {}
    environ = workflow_environ(tmp_path, place.workspace, github, "pull_request", pull_request_event(place))
    done = run_scripts(steps_of("shards.yml", "gate"), place.workspace, environ)
    assert done.returncode == 0, done.stdout + done.stderr
    assert read_outputs((tmp_path / "output").read_text())["verdict"] == "passed"
    assert "## ✅ abs-gate: ready to merge" in github.bodies()[0]
    shutil.rmtree(shards / "2")
    done = run_scripts(steps_of("shards.yml", "gate"), place.workspace, environ | {"GITHUB_RUN_ID": "201"})
    assert done.returncode == 3, done.stdout + done.stderr
    assert read_outputs((tmp_path / "output").read_text())["verdict"] == "unverified"
    [body] = github.bodies()
    assert "## ⚠️ abs-gate: could not be verified" in body
