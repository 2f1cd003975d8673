"""Equal contracts have equal fingerprints however they are written; anything a model or adapter sees changes them."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import pytest
import rfc8785

from abs_gate.contracts.canonicalise import canonicalise
from abs_gate.contracts.fingerprint import canonical_bytes, fingerprint_content

from .workspaces import ARTIFACT, OBJECT, artifact, load, load_files, mcp, one

REFUND = one(ARTIFACT).fingerprint
INPUT = ARTIFACT["model_surface"]["input_schema"]


def reversed_keys(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: reversed_keys(value[key]) for key in reversed(value)}
    return [reversed_keys(item) for item in value] if isinstance(value, list) else value


def test_it_is_sha256_over_rfc_8785() -> None:
    canonical = rfc8785.dumps(canonicalise(one(ARTIFACT)))
    assert f"sha256:{hashlib.sha256(canonical).hexdigest()}" == REFUND


def test_key_order_says_nothing() -> None:
    assert one(reversed_keys(ARTIFACT)).fingerprint == REFUND


def test_yaml_and_json_are_one() -> None:
    yaml = """\
    name: find
    description: "Finds \\u00fc one order."
    inputSchema: {type: object, required: [b, a], properties: {a: {type: integer, minimum: 1}, b: {type: string}}}
    """
    schema = {
        "type": "object",
        "properties": {"b": {"type": "string"}, "a": {"minimum": 1.0, "type": "integer"}},
        "required": ["a", "b"],
    }
    same = one({"name": "find", "description": "Finds ü one order.", "inputSchema": schema})
    (tool,) = load_files({"t.yaml": yaml}).tools
    assert tool.fingerprint == same.fingerprint


def test_byte_order_mark_and_line_ends_say_nothing() -> None:
    text = json.dumps(ARTIFACT, indent=2)
    for written in (text.replace("\n", "\r\n").encode(), b"\xef\xbb\xbf" + text.encode()):
        (tool,) = load_files({"t.json": written}).tools
        assert tool.fingerprint == REFUND


def test_file_layout_and_references_say_nothing() -> None:
    surface = {**ARTIFACT["model_surface"], "input_schema_ref": "schemas/input.json"}
    del surface["input_schema"]
    moved = {**INPUT, "properties": {**INPUT["properties"], "reason": {"$ref": "reason.yaml"}}}
    files = {
        "contracts/deep/refund.json": json.dumps({**ARTIFACT, "model_surface": surface}),
        "contracts/deep/schemas/input.json": json.dumps(moved),
        "contracts/deep/schemas/reason.yaml": "enum: [damaged, late]\ntype: string\n",
    }
    (tool,) = load_files(files, "contracts").tools
    assert tool.fingerprint == REFUND


def test_order_of_required_and_scopes_and_errors_says_nothing() -> None:
    turned = artifact(
        errors=list(reversed(ARTIFACT["errors"])),
        policy={"required_scope": None, "required_scopes": ["refunds.write"]},
        model_surface={"input_schema": {**INPUT, "required": ["action_id", "amount_cents", "order_id", "order_id"]}},
    )
    assert one(turned).fingerprint == REFUND


def test_release_plan_and_cases_say_nothing() -> None:
    later = artifact(
        cases=[{"name": "late"}],
        migration={"owner": "@billing", "retire_when": "2027-01-31"},
        compatibility={"replaces": "billing.issue_refund@2"},
    )
    assert one(later).fingerprint == REFUND


CHANGES: list[dict[str, Any]] = [
    {"tool_id": "billing.refund"},
    {"tool_version": 5},
    {"model_surface": {"name": "refund"}},
    {"model_surface": {"title": "Refund"}},
    {"model_surface": {"description": "Issue one refund."}},
    {"model_surface": {"examples": [{"order_id": "ORD-1001"}]}},
    {"model_surface": {"strict": True}},
    {"model_surface": {"input_schema": {**INPUT, "description": "x"}}},
    {"model_surface": {"input_schema": {**INPUT, "required": ["order_id"]}}},
    {"model_surface": {"output_schema": OBJECT}},
    {"errors": [*ARTIFACT["errors"], {"code": "NEW"}]},
    {"errors": [{**ARTIFACT["errors"][0], "retryable": True}, ARTIFACT["errors"][1]]},
    {"errors": [{**ARTIFACT["errors"][0], "message": "Not found."}, ARTIFACT["errors"][1]]},
    {"policy": {"required_scope": "refunds.admin"}},
    {"policy": {"effect": "read_only"}},
    {"policy": {"approval": "never"}},
    {"policy": {"idempotency_key": "order_id"}},
    {"policy": {"tenant_boundary": "account"}},
    {"policy": {"x-data-class": "secret"}},
    {"provider": {"operation": "POST /v3/refunds"}},
    {"provider": {"minimum_version": "2026-09-01"}},
    {"runtime": {"deadline_ms": 5_000}},
    {"compatibility": {"consumes": ["billing-api.refund.v3"]}},
    {"annotations": {"readOnlyHint": False}},
    {"x-team": "billing"},
]


@pytest.mark.parametrize("change", CHANGES, ids=json.dumps)
def test_whatever_a_model_or_adapter_sees_changes_it(change: dict[str, Any]) -> None:
    assert one(artifact(**change)).fingerprint != REFUND


def test_a_property_called_required_is_no_keyword() -> None:
    left = {"type": "object", "properties": {"required": {"enum": ["b", "a"]}}}
    right = {"type": "object", "properties": {"required": {"enum": ["a", "b"]}}}
    assert one(mcp(schema=left)).fingerprint != one(mcp(schema=right)).fingerprint


def test_only_the_version_is_left_out_of_the_content() -> None:
    assert fingerprint_content(one(ARTIFACT)) == fingerprint_content(one(artifact(tool_version=9)))
    assert fingerprint_content(one(ARTIFACT)) != fingerprint_content(one(artifact(runtime={"deadline_ms": 1})))


def test_tool_set_fingerprint_covers_the_tools_in_any_order() -> None:
    tools = [mcp("a"), mcp("b"), mcp("c")]
    assert load(tools).fingerprint == load({"tools": tools[::-1]}).fingerprint
    assert load(tools).fingerprint != load(tools[:2]).fingerprint
    assert load({"tools": tools, "instructions": "Look first."}).fingerprint != load(tools).fingerprint


@pytest.mark.parametrize("value", [2**60, -(2**70), float("inf"), float("nan"), "\ud800", {"\udfff": 1}, 1e400])
def test_what_json_cannot_hold_has_a_canonical_form(value: Any) -> None:
    assert canonical_bytes({"a": value}) == canonical_bytes({"a": value})
    assert canonical_bytes({"a": value}) != canonical_bytes({"a": 1})
