"""A converter that makes every argument required is named for what it is."""

from __future__ import annotations

from typing import Any

from .workspaces import artifact, changes, kinds, mcp


def tool(name: str, properties: list[str], required: list[str], **more: Any) -> dict[str, Any]:
    schema = {"type": "object", "properties": {key: {"type": "string"} for key in properties}, "required": required}
    return mcp(name, {**schema, **more})


def drifts(old: Any, new: Any) -> list[str]:
    return [path for path, kind, _ in kinds(old, new) if kind == "strict_mode_drift"]


def test_one_tool_with_two_forced_arguments() -> None:
    old, new = (
        tool("refund", ["id", "reason", "note"], ["id"]),
        tool("refund", ["id", "reason", "note"], ["id", "note", "reason"]),
    )
    assert drifts(old, new) == ["input"]
    (drift,) = [change for change in changes(old, new) if change.kind == "strict_mode_drift"]
    assert drift.classification.value == "breaking"
    for remedy in ("let it be null", "Keep the argument optional", "new tool version"):
        assert remedy in drift.notes[0]


def test_several_tools_with_one_forced_argument_each() -> None:
    old = [tool("a", ["id", "x"], ["id"]), tool("b", ["id", "y"], ["id"])]
    new = [tool("a", ["id", "x"], ["id", "x"]), tool("b", ["id", "y"], ["id", "y"])]
    assert drifts(old, new) == ["input", "input"]


def test_closed_objects_are_named_too() -> None:
    old, new = tool("a", ["x", "y"], []), tool("a", ["x", "y"], ["x", "y"], additionalProperties=False)
    (drift,) = [change for change in changes(old, new) if change.kind == "strict_mode_drift"]
    assert "closed too" in drift.message


def test_one_argument_that_became_required_may_be_meant() -> None:
    assert drifts(tool("a", ["id", "x"], ["id"]), tool("a", ["id", "x"], ["id", "x"])) == []


def test_an_argument_that_stayed_optional_rules_it_out() -> None:
    assert drifts(tool("a", ["x", "y", "z"], []), tool("a", ["x", "y", "z"], ["x", "y"])) == []


def test_a_nested_optional_argument_rules_it_out() -> None:
    def nested(inner: list[str], outer: list[str]) -> Any:
        address = {
            "type": "object",
            "properties": {"street": {"type": "string"}, "floor": {"type": "string"}},
            "required": inner,
        }
        properties = {"address": address, "name": {"type": "string"}, "mail": {"type": "string"}}
        return mcp("a", {"type": "object", "properties": properties, "required": outer})

    everything = ["address", "mail", "name"]
    assert drifts(nested(["street"], ["address"]), nested(["street"], everything)) == []
    assert drifts(nested(["street"], ["address"]), nested(["floor", "street"], everything)) == ["input"]


def test_the_seed_case_is_named_in_an_artifact() -> None:
    schema = artifact()["model_surface"]["input_schema"]
    optional = {**schema, "required": ["order_id", "amount_cents"]}
    forced = {**schema, "required": sorted(schema["properties"])}
    old, new = (artifact(model_surface={"input_schema": each}) for each in (optional, forced))
    assert drifts(old, new) == ["input"]


def test_absence_that_is_represented_as_null_is_no_drift() -> None:
    text = {"type": "string"}
    old = mcp("a", {"type": "object", "properties": {"x": text, "y": text}})
    nullable = {"type": ["string", "null"]}
    new = mcp("a", {"type": "object", "properties": {"x": nullable, "y": nullable}, "required": ["x", "y"]})
    assert {kind for _, kind, _ in kinds(old, new)} == {"optional_to_required", "null_added"}
