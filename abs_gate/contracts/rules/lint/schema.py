"""Schemas that are none, or say something else than they seem to."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from abs_gate.contracts.effective import writes
from abs_gate.contracts.linting import LintedSet, LintFact
from abs_gate.contracts.model import ToolContract
from abs_gate.contracts.plain import has_type
from abs_gate.contracts.renames import words
from abs_gate.contracts.rules.registry import lint_rule
from abs_gate.contracts.schemas import Engine, ProblemKind, SchemaDocument
from abs_gate.contracts.wording import named, show, show_all
from abs_gate.findings import Json, Severity

AREA = "schemas"
_VAGUE = frozenset(
    ["user", "id", "data", "value", "input", "object", "item", "info", "params", "args", "arg", "payload", "obj"]
)
_MAX_PROBLEMS = 10
"""Named for one schema; more say no more."""


def _tool(schema: Json, **more: Json) -> Json:
    return {
        "name": "find_order",
        "description": "Finds one order by its number.",
        "inputSchema": schema,
        **more,
    }


def _object(**properties: Json) -> Json:
    return {"type": "object", "properties": properties}


def _sides(tool: ToolContract) -> Iterator[tuple[str, Json]]:
    for part, schema in (("input", tool.input_schema), ("output", tool.output_schema)):
        if schema is not None:
            yield part, schema


@lint_rule(
    "schema-invalid",
    area=AREA,
    severity=Severity.ERROR,
    fix="Correct the schema: clients drop the tool, and some of them the whole list.",
    bad=_tool(_object(amount={"type": "interger"})),
    good=_tool(_object(amount={"type": "integer"})),
)
def schema_invalid(linted: LintedSet) -> Iterator[LintFact]:
    """A schema is not valid in its own dialect, or refers to what is not there.

    References out of the document are invalid too: clients must not fetch them.
    """
    for tool in linted.tools:
        for part, schema in _sides(tool):
            problems = Engine().problems(SchemaDocument(schema).view())
            invalid = [problem for problem in problems if problem.kind is ProblemKind.INVALID]
            for problem in invalid[:_MAX_PROBLEMS]:
                yield LintFact(
                    message=f"The {part} schema is not valid: {problem.message}",
                    tool=tool,
                    part=(part, *problem.pointer, *([problem.keyword] if problem.keyword else [])),
                    args={"keyword": problem.keyword},
                )


@lint_rule(
    "schema-dialect-unknown",
    area=AREA,
    severity=Severity.WARNING,
    fix="Leave `$schema` out (2020-12 is meant then) or name a published draft.",
    bad=_tool({"$schema": "https://example.com/my-dialect", **_object()}),
    good=_tool({"$schema": "https://json-schema.org/draft/2020-12/schema", **_object()}),
)
def schema_dialect_unknown(linted: LintedSet) -> Iterator[LintFact]:
    """`$schema` names a dialect that is not known.

    Validators then refuse the schema or guess what its keywords mean.
    """
    for tool in linted.tools:
        for part, schema in _sides(tool):
            if SchemaDocument(schema).dialect is None and isinstance(schema, Mapping):
                yield LintFact(
                    message=f"The dialect {show(schema.get('$schema'))} of the {part} schema is not known.",
                    tool=tool,
                    part=(part, "$schema"),
                )


@lint_rule(
    "schema-dialect-changed",
    area=AREA,
    severity=Severity.INFO,
    fix="Check the clients in use: some know one draft only.",
    bad={
        "base": _tool({"$schema": "http://json-schema.org/draft-07/schema#", **_object()}),
        "head": _tool({"$schema": "https://json-schema.org/draft/2020-12/schema", **_object()}),
    },
    good={"base": _tool(_object()), "head": _tool(_object())},
)
def schema_dialect_changed(linted: LintedSet) -> Iterator[LintFact]:
    """The schema is written in another draft of JSON Schema than in the base.

    What it accepts is compared all the same; some clients know one draft only.
    """
    before = {tool.tool_id: tool for tool in linted.base.tools} if linted.base else {}
    for tool in linted.tools:
        earlier_sides = dict(_sides(before[tool.tool_id])) if tool.tool_id in before else {}
        for part, schema in _sides(tool):
            earlier = earlier_sides.get(part)
            dialects = [each.get("$schema") for each in (earlier, schema) if isinstance(each, Mapping)]
            if len(dialects) == 2 and dialects[0] != dialects[1]:
                yield LintFact(
                    message=f"The dialect of the {part} schema went from {show(dialects[0])} to {show(dialects[1])}.",
                    tool=tool,
                    part=(part, "$schema"),
                )


@lint_rule(
    "free-form-object",
    area=AREA,
    severity=Severity.WARNING,
    fix="Name the properties, or bound them: `additionalProperties` with a schema, `maxProperties`.",
    bad=_tool(_object(filters={"type": "object", "description": "Filters."})),
    good=_tool(_object(filters={"type": "object", "additionalProperties": {"type": "string"}})),
)
def free_form_object(linted: LintedSet) -> Iterator[LintFact]:
    """An object argument says nothing of its properties and sets no bound.

    The model invents them, and whatever it invents reaches the tool. OpenAI refuses an object without properties.
    """
    bounds = {
        *("properties", "patternProperties", "propertyNames", "maxProperties", "$ref"),
        *("anyOf", "oneOf", "allOf", "enum", "const", "unevaluatedProperties"),
    }
    for tool, node in linted.each_used_node():
        further = node.schema.get("additionalProperties", True)
        if node.pointer and node.types == ("object",) and further in (True, {}) and not bounds & node.schema.keys():
            yield LintFact(
                message=f"{node.where} is an object without bounds.", tool=tool, part=("input", *node.pointer)
            )


@lint_rule(
    "open-write-arguments",
    area=AREA,
    severity=Severity.WARNING,
    fix="Set `additionalProperties: false`.",
    bad=_tool(_object(order_id={"type": "string"}), annotations={"readOnlyHint": False}),
    good=_tool(
        {**_object(order_id={"type": "string"}), "additionalProperties": False}, annotations={"readOnlyHint": False}
    ),
)
def open_write_arguments(linted: LintedSet) -> Iterator[LintFact]:
    """A tool that is declared to write accepts arguments it does not declare.

    A misspelt argument is ignored in silence and the write happens without it.
    """
    for tool in linted.tools:
        is_declared = tool.policy.effect is not None or "readOnlyHint" in tool.annotations
        schema = tool.input_schema
        if not is_declared or not writes(tool) or not isinstance(schema, Mapping):
            continue
        is_open = schema.get("additionalProperties", True) in (True, {}) and "unevaluatedProperties" not in schema
        if is_open and schema.get("properties"):
            yield LintFact(message="A tool that writes accepts undeclared arguments.", tool=tool, part=("input",))


@lint_rule(
    "required-undeclared",
    area=AREA,
    severity=Severity.WARNING,
    fix="Declare the property, or take its name out of `required`.",
    bad=_tool({**_object(order_id={"type": "string"}), "required": ["orderId"]}),
    good=_tool({**_object(order_id={"type": "string"}), "required": ["order_id"]}),
)
def required_undeclared(linted: LintedSet) -> Iterator[LintFact]:
    """`required` names a property that is not declared.

    The model must give what it is told nothing about. In a closed object no call is accepted at all.
    """
    for tool, node in linted.each_used_node():
        if not node.properties or {"allOf", "anyOf", "oneOf", "$ref", "patternProperties"} & node.schema.keys():
            continue
        missing = sorted(set(node.required) - node.properties.keys())
        if missing:
            is_closed = node.schema.get("additionalProperties") is False
            yield LintFact(
                message=f"{show_all(missing)} is required in {node.where} and not declared"
                + (": no call is accepted at all." if is_closed else "."),
                tool=tool,
                part=("input", *node.pointer, "required"),
                severity=Severity.ERROR if is_closed else None,
                args={"missing": missing},
            )


@lint_rule(
    "schema-unsatisfiable",
    area=AREA,
    severity=Severity.ERROR,
    fix="Correct the bounds.",
    bad=_tool(_object(amount={"type": "integer", "minimum": 10, "maximum": 1})),
    good=_tool(_object(amount={"type": "integer", "minimum": 1, "maximum": 10})),
)
def schema_unsatisfiable(linted: LintedSet) -> Iterator[LintFact]:
    """Nothing can satisfy a part of the schema: a lower bound above the upper one, a list of no values.

    A required argument like that makes the tool impossible to call.
    """
    pairs = (
        ("minimum", "maximum"),
        ("minLength", "maxLength"),
        ("minItems", "maxItems"),
        ("minProperties", "maxProperties"),
    )
    for tool, node in linted.each_used_node():
        for lower, upper in pairs:
            low: Json = node.schema.get(lower)
            high: Json = node.schema.get(upper)
            if _is_number(low) and _is_number(high) and low > high:
                yield LintFact(
                    message=f"Nothing fits {node.where}: `{lower}` {show(low)} is above `{upper}` {show(high)}.",
                    tool=tool,
                    part=("input", *node.pointer, lower),
                )
        if node.schema.get("enum") == []:
            message = f"Nothing fits {node.where}: its list of values is empty."
            yield LintFact(message=message, tool=tool, part=("input", *node.pointer, "enum"))


@lint_rule(
    "enum-outside-type",
    area=AREA,
    severity=Severity.WARNING,
    fix="Write the values in the declared type, or declare theirs.",
    bad=_tool(_object(level={"type": "string", "enum": ["low", None]})),
    good=_tool(_object(level={"type": ["string", "null"], "enum": ["low", None]})),
)
def enum_outside_type(linted: LintedSet) -> Iterator[LintFact]:
    """A listed value, or the default, is not of the declared type.

    Validators refuse what the list offers, and the model offers it.
    """
    for tool, node in linted.each_used_node():
        types = frozenset(node.types)
        values = node.schema.get("enum")
        if not types or not isinstance(values, list) or node.schema.get("nullable") is True:
            continue
        strangers = [value for value in values if not has_type(value, types)]
        if strangers:
            yield LintFact(
                message=f"{show_all(strangers)} is among the values of {node.where} and not of its type.",
                tool=tool,
                part=("input", *node.pointer, "enum"),
            )


@lint_rule(
    "default-outside-schema",
    area=AREA,
    severity=Severity.WARNING,
    fix="Correct the default: whoever fills it in makes a call that is refused.",
    bad=_tool(_object(limit={"type": "integer", "default": "ten"})),
    good=_tool(_object(limit={"type": "integer", "default": 10})),
)
def default_outside_schema(linted: LintedSet) -> Iterator[LintFact]:
    """A default is not one of the listed values, or not of the declared type.

    A client that fills it in makes a call that is refused.
    """
    for tool, node in linted.each_used_node():
        if "default" not in node.schema or node.schema.get("nullable") is True:
            continue
        default, types, values = node.schema["default"], frozenset(node.types), node.schema.get("enum")
        is_stranger = bool(types) and not has_type(default, types)
        is_unlisted = isinstance(values, list) and default not in values
        if is_stranger or is_unlisted:
            what = "not of its type" if is_stranger else "not among its values"
            yield LintFact(
                message=f"The default {show(default)} of {node.where} is {what}.",
                tool=tool,
                part=("input", *node.pointer, "default"),
                severity=Severity.INFO if default is None else None,
            )


@lint_rule(
    "vague-argument",
    area=AREA,
    severity=Severity.INFO,
    fix="Name it for what it holds: `user_id` rather than `user`, `order_id` rather than `id`.",
    bad=_tool(_object(id={"type": "string", "description": "Id."})),
    good=_tool(_object(order_id={"type": "string"})),
)
def vague_argument(linted: LintedSet) -> Iterator[LintFact]:
    """An argument is named so that it cannot be told what it holds: `user`, `id`, `data`, `value`.

    The model has to guess whether a name, a number or an address is meant. A warning where no description helps.
    """
    for tool in linted.tools:
        for node in linted.arguments(tool):
            if "_".join(words(node.name)) not in _VAGUE:
                continue
            text = node.schema.get("description")
            is_described = isinstance(text, str) and len(text.split()) > 2
            yield LintFact(
                message=f"The name of the argument {named(node.name)} does not say what it holds.",
                tool=tool,
                part=("input", *node.pointer),
                severity=None if is_described else Severity.WARNING,
            )


@lint_rule(
    "confusable-arguments",
    area=AREA,
    severity=Severity.WARNING,
    fix="Keep one of them, or give them names that differ in more than spelling.",
    bad=_tool(_object(orderId={"type": "string"}, order_id={"type": "string"})),
    good=_tool(_object(order_id={"type": "string"}, customer_id={"type": "string"})),
)
def confusable_arguments(linted: LintedSet) -> Iterator[LintFact]:
    """Two arguments of one tool have the same name up to case and separators.

    Names compare exactly, and models mix these up.
    """
    for tool, node in linted.each_used_node():
        seen: dict[str, str] = {}
        for name in node.properties:
            first = seen.setdefault("".join(words(name)), name)
            if first != name and words(name):
                yield LintFact(
                    message=f"{named(first)} and {named(name)} differ in spelling only.",
                    tool=tool,
                    part=("input", *node.pointer, "properties", name),
                    args={"other": first},
                )


def _is_number(value: Json) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
