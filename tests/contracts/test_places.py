"""A change is placed at the very key it is about, in the file of the newer contract."""

from __future__ import annotations

import json
from typing import Any

import pytest

from abs_gate.contracts.diff import diff_sets
from abs_gate.contracts.load import load_contracts
from abs_gate.contracts.model import ContractSet
from abs_gate.findings import Location

from .workspaces import TODAY, MemoryWorkspace, load, load_files, mcp


def found(base: ContractSet, head: ContractSet) -> dict[str, Location | None]:
    return {change.path: change.location for entry in diff_sets(base, head, today=TODAY) for change in entry.changes}


def place(text: str, part: str, nth: int = 0) -> tuple[int, int]:
    """Return line and column of the nth time a part stands in a text."""
    at = -1
    for _ in range(nth + 1):
        at = text.index(part, at + 1)
    return text.count("\n", 0, at) + 1, at - text.rfind("\n", 0, at)


def listed(kind: str) -> dict[str, Any]:
    inner = {"type": "object", "properties": {"k": {"type": kind}}}
    row = {"type": "array", "prefixItems": [{"type": "string"}, inner]}
    return {"type": "object", "properties": {"choice": {"oneOf": [{"type": "string"}, inner]}, "row": row}}


@pytest.mark.parametrize("indent", [None, 1])
def test_inside_a_list_of_schemas(indent: int | None) -> None:
    text = json.dumps({"tools": [mcp("other"), mcp(schema=listed("integer"))]}, indent=indent)
    places = found(load([mcp(schema=listed("string")), mcp("other")]), load_files({"t.json": text}))
    expected = {"input.choice.k": place(text, '"k"', 0), "input.row[1].k": place(text, '"k"', 1)}
    assert {path: (at.line, at.column) for path, at in places.items() if at} == expected


def test_inside_a_schema_file_that_a_branch_refers_to() -> None:
    tool = {
        "tool_id": "t",
        "model_surface": {
            "name": "t",
            "input_schema": {"type": "object", "properties": {"v": {"oneOf": [{"type": "null"}, {"$ref": "s.json"}]}}},
        },
    }

    def files(kind: str) -> dict[str, str]:
        branch = {"type": "object", "properties": {"k": {"type": kind}}}
        return {"c/t.json": json.dumps(tool), "c/s.json": json.dumps(branch, indent=1)}

    at = found(load_files(files("string"), "c"), load_files(files("integer"), "c"))["input.v.k"]
    assert at and (at.file, at.line, at.column) == ("c/s.json", *place(files("integer")["c/s.json"], '"k"'))


def test_in_the_newer_file_where_both_loads_share_the_other_tools() -> None:
    same, old, new = (mcp(name, listed(kind)) for name, kind in (("a", "null"), ("b", "null"), ("b", "string")))
    files = {"base.json": json.dumps([same, old, same]), "head.json": json.dumps([new, same], indent=1)}
    known: Any = {}
    base, head = (load_contracts(MemoryWorkspace(files), [file], known=known) for file in files)
    at = found(base, head)["input.row[1].k"]
    assert at and (at.file, at.line, at.column) == ("head.json", *place(files["head.json"], '"k"', 1))
    assert [tool.location.line for tool in head.tools] == [
        place(files["head.json"], f'{{\n  "name": "{n}"')[0] for n in "ba"
    ]
