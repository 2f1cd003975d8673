"""Tells from its shape alone what a value is: a tool in one of the formats, a list of tools, or neither."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from abs_gate.contracts.model import SourceFormat
from abs_gate.contracts.places import PartPath
from abs_gate.findings import Json

_LIST_KEYS = ("tools", "functions", "functionDeclarations", "function_declarations", "contracts")
_MCP_KEYS = frozenset(
    {"name", "title", "description", "inputSchema", "outputSchema", "annotations", "icons", "execution"}
)
_HOSTED_ANTHROPIC = re.compile(r".*_\d{8}$")
_HOSTED_OPENAI = re.compile(
    r"(web_search|file_search|code_interpreter|computer|image_generation|mcp|local_shell|shell|apply_patch)([_-].*)?$"
)
_NESTING = 4
"""Containers in one another: answer, result, list, group."""


def tool_format(value: Json, *, is_listed: bool = False) -> SourceFormat | None:
    """Return the format of one tool, or None when the value is no tool.

    Below a `tools` key (`is_listed`) an MCP tool is known without its schema.
    """
    if not isinstance(value, Mapping):
        return None
    if "tool_id" in value or "model_surface" in value:
        return SourceFormat.NATIVE
    kind = value.get("type")
    if kind == "function" and ("function" in value or "name" in value):
        return SourceFormat.OPENAI
    if "name" not in value:
        return SourceFormat.OPENAI if isinstance(kind, str) and _HOSTED_OPENAI.match(kind) else None
    if "input_schema" in value:
        return SourceFormat.ANTHROPIC
    if "inputSchema" in value or "outputSchema" in value:
        return SourceFormat.MCP
    if isinstance(kind, str):
        if _HOSTED_ANTHROPIC.match(kind):
            return SourceFormat.ANTHROPIC
        return SourceFormat.OPENAI if kind == "custom" or _HOSTED_OPENAI.match(kind) else None
    if "strict" in value and "parameters" in value:
        return SourceFormat.OPENAI
    if any(key in value for key in ("parameters", "parametersJsonSchema", "parameters_json_schema")):
        return SourceFormat.GEMINI
    return SourceFormat.MCP if is_listed and set(value) <= _MCP_KEYS else None


def find_tools(
    value: Json, path: PartPath = (), *, is_listed: bool = False
) -> Iterator[tuple[PartPath, Json, SourceFormat | None]]:
    """Yield each entry of a contract document: its path, the value and its format (None: not a tool).

    Opens bare lists, `{"tools": [...]}`, JSON-RPC answers and Gemini's groups of function declarations.
    """
    form = tool_format(value, is_listed=is_listed)
    for key, items in () if form or len(path) > _NESTING else _containers(value):
        for index, item in enumerate(items):
            if key == ("functions",):
                is_tool = isinstance(item, Mapping) and "name" in item
                yield (*path, *key, index), item, SourceFormat.OPENAI if is_tool else None
            else:
                yield from find_tools(item, (*path, *key, index), is_listed=key[-1:] == ("tools",))
        return
    yield path, value, form


def is_contract_shape(value: Json) -> bool:
    """Tell whether a document's value is a tool contract or a list of them, in any of the formats.

    An empty tool list is one; a list with anything that is no tool in it still is when it holds a tool.
    """
    if isinstance(value, Mapping) and isinstance(value.get("tools"), list) and not value["tools"]:
        return True
    if isinstance(value, Mapping) and "jsonrpc" in value:
        result = value.get("result")
        return isinstance(result, Mapping) and isinstance(result.get("tools"), list)
    return any(form is not None for _, _, form in find_tools(value))


def server_instructions(value: Json) -> str | None:
    """Return the instructions an MCP server gives beside its tools, where the document holds them."""
    if isinstance(value, Mapping):
        holder = value["result"] if isinstance(value.get("result"), Mapping) else value
        instructions = holder.get("instructions")
        if isinstance(instructions, str) and "tools" in holder:
            return instructions
    return None


def _containers(value: Json) -> Iterator[tuple[PartPath, list[Json]]]:
    """Yield the one list of tools that a value holds, with its path; nothing for other values."""
    if isinstance(value, list):
        yield (), value
    elif isinstance(value, Mapping):
        at: PartPath = ()
        if "jsonrpc" in value and isinstance(value.get("result"), Mapping):
            at, value = ("result",), value["result"]
        for key in _LIST_KEYS:
            if isinstance(value.get(key), list):
                yield (*at, key), value[key]
                return
