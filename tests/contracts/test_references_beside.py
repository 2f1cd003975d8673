"""References beside what was removed, renamed or added go on meaning the definitions of their own document."""

from __future__ import annotations

from typing import Any

import pytest

from .workspaces import changes, kinds, mcp

TEXT = {"type": "string"}
LONG = {"type": "string", "minLength": 2}


def tool(properties: dict[str, Any], **definitions: Any) -> list[dict[str, Any]]:
    return [mcp("pay", {"type": "object", "properties": properties, "$defs": definitions})]


def ref(name: str) -> dict[str, str]:
    return {"$ref": f"#/$defs/{name}"}


def test_a_narrowed_definition_is_seen_beside_a_removed_argument() -> None:
    old = tool({"gone": {"type": "integer"}, "note": ref("text")}, text=TEXT)
    new = tool({"note": ref("text")}, text=LONG)
    found = {change.kind: change for change in changes(old, new)}
    assert found["min_length_raised"].witness == {"note": "t"}
    assert found["property_removed"].has_witness is False


@pytest.mark.parametrize(
    ("before", "after", "kind"),
    [
        ({"gone": {"type": "integer"}, "note": ref("text")}, {"note": ref("words")}, "property_removed"),
        ({"userId": ref("text"), "note": ref("text")}, {"user_id": ref("words"), "note": ref("words")}, None),
        ({"note": TEXT}, {"note": TEXT, "more": ref("words")}, "optional_property_added"),
        ({"gone": TEXT}, {"more": ref("words"), "other": {"type": "integer"}}, "property_removed"),
    ],
)
def test_a_definition_of_one_side_is_no_broken_reference(
    before: dict[str, Any], after: dict[str, Any], kind: str | None
) -> None:
    found = {each[1] for each in kinds(tool(before, text=TEXT), tool(after, words=TEXT))}
    assert "schema_invalid" not in found
    assert (kind or "property_renamed") in found
    assert not found & {"schema_narrowed", "schema_not_proven"}


def test_a_broken_reference_of_the_base_is_not_blamed_on_the_head() -> None:
    found = kinds(tool({"gone": ref("nowhere"), "note": TEXT}), tool({"note": TEXT}))
    assert ("input.gone", "property_removed", "breaking") in found
    assert all(kind in ("property_removed", "schema_not_proven") for _, kind, _ in found)
    assert len(found) == 2
