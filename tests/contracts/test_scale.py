"""Ten thousand tools, huge and hostile schemas: linear, bounded, and said so when a budget was spent."""

from __future__ import annotations

import time
from typing import Any

from msgspec.structs import replace

from abs_gate.contracts.diff import diff_sets, diff_tools
from abs_gate.contracts.lint import lint_set
from abs_gate.contracts.model import ContractSet
from abs_gate.contracts.schemas import Budget

from .workspaces import TODAY, changes, load, mcp, one, verdict


def many(count: int, change_every: int = 0) -> ContractSet:
    def schema(index: int) -> Any:
        is_changed = change_every and index % change_every == 0
        properties = {f"field_{number}": {"type": "string", "description": "A field."} for number in range(6)}
        required = ["field_0", *(["field_1"] if is_changed else [])]
        return {"type": "object", "properties": properties, "required": required}

    return load([mcp(f"tool_{index}", schema(index), description=f"Reads shelf {index}.") for index in range(count)])


def cpu(work: Any) -> tuple[float, Any]:
    start = time.process_time()
    result = work()
    return time.process_time() - start, result


def test_ten_thousand_tools_with_one_in_a_hundred_changed() -> None:
    base, head = many(10_000), many(10_000, change_every=100)
    seconds, entries = cpu(lambda: diff_sets(base, head, today=TODAY))
    assert len(entries) == 100 and seconds < 5
    assert {change.kind for entry in entries for change in entry.changes} == {"optional_to_required"}


def test_pairing_and_lint_grow_with_the_number_of_tools_only() -> None:
    small, large = many(500), many(2_000)
    renamed = load([mcp(f"renamed_{index}") for index in range(2_000)])
    lint_set(small)
    few, _ = cpu(lambda: lint_set(small))
    lots, _ = cpu(lambda: lint_set(large))
    assert lots < max(few, 0.05) * 12
    seconds, entries = cpu(lambda: diff_sets(large, renamed, today=TODAY))
    assert seconds < 5 and len(entries) == 4_000


def test_a_schema_of_five_thousand_nodes() -> None:
    def schema(limit: int) -> Any:
        group = {f"p{index}": {"type": "string", "maxLength": limit} for index in range(50)}
        return {
            "type": "object",
            "properties": {f"g{index}": {"type": "object", "properties": group} for index in range(100)},
        }

    old, new = schema(9), schema(9)
    new["properties"]["g7"] = {
        "type": "object",
        "properties": {**new["properties"]["g7"]["properties"], "p3": {"type": "integer"}},
    }
    seconds, entries = cpu(lambda: diff_sets(load(mcp(schema=old)), load(mcp(schema=new)), today=TODAY))
    assert [(change.path, change.kind) for change in entries[0].changes] == [("input.g7.p3", "type_changed")]
    assert seconds < 10


def test_nesting_of_two_hundred() -> None:
    def schema(leaf: Any) -> Any:
        for _ in range(200):
            leaf = {"type": "object", "properties": {"a": leaf}}
        return leaf

    old, new = (replace(one(mcp()), input_schema=schema({"type": kind})) for kind in ("string", "integer"))
    seconds, found = cpu(lambda: diff_tools(replace(old, fingerprint="old"), new))
    assert [(change.path, change.kind) for change in found] == [("input" + ".a" * 200, "type_changed")]
    assert found[0].has_witness and seconds < 10


def test_nesting_beyond_reason_is_said() -> None:
    old, new = (replace(one(mcp()), fingerprint=kind) for kind in ("string", "integer"))
    schemas: list[Any] = [{"type": "string"}, {"type": "integer"}]
    for _ in range(3_000):
        schemas = [{"type": "object", "properties": {"a": schema}} for schema in schemas]
    found = diff_tools(replace(old, input_schema=schemas[0]), replace(new, input_schema=schemas[1]))
    assert [change.classification.value for change in found] == ["behavior_sensitive"]
    assert found[0].proof == "not proven" and "too deeply" in found[0].message


def test_references_that_multiply_end_within_the_budget() -> None:
    def schema(leaf: Any) -> Any:
        definitions = {
            f"d{index}": {"anyOf": [{"$ref": f"#/$defs/d{index + 1}"}] * 2, "minLength": index} for index in range(60)
        }
        return {"type": "object", "properties": {"a": {"$ref": "#/$defs/d0"}}, "$defs": {**definitions, "d60": leaf}}

    old, new = load(mcp(schema=schema({"type": "string"}))), load(mcp(schema=schema({"type": "integer"})))
    seconds, (entry,) = cpu(lambda: diff_sets(old, new, today=TODAY))
    assert verdict(entry.changes).rank >= 2 and seconds < 20


def test_a_spent_budget_is_said_and_never_compatible() -> None:
    def schema(flip: bool) -> Any:
        branches = [
            {"properties": {f"k{number}": {"enum": [f"{number}{letter}" for letter in ("ba" if flip else "ab")]}}}
            for number in range(12)
        ]
        return {
            "type": "object",
            "oneOf": branches,
            "properties": {"z": {"type": "string", "pattern": "a" if flip else "[a]"}},
        }

    tight = Budget(steps=40, samples=1)
    entries = diff_sets(load(mcp(schema=schema(False))), load(mcp(schema=schema(True))), today=TODAY, budget=tight)
    for entry in entries:
        assert verdict(entry.changes).rank >= 2
        assert any("budget" in note for change in entry.changes for note in change.notes)


def test_long_texts_and_many_values_are_bounded() -> None:
    old = load(
        mcp(description="word " * 20_000, schema={"type": "object", "properties": {"a": {"enum": list(range(5_000))}}})
    )
    new = load(
        mcp(
            description="other " * 20_000,
            schema={"type": "object", "properties": {"a": {"enum": list(range(1, 5_001))}}},
        )
    )
    seconds, (entry,) = cpu(lambda: diff_sets(old, new, today=TODAY))
    assert seconds < 10 and all(len(change.message) < 1_000 for change in entry.changes)


def test_a_thousand_arguments_that_became_required() -> None:
    properties = {f"p{index}": {"type": "string"} for index in range(1_000)}
    old = [mcp("pay", {"type": "object", "properties": properties})]
    new = [mcp("pay", {"type": "object", "properties": properties, "required": list(properties)})]
    seconds, found = cpu(lambda: changes(old, new))
    assert seconds < 6 and len(found) == 1_001
    assert all(change.proof == "witness" for change in found if change.kind == "optional_to_required")


def test_members_of_allof_that_repeat_a_definition_are_read_once() -> None:
    """Twelve definitions, each ten times the next: 10^12 members."""
    ends = ({"type": "string"}, {"type": "string", "minLength": 2})
    sides = []
    for end in ends:
        names = {f"d{index}": {"allOf": [{"$ref": f"#/$defs/d{index + 1}"}] * 10} for index in range(12)}
        schema = {"type": "object", "properties": {"x": {"$ref": "#/$defs/d0"}}, "$defs": {**names, "d12": end}}
        sides.append([mcp("pay", schema)])
    seconds, found = cpu(lambda: changes(*sides))
    assert seconds < 2 and [change.kind for change in found] == ["min_length_raised"]


def test_twenty_thousand_arguments_that_are_gone() -> None:
    properties = {f"p{index}": {"type": "string"} for index in range(20_000)}
    old = [mcp("pay", {"type": "object", "properties": properties, "required": list(properties)})]
    seconds, found = cpu(lambda: changes(old, [mcp("pay")]))
    assert seconds < 12 and len(found) == 20_000
