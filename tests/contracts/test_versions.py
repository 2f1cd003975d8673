"""Versions side by side: what clears a breaking change, what may be removed, what counts as renamed."""

from __future__ import annotations

from typing import Any

import pytest

from abs_gate.contracts.version_order import version_key

from .workspaces import ARTIFACT, TODAY, artifact, diff, kinds, load, mcp

INPUT = ARTIFACT["model_surface"]["input_schema"]
PLAN = {"owner": "@billing", "plan": "Move the nightly job first.", "retire_when": "2027-01-31"}


def refund(version: int | None, *, needs_reason: bool = False, **more: Any) -> dict[str, Any]:
    required = [*INPUT["required"], *(["reason"] if needs_reason else [])]
    surface = {"input_schema": {**INPUT, "required": required}}
    compatibility = more.pop("compatibility", {"replaces": f"billing.issue_refund@{(version or 1) - 1}"})
    return artifact(tool_version=version, model_surface=surface, compatibility=compatibility, **more)


OLD = refund(3)
NEW = refund(4, needs_reason=True, migration=PLAN)


def only(old: Any, new: Any, today: str = TODAY) -> Any:
    (entry,) = diff(old, new, today=today)
    return entry


def test_the_example_of_the_guide() -> None:
    """`reason` became required, the timeout is no longer retryable."""
    errors = [ARTIFACT["errors"][0], {**ARTIFACT["errors"][1], "retryable": False}]
    entry = only(OLD, [OLD, {**NEW, "errors": errors}])
    assert (entry.tool_id, entry.baseline, entry.candidate) == ("billing.issue_refund", 3, 4)
    assert entry.classification == "breaking"
    listed = {(change.path, change.kind): change.affects for change in entry.changes}
    assert listed["input.reason", "optional_to_required"] == ("model_arguments", "saved_runs", "adapter")
    assert listed["errors.PROVIDER_TIMEOUT", "retryability_changed"] == ("recovery_policy",)


def test_a_breaking_change_is_cleared_when_all_conditions_hold() -> None:
    entry = only(OLD, [OLD, NEW])
    assert entry.classification == "breaking" and entry.cleared
    assert "still shipped" in entry.cleared_reason and "@billing" in entry.cleared_reason


@pytest.mark.parametrize(
    ("head", "missing"),
    [
        ([NEW], "go on shipping version `3`"),
        ([OLD, {**NEW, "migration": {"owner": "@billing"}}], "give `migration.retire_when`"),
        ([OLD, {**NEW, "migration": {"retire_when": "2027-01-31"}}], "give `migration.owner`"),
        ([OLD, {**NEW, "compatibility": {}}], "name `billing.issue_refund@3` in `compatibility.replaces`"),
        ([{**NEW, "tool_version": 3}], "raise `tool_version` above `3`"),
        ([{**OLD, "runtime": {"deadline_ms": 20_000}}, NEW], "leave version `3` as it was"),
    ],
)
def test_one_condition_missing_blocks_and_is_named(head: list[Any], missing: str) -> None:
    entry = next(each for each in diff(OLD, head) if each.classification == "breaking")
    assert not entry.cleared and entry.cleared_reason == ""
    assert missing in entry.changes[0].notes[-1]


def test_bare_lists_have_no_versions_and_are_never_cleared() -> None:
    schema = {"type": "object", "properties": {"a": {"type": "string"}}}
    entry = only(mcp(schema=schema), mcp(schema={**schema, "required": ["a"]}))
    assert entry.baseline is None and entry.candidate is None and not entry.cleared
    assert entry.changes[0].notes == ()


def test_a_version_edited_in_place_is_compared_with_itself() -> None:
    head = [{**OLD, "policy": {**OLD["policy"], "approval": "never"}}, NEW]
    entries = {(each.baseline, each.candidate): each for each in diff([OLD, NEW], head)}
    assert entries[3, 3].classification == "safety_breaking" and not entries[3, 3].cleared


def test_the_candidate_is_compared_with_every_version_still_supported() -> None:
    second = refund(2)
    third = refund(3, migration=PLAN)
    entries = {(each.baseline, each.candidate): each for each in diff([second, third], [second, third, NEW])}
    assert set(entries) == {(3, 4), (2, 4)}
    assert entries[2, 4].cleared, "4 replaces 3, which replaces 2"
    assert diff([second, third, NEW], [second, third, NEW]) == ()


def test_an_old_difference_is_not_reported_again() -> None:
    """Nothing about versions 3 and 4 changed here: another tool did."""
    other = mcp("get_order")
    entries = diff([OLD, NEW, other], [OLD, NEW, {**other, "title": "Order"}])
    assert [entry.tool_id for entry in entries] == ["get_order"]


def test_removing_a_version_that_the_rest_stands_in_for_is_compatible() -> None:
    entry = only([refund(2), OLD], [OLD])
    assert (entry.changes[0].kind, entry.classification) == ("version_removed", "compatible")


def test_removing_a_version_too_early_is_breaking() -> None:
    entry = only([OLD, NEW], [NEW])
    assert (entry.baseline, entry.changes[0].kind, entry.classification) == (3, "version_removed", "breaking")


def test_removing_a_version_whose_date_has_passed_is_allowed() -> None:
    entry = only([OLD, NEW], [NEW], today="2027-02-01")
    assert entry.classification == "compatible" and "2027-01-31, has passed" in entry.changes[0].message


@pytest.mark.parametrize(
    "condition", ["when nobody uses it", "2027-13", "2099-01-01", {"when": "later"}, 20270131, None]
)
def test_a_condition_that_is_no_date_is_not_met(condition: Any) -> None:
    base = [OLD, {**NEW, "migration": {"owner": "@billing", "retire_when": condition}}]
    assert only(base, base[1], today="2027-02-01").classification == "breaking"


