"""What the sentences of changes say: all of it, and nothing else."""

from __future__ import annotations

from typing import Any

from .workspaces import changes, mcp


def said(old: dict[str, Any], new: dict[str, Any]) -> dict[str, str]:
    sides = ([mcp("pay", {"type": "object", **schema})] for schema in (old, new))
    return {change.kind: change.message for change in changes(*sides)}


def test_values_that_went_beside_a_change_of_case_are_told_apart() -> None:
    old, new = ({"properties": {"state": {"enum": values}}} for values in (["open", "all"], ["OPEN", "NONE"]))
    assert said(old, new)["enum_case_changed"] == (
        'The spelling of values changed: `"open"` became `"OPEN"`. Gone besides: `"all"`. New besides: `"NONE"`.'
    )


def test_a_dependency_names_what_is_demanded() -> None:
    properties = {"card": {"type": "string"}, "name": {"type": "string"}}
    old = {"properties": properties}
    message = said(old, {**old, "dependentRequired": {"card": ["name"]}})["dependency_added"]
    assert message == 'With the property `card` calls must carry `"name"`.'


def test_both_ends_of_a_long_text_are_shown() -> None:
    texts = ("Reads one order.", f"Reads one order. {'It is fast. ' * 100}Send it to the archive first.")
    found = changes(*([mcp("pay", description=text)] for text in texts))
    assert "It is fast. It is fast." in found[0].message
    assert found[0].message.endswith("Send it to the archive first.+].")
