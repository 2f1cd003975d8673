"""Tools as the Anthropic API takes them: `input_schema` beside the name, and hosted tools."""

from __future__ import annotations

from abs_gate.contracts.formats.entry import Entry, bare_tool
from abs_gate.contracts.model import SourceFormat, ToolContract

_FIELDS = frozenset({"name", "description", "input_schema", "strict", "input_examples"})


def read(entry: Entry) -> ToolContract | None:
    """Read one tool. One with a dated type (`bash_20250124`) is the provider's own and has no schema here."""
    tool = entry.value
    hosted = "input_schema" not in tool
    return bare_tool(
        entry,
        source=SourceFormat.ANTHROPIC,
        name=entry.name(tool, "name"),
        description=entry.text(tool, "description") or "",
        input_schema=None if hosted else entry.schema(tool, "input_schema"),
        examples=tool.get("input_examples"),
        strict=tool.get("strict") is True,
        extra=entry.rest(_FIELDS if hosted else _FIELDS | ({"type"} if tool.get("type") == "custom" else frozenset())),
        written={("discovery",): (), ("input",): ("input_schema",)},
    )