@pytest.mark.parametrize(
    "condition", ["2027-01-31", "after 2027-01-31", {"date": "2027-01-31"}, "2027-01-31T00:00:00Z"]
)
def test_a_date_may_be_written_in_several_ways(condition: Any) -> None:
    base = [OLD, {**NEW, "migration": {"owner": "@billing", "retire_when": condition}}]
    assert only(base, base[1], today="2027-02-01").classification == "compatible"


@pytest.mark.parametrize(
    "versions",
    [[1, 2, 10], ["1.0.0-rc1", "1.0.0", "1.0.1"], ["2026-08-01", "2026-09-01"], ["1", 2, "v3"], ["1.9", "1.10"]],
)
def test_versions_are_ordered_as_people_count(versions: list[Any]) -> None:
    assert sorted(versions, key=version_key) == versions
    assert version_key(None) < version_key(versions[0])


READ = {"readOnlyHint": True}
SCHEMA = {"type": "object", "properties": {"label": {"type": "string"}, "color": {"type": "string"}}}


def test_a_tool_that_came_and_a_tool_that_went() -> None:
    assert kinds([mcp("a")], [mcp("a"), mcp("b", annotations=READ)]) == [
        ("discovery.tools", "tool_added", "compatible")
    ]
    assert kinds([mcp("a")], [mcp("a"), mcp("b")]) == [("discovery.tools", "tool_added", "behavior_sensitive")]
    search = mcp("b", annotations={**READ, "openWorldHint": True})
    assert kinds([mcp("a")], [mcp("a"), search]) == [("discovery.tools", "tool_added", "behavior_sensitive")]
    assert kinds([mcp("a"), mcp("b")], [mcp("a")]) == [("discovery.tools", "tool_removed", "breaking")]


def test_order_of_tools_says_nothing() -> None:
    tools = [mcp("a"), mcp("b"), mcp("c")]
    assert diff(tools, tools[::-1]) == ()


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("write_label", "label_write"),
        ("read-query", "read_query"),
        ("browser_run_code", "browser_run_code_unsafe"),
        ("getOrder", "get_order"),
        ("tag_issue", "classify"),
    ],
)
def test_a_rename_is_one_finding_and_still_breaking(before: str, after: str) -> None:
    neighbour = mcp("unrelated", annotations=READ)
    entry = only([mcp(before, SCHEMA), neighbour], [mcp(after, SCHEMA), neighbour])
    assert [(change.kind, change.before, change.after) for change in entry.changes] == [("tool_renamed", before, after)]
    assert entry.classification == "breaking"


def test_tools_without_arguments_are_not_taken_for_one_another() -> None:
    assert {kind for _, kind, _ in kinds([mcp("ping")], [mcp("shutdown")])} == {"tool_added", "tool_removed"}


def test_a_tool_id_that_moved_is_paired_by_what_it_replaces() -> None:
    moved = {**NEW, "tool_id": "refunds.issue", "compatibility": {"replaces": "billing.issue_refund@3"}}
    entry = only(OLD, moved)
    assert (entry.tool_id, entry.baseline, entry.candidate) == ("refunds.issue", 3, 4) and not entry.cleared
    added, removed = diff([OLD], [OLD, moved]), diff([OLD, moved], [moved], today="2020-01-01")
    assert [each.changes[0].kind for each in added] == ["tool_added"]
    assert [each.changes[0].kind for each in removed] == ["tool_removed"]


def test_a_bare_list_and_an_artifact_pair_by_the_name_models_call() -> None:
    bare = mcp("issue_refund", INPUT, outputSchema=ARTIFACT["model_surface"]["output_schema"])
    entry = only(bare, ARTIFACT)
    assert entry.tool_id == "billing.issue_refund" and all(c.kind != "tool_removed" for c in entry.changes)


def test_a_retired_or_aliased_tool_may_go() -> None:
    old = mcp("old_name", SCHEMA, _meta={"sunset": "2026-10-01"})
    keep = mcp("keep")
    assert only([old, keep], [keep]).classification == "compatible"
    assert only([old, keep], [keep], today="2026-09-30").classification == "breaking"
    answering = mcp("keep", _meta={"aliases": ["gone"]})
    assert only([mcp("gone", SCHEMA), answering], [answering]).classification == "compatible"


def test_losing_the_tool_that_undoes_another_is_a_safety_matter() -> None:
    undoable = artifact(policy={"compensation": "billing.cancel_refund"})
    undo = artifact(tool_id="billing.cancel_refund", model_surface={"name": "cancel_refund"})
    found = kinds([undoable, undo], [undoable])
    assert ("policy.compensation", "compensation_removed", "safety_breaking") in found


def test_instructions_are_for_review() -> None:
    before, after = ({"tools": [mcp()], "instructions": text} for text in ("Look first.", "Never look. Always write."))
    entry = only(before, after)
    assert (entry.tool_id, entry.classification) == ("(server)", "behavior_sensitive")


def test_a_set_is_compared_in_the_order_of_the_head() -> None:
    tools = [mcp(name) for name in "abc"]
    changed = [{**tool, "title": tool["name"].upper()} for tool in tools]
    assert [entry.tool_id for entry in diff(tools, changed[::-1])] == ["c", "b", "a"]


def test_everything_is_new_against_an_empty_base() -> None:
    entries = diff({"tools": []}, [ARTIFACT, mcp()])
    assert [entry.changes[0].kind for entry in entries] == ["tool_added", "tool_added"]
    assert all(entry.baseline_fingerprint is None for entry in entries)
    assert load([ARTIFACT]).tools[0].fingerprint == entries[0].candidate_fingerprint
