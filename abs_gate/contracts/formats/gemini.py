"""Function declarations as the Gemini API takes them."""

from __future__ import annotations

from collections.abc import Mapping

from abs_gate.contracts.formats.entry import NO_ARGUMENTS, Entry, bare_tool
from abs_gate.contracts.model import SourceFormat, ToolContract
from abs_gate.findings import Json

_INPUT = ("parametersJsonSchema", "parameters_json_schema", "parameters")
_OUTPUT = ("responseJsonSchema", "response_json_schema", "response")
_FIELDS = frozenset({"name", "description", *_INPUT, *_OUTPUT})
_TYPES = frozenset({"STRING", "NUMBER", "INTEGER", "BOOLEAN", "ARRAY", "OBJECT", "NULL"})


def read(entry: Entry) -> ToolContract | None:
    """Read one declaration. Type names in capitals are read as JSON Schema's."""
    tool = entry.value
    input_key = next((key for key in _INPUT if key in tool), "parameters")
    output_key = next((key for key in _OUTPUT if key in tool), "response")
    return bare_tool(
        entry,
        source=SourceFormat.GEMINI,
        name=entry.name(tool, "name"),
        description=entry.text(tool, "description") or "",
        input_schema=_with_small_types(entry.schema(tool, input_key, default=NO_ARGUMENTS)),
        output_schema=_with_small_types(entry.schema(tool, output_key, needed=False)),
        extra=entry.rest(_FIELDS),
        written={("discovery",): (), ("input",): (input_key,), ("output",): (output_key,)},
    )


def _with_small_types(schema: Json) -> Json:
    if isinstance(schema, Mapping):
        small = {key: _with_small_types(value) for key, value in schema.items()}
        if schema.get("type") in _TYPES:
            small["type"] = str(schema["type"]).lower()
        return small
    if isinstance(schema, list):
        return [_with_small_types(item) for item in schema]
    return schema
