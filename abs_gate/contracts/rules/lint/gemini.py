"""What the Gemini API refuses in `parameters`, a subset of OpenAPI 3.0.

Endpoints that take `parametersJsonSchema` accept more; this profile is the older, stricter one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from abs_gate.contracts.linting import LintedSet, LintFact
from abs_gate.contracts.rules.lint.profiles import at, tool
from abs_gate.contracts.rules.registry import lint_rule
from abs_gate.contracts.schema_nodes import recursive_references
from abs_gate.contracts.wording import named
from abs_gate.findings import Json, Severity

PROFILE = "gemini"
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]{0,63}")
_LONGER_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.:-]{0,127}")
_ARGUMENT = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,63}")
_REFUSED = frozenset(
    {
        *("additionalProperties", "$schema", "$ref", "$defs", "const", "oneOf", "allOf", "not", "patternProperties"),
        *("propertyNames", "exclusiveMinimum", "exclusiveMaximum", "default", "title", "examples"),
    }
)


def _object(**properties: Json) -> Json:
    return {"type": "object", "properties": properties}


@lint_rule(
    "gemini-tool-name",
    area=PROFILE,
    severity=Severity.ERROR,
    fix="Begin with a letter or `_`, go on with letters, digits, `_`, `.` and `-`, 64 characters at most.",
    bad=tool(_object(), name="7_orders"),
    good=tool(_object(), name="orders.find"),
)
def gemini_tool_name(linted: LintedSet) -> Iterator[LintFact]:
    """A tool name does not match `^[A-Za-z_][A-Za-z0-9_.-]{0,63}$`.

    Gemini refuses the request. Colons and up to 128 characters are a warning: newer endpoints take them.
    """
    for each in linted.tools:
        if not _NAME.fullmatch(each.name):
            is_newer = _LONGER_NAME.fullmatch(each.name) is not None
            yield LintFact(
                message=f"Gemini refuses the name {named(each.name)}" + (" on older endpoints." if is_newer else "."),
                tool=each,
                part=("discovery", "name"),
                severity=Severity.WARNING if is_newer else None,
            )


@lint_rule(
    "gemini-argument-name",
    area=PROFILE,
    severity=Severity.ERROR,
    fix="Begin with a letter or `_`, go on with letters, digits and `_`, 64 characters at most.",
    bad=tool(_object(**{"order-id": {"type": "string"}})),
    good=tool(_object(order_id={"type": "string"})),
)
def gemini_argument_name(linted: LintedSet) -> Iterator[LintFact]:
    """An argument name does not match `^[A-Za-z_][A-Za-z0-9_]{0,63}$`.

    Gemini refuses the request.
    """
    for each, node in linted.each_node():
        if node.is_property and not _ARGUMENT.fullmatch(node.name):
            yield LintFact(message=f"Gemini refuses the argument name {named(node.name)}.", tool=each, part=at(node))


@lint_rule(
    "gemini-keyword",
    area=PROFILE,
    severity=Severity.ERROR,
    fix="Leave it out, or send the schema as `parametersJsonSchema`.",
    bad=tool({**_object(), "additionalProperties": False}),
    good=tool(_object()),
)
def gemini_keyword(linted: LintedSet) -> Iterator[LintFact]:
    """A keyword outside the OpenAPI subset of `parameters`, a list of types or an empty one.

    Older endpoints answer "Unknown name: Cannot find field" and refuse the request.
    """
    for each, node in linted.each_node():
        for keyword in sorted(_REFUSED & node.schema.keys()):
            message = f"Gemini does not know `{keyword}` at {node.where}."
            yield LintFact(message=message, tool=each, part=at(node, keyword))
        if isinstance(node.schema.get("type"), list) or node.schema.get("type") == "":
            message = f"Gemini takes one type at {node.where}, not a list."
            yield LintFact(message=message, tool=each, part=at(node, "type"))


@lint_rule(
    "gemini-enum",
    area=PROFILE,
    severity=Severity.ERROR,
    fix="List texts only.",
    bad=tool(_object(level={"type": "integer", "enum": [1, 2]})),
    good=tool(_object(level={"type": "string", "enum": ["1", "2"]})),
)
def gemini_enum(linted: LintedSet) -> Iterator[LintFact]:
    """A list of values holds other values than texts.

    Gemini refuses the request.
    """
    for each, node in linted.each_node():
        values = node.schema.get("enum")
        if isinstance(values, list) and not all(isinstance(value, str) for value in values):
            message = f"The values of {node.where} are not all texts."
            yield LintFact(message=message, tool=each, part=at(node, "enum"))


@lint_rule(
    "gemini-array-without-items",
    area=PROFILE,
    severity=Severity.ERROR,
    fix="Say what the items are.",
    bad=tool(_object(tags={"type": "array"})),
    good=tool(_object(tags={"type": "array", "items": {"type": "string"}})),
)
def gemini_array_without_items(linted: LintedSet) -> Iterator[LintFact]:
    """A list schema has no `items`.

    Gemini refuses the request.
    """
    for each, node in linted.each_node():
        if "array" in node.types and "items" not in node.schema:
            yield LintFact(message=f"The list at {node.where} has no `items`.", tool=each, part=at(node))


@lint_rule(
    "gemini-untyped-branch",
    area=PROFILE,
    severity=Severity.ERROR,
    fix="Give each branch a type.",
    bad=tool(_object(a={"anyOf": [{"type": "string"}, {"description": "Else."}]})),
    good=tool(_object(a={"anyOf": [{"type": "string"}, {"type": "integer"}]})),
)
def gemini_untyped_branch(linted: LintedSet) -> Iterator[LintFact]:
    """A branch of `anyOf`, or a property, has no type.

    Gemini refuses the request.
    """
    for each, node in linted.each_node():
        if (node.is_branch or node.is_property) and not {
            "type",
            "anyOf",
            "$ref",
            "oneOf",
            "allOf",
        } & node.schema.keys():
            yield LintFact(message=f"{node.where} has no type.", tool=each, part=at(node))


@lint_rule(
    "gemini-recursion",
    area=PROFILE,
    severity=Severity.ERROR,
    fix="Unfold the schema to the depth that is needed.",
    bad=tool({**_object(a={"$ref": "#/$defs/A"}), "$defs": {"A": _object(a={"$ref": "#/$defs/A"})}}),
    good=tool(_object(a=_object())),
)
def gemini_recursion(linted: LintedSet) -> Iterator[LintFact]:
    """A schema refers to itself.

    The OpenAPI subset cannot say that.
    """
    for each in linted.tools:
        for reference in recursive_references(each.input_schema):
            message = f"{named(reference)} refers to itself."
            yield LintFact(message=message, tool=each, part=("input",), args={"reference": reference})
