"""Changes as records: the fields of the interface, bounded, plain JSON."""

from __future__ import annotations

import json

from abs_gate.contracts.records import MAX_TEXT, bounded, to_record

from .workspaces import ARTIFACT, artifact, diff, mcp

TOOL_KEYS = {
    *("tool_id", "baseline", "candidate", "baseline_fingerprint", "candidate_fingerprint"),
    *("classification", "changes"),
}
CHANGE_KEYS = {
    *("path", "kind", "classification", "affects", "message", "before", "after"),
    *("proof", "file", "line", "notes"),
}


def test_a_record_has_the_fields_of_the_interface() -> None:
    schema = {
        **ARTIFACT["model_surface"]["input_schema"],
        "required": ["order_id", "amount_cents", "action_id", "reason"],
    }
    (entry,) = diff(ARTIFACT, artifact(model_surface={"input_schema": schema}))
    record = to_record(entry)
    assert set(record) == TOOL_KEYS
    (change,) = record["changes"]
    assert set(change) == CHANGE_KEYS | {"witness"}
    assert (record["tool_id"], record["baseline"], record["candidate"]) == ("billing.issue_refund", 4, 4)
    assert change["path"] == "input.reason" and change["kind"] == "optional_to_required"
    assert change["affects"] == ["model_arguments", "saved_runs", "adapter"] and change["proof"] == "witness"
    assert set(change["witness"]) == {"order_id", "amount_cents", "action_id"}
    assert change["file"] == "tools.json" and change["line"] == 1
    assert json.loads(json.dumps(record)) == record


def test_a_cleared_change_says_why() -> None:
    plan = {"owner": "@a", "retire_when": "2027-01-31"}
    new = artifact(
        tool_version=5,
        policy={"approval": "never"},
        migration=plan,
        compatibility={"replaces": "billing.issue_refund@4"},
    )
    (entry,) = diff(ARTIFACT, [ARTIFACT, new])
    assert "still shipped" in to_record(entry)["cleared"]


def test_what_has_no_witness_has_no_key_and_a_null_witness_has_one() -> None:
    (entry,) = diff(mcp(description="a b"), mcp(description="a c"))
    assert "witness" not in to_record(entry)["changes"][0]


def test_long_values_are_cut() -> None:
    assert bounded("x" * 10_000) == "x" * (MAX_TEXT - 1) + "…"
    cut = bounded({"a": ["y" * 100] * 1_000})
    assert isinstance(cut, str) and len(cut) == MAX_TEXT
    assert bounded({"a": (1, 2)}) == {"a": [1, 2]}
