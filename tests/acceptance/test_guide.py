"""The guide to sessions says what the code does: its examples load, its tables name everything there is."""

import re
from pathlib import Path

import pytest

from abs_gate.cli.main import run_cli
from abs_gate.documents.model import Category
from abs_gate.documents.vocabulary import ACTIONS, BEHAVIOR_KEYS
from abs_gate.evaluators import EVALUATORS
from abs_gate.sources.located import parse_documents

DOCS = Path(__file__).parents[2] / "docs"
GUIDE = (DOCS / "sessions.md").read_text(encoding="utf-8")


def rows(after):
    """The rows of the table that follows a text, cells without their backquotes."""
    table = GUIDE.split(after, 1)[1].split("\n\n")[0] if after in GUIDE else ""
    lines = [line for line in table.splitlines() if line.startswith("|")][2:]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def test_the_table_of_evaluators_is_whole_and_right():
    told = {row[0].strip("`"): row for row in rows("this table is checked against the code -->\n")}
    assert told.keys() == EVALUATORS.keys()
    for name, spec in EVALUATORS.items():
        _, where, needs, _ = told[name]
        assert set(where.split(", ")) == spec.levels, name
        assert set(re.findall(r"`(\w+)`", needs)) == set(spec.required), name
        assert "threshold" not in told[name][3] or spec.scores, name


def test_keys_and_actions_are_all_there():
    assert {row[0].strip("`*") for row in rows("## Behaviors\n\n")} == set(BEHAVIOR_KEYS)
    table = GUIDE.split("| kind | actions |")[1].split("\n\n")[0]
    for line in table.splitlines()[2:]:
        kind, actions = (cell.strip() for cell in line.strip("|").split("|"))
        assert set(actions.split()) == {name for name, category in ACTIONS.items() if category is Category(kind)}


def test_the_first_example_is_valid_as_it_stands(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "refund.abs.yaml").write_text(GUIDE.split("```yaml\n")[1].split("```")[0])
    assert run_cli(["validate", "refund.abs.yaml"]) == 0, capsys.readouterr().err


@pytest.mark.parametrize("block", GUIDE.split("```yaml\n")[1:], ids=range(GUIDE.count("```yaml\n")))
def test_every_example_is_yaml(block):
    assert parse_documents(block.split("```")[0], "guide.yaml")


@pytest.mark.parametrize("page", ["sessions.md", "differences.md"])
def test_links_lead_somewhere(page):
    text = (DOCS / page).read_text(encoding="utf-8")
    for link in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", text):
        assert (DOCS / link).exists(), link
