"""action.yml is an interface: its names, its defaults, and that it says the same as the settings it feeds."""

import re
from pathlib import Path

import pytest
import yaml

from abs_gate.settings.options import OPTIONS, OTHER_INPUTS

ROOT = Path(__file__).parents[2]
ACTION = yaml.safe_load((ROOT / "action.yml").read_text())
INPUTS = [
    "config",
    "agent-url",
    "agent-format",
    "agent-token",
    "agent-model",
    "sessions",
    "dataset",
    "contracts",
    "base",
    "trials",
    "min-pass-rate",
    "confidence",
    "fail-on",
    "comment",
    "comment-key",
    "annotations",
    "junit-file",
    "report-dir",
    "shard",
    "github-token",
    "working-directory",
    "allow-commands",
]
OUTPUTS = [
    "verdict",
    "exit-code",
    "pass-rate",
    "sessions-passed",
    "sessions-failed",
    "breaking-changes",
    "report-dir",
    "junit-file",
    "result-file",
    "comment-url",
]


def test_inputs_and_outputs_are_the_interface():
    assert list(ACTION["inputs"]) == INPUTS
    assert list(ACTION["outputs"]) == OUTPUTS


def test_every_input_is_a_setting():
    assert set(ACTION["inputs"]) == {option.input for option in OPTIONS if option.input} | set(OTHER_INPUTS)


def test_no_default_overrides_the_configuration_file():
    """An input that is always set would always go before the file."""
    defaults = {name: spec["default"] for name, spec in ACTION["inputs"].items() if spec.get("default")}
    assert defaults == {
        "github-token": "${{ github.token }}",
        "working-directory": ".",
        "allow-commands": "false",
    }


def test_nothing_is_required_and_all_is_described():
    for spec in (*ACTION["inputs"].values(), *ACTION["outputs"].values()):
        assert len(spec["description"]) > 20
        assert not spec.get("required")


def test_it_is_the_container_without_a_shell_or_arguments():
    assert ACTION["runs"] == {"using": "docker", "image": "Dockerfile"}


@pytest.mark.parametrize("name", ["agent-format", "fail-on"])
def test_descriptions_name_every_value(name):
    option = next(option for option in OPTIONS if option.input == name)
    assert set(option.metavar.split("|")) <= set(re.findall(r"[\w]+", ACTION["inputs"][name]["description"]))


def test_the_image_has_no_shell_between_the_runner_and_python():
    text = (ROOT / "Dockerfile").read_text()
    (line,) = (line for line in text.splitlines() if line.startswith("ENTRYPOINT"))
    assert line.startswith('ENTRYPOINT ["/')
    assert '"-I"' in line
    assert "PYTHONSAFEPATH=1" in text
    assert not re.search(r"^(CMD|ENTRYPOINT)\s+[^\[]", text, re.MULTILINE)


@pytest.mark.parametrize("lock", ["requirements.lock", "requirements-build.lock"])
def test_every_package_of_the_image_is_pinned_by_hash(lock):
    text = (ROOT / lock).read_text()
    entries = re.split(r"\n(?=[a-z0-9])", re.sub(r"(?m)^\s*#.*\n", "", text))
    assert entries
    for entry in entries:
        assert re.match(r"[a-z0-9][a-z0-9._-]*==[^\s]+", entry), entry[:80]
        assert "--hash=sha256:" in entry, entry[:80]


def test_the_lock_covers_what_the_package_needs():
    locked = set(re.findall(r"(?m)^([a-z0-9._-]+)==", (ROOT / "requirements.lock").read_text()))
    project = (ROOT / "pyproject.toml").read_text()
    wanted = re.search(r"^dependencies = \[(.*?)^\]", project, re.DOTALL | re.MULTILINE)[1]
    names = {name.lower() for name in re.findall(r'"([A-Za-z0-9._-]+)', wanted)} | {"mcp"}
    assert names <= locked
