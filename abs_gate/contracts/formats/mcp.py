"""Tools of an MCP server: an entry of a `tools/list` result."""

from __future__ import annotations

from abs_gate.contracts.formats.entry import Entry, bare_tool
from abs_gate.contracts.model import SourceFormat, ToolContract
from abs_gate.contracts.places import PartPath

_FIELDS = frozenset({"name", "title", "description", "inputSchema", "outputSchema", "annotations"})
_WRITTEN: dict[PartPath, PartPath] = {("discovery",): (), ("input",): ("inputSchema",), ("output",): ("outputSchema",)}


def read(entry: Entry) -> ToolContract | None:
    """Read one tool. `execution`, `icons`, `_meta` and what the specification may add later are kept as extra."""
    tool = entry.value
    return bare_tool(
        entry,
        source=SourceFormat.MCP,
        name=entry.name(tool, "name"),
        title=entry.text(tool, "title"),
        description=entry.text(tool, "description") or "",
        input_schema=entry.schema(tool, "inputSchema"),
        output_schema=entry.schema(tool, "outputSchema", needed=False),
        annotations=entry.mapping(tool, "annotations"),
        extra=entry.rest(_FIELDS),
        written=_WRITTEN,
    )
