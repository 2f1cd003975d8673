"""Inputs of known size for measurements."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

SESSION = """\
session: Where is my order
abs_version: "0.2"
dataset: {{id: cases, path: rows-{rows}.jsonl}}
behaviors:
  - {{actor: user, action: says, content: "Where is order {{{{cases.order}}}}?"}}
  - actor: assistant
    action: informs
    evaluations:
      - {{type: contains, value: on the way}}
"""


def one_turn_session(place: Path, rows: int) -> Path:
    """A session of one question and one answer, with so many rows."""
    data = place / f"rows-{rows}.jsonl"
    with data.open("w") as file:
        for number in range(rows):
            file.write(json.dumps({"order": number}) + "\n")
    session = place / f"session-{rows}.abs.yaml"
    session.write_text(SESSION.format(rows=rows))
    return session


def tool(name: str, *, extra: dict[str, Any] | None = None, required: list[str] | None = None) -> dict[str, Any]:
    """One MCP tool of a usual size."""
    properties = {
        "order_id": {"type": "string", "pattern": "^ORD-\\d{4}$", "description": "The order."},
        "amount_cents": {"type": "integer", "minimum": 1},
        "reason": {"type": "string", "enum": ["damaged", "late", "wrong_item"]},
        "lines": {"type": "array", "items": {"type": "object", "properties": {"sku": {"type": "string"}}}},
        **(extra or {}),
    }
    return {
        "name": name,
        "description": f"Does what {name} is for, once for each order it is given.",
        "inputSchema": {"type": "object", "properties": properties, "required": required or ["order_id"]},
    }


def small_pair(place: Path, *, breaks: bool) -> tuple[Path, Path]:
    """One tool in two versions: one argument is required now, or there is one more, optional."""
    changed = {"required": ["order_id", "reason"]} if breaks else {"extra": {"note": {"type": "string"}}}
    return _pair(place, "breaking" if breaks else "compatible", [tool("refund")], [tool("refund", **changed)])


def many_tools(place: Path, *, tools: int, changed: int) -> tuple[Path, Path]:
    """A large catalogue, of which so many tools changed."""
    base = [tool(f"tool_{number:05}") for number in range(tools)]
    head = [
        tool(entry["name"], required=["order_id", "reason"]) if number < changed else entry
        for number, entry in enumerate(base)
    ]
    return _pair(place, f"tools-{tools}", base, head)


def large_schema(place: Path, *, nodes: int) -> tuple[Path, Path]:
    """One tool whose schema has so many nodes; one leaf is narrowed."""

    def grown(left: int, *, narrow: bool) -> dict[str, Any]:
        properties: dict[str, Any] = {}
        for number in range(left // 10):
            inner = {f"f{n}": {"type": "string", "maxLength": 50} for n in range(9)}
            properties[f"group_{number}"] = {"type": "object", "properties": inner}
        if narrow:
            properties["group_0"]["properties"]["f0"]["maxLength"] = 40
        return properties

    base, head = (tool("large", extra=grown(nodes, narrow=narrow)) for narrow in (False, True))
    return _pair(place, "large", [base], [head])


def _pair(place: Path, name: str, base: list[Any], head: list[Any]) -> tuple[Path, Path]:
    paths = place / f"{name}-base.json", place / f"{name}-head.json"
    for path, tools in zip(paths, (base, head), strict=True):
        path.write_text(json.dumps({"tools": tools}))
    return paths
