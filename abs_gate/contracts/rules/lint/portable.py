"""What MCP asks for, and what every provider takes: the profiles `mcp` and `cross`."""

from __future__ import annotations

import re
from collections.abc import Iterator

from abs_gate.contracts.linting import LintedSet, LintFact
from abs_gate.contracts.rules.lint.profiles import at, closed, root_facts, tool
from abs_gate.contracts.rules.registry import lint_rule
from abs_gate.contracts.schema_nodes import recursive_references
from abs_gate.contracts.schemas.values import type_of
from abs_gate.contracts.wording import named, show
from abs_gate.findings import Json, Severity

MCP, CROSS = "mcp", "cross"
_MCP_NAME = re.compile(r"[A-Za-z0-9_.-]{1,128}")
_SAFE_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,63}")
_FOLDED = re.compile(r"[.\-_]")
_MOST_LEVELS = 5
_LONGEST_DESCRIPTION = 1024
_MOST_TOOLS, _CURSOR_TOOLS = 128, 40
_SAYS_TYPE = frozenset({"type", "anyOf", "oneOf", "allOf", "$ref", "enum", "const"})


def _tools(*names: str) -> Json:
    return {"tools": [tool(name=name) for name in names]}


@lint_rule(
    "mcp-tool-name",
    area=MCP,
    severity=Severity.WARNING,
    fix="Use letters, digits, `_`, `-` and `.`, at most 128 of them.",
    bad=tool(name="find order"),
    good=tool(name="orders.find"),
)
def mcp_tool_name(linted: LintedSet) -> Iterator[LintFact]:
    """A tool name is outside what the specification says names should be.

    Clients may refuse it or rewrite it.
    """
    for each in linted.tools:
        if not _MCP_NAME.fullmatch(each.name):
            message = f"MCP names should not be {named(each.name)}."
            yield LintFact(message=message, tool=each, part=("discovery", "name"))


@lint_rule(
    "mcp-root",
    area=MCP,
    severity=Severity.ERROR,
    fix='Make the root `"type": "object"`.',
    bad=tool({"properties": {}}),
    good=tool({"type": "object", "properties": {}}),
)
def mcp_root(linted: LintedSet) -> Iterator[LintFact]:
    """The root of an input or output schema is not `type: object`.

    The specification demands it, and clients drop the tool.
    """
    for each in linted.tools:
        for part in ("input", "output"):
            for node in linted.nodes(each, part)[:1]:
                if node.schema.get("type") != "object":
                    message = f'The root of the {part} schema is {show(node.schema.get("type"))}, not `"object"`.'
                    yield LintFact(message=message, tool=each, part=(part,))


@lint_rule(
    "mcp-no-arguments",
    area=MCP,
    severity=Severity.INFO,
    fix='Write {"type": "object", "additionalProperties": false}.',
    bad=tool({"type": "object"}),
    good=tool({"type": "object", "additionalProperties": False}),
)
def mcp_no_arguments(linted: LintedSet) -> Iterator[LintFact]:
    """A tool without arguments accepts any.

    The specification recommends a schema that accepts empty objects only.
    """
    for each in linted.tools:
        for node in linted.nodes(each)[:1]:
            says_more = node.schema.keys() - {"type", "properties", "$schema", "title", "description", "required"}
            if node.is_object and not node.properties and not says_more:
                yield LintFact(message="A tool without arguments accepts any.", tool=each, part=("input",))


@lint_rule(
    "cross-tool-name",
    area=CROSS,
    severity=Severity.WARNING,
    fix="Begin with a letter or `_`, go on with letters, digits, `_` and `-`, 64 at most, less the prefix of the host.",
    bad=tool(name="orders.find"),
    good=tool(name="orders_find"),
)
def cross_tool_name(linted: LintedSet) -> Iterator[LintFact]:
    """A tool name that some provider refuses.

    Safe everywhere is `^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$`; hosts put a prefix such as `mcp__server__` before it.
    """
    for each in linted.tools:
        if not _SAFE_NAME.fullmatch(each.name):
            message = f"Some provider refuses the name {named(each.name)}."
            yield LintFact(message=message, tool=each, part=("discovery", "name"))


@lint_rule(
    "cross-name-collision",
    area=CROSS,
    severity=Severity.WARNING,
    fix="Give them names that differ in more than `.`, `-` and `_`.",
    bad=_tools("orders.find", "orders_find"),
    good=_tools("orders_find", "orders_list"),
)
def cross_name_collision(linted: LintedSet) -> Iterator[LintFact]:
    """Two tool names become one when a host writes `.` and `-` as `_`.

    One of them can no longer be called.
    """
    seen: dict[str, str] = {}
    for each in linted.tools:
        first = seen.setdefault(_FOLDED.sub("_", each.name), each.name)
        if first != each.name:
            message = f"{named(first)} and {named(each.name)} become one name in some hosts."
            yield LintFact(message=message, tool=each, part=("discovery", "name"), args={"other": first})


@lint_rule(
    "cross-root",
    area=CROSS,
    severity=Severity.ERROR,
    fix="Make the root a plain object with `properties`, possibly empty.",
    bad=tool({"type": "object", "anyOf": [{"required": []}], "properties": {}}),
    good=tool(closed()),
)
def cross_root(linted: LintedSet) -> Iterator[LintFact]:
    """The root of an input schema is no plain object with `properties`.

    OpenAI and Anthropic refuse the whole request.
    """
    yield from root_facts(linted, "OpenAI or Anthropic")
    for each in linted.tools:
        for node in linted.nodes(each)[:1]:
            if node.schema.get("type") != "object" or "properties" not in node.schema:
                message = "The root is no plain object with `properties`."
                yield LintFact(message=message, tool=each, part=("input",), severity=Severity.WARNING)


