"""Real changes of real servers, with the right answer for each; micro cases of single keywords; all of it at once."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from abs_gate.contracts.diff import diff_sets
from abs_gate.contracts.model import Classification, ContractSet
from abs_gate.contracts.records import to_record
from abs_gate.contracts.rules.registry import Side
from abs_gate.contracts.schema_diff import SchemaDiff
from abs_gate.contracts.schemas import Engine

from .workspaces import TODAY, load, verdict

DATA = Path(__file__).with_name("data")
WORDS = {"unchanged": "none", "behavior_sensitive": "review"}
LABELS = json.loads((DATA / "labels.json").read_text())
MICRO = json.loads((DATA / "microcases.json").read_text())
PAIRS = [json.loads(line) for line in (DATA / "pairs.jsonl").read_text().splitlines()]


@cache
def servers() -> dict[str, ContractSet]:
    return {name: load(tools) for name, tools in json.loads((DATA / "servers.json").read_text()).items()}


@cache
def pairs() -> dict[str, dict[str, Any]]:
    return {f"pairs/{pair['id']}": pair for pair in PAIRS}


def word(classification: Classification) -> str:
    return WORDS.get(classification.value, classification.value)


@pytest.mark.parametrize("label", LABELS, ids=lambda label: label["id"])
def test_real_changes_are_judged_right(label: dict[str, Any]) -> None:
    ref = label["ref"]
    if ref["kind"] == "pair":
        base, head = (load(pairs()[ref["dir"]][side]) for side in ("old", "new"))
    else:
        base, head = (servers()[f"{ref['server']}@{ref[side]}"] for side in ("old_version", "new_version"))
    entries = diff_sets(base, head, today=TODAY)
    if ref["kind"] == "catalog_tool":
        entries = tuple(entry for entry in entries if entry.tool_id == ref["tool"])
    found = [change for entry in entries for change in entry.changes]
    assert word(verdict(found)) in label["acceptable"], [(each.path, each.kind) for each in found]


@pytest.mark.parametrize("case", MICRO, ids=lambda case: case["id"])
@pytest.mark.parametrize("side", [Side.INPUT, Side.OUTPUT])
def test_micro_cases_are_judged_right(case: dict[str, Any], side: Side) -> None:
    found = SchemaDiff(side, case["old"], case["new"], engine=Engine()).changes()
    assert word(verdict(found)) == case[side.value], [(each.path, each.kind) for each in found]
    if case["rel"] == "equal" and case["kind"] == "equivalence":
        assert found == ()


def test_every_real_pair_has_a_verdict_and_a_record() -> None:
    for pair in PAIRS:
        old, new = load(pair["old"]), load(pair["new"])
        for base, head in ((old, new), (new, old)):
            for entry in diff_sets(base, head, today=TODAY):
                assert entry.changes and entry.classification is verdict(entry.changes)
                json.dumps(to_record(entry))
        assert diff_sets(new, new, today=TODAY) == ()


def test_no_server_differs_from_itself() -> None:
    for contracts in servers().values():
        assert diff_sets(contracts, contracts, today=TODAY) == ()


def test_a_rename_does_not_hide_the_change_of_type() -> None:
    pair = pairs()["pairs/0038"]
    (entry,) = diff_sets(load(pair["old"]), load(pair["new"]), today=TODAY)
    assert {change.kind for change in entry.changes} == {"property_renamed", "type_changed"}
    assert {change.path for change in entry.changes} == {"input.project_number"}
