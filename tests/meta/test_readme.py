"""The README says what the product does: its tables, links, commands and messages are checked."""

import re
import subprocess
import sys

import yaml

from abs_gate.cli.main import COMMANDS
from tests.meta.readme_tables import README, ROOT, with_tables

TEXT = README.read_text(encoding="utf-8")


def test_inputs_and_outputs_are_those_of_the_action():
    assert with_tables(TEXT) == TEXT, "run `make docs`"


def test_every_link_leads_to_a_file():
    links = re.findall(r"\]\(([^)#]+)[^)]*\)", TEXT)
    local = [link for link in links if not re.match(r"https?:", link)]
    assert local
    assert [link for link in local if not (ROOT / link).exists()] == []


def test_the_quick_start_is_a_workflow_with_the_permissions_it_needs():
    block = re.search(r"```yaml\n# \.github/workflows/abs-gate\.yml\n(.*?)```", TEXT, re.DOTALL)
    workflow = yaml.safe_load(block[1])
    assert workflow["permissions"] == {"contents": "read", "pull-requests": "write"}
    inputs = workflow["jobs"]["gate"]["steps"][-1]["with"]
    action = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
    assert set(inputs) <= set(action["inputs"])


def test_the_configuration_shown_is_valid(tmp_path):
    block = re.search(r"```yaml\nversion: 1\n(.*?)```", TEXT, re.DOTALL)
    (tmp_path / "abs-gate.yaml").write_text("version: 1\n" + block[1], encoding="utf-8")
    (tmp_path / "sessions").mkdir()
    (tmp_path / "contracts").mkdir()
    (tmp_path / "sessions" / "a.abs.yaml").write_text(
        "session: s\nabs_version: '0.2'\nbehaviors: [{actor: user, action: says, content: hi}]\n", encoding="utf-8"
    )
    (tmp_path / "contracts" / "a.json").write_text(
        '[{"name": "t", "inputSchema": {"type": "object"}}]', encoding="utf-8"
    )
    done = subprocess.run(
        [sys.executable, "-m", "abs_gate", "validate"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def test_every_command_is_named_and_explains_itself():
    listed = re.search(r"## Commands\n(.*?);", TEXT, re.DOTALL)[1]
    assert re.findall(r"`([a-z]+)`", listed) == list(COMMANDS)


def test_troubleshooting_quotes_messages_that_exist():
    table = TEXT.split("## Troubleshooting")[1].split("##")[0]
    messages = [row.split("|")[1].strip().strip("`") for row in table.splitlines() if row.startswith("| `")]
    sources = "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "abs_gate").rglob("*.py"))
    plain = re.sub(r"\"\s*\n\s*f?\"", "", sources)
    for message in messages:
        if message == "Resource not accessible by integration":
            continue  # GitHub's own words
        assert all(part in plain for part in message.split("...") if part.strip()), message