@lint_rule(
    "cross-untyped",
    area=CROSS,
    severity=Severity.WARNING,
    fix="Give each property a type and each list its items.",
    bad=tool(closed(tags={"type": "array"})),
    good=tool(closed(tags={"type": "array", "items": {"type": "string"}})),
)
def cross_untyped(linted: LintedSet) -> Iterator[LintFact]:
    """A property without a type, or a list without `items`.

    Some provider refuses the request.
    """
    for each, node in linted.each_node():
        if node.is_property and not _SAYS_TYPE & node.schema.keys():
            yield LintFact(message=f"{node.where} has no type.", tool=each, part=at(node))
        elif "array" in node.types and "items" not in node.schema:
            yield LintFact(message=f"The list at {node.where} has no `items`.", tool=each, part=at(node))


@lint_rule(
    "cross-type-list",
    area=CROSS,
    severity=Severity.WARNING,
    fix="Use `anyOf` with null, or leave the argument out of `required`.",
    bad=tool(closed(reason={"type": ["string", "null"]})),
    good=tool(closed(reason={"anyOf": [{"type": "string"}, {"type": "null"}]})),
)
def cross_type_list(linted: LintedSet) -> Iterator[LintFact]:
    """A list of types.

    Older Gemini endpoints and some clients refuse it.
    """
    for each, node in linted.each_node():
        if isinstance(node.schema.get("type"), list):
            message = f"{node.where} has a list of types, which some clients refuse."
            yield LintFact(message=message, tool=each, part=at(node, "type"))


@lint_rule(
    "cross-one-of",
    area=CROSS,
    severity=Severity.WARNING,
    fix="Write `anyOf`.",
    bad=tool(closed(a={"oneOf": [{"type": "string"}, {"type": "integer"}]})),
    good=tool(closed(a={"anyOf": [{"type": "string"}, {"type": "integer"}]})),
)
def cross_one_of(linted: LintedSet) -> Iterator[LintFact]:
    """`oneOf`.

    OpenAI strict mode and older Gemini endpoints refuse it, others rewrite it to `anyOf`.
    """
    for each, node in linted.each_node():
        if node.pointer and "oneOf" in node.schema:
            yield LintFact(message=f"`oneOf` at {node.where} is not portable.", tool=each, part=at(node, "oneOf"))


@lint_rule(
    "cross-recursion",
    area=CROSS,
    severity=Severity.WARNING,
    fix="Unfold the schema to the depth that is needed.",
    bad=tool({**closed(a={"$ref": "#/$defs/A"}), "$defs": {"A": closed(a={"$ref": "#/$defs/A"})}}),
    good=tool({**closed(a={"$ref": "#/$defs/A"}), "$defs": {"A": closed()}}),
)
def cross_recursion(linted: LintedSet) -> Iterator[LintFact]:
    """A schema refers to itself.

    Anthropic's strict tool use and Gemini refuse it.
    """
    for each in linted.tools:
        for reference in recursive_references(each.input_schema):
            message = f"{named(reference)} refers to itself, which some providers refuse."
            yield LintFact(message=message, tool=each, part=("input",), args={"reference": reference})


@lint_rule(
    "cross-depth",
    area=CROSS,
    severity=Severity.WARNING,
    fix="Flatten the arguments.",
    bad=tool(closed(a=closed(b=closed(c=closed(d=closed(e=closed(f={"type": "string"}))))))),
    good=tool(closed(a=closed(b={"type": "string"}))),
)
def cross_depth(linted: LintedSet) -> Iterator[LintFact]:
    """Arguments are nested more than five levels deep.

    Models fill them in badly, and some providers refuse them.
    """
    for each in linted.tools:
        deepest = max((node.level for node in linted.nodes(each)), default=0)
        if deepest > _MOST_LEVELS:
            message = f"Arguments are nested {deepest} levels deep; {_MOST_LEVELS} are portable."
            yield LintFact(message=message, tool=each, part=("input",))


@lint_rule(
    "cross-mixed-enum",
    area=CROSS,
    severity=Severity.WARNING,
    fix="List values of one type.",
    bad=tool(closed(level={"enum": ["low", 1]})),
    good=tool(closed(level={"enum": ["low", "high"]})),
)
def cross_mixed_enum(linted: LintedSet) -> Iterator[LintFact]:
    """A list of values mixes types.

    Gemini takes texts only, and generated clients cannot type it.
    """
    for each, node in linted.each_node():
        values = node.schema.get("enum")
        if isinstance(values, list) and len({type_of(value) for value in values if value is not None}) > 1:
            yield LintFact(message=f"The values of {node.where} mix types.", tool=each, part=at(node, "enum"))


@lint_rule(
    "cross-size",
    area=CROSS,
    severity=Severity.WARNING,
    fix="Offer fewer tools, and describe them in 1,024 characters.",
    bad=tool(description="Finds one order. " * 70),
    good=tool(),
)
def cross_size(linted: LintedSet) -> Iterator[LintFact]:
    """More than 128 tools, or a description of more than 1,024 characters.

    Providers and hosts refuse them. Some hosts stop at 40 tools, which is named for information.
    """
    count = len({each.tool_id for each in linted.tools})
    if count > _CURSOR_TOOLS:
        is_many = count > _MOST_TOOLS
        message = f"{count} tools are offered; some hosts stop at {_MOST_TOOLS if is_many else _CURSOR_TOOLS}."
        yield LintFact(message=message, tool=linted.tools[0], severity=None if is_many else Severity.INFO)
    for each in linted.tools:
        if len(each.description) > _LONGEST_DESCRIPTION:
            message = f"The description has {len(each.description)} characters; {_LONGEST_DESCRIPTION} are portable."
            yield LintFact(message=message, tool=each, part=("discovery", "description"))
