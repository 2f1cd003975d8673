"""Broken schema changes carry a whole call (or result) that shows them, checked with the jsonschema library."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from jsonschema.validators import validator_for

from abs_gate.contracts.model import Change
from abs_gate.contracts.rules.registry import Side
from abs_gate.contracts.schema_diff import SchemaDiff
from abs_gate.contracts.schemas import Engine

DATA = Path(__file__).with_name("data")
ORDER: dict[str, Any] = {
    "type": "object",
    "properties": {
        "order_id": {"type": "string"},
        "items": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"sku": {"type": "string"}, "count": {"type": "integer", "minimum": 1}},
                "required": ["sku"],
            },
        },
        "note": {"type": "string"},
    },
    "required": ["order_id"],
}


def edited(*path: str, value: Any) -> dict[str, Any]:
    copy = json.loads(json.dumps(ORDER))
    inner = copy
    for step in path[:-1]:
        inner = inner[step]
    inner[path[-1]] = value
    return copy


def changes(old: Any, new: Any, side: Side = Side.INPUT) -> tuple[Change, ...]:
    return SchemaDiff(side, old, new, engine=Engine()).changes()


def shows(change: Change, old: Any, new: Any, side: Side) -> bool:
    accepting, refusing = (old, new) if side is Side.INPUT else (new, old)
    return accepts(accepting, change.witness) and not accepts(refusing, change.witness)


def accepts(schema: Any, instance: Any) -> bool:
    return validator_for(schema, default=Draft202012Validator)(schema).is_valid(instance)


ITEM = ("properties", "items", "items", "properties")
CASES: list[tuple[dict[str, Any], str, str, Any]] = [
    (edited("required", value=["order_id", "note"]), "input.note", "optional_to_required", {"order_id": "text"}),
    (edited(*ITEM, "sku", value={"type": "integer"}), "input.items[].sku", "type_changed", None),
    (edited(*ITEM, "sku", value={"type": "string", "minLength": 2}), "input.items[].sku", "min_length_raised", None),
    (edited(*ITEM, "count", value={"type": "integer", "minimum": 3}), "input.items[].count", "minimum_raised", None),
    (edited("properties", "items", "maxItems", value=1), "input.items", "max_items_lowered", None),
    (edited("properties", "note", value={"enum": ["a"]}), "input.note", "enum_introduced", None),
    (edited("additionalProperties", value=False), "input", "additional_properties_closed", None),
]


@pytest.mark.parametrize(("new", "path", "kind", "witness"), CASES, ids=lambda value: str(value)[:24])
def test_a_nested_break_is_shown_by_a_whole_call(new: Any, path: str, kind: str, witness: Any) -> None:
    (change,) = changes(ORDER, new)
    assert (change.path, change.kind, change.proof) == (path, kind, "witness")
    assert shows(change, ORDER, new, Side.INPUT)
    assert witness is None or change.witness == witness


@pytest.mark.parametrize(("new", "path", "kind", "witness"), CASES, ids=lambda value: str(value)[:24])
def test_the_other_way_round_it_breaks_consumers(new: Any, path: str, kind: str, witness: Any) -> None:
    (change,) = changes(new, ORDER, Side.OUTPUT)
    assert change.path == path.replace("input", "output") and change.classification == "breaking"
    assert shows(change, new, ORDER, Side.OUTPUT) and change.affects == ("consumers",)


def test_each_fault_has_its_own_witness() -> None:
    new = json.loads(json.dumps(ORDER))
    new["properties"]["note"] = {"enum": ["a"]}
    new["properties"]["items"]["maxItems"] = 1
    by_kind = {change.kind: change.witness for change in changes(ORDER, new)}
    assert "items" not in by_kind["enum_introduced"] and "note" not in by_kind["max_items_lowered"]


def test_a_change_behind_a_reference_names_path_and_definition() -> None:
    line_ref = {"$ref": "#/$defs/Line"}

    def schema(line: Any) -> Any:
        return {
            "type": "object",
            "properties": {"lines": {"type": "array", "items": line_ref}, "first": {"$ref": "#/$defs/Line"}},
            "$defs": {"Line": line},
        }

    old, new = schema({"type": "string"}), schema({"type": "string", "maxLength": 3})
    found = changes(old, new)
    assert [change.path for change in found] == ["input.lines[]", "input.first"]
    for change in found:
        assert "In the definition `Line`." in change.notes and shows(change, old, new, Side.INPUT)


def test_a_recursive_schema_is_walked_once() -> None:
    def node(value: Any) -> Any:
        return {
            "type": "object",
            "properties": {"value": value, "kids": {"type": "array", "items": {"$ref": "#"}}},
        }

    old, new = node({"type": "integer"}), node({"type": "integer", "maximum": 9})
    found = changes(old, new)
    assert [(change.path, change.kind) for change in found] == [("input.value", "maximum_lowered")]
    assert shows(found[0], old, new, Side.INPUT)


def test_a_closed_object_loses_a_property_with_a_witness_and_an_open_one_without() -> None:
    two = {"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "string"}}}
    one = {"type": "object", "properties": {"a": {"type": "string"}}}
    (silent,) = changes(two, one)
    assert silent.kind == "property_removed" and not silent.has_witness and "ignored in silence" in silent.message
    closed = ({**two, "additionalProperties": False}, {**one, "additionalProperties": False})
    (refused,) = changes(*closed)
    assert refused.witness == {"b": "text"} and "are refused" in refused.message


def test_what_no_single_keyword_says_is_reported_of_the_whole() -> None:
    """`additionalProperties: false` beside `allOf` rules out what the members declare."""
    old = {"allOf": [{"properties": {"a": {"type": "string"}}}, {"properties": {"b": {"type": "string"}}}]}
    new = {**old, "additionalProperties": False}
    found = changes(old, new)
    assert [change.classification.value for change in found] == ["breaking"]
    assert found[0].witness is not None and shows(found[0], old, new, Side.INPUT)


def test_null_and_narrower_is_one_finding() -> None:
    old = {"type": "object", "properties": {"v": {"type": "string"}}}
    new = {"type": "object", "properties": {"v": {"anyOf": [{"type": "string", "minLength": 1}, {"type": "null"}]}}}
    (change,) = changes(old, new)
    assert (change.kind, change.witness) == ("min_length_raised", {"v": ""}) and change.notes == (
        "Null is accepted besides.",
    )
    (mirrored,) = changes(old, new, Side.OUTPUT)
    assert (mirrored.kind, mirrored.witness) == ("null_added", {"v": None})


def test_what_cannot_be_told_is_never_compatible() -> None:
    old = {"type": "object", "properties": {"v": {"type": "string", "pattern": r"^(?=.*a)(?=.*b).*$"}}}
    new = {"type": "object", "properties": {"v": {"type": "string", "pattern": r"^(?=.*b)(?=.*a)(?!zzz).*$"}}}
    (change,) = changes(old, new)
    assert change.classification == "breaking" and change.proof in ("witness", "not proven")


REWRITES: list[tuple[Any, Any]] = [
    ({"type": ["string", "null"]}, {"anyOf": [{"type": "null"}, {"type": "string"}]}),
    ({"enum": ["a", "b"]}, {"oneOf": [{"const": "b", "title": "B"}, {"const": "a"}]}),
    ({"type": "string", "enum": ["a"]}, {"const": "a"}),
    ({"type": "integer"}, {"type": "number", "multipleOf": 1}),
    ({"type": "integer", "minimum": 1}, {"type": "integer", "exclusiveMinimum": 0}),
    ({"anyOf": [{"type": "string"}, {"anyOf": [{"type": "null"}]}]}, {"type": ["null", "string"]}),
    ({"anyOf": [{"type": "integer"}, {"type": "number"}]}, {"type": "number"}),
    ({"anyOf": [{"type": "string"}, {"type": "integer"}]}, {"oneOf": [{"type": "integer"}, {"type": "string"}]}),
    ({"allOf": [{"type": "string"}, {"minLength": 2}]}, {"type": "string", "minLength": 2}),
    (False, {"not": {}}),
    (
        {"type": "array", "items": {"type": "string"}},
        {"type": "array", "items": {"allOf": [{"type": "string"}]}, "minItems": 0},
    ),
    ({"type": "string"}, {"type": "string", "then": {"minLength": 3}}),
    (
        {"type": "object", "properties": {"a": {}}},
        {"type": "object", "properties": {"a": True}, "additionalProperties": {}},
    ),
]


@pytest.mark.parametrize(("old", "new"), REWRITES, ids=lambda value: json.dumps(value)[:40])
def test_rewrites_report_nothing(old: Any, new: Any) -> None:
    for left, right in ((old, new), (new, old)):
        for side in (Side.INPUT, Side.OUTPUT):
            wrapped = [{"type": "object", "properties": {"v": each}, "required": ["v"]} for each in (left, right)]
            assert changes(*wrapped, side) == ()


def test_consumers_who_were_told_that_a_list_is_open_are_not_broken() -> None:
    old = {"type": "object", "properties": {"state": {"enum": ["open"], "x-extensible-enum": True}}}
    new = {"type": "object", "properties": {"state": {"enum": ["open", "held"], "x-extensible-enum": True}}}
    (change,) = changes(old, new, Side.OUTPUT)
    assert (change.kind, change.classification.value) == ("enum_value_added", "behavior_sensitive")
    closed = [{"type": "object", "properties": {"state": {"enum": values}}} for values in (["open"], ["open", "held"])]
    assert [each.classification.value for each in changes(*closed, Side.OUTPUT)] == ["breaking"]


def test_bounds_that_cross_are_named() -> None:
    old = {"type": "object", "properties": {"n": {"type": "integer", "maximum": 5}}}
    new = {"type": "object", "properties": {"n": {"type": "integer", "maximum": 5, "minimum": 9}}}
    (change,) = changes(old, new)
    assert change.kind == "minimum_raised" and change.notes == ("Nothing can satisfy this any more.",)


def test_a_keyword_that_no_longer_applies_is_no_change_of_its_own() -> None:
    old = {"type": "object", "properties": {"v": {"type": "string", "maxLength": 9, "pattern": "a"}}}
    new = {"type": "object", "properties": {"v": {"type": "integer"}}}
    assert [change.kind for change in changes(old, new)] == ["type_changed"]
