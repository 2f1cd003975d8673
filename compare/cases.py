"""The questions that every tool is asked: what did this change break?"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

DATA = Path(__file__).parents[1] / "tests" / "contracts" / "data"
VERDICTS = ("none", "compatible", "review", "breaking", "safety_breaking")
"""From weakest to strongest."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """Two versions of a tool list, and the verdicts that are right."""

    id: str
    side: str
    """`input` or `output` when only that schema of one tool differs; `tool` for whole tools."""
    old: str
    new: str
    """Texts of two `tools/list` results."""
    right: frozenset[str]


def micro_questions() -> list[Question]:
    """Small schema pairs, each asked for twice: as the input and as the output schema of one tool."""
    return [
        Question(
            id=f"{case['id']}/{side}",
            side=side,
            old=_tool_list([_micro_tool(side, case["old"])]),
            new=_tool_list([_micro_tool(side, case["new"])]),
            right=frozenset([case[side]]),
        )
        for case in _read("microcases.json")
        for side in ("input", "output")
    ]


def label_questions() -> list[Question]:
    """Real changes of real servers, labelled by hand."""
    pairs = {entry["id"]: entry for entry in map(json.loads, _lines("pairs.jsonl"))}
    servers = _read("servers.json")
    return [
        Question(
            id=label["id"],
            side="tool",
            old=_tool_list(old),
            new=_tool_list(new),
            right=frozenset(label["acceptable"]),
        )
        for label in _read("labels.json")
        for old, new in [_versions(label, pairs, servers)]
    ]


def _versions(label: dict[str, Any], pairs: dict[str, Any], servers: dict[str, Any]) -> tuple[list[Any], list[Any]]:
    place = label["ref"]
    if place["kind"] == "pair":
        pair = pairs[place["dir"].removeprefix("pairs/")]
        return [pair["old"]], [pair["new"]]
    old, new = (servers[f"{place['server']}@{place[key]}"]["tools"] for key in ("old_version", "new_version"))
    if label["tool"] is None:
        return old, new
    return _named(old, label["tool"]), _named(new, label["tool"])


def _named(tools: list[Any], name: str) -> list[Any]:
    return [tool for tool in tools if tool["name"] == name]


def _micro_tool(side: str, schema: Any) -> dict[str, Any]:
    tool: dict[str, Any] = {"name": "micro", "description": "Answers one question.", "inputSchema": {"type": "object"}}
    return {**tool, f"{side}Schema": schema}


def _tool_list(tools: list[Any]) -> str:
    return json.dumps({"tools": tools})


def _read(name: str) -> Any:
    return json.loads((DATA / name).read_text(encoding="utf-8"))


def _lines(name: str) -> Iterator[str]:
    yield from (DATA / name).read_text(encoding="utf-8").splitlines()
