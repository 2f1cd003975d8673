"""What the provider profiles share."""

from __future__ import annotations

from collections.abc import Iterator

from abs_gate.contracts.linting import LintedSet, LintFact
from abs_gate.contracts.schema_nodes import SchemaNode
from abs_gate.findings import Json


def tool(schema: Json = None, name: str = "find_order", **more: Json) -> Json:
    """Return an example tool for provider rules."""
    plain = {"type": "object", "properties": {}, "required": [], "additionalProperties": False}
    return {"name": name, "description": "Finds one order.", "inputSchema": schema or plain, **more}


def closed(optional: tuple[str, ...] = (), **properties: Json) -> Json:
    """Return a closed object schema for examples, all of its properties required but the optional ones."""
    names = [name for name in properties if name not in optional]
    return {"type": "object", "properties": properties, "required": names, "additionalProperties": False}


def root_facts(linted: LintedSet, who: str) -> Iterator[LintFact]:
    """Yield a fact for each choice or conjunction at the root of an input schema."""
    for each in linted.tools:
        for node in linted.nodes(each)[:1]:
            for keyword in ("anyOf", "oneOf", "allOf"):
                if keyword in node.schema:
                    yield LintFact(
                        message=f"`{keyword}` at the root: {who} refuses the whole request.",
                        tool=each,
                        part=("input", keyword),
                    )


def at(node: SchemaNode, keyword: str = "") -> tuple[str | int, ...]:
    """Return the part a node of an input schema is."""
    return ("input", *node.pointer, *([keyword] if keyword else []))
