"""Laws over the whole catalogue: every rule finds its bad example and leaves its good one alone."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from abs_gate.contracts.lint import PROFILES, lint_set
from abs_gate.contracts.rules import all_rules
from abs_gate.contracts.rules.document import render_rules_markdown
from abs_gate.contracts.rules.registry import Direction, Kind, Rule, Side
from abs_gate.contracts.schema_diff import SchemaDiff
from abs_gate.contracts.schemas import Engine

from .workspaces import PLAIN, diff, load, load_files, merged

AFFECTED = {
    *("model_arguments", "model_selection", "saved_runs", "adapter", "provider", "consumers"),
    *("recovery_policy", "approval_policy", "authority"),
}
CHANGE_RULES = [rule for rule in all_rules() if rule.kind is not Kind.LINT]
LINT_RULES = [rule for rule in all_rules() if rule.kind is Kind.LINT]


def by_id(rule: Rule) -> str:
    return rule.id


def as_source(example: Any) -> Any:
    """Turn an example into a contract file: whole tools stay, parts are laid over a plain artifact."""
    if example is None:
        return {"tools": []}
    if isinstance(example, list):
        return [as_source(item) for item in example]
    if "name" in example or "tools" in example or "tool_id" in example:
        return example
    return merged(PLAIN, example)


def kinds_of(rule: Rule, example: tuple[Any, Any]) -> set[str]:
    old, new = example
    if rule.kind is Kind.SCHEMA:
        found = [
            change.kind
            for side in (Side.INPUT, Side.OUTPUT)
            for change in SchemaDiff(side, old, new, engine=Engine()).changes()
        ]
        return set(found)
    return {change.kind for entry in diff(as_source(old), as_source(new)) for change in entry.changes}


@pytest.mark.parametrize("rule", CHANGE_RULES, ids=by_id)
def test_change_rule_finds_its_bad_example_only(rule: Rule) -> None:
    assert rule.id in kinds_of(rule, rule.bad)
    assert rule.id not in kinds_of(rule, rule.good)


@pytest.mark.parametrize("rule", LINT_RULES, ids=by_id)
def test_lint_rule_finds_its_bad_example_only(rule: Rule) -> None:
    def found(example: Any) -> set[str]:
        base = None
        if "files" in example:
            head = load_files(example["files"], "c")
        elif "base" in example:
            base, head = load(as_source(example["base"])), load(as_source(example["head"]))
        else:
            head = load(as_source(example))
        providers = [rule.area] if rule.area in PROFILES else []
        return {finding.rule for finding in lint_set(head, base=base, providers=providers)}

    assert rule.id in found(rule.bad)
    assert rule.id not in found(rule.good)


@pytest.mark.parametrize("rule", all_rules(), ids=by_id)
def test_rule_says_what_it_finds_why_it_matters_and_what_to_do(rule: Rule) -> None:
    first, _, rest = rule.explanation.partition("\n\n")
    assert first.endswith((".", ":")) and "\n\n" not in rule.explanation.strip().replace(first, "", 1).lstrip("\n")
    assert rest.strip().endswith(".")
    assert rule.fix.endswith(".")
    separator = "-" if rule.kind is Kind.LINT else "_"
    assert rule.id == rule.id.lower() and rule.id.replace(separator, "").isalnum()


@pytest.mark.parametrize("rule", CHANGE_RULES, ids=by_id)
def test_change_rule_has_a_row(rule: Rule) -> None:
    sides = {Side.TOOL} if rule.kind is Kind.TOOL else {Side.INPUT, Side.OUTPUT}
    assert set(rule.grades) == set(rule.affects) == sides
    for side in sides:
        assert rule.affects[side] and set(rule.affects[side]) <= AFFECTED


@pytest.mark.parametrize("rule", CHANGE_RULES, ids=by_id)
def test_change_rule_has_a_mirror_or_a_reason(rule: Rule) -> None:
    assert bool(rule.mirror) != bool(rule.no_mirror)
    if rule.mirror:
        assert rule.mirror in {other.id for other in CHANGE_RULES}


@pytest.mark.parametrize("rule", [r for r in CHANGE_RULES if r.mirror and r.kind is Kind.SCHEMA], ids=by_id)
def test_swapping_the_sides_swaps_the_rule_for_its_mirror(rule: Rule) -> None:
    assert rule.mirror in kinds_of(rule, (rule.bad[1], rule.bad[0]))


@pytest.mark.parametrize("rule", [r for r in CHANGE_RULES if r.direction is not None], ids=by_id)
def test_direction_decides(rule: Rule) -> None:
    old, new = rule.bad
    grades = {}
    for side in (Side.INPUT, Side.OUTPUT):
        found = [c for c in SchemaDiff(side, old, new, engine=Engine()).changes() if c.kind == rule.id]
        grades[side] = found[0].classification.value
        assert rule.direction is Direction.EITHER or found[0].classification is rule.grades[side]
    assert "breaking" in grades.values()


def test_ids_are_unique() -> None:
    ids = [rule.id for rule in all_rules()]
    assert len(ids) == len(set(ids))


def test_the_page_is_in_step() -> None:
    page = Path(__file__).parents[2] / "docs" / "rules.md"
    assert page.read_text() == render_rules_markdown(), "run `python -m abs_gate.contracts.rules.document`"


def test_examples_are_json() -> None:
    for rule in all_rules():
        json.dumps([rule.bad, rule.good])
