"""Whether a tool has the schemas it needs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from abs_gate.contracts.facts import ToolFact, ToolPair
from abs_gate.contracts.model import SourceFormat, ToolContract
from abs_gate.contracts.rules.registry import BREAKING, COMPATIBLE, tool_rule
from abs_gate.findings import Json

AREA = "discovery"
_OBJECT = {"type": "object", "properties": {}}
_TOOL: Json = {"name": "get_order", "description": "Finds one order by its number.", "inputSchema": _OBJECT}


@tool_rule(
    "output_schema_added",
    area=AREA,
    grade=COMPATIBLE,
    affects=("consumers",),
    mirror="output_schema_removed",
    fix="Return structured content that conforms with every success from now on: strict clients fail without it.",
    bad=(_TOOL, {**_TOOL, "outputSchema": _OBJECT}),
    good=({**_TOOL, "outputSchema": _OBJECT}, {**_TOOL, "outputSchema": {"properties": {}, "type": "object"}}),
)
def output_schema_added(pair: ToolPair) -> Iterator[ToolFact]:
    """Results have a declared schema where they had none.

    A promise more. An MCP server has to keep it with every success.
    """
    if pair.old.output_schema is None and pair.new.output_schema is not None:
        message = "Results have a declared schema now."
        yield ToolFact(path="output", message=message, after=pair.new.output_schema, part=("output",))


@tool_rule(
    "output_schema_removed",
    area=AREA,
    grade=BREAKING,
    affects=("consumers",),
    mirror="output_schema_added",
    fix="Keep the schema, or say in a new tool version what comes back.",
    bad=({**_TOOL, "outputSchema": _OBJECT}, _TOOL),
    good=(_TOOL, _TOOL),
)
def output_schema_removed(pair: ToolPair) -> Iterator[ToolFact]:
    """Results no longer have a declared schema.

    Consumers can rely on nothing, and typed clients lose their type.
    """
    if pair.old.output_schema is not None and pair.new.output_schema is None:
        message = "Results no longer have a declared schema."
        yield ToolFact(path="output", message=message, before=pair.old.output_schema, part=("discovery",))


@tool_rule(
    "input_schema_unusable",
    area=AREA,
    grade=BREAKING,
    affects=("provider", "adapter"),
    mirror="input_schema_mended",
    fix='Declare an object: {"type": "object", "properties": {}} for a tool without arguments.',
    bad=(_TOOL, {**_TOOL, "inputSchema": None}),
    good=(_TOOL, {**_TOOL, "inputSchema": {"type": "object"}}),
)
def input_schema_unusable(pair: ToolPair) -> Iterator[ToolFact]:
    """The input schema is null, no object, or its root is of another type than `object`.

    Providers refuse the request, and some clients drop the whole list.
    """
    if _takes_objects(pair.old) and not _takes_objects(pair.new):
        yield ToolFact(
            path="input",
            message="The input schema is no schema of an object any more.",
            before=pair.old.input_schema,
            after=pair.new.input_schema,
            part=("input",),
        )


@tool_rule(
    "input_schema_mended",
    area=AREA,
    grade=COMPATIBLE,
    affects=("provider", "adapter"),
    mirror="input_schema_unusable",
    fix="Nothing.",
    bad=({**_TOOL, "inputSchema": None}, _TOOL),
    good=(_TOOL, _TOOL),
)
def input_schema_mended(pair: ToolPair) -> Iterator[ToolFact]:
    """The input schema was unusable and is one of an object now.

    Providers that refused the tool take it.
    """
    if not _takes_objects(pair.old) and _takes_objects(pair.new):
        yield ToolFact(
            path="input",
            message="The input schema is usable now.",
            before=pair.old.input_schema,
            after=pair.new.input_schema,
            part=("input",),
        )


def _takes_objects(tool: ToolContract) -> bool:
    """Tell whether a schema may describe arguments; a tool the provider hosts has none and needs none."""
    schema = tool.input_schema
    if schema is None:
        return "type" in tool.extra and tool.source in (SourceFormat.OPENAI, SourceFormat.ANTHROPIC)
    if not isinstance(schema, Mapping):
        return False
    kind = schema.get("type")
    kinds = kind if isinstance(kind, list) else [kind]
    return kind is None or "object" in kinds
