"""What policy makes of each contract change: block, review, note, ignore, or cleared or acknowledged."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeAlias

from abs_gate.gate.acknowledgements import Acknowledgement
from abs_gate.gate.result import ChangeRecord, ContractsRecord, FindingRecord, ToolDiffRecord
from abs_gate.settings.model import ContractsSettings

Action: TypeAlias = Literal["block", "review", "note", "ignore", "cleared", "acknowledged"]
_CLEARED_BY_VERSIONING = ("breaking", "safety_breaking")


def apply_contract_policy(
    contracts: ContractsRecord,
    settings: ContractsSettings,
    *,
    acknowledgements: Sequence[Acknowledgement] = (),
    review_label: bool = False,
) -> ContractsRecord:
    """The record with the action of every change, and of lint findings whose rule the policy names.

    `review_label` says whether the pull request bears the label.
    """
    tools: list[ToolDiffRecord] = []
    for tool in contracts["tools"]:
        reviewed = review_label or any(entry.covers(tool) for entry in acknowledgements)
        changes: list[ChangeRecord] = [
            {**change, "action": _action(change, tool, settings, reviewed=reviewed)} for change in tool["changes"]
        ]
        tools.append({**tool, "changes": changes})
    lint = [_judged(finding, settings, reviewed=review_label) for finding in contracts["lint"]]
    return {**contracts, "tools": tools, "lint": lint, "fail_on_lint": settings.fail_on_lint}  # type: ignore[typeddict-item]


def _judged(finding: FindingRecord, settings: ContractsSettings, *, reviewed: bool) -> FindingRecord:
    """A lint finding with the action of its rule, where the policy names it; the label clears a review."""
    action = settings.rules.get(finding["rule"])
    if action is None:
        return finding
    return {**finding, "action": "acknowledged" if action == "review" and reviewed else action}  # type: ignore[typeddict-item]


def _action(change: ChangeRecord, tool: ToolDiffRecord, settings: ContractsSettings, *, reviewed: bool) -> Action:
    """A rule named in the policy decides over the classification; what blocks is never cleared by a review."""
    action: Action = settings.rules.get(change["kind"], "")  # type: ignore[assignment]
    if not action:
        classification = change["classification"]
        action = "block" if classification in settings.block else "note"
        if classification in settings.review and action != "block":
            action = "review"
    if action == "block" and tool.get("cleared") and change["classification"] in _CLEARED_BY_VERSIONING:
        return "cleared"
    if action == "review" and reviewed:
        return "acknowledged"
    return action
