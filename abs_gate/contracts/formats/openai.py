"""Tools as the OpenAI APIs take them: the Chat shape (`function` inside), the Responses shape (flat), hosted tools."""

from __future__ import annotations

from abs_gate.contracts.formats.entry import NO_ARGUMENTS, Entry, bare_tool
from abs_gate.contracts.model import SourceFormat, ToolContract

_FIELDS = frozenset({"type", "function", "name", "description", "parameters", "strict"})


def read(entry: Entry) -> ToolContract | None:
    """Read one tool. A tool the provider runs itself has no schema here; its settings are kept as extra."""
    outer = entry.value
    inside = ("function",) if "function" in outer else ()
    function = entry.mapping(outer, "function") if inside else outer
    kind = outer.get("type", "function")
    hosted = kind != "function"
    name = str(kind) if hosted and "name" not in function else entry.name(function, *inside, "name")
    return bare_tool(
        entry,
        source=SourceFormat.OPENAI,
        name=name,
        description=entry.text(function, *inside, "description") or "",
        input_schema=None if hosted else entry.schema(function, *inside, "parameters", default=NO_ARGUMENTS),
        strict=function.get("strict") is True,
        extra={
            **entry.rest(_FIELDS),
            **(entry.rest(_FIELDS, function) if inside else {}),
            **({"type": kind} if hosted else {}),
        },
        written={("discovery",): inside, ("input",): (*inside, "parameters")},
    )
