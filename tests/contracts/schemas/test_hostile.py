"""Schemas made to cost: every one comes to an end, and none is called compatible for it."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest

from abs_gate.contracts.schemas import Budget, Comparison, Engine, ProblemKind, Proof, Relation, SchemaDocument

STRING = {"type": "string"}
NOT_EMPTY = {"type": "string", "minLength": 1}


def compared(old: Any, new: Any, budget: Budget | None = None) -> Comparison:
    return Engine(budget).compare(SchemaDocument(old).view(), SchemaDocument(new).view())


def object_of(leaf: Any) -> Any:
    return {"type": "object", "properties": {"x": leaf}, "required": ["x"]}


def chain(length: int, leaf: Any, wrap: Any) -> Any:
    for _ in range(length):
        leaf = wrap(leaf)
    return leaf


def fan_out(levels: int, keyword: str, leaf: Any) -> Any:
    """Each definition refers three times to the next: 3**levels when written out."""
    definitions = {f"d{level}": {keyword: [{"$ref": f"#/$defs/d{level + 1}"}] * 3} for level in range(levels)}
    return {"$ref": "#/$defs/d0", "$defs": {**definitions, f"d{levels}": leaf}}


def fan_out_members(levels: int, leaf: Any) -> Any:
    definitions = {
        f"d{level}": {
            "type": "object",
            "properties": {name: {"$ref": f"#/$defs/d{level + 1}"} for name in "abc"},
            "required": ["a", "b", "c"],
        }
        for level in range(levels)
    }
    return {"$ref": "#/$defs/d0", "$defs": {**definitions, f"d{levels}": leaf}}


def fields(count: int, **facts: Any) -> dict[str, Any]:
    return {f"field_{place}": {"type": "string", **facts} for place in range(count)}


@pytest.mark.parametrize(
    "wrap",
    [
        object_of,
        lambda leaf: {"type": "array", "items": leaf, "minItems": 1},
        lambda leaf: {"anyOf": [leaf, {"type": "null"}]},
        lambda leaf: {"allOf": [leaf]},
        lambda leaf: {"if": {"type": "integer"}, "then": {"minimum": 0}, "else": leaf},
    ],
    ids=["object", "array", "anyOf", "allOf", "else"],
)
def test_nested_two_hundred_deep(wrap: Any) -> None:
    comparison = compared(chain(200, STRING, wrap), chain(200, NOT_EMPTY, wrap))
    assert comparison.relation is Relation.NARROWER
    assert comparison.old_in_new.proof is Proof.WITNESS


@pytest.mark.parametrize(
    ("depth", "wrap"), [(800, object_of), (200, lambda leaf: {"not": {"not": leaf}})], ids=["object", "not"]
)
def test_nested_beyond_what_the_library_can_follow_is_not_called_compatible(depth: int, wrap: Any) -> None:
    comparison = compared(chain(depth, STRING, wrap), chain(depth, NOT_EMPTY, wrap))
    assert comparison.old_in_new.included is None
    assert comparison.old_in_new.proof is Proof.NOT_PROVEN


@pytest.mark.parametrize("keyword", ["allOf", "anyOf", "oneOf"])
def test_references_that_multiply(keyword: str) -> None:
    started = time.process_time()
    comparison = compared(fan_out(30, keyword, STRING), fan_out(30, keyword, NOT_EMPTY))
    assert time.process_time() - started < 2
    if keyword == "oneOf":
        assert comparison.relation is Relation.EQUAL, "three equal branches: never exactly one"
    else:
        assert comparison.old_in_new.included is not True
        assert comparison.new_in_old.included is True


def test_references_that_multiply_beside_what_is_unevaluated() -> None:
    old = {**fan_out(30, "allOf", {"properties": {"a": STRING}}), "unevaluatedProperties": False}
    started = time.process_time()
    comparison = compared(old, {**old, "required": ["a"]})
    assert time.process_time() - started < 2
    assert comparison.new_in_old.included is True


def test_members_that_multiply() -> None:
    comparison = compared(fan_out_members(25, STRING), fan_out_members(25, NOT_EMPTY))
    assert comparison.old_in_new.included is None, "the smallest counterexample has 3**25 values"
    assert comparison.new_in_old.included is True


@pytest.mark.parametrize(
    "definitions",
    [
        {"a": {"$ref": "#/$defs/a"}},
        {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}},
        {"a": {"anyOf": [{"type": "string"}, {"$ref": "#/$defs/b"}]}, "b": {"allOf": [{"$ref": "#/$defs/a"}]}},
        {"a": {"not": {"$ref": "#/$defs/a"}}},
        {
            "a": {"properties": {"x": {"$ref": "#/$defs/b"}}, "allOf": [{"$ref": "#/$defs/b"}]},
            "b": {"allOf": [{"$ref": "#/$defs/a"}]},
        },
    ],
)
def test_references_that_lead_nowhere_but_back(definitions: Any) -> None:
    old = {"$ref": "#/$defs/a", "$defs": definitions}
    comparison = compared(old, {**old, "title": "other"})
    for inclusion in (comparison.old_in_new, comparison.new_in_old):
        assert inclusion.included is None
    assert {problem.kind for problem in comparison.old_problems} == {ProblemKind.INVALID}


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("^(a+)+$", "^(a|aa)+$"),
        ("^(a|a)*b$", "^(a+)+b$"),
        (r"^(\w+\s?)*$", r"^(\w+\s?)+$"),
        (r"^(a+)+\1$", r"^(a+)+\1b$"),
        (r"(x+x+)+y(?<=y)", r"(x+x+)+y(?<!z)"),
        ("(a|b)*a(a|b){20}$", "(a|b)*b(a|b){20}$"),
        ("a{1,5000}" * 20, "a{2,5000}" * 20),
        ("(" * 500 + "a" + ")" * 500, "(" * 500 + "b" + ")" * 500),
    ],
)
def test_patterns_that_explode(old: str, new: str) -> None:
    started = time.process_time()
    comparison = compared({"type": "string", "pattern": old}, {"type": "string", "pattern": new})
    assert time.process_time() - started < 5
    for inclusion, inner, outer in ((comparison.old_in_new, old, new), (comparison.new_in_old, new, old)):
        if inclusion.has_witness:
            assert len(inclusion.witness) < 3_000
        assert inclusion.included is not True or inclusion.proof is Proof.PROVED, (inner, outer)


def test_pattern_twins_are_equal() -> None:
    comparison = compared({"type": "string", "pattern": "^(a+)+$"}, {"type": "string", "pattern": "^a+$"})
    assert comparison.relation is Relation.EQUAL


def test_large_schema_with_one_changed_leaf() -> None:
    old = {"type": "object", "properties": {f"g{g}": {"type": "object", "properties": fields(50)} for g in range(100)}}
    new = json.loads(json.dumps(old))
    new["properties"]["g77"]["properties"]["field_33"]["maxLength"] = 10
    started = time.process_time()
    comparison = compared(old, new)
    assert time.process_time() - started < 1.5
    assert comparison.relation is Relation.NARROWER
    assert comparison.old_in_new.witness == {"g77": {"field_33": "a" * 11}}


def test_large_schema_with_every_leaf_changed() -> None:
    def schema(limit: int) -> Any:
        groups = {f"g{g}": {"type": "object", "properties": fields(50, maxLength=limit)} for g in range(100)}
        return {"type": "object", "properties": groups}

    assert compared(schema(10), schema(11)).relation is Relation.WIDER


def test_union_of_many_tagged_shapes() -> None:
    def union(limit: int) -> Any:
        shapes = [
            {
                "type": "object",
                "properties": {"kind": {"const": f"k{shape}"}, **fields(6, maxLength=limit)},
                "required": ["kind"],
                "additionalProperties": False,
            }
            for shape in range(60)
        ]
        return {"oneOf": shapes}

    assert compared(union(5), union(6)).relation is Relation.WIDER


def test_budget_spent_is_reported() -> None:
    old = {"type": "object", "properties": fields(200, maxLength=4)}
    new = {"type": "object", "properties": fields(200, maxLength=5)}
    engine = Engine(Budget(steps=100))
    comparison = engine.compare(SchemaDocument(old).view(), SchemaDocument(new).view())
    assert comparison.old_in_new.included is None
    assert comparison.budget_spent and engine.budget_spent
    assert "budget" in comparison.old_in_new.reason


def test_schema_larger_than_the_budget_is_a_problem() -> None:
    old = {"type": "object", "properties": fields(50)}
    new = {"type": "object", "properties": fields(51)}
    comparison = compared(old, new, Budget(nodes=20))
    assert comparison.relation is Relation.UNKNOWN
    assert comparison.budget_spent
    assert ProblemKind.OVER_BUDGET in {problem.kind for problem in comparison.new_problems}


def test_sizes_beyond_reason_end() -> None:
    for facts, one_more in (
        ({"type": "string", "minLength": 10**9}, {"type": "string", "minLength": 10**9 + 1}),
        ({"type": "array", "minItems": 10**9}, {"type": "array", "minItems": 10**9 + 1}),
        ({"type": "object", "minProperties": 10**9}, {"type": "object", "minProperties": 10**9 + 1}),
        ({"type": "number", "multipleOf": 1e-300}, {"type": "number", "multipleOf": 2e-300}),
    ):
        comparison = compared(facts, one_more)
        assert comparison.new_in_old.included is True
        assert comparison.old_in_new.included is not True


def test_the_same_schemas_always_spend_the_same() -> None:
    old, new = {"anyOf": [STRING, {"type": "array", "items": NOT_EMPTY}]}, {"anyOf": [NOT_EMPTY, {"type": "array"}]}
    assert compared(old, new) == compared(old, new)
