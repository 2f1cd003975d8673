"""What the Anthropic API refuses or changes, without and with strict tool use.

Source: the define-tools and structured-outputs pages, and what its SDK rewrites, as of 2026.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from abs_gate.contracts.linting import LintedSet, LintFact
from abs_gate.contracts.rules.lint.profiles import at, closed, root_facts, tool
from abs_gate.contracts.rules.registry import lint_rule
from abs_gate.contracts.schema_nodes import recursive_references
from abs_gate.contracts.wording import named, show
from abs_gate.findings import Severity

PLAIN, STRICT = "anthropic", "anthropic-strict"
_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_LONGER_NAME = re.compile(r"[a-zA-Z0-9_-]{1,128}")
_NOT_ENFORCED = (
    *("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"),
    *("minLength", "maxLength", "pattern", "maxItems"),
)
_FORMATS = frozenset({"date-time", "time", "date", "duration", "email", "hostname", "uri", "ipv4", "ipv6", "uuid"})
_SAYS_TYPE = frozenset({"type", "anyOf", "oneOf", "allOf", "const", "enum", "$ref"})
_MOST_STRICT_TOOLS, _MOST_OPTIONAL, _MOST_UNIONS = 20, 24, 16
_MANY = {f"a{number}": {"type": "string"} for number in range(25)}


@lint_rule(
    "anthropic-tool-name",
    area=PLAIN,
    severity=Severity.ERROR,
    fix="Use letters, digits, `_` and `-`, at most 64 of them.",
    bad=tool(name="orders.find"),
    good=tool(name="orders_find"),
)
def anthropic_tool_name(linted: LintedSet) -> Iterator[LintFact]:
    """A tool name does not match `^[a-zA-Z0-9_-]{1,64}$`.

    The API refuses the request. From 65 to 128 characters it is a warning: newer error texts allow them.
    """
    for each in linted.tools:
        if not _NAME.fullmatch(each.name):
            is_long = _LONGER_NAME.fullmatch(each.name) is not None
            yield LintFact(
                message=f"Anthropic refuses the name {named(each.name)}" + (" in part." if is_long else "."),
                tool=each,
                part=("discovery", "name"),
                severity=Severity.WARNING if is_long else None,
            )


@lint_rule(
    "anthropic-root-choice",
    area=PLAIN,
    severity=Severity.ERROR,
    fix="Make the root a plain object; nested choices are fine.",
    bad=tool({**closed(), "oneOf": [{"required": []}]}),
    good=tool(closed(a={"anyOf": [{"type": "string"}, {"type": "null"}]})),
)
def anthropic_root_choice(linted: LintedSet) -> Iterator[LintFact]:
    """The root of `input_schema` has `oneOf`, `anyOf` or `allOf`.

    The API refuses the whole request, strict or not.
    """
    yield from root_facts(linted, "Anthropic")


@lint_rule(
    "anthropic-strict-open-object",
    area=STRICT,
    severity=Severity.ERROR,
    fix="Set `additionalProperties: false`.",
    bad=tool({"type": "object", "properties": {}}),
    good=tool(closed()),
)
def anthropic_strict_open_object(linted: LintedSet) -> Iterator[LintFact]:
    """An object is not closed.

    Strict tool use wants `additionalProperties: false` on every object; the SDK forces it.
    """
    for each, node in linted.each_node():
        if node.is_object and node.schema.get("additionalProperties") is not False:
            yield LintFact(message=f"The object at {node.where} is not closed.", tool=each, part=at(node))


@lint_rule(
    "anthropic-strict-recursion",
    area=STRICT,
    severity=Severity.ERROR,
    fix="Unfold the schema to the depth that is needed.",
    bad=tool({**closed(a={"$ref": "#/$defs/A"}), "$defs": {"A": closed(a={"$ref": "#/$defs/A"})}}),
    good=tool({**closed(a={"$ref": "#/$defs/A"}), "$defs": {"A": closed()}}),
)
def anthropic_strict_recursion(linted: LintedSet) -> Iterator[LintFact]:
    """A schema refers to itself.

    Strict tool use refuses recursion.
    """
    for each in linted.tools:
        for reference in recursive_references(each.input_schema):
            message = f"{named(reference)} refers to itself; strict tool use refuses recursion."
            yield LintFact(message=message, tool=each, part=("input",), args={"reference": reference})


@lint_rule(
    "anthropic-strict-not-enforced",
    area=STRICT,
    severity=Severity.WARNING,
    fix="Check it in the tool. Sent as it is, the API answers 400; the SDK moves it into the description.",
    bad=tool(closed(amount={"type": "integer", "minimum": 1})),
    good=tool(closed(amount={"type": "integer", "description": "At least 1."})),
)
def anthropic_strict_not_enforced(linted: LintedSet) -> Iterator[LintFact]:
    """A bound, a length, a pattern or a count that strict tool use does not enforce.

    It is only text to the model then.
    """
    for each, node in linted.each_node():
        found = [keyword for keyword in _NOT_ENFORCED if keyword in node.schema]
        if node.schema.get("minItems") not in (None, 0, 1):
            found.append("minItems")
        if found:
            message = f"Not enforced at {node.where}: {', '.join(f'`{keyword}`' for keyword in found)}."
            yield LintFact(message=message, tool=each, part=at(node, found[0]), args={"keywords": found})


@lint_rule(
    "anthropic-strict-format",
    area=STRICT,
    severity=Severity.WARNING,
    fix="Describe the form.",
    bad=tool(closed(path={"type": "string", "format": "json-pointer"})),
    good=tool(closed(link={"type": "string", "format": "uri"})),
)
def anthropic_strict_format(linted: LintedSet) -> Iterator[LintFact]:
    """A `format` that strict tool use does not know.

    The SDK moves it into the description.
    """
    for each, node in linted.each_node():
        form = node.schema.get("format")
        if isinstance(form, str) and form not in _FORMATS:
            message = f"The format {show(form)} at {node.where} becomes text."
            yield LintFact(message=message, tool=each, part=at(node, "format"))


@lint_rule(
    "anthropic-strict-rewritten",
    area=STRICT,
    severity=Severity.WARNING,
    fix="Write `anyOf`, and keep nothing beside a `$ref`.",
    bad=tool(closed(a={"oneOf": [{"type": "string"}, {"type": "integer"}]})),
    good=tool(closed(a={"anyOf": [{"type": "string"}, {"type": "integer"}]})),
)
def anthropic_strict_rewritten(linted: LintedSet) -> Iterator[LintFact]:
    """`oneOf`, or keywords beside a `$ref`.

    The SDK rewrites the one to `anyOf` and drops the others, so the model is held to something else.
    """
    for each, node in linted.each_node():
        if node.pointer and "oneOf" in node.schema:
            message = f"`oneOf` at {node.where} becomes `anyOf`."
            yield LintFact(message=message, tool=each, part=at(node, "oneOf"))
        beside = node.schema.keys() - {"$ref", "$defs", "definitions", "$schema", "description", "title"}
        if "$ref" in node.schema and beside:
            message = f"Beside the reference at {node.where}, {', '.join(sorted(beside))} is dropped."
            yield LintFact(message=message, tool=each, part=at(node, "$ref"))


@lint_rule(
    "anthropic-strict-untyped",
    area=STRICT,
    severity=Severity.ERROR,
    fix="Give it a type.",
    bad=tool(closed(anything={"description": "Anything."})),
    good=tool(closed(anything={"type": "string"})),
)
def anthropic_strict_untyped(linted: LintedSet) -> Iterator[LintFact]:
    """A property has no type, choice, reference or values.

    Strict tool use refuses it.
    """
    for each, node in linted.each_node():
        if node.is_property and not _SAYS_TYPE & node.schema.keys():
            yield LintFact(message=f"{node.where} has no type.", tool=each, part=at(node))


@lint_rule(
    "anthropic-strict-complexity",
    area=STRICT,
    severity=Severity.ERROR,
    fix="Make fewer tools strict, arguments required, or unions plain.",
    bad=tool({**closed(), "properties": _MANY}),
    good=tool({**closed(), "properties": _MANY, "required": sorted(_MANY)}),
)
def anthropic_strict_complexity(linted: LintedSet) -> Iterator[LintFact]:
    """The tools together are beyond what strict tool use compiles.

    20 strict tools, 24 optional arguments, 16 arguments of more than one type in a request, references not followed.
    """
    names = {each.tool_id for each in linted.tools}
    optional = unions = 0
    for _, node in linted.each_node():
        optional += len(set(node.properties) - set(node.required))
        unions += node.is_property and ("anyOf" in node.schema or len(node.types) > 1)
    for what, count, most in (
        ("strict tools", len(names), _MOST_STRICT_TOOLS),
        ("optional arguments", optional, _MOST_OPTIONAL),
        ("arguments of more than one type", unions, _MOST_UNIONS),
    ):
        if count > most:
            message = f"The set has {count} {what}; strict tool use takes {most} in a request."
            yield LintFact(message=message, tool=linted.tools[0], args={"limit": what})
