"""What the OpenAI APIs refuse or change, without and with strict mode.

Source: the Structured Outputs guide and what its SDKs rewrite, as collected in provider profiles of 2026.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from abs_gate.contracts.linting import LintedSet, LintFact
from abs_gate.contracts.rules.lint.profiles import at, closed, root_facts, tool
from abs_gate.contracts.rules.registry import lint_rule
from abs_gate.contracts.wording import named, show
from abs_gate.findings import Severity

PLAIN, STRICT = "openai", "openai-strict"
_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_MOST_TOOLS = 128
_LONGEST_DESCRIPTION = 1024
_REFUSED = frozenset(
    {
        *("allOf", "not", "if", "then", "else", "dependentRequired", "dependentSchemas", "patternProperties"),
        *("propertyNames", "minProperties", "maxProperties", "unevaluatedProperties", "unevaluatedItems"),
        *("contains", "minContains", "maxContains", "uniqueItems"),
    }
)
_FORMATS = frozenset({"date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"})
_LOOK_AROUND = re.compile(r"\(\?(?:[=!]|<[=!])")
_SAYS_TYPE = frozenset({"type", "anyOf", "oneOf", "$ref", "enum", "const", "allOf"})
_LIMITS = {"properties": 5_000, "levels": 10, "values": 1_000, "characters": 120_000}
_LARGE_ENUM, _LARGE_ENUM_CHARACTERS = 250, 15_000


@lint_rule(
    "openai-tool-name",
    area=PLAIN,
    severity=Severity.ERROR,
    fix="Use letters, digits, `_` and `-`, at most 64 of them.",
    bad=tool(name="orders.find"),
    good=tool(name="orders_find"),
)
def openai_tool_name(linted: LintedSet) -> Iterator[LintFact]:
    """A tool name does not match `^[a-zA-Z0-9_-]{1,64}$`.

    OpenAI refuses the request.
    """
    for each in linted.tools:
        if not _NAME.fullmatch(each.name):
            yield LintFact(
                message=f"OpenAI refuses the name {named(each.name)}.", tool=each, part=("discovery", "name")
            )


@lint_rule(
    "openai-tool-count",
    area=PLAIN,
    severity=Severity.ERROR,
    fix="Offer at most 128 tools in a request.",
    bad={"tools": [tool(name=f"tool_{number}") for number in range(129)]},
    good={"tools": [tool(name=f"tool_{number}") for number in range(128)]},
)
def openai_tool_count(linted: LintedSet) -> Iterator[LintFact]:
    """More than 128 tools are offered.

    OpenAI refuses the request (`array_above_max_length`).
    """
    count = len({each.tool_id for each in linted.tools})
    if count > _MOST_TOOLS:
        message = f"{count} tools are offered; OpenAI takes at most {_MOST_TOOLS} in a request."
        yield LintFact(message=message, tool=linted.tools[0])


@lint_rule(
    "openai-description-length",
    area=PLAIN,
    severity=Severity.WARNING,
    fix="Shorten it to 1,024 characters.",
    bad=tool(description="Finds one order. " * 70),
    good=tool(description="Finds one order."),
)
def openai_description_length(linted: LintedSet) -> Iterator[LintFact]:
    """A tool description is longer than 1,024 characters.

    OpenAI has refused longer ones.
    """
    for each in linted.tools:
        if len(each.description) > _LONGEST_DESCRIPTION:
            yield LintFact(
                message=f"The description has {len(each.description)} characters; OpenAI took at most "
                f"{_LONGEST_DESCRIPTION}.",
                tool=each,
                part=("discovery", "description"),
            )


@lint_rule(
    "openai-root-choice",
    area=PLAIN,
    severity=Severity.ERROR,
    fix="Make the root a plain object; say the rule in the description and check it in the tool.",
    bad=tool({**closed(), "anyOf": [{"required": []}]}),
    good=tool(closed(a={"anyOf": [{"type": "string"}, {"type": "null"}]})),
)
def openai_root_choice(linted: LintedSet) -> Iterator[LintFact]:
    """The root of an input schema has `anyOf`, `oneOf` or `allOf`.

    OpenAI refuses the whole request, with every other tool in it.
    """
    yield from root_facts(linted, "OpenAI")


@lint_rule(
    "openai-object-without-properties",
    area=PLAIN,
    severity=Severity.ERROR,
    fix="Add `properties`, if only an empty one.",
    bad=tool({"type": "object"}),
    good=tool({"type": "object", "properties": {}}),
)
def openai_object_without_properties(linted: LintedSet) -> Iterator[LintFact]:
    """An object schema has no `properties`.

    OpenAI refuses the request ("object schema missing properties").
    """
    for each, node in linted.each_node():
        if node.types == ("object",) and "properties" not in node.schema and not {"anyOf", "$ref"} & node.schema.keys():
            message = f"The object at {node.where} has no `properties`."
            yield LintFact(message=message, tool=each, part=at(node))


@lint_rule(
    "openai-array-without-items",
    area=PLAIN,
    severity=Severity.ERROR,
    fix="Say what the items are.",
    bad=tool(closed(tags={"type": "array"})),
    good=tool(closed(tags={"type": "array", "items": {"type": "string"}})),
)
def openai_array_without_items(linted: LintedSet) -> Iterator[LintFact]:
    """A list schema has no `items`.

    OpenAI refuses the request ("array schema missing items").
    """
    for each, node in linted.each_node():
        if "array" in node.types and "items" not in node.schema and "prefixItems" not in node.schema:
            yield LintFact(message=f"The list at {node.where} has no `items`.", tool=each, part=at(node))


@lint_rule(
    "openai-strict-root",
    area=STRICT,
    severity=Severity.ERROR,
    fix='Make the root `"type": "object"`, not nullable.',
    bad=tool({"type": ["object", "null"], "properties": {}, "required": [], "additionalProperties": False}),
    good=tool(closed()),
)
def openai_strict_root(linted: LintedSet) -> Iterator[LintFact]:
    """The root of an input schema is not exactly `type: object`.

    Strict mode refuses it.
    """
    for each in linted.tools:
        for node in linted.nodes(each)[:1]:
            if node.schema.get("type") != "object":
                message = f'The root is {show(node.schema.get("type"))}; strict mode wants `"object"`.'
                yield LintFact(message=message, tool=each, part=at(node))


@lint_rule(
    "openai-strict-open-object",
    area=STRICT,
    severity=Severity.ERROR,
    fix="Set `additionalProperties: false`.",
    bad=tool({"type": "object", "properties": {}, "required": []}),
    good=tool(closed()),
)
def openai_strict_open_object(linted: LintedSet) -> Iterator[LintFact]:
    """An object is not closed.

    Strict mode wants `additionalProperties: false` on every object.
    """
    for each, node in linted.each_node():
        if node.is_object and node.schema.get("additionalProperties") is not False:
            yield LintFact(message=f"The object at {node.where} is not closed.", tool=each, part=at(node))


@lint_rule(
    "openai-strict-optional",
    area=STRICT,
    severity=Severity.ERROR,
    fix='Require it and let it be null (`"type": ["string", "null"]`), so that the model can say that it is absent. Do '
    "not just require it: the model would invent a value.",
    bad=tool(closed(("reason",), reason={"type": "string"})),
    good=tool(closed(reason={"type": ["string", "null"]})),
)
def openai_strict_optional(linted: LintedSet) -> Iterator[LintFact]:
    """A property is optional.

    Strict mode wants every property in `required`.
    """
    for each, node in linted.each_node():
        optional = sorted(set(node.properties) - set(node.required))
        if optional:
            names = ", ".join(named(name) for name in optional[:6])
            more = f" and {len(optional) - 6} more" if len(optional) > 6 else ""
            message = f"Optional in {node.where}: {names}{more}; strict mode wants every property required."
            yield LintFact(message=message, tool=each, part=at(node, "properties"), args={"optional": optional})


@lint_rule(
    "openai-strict-keyword",
    area=STRICT,
    severity=Severity.ERROR,
    fix="Leave it out; say the rule in the description and check it in the tool.",
    bad=tool(closed(tags={"type": "array", "items": {"type": "string"}, "uniqueItems": True})),
    good=tool(closed(tags={"type": "array", "items": {"type": "string"}, "maxItems": 3})),
)
def openai_strict_keyword(linted: LintedSet) -> Iterator[LintFact]:
    """A keyword that strict mode does not support.

    The request is refused. `oneOf` is a warning: SDKs rewrite it to `anyOf`, which accepts more.
    """
    for each, node in linted.each_node():
        for keyword in sorted(_REFUSED & node.schema.keys()):
            if node.pointer or keyword != "allOf":
                message = f"Strict mode refuses `{keyword}` at {node.where}."
                yield LintFact(message=message, tool=each, part=at(node, keyword))
        if node.pointer and "oneOf" in node.schema:
            message = f"`oneOf` at {node.where} is refused, or rewritten to `anyOf`."
            yield LintFact(message=message, tool=each, part=at(node, "oneOf"), severity=Severity.WARNING)


@lint_rule(
    "openai-strict-format",
    area=STRICT,
    severity=Severity.ERROR,
    fix="Leave it out and describe the form.",
    bad=tool(closed(link={"type": "string", "format": "uri"})),
    good=tool(closed(day={"type": "string", "format": "date"})),
)
def openai_strict_format(linted: LintedSet) -> Iterator[LintFact]:
    """A `format` that strict mode does not support, such as `uri`.

    The request is refused.
    """
    for each, node in linted.each_node():
        form = node.schema.get("format")
        if isinstance(form, str) and form not in _FORMATS:
            message = f"Strict mode refuses the format {show(form)} at {node.where}."
            yield LintFact(message=message, tool=each, part=at(node, "format"))


@lint_rule(
    "openai-strict-text-bounds",
    area=STRICT,
    severity=Severity.WARNING,
    fix="Check the models in use, or say the bound in the description.",
    bad=tool(closed(reason={"type": "string", "maxLength": 80})),
    good=tool(closed(reason={"type": "string"})),
)
def openai_strict_text_bounds(linted: LintedSet) -> Iterator[LintFact]:
    """`minLength` or `maxLength` in strict mode.

    Older and fine-tuned models refuse them, some newer ones take them.
    """
    for each, node in linted.each_node():
        for keyword in ("minLength", "maxLength"):
            if keyword in node.schema:
                message = f"`{keyword}` at {node.where} is refused by older and fine-tuned models."
                yield LintFact(message=message, tool=each, part=at(node, keyword))


@lint_rule(
    "openai-strict-pattern",
    area=STRICT,
    severity=Severity.ERROR,
    fix="Write the pattern without look-around.",
    bad=tool(closed(code={"type": "string", "pattern": "^(?!X).*$"})),
    good=tool(closed(code={"type": "string", "pattern": "^[A-Z]+$"})),
)
def openai_strict_pattern(linted: LintedSet) -> Iterator[LintFact]:
    """A pattern uses look-around.

    Strict mode refuses it.
    """
    for each, node in linted.each_node():
        pattern = node.schema.get("pattern")
        if isinstance(pattern, str) and _LOOK_AROUND.search(pattern):
            message = f"The pattern at {node.where} uses look-around."
            yield LintFact(message=message, tool=each, part=at(node, "pattern"))


@lint_rule(
    "openai-strict-untyped",
    area=STRICT,
    severity=Severity.ERROR,
    fix="Give it a type.",
    bad=tool(closed(anything={"description": "Anything."})),
    good=tool(closed(anything={"type": "string"})),
)
def openai_strict_untyped(linted: LintedSet) -> Iterator[LintFact]:
    """A property, or the items of a list, has no type, choice, reference or values.

    Strict mode refuses it.
    """
    for each, node in linted.each_node():
        is_items = node.pointer[-1:] == ("items",)
        if (node.is_property or is_items) and not _SAYS_TYPE & node.schema.keys():
            yield LintFact(message=f"{node.where} has no type.", tool=each, part=at(node))


@lint_rule(
    "openai-strict-reference",
    area=STRICT,
    severity=Severity.ERROR,
    fix="Refer to `#`, `#/$defs/name` or `#/definitions/name`, with nothing beside the reference.",
    bad=tool({**closed(a={"$ref": "#/$defs/A", "description": "A."}), "$defs": {"A": {"type": "string"}}}),
    good=tool({**closed(a={"$ref": "#/$defs/A"}), "$defs": {"A": {"type": "string"}}}),
)
def openai_strict_reference(linted: LintedSet) -> Iterator[LintFact]:
    """A `$ref` has keywords beside it or leads to another place than the definitions.

    Strict mode refuses it.
    """
    for each, node in linted.each_node():
        reference = node.schema.get("$ref")
        if not isinstance(reference, str):
            continue
        beside = node.schema.keys() - {"$ref", "$defs", "definitions", "$schema"}
        is_known = reference == "#" or re.fullmatch(r"#/(?:\$defs|definitions)/[^/]+", reference)
        if beside or not is_known:
            what = f"has {', '.join(sorted(beside))} beside it" if beside else "leads elsewhere than to a definition"
            message = f"The reference {named(reference)} at {node.where} {what}."
            yield LintFact(message=message, tool=each, part=at(node, "$ref"))


@lint_rule(
    "openai-strict-default",
    area=STRICT,
    severity=Severity.WARNING,
    fix="Say the default in the description: SDKs drop the keyword, and the API refuses it.",
    bad=tool(closed(limit={"type": "integer", "default": 10})),
    good=tool(closed(limit={"type": "integer", "description": "10 unless told otherwise."})),
)
def openai_strict_default(linted: LintedSet) -> Iterator[LintFact]:
    """A `default` in strict mode.

    The API refuses it; SDKs drop it, so the model never sees it.
    """
    for each, node in linted.each_node():
        if "default" in node.schema:
            message = f"The default at {node.where} is refused or dropped."
            yield LintFact(message=message, tool=each, part=at(node, "default"))


@lint_rule(
    "openai-strict-size",
    area=STRICT,
    severity=Severity.ERROR,
    fix="Split the tool, or shorten its lists of values.",
    bad=tool(closed(code={"type": "string", "enum": [f"code-{number}" for number in range(1001)]})),
    good=tool(closed(code={"type": "string", "enum": ["a", "b"]})),
)
def openai_strict_size(linted: LintedSet) -> Iterator[LintFact]:
    """A schema beyond the limits of strict mode.

    5,000 properties, 10 levels, 1,000 listed values, 120,000 characters of names and values; 15,000 characters in one
    list of more than 250 values.
    """
    for each in linted.tools:
        counts = {"properties": 0, "levels": 0, "values": 0, "characters": 0}
        for node in linted.nodes(each):
            counts["properties"] += node.is_property
            counts["levels"] = max(counts["levels"], node.level)
            values = node.schema.get("enum")
            listed = values if isinstance(values, list) else []
            counts["values"] += len(listed)
            length = sum(len(value) for value in listed if isinstance(value, str))
            counts["characters"] += length + (len(node.name) if node.is_property or node.is_definition else 0)
            if len(listed) > _LARGE_ENUM and length > _LARGE_ENUM_CHARACTERS:
                message = f"The values of {node.where} have {length} characters; {_LARGE_ENUM_CHARACTERS} are taken."
                yield LintFact(message=message, tool=each, part=at(node, "enum"), args={"limit": "enum"})
        for what, most in _LIMITS.items():
            if counts[what] > most:
                message = f"The schema has {counts[what]} {what}; strict mode takes {most}."
                yield LintFact(message=message, tool=each, part=("input",), args={"limit": what})
