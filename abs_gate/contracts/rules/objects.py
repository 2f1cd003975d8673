"""Required-ness, further properties and counts of objects.

Added, removed and renamed properties are in `properties`: they are judged by convention.
"""

from __future__ import annotations

from collections.abc import Iterator

from abs_gate.contracts.facts import Fact, SchemaPair
from abs_gate.contracts.rules.registry import Direction, schema_rule
from abs_gate.contracts.wording import named, show, show_all

AREA = "objects"
_OBJECT = {"type": "object", "properties": {"a": {"type": "string"}}}


@schema_rule(
    "additional_properties_closed",
    area=AREA,
    of="object",
    direction=Direction.NARROWS,
    mirror="additional_properties_opened",
    fix="Ignore unknown arguments in the tool, or close the object in a new tool version.",
    bad=(_OBJECT, {**_OBJECT, "additionalProperties": False}),
    good=({**_OBJECT, "additionalProperties": False}, {**_OBJECT, "unevaluatedProperties": False}),
)
def additional_properties_closed(pair: SchemaPair) -> Iterator[Fact]:
    """An open object was closed: properties that are not declared are refused.

    Saved calls and adapters that send a little more than the schema names are refused. For strict modes it is needed.
    """
    if not pair.old.is_closed and pair.new.is_closed:
        yield Fact(
            message="Properties that are not declared are refused now.",
            before=True,
            after=False,
            keywords=("additionalProperties", "unevaluatedProperties"),
        )


@schema_rule(
    "additional_properties_opened",
    area=AREA,
    of="object",
    direction=Direction.WIDENS,
    mirror="additional_properties_closed",
    fix="Keep the object closed: misspelt arguments pass in silence, and OpenAI strict mode refuses the schema.",
    bad=({**_OBJECT, "additionalProperties": False}, _OBJECT),
    good=({**_OBJECT, "additionalProperties": {}}, {**_OBJECT, "additionalProperties": True}),
)
def additional_properties_opened(pair: SchemaPair) -> Iterator[Fact]:
    """A closed object was opened: properties that are not declared are accepted.

    Typing errors in arguments pass in silence. Consumers of results meet properties they were told would not come.
    """
    if pair.old.is_closed and not pair.new.is_closed:
        yield Fact(
            message="Properties that are not declared are accepted now.",
            before=False,
            after=True,
            keywords=("additionalProperties", "unevaluatedProperties"),
        )


@schema_rule(
    "additional_properties_typed",
    area=AREA,
    of="object",
    direction=Direction.NARROWS,
    mirror="additional_properties_untyped",
    fix="Accept what was accepted, or type further properties in a new tool version.",
    bad=({"type": "object"}, {"type": "object", "additionalProperties": {"type": "string"}}),
    good=({"type": "object"}, {"type": "object", "additionalProperties": {"description": "anything"}}),
)
def additional_properties_typed(pair: SchemaPair) -> Iterator[Fact]:
    """Properties that are not declared have to follow a schema.

    Calls that carried others are refused.
    """
    if "additionalProperties" not in pair.old.single and not pair.old.is_closed:
        pointer = pair.new.single.get("additionalProperties")
        if pointer is not None:
            yield Fact(
                message=f"Properties that are not declared have to be {show(pair.new_reader.raw(pointer))}.",
                after=pair.new_reader.raw(pointer),
                keywords=("additionalProperties",),
            )


@schema_rule(
    "additional_properties_untyped",
    area=AREA,
    of="object",
    direction=Direction.WIDENS,
    mirror="additional_properties_typed",
    fix="Keep the schema of further properties.",
    bad=({"type": "object", "additionalProperties": {"type": "string"}}, {"type": "object"}),
    good=(
        {"type": "object", "additionalProperties": {"type": "string"}},
        {"type": "object", "additionalProperties": {"type": ["string"]}},
    ),
)
def additional_properties_untyped(pair: SchemaPair) -> Iterator[Fact]:
    """Properties that are not declared no longer have to follow a schema.

    Harmless for arguments; consumers of results meet values of other types.
    """
    if "additionalProperties" not in pair.new.single and not pair.new.is_closed:
        pointer = pair.old.single.get("additionalProperties")
        if pointer is not None:
            yield Fact(
                message="Properties that are not declared may be anything.",
                before=pair.old_reader.raw(pointer),
                keywords=("additionalProperties",),
            )


@schema_rule(
    "pattern_properties_added",
    area=AREA,
    of="object",
    direction=Direction.EITHER,
    mirror="pattern_properties_dropped",
    fix="Accept what was accepted under those names, or announce it in a new tool version.",
    bad=({"type": "object"}, {"type": "object", "patternProperties": {"^x-": {"type": "string"}}}),
    good=({"type": "object"}, {"type": "object", "patternProperties": {"^x-": True}}),
)
def pattern_properties_added(pair: SchemaPair) -> Iterator[Fact]:
    """Properties whose names match a pattern have to follow a schema.

    In an open object this refuses what passed; in a closed one it lets more pass.
    """
    old, new = (form.named.get("patternProperties", {}) for form in (pair.old, pair.new))
    for pattern in sorted(new.keys() - old.keys()):
        schema = pair.new_reader.raw(new[pattern])
        yield Fact(
            message=f"Properties named like {named(pattern)} have to be {show(schema)}.",
            after={pattern: schema},
            keywords=("patternProperties",),
        )


@schema_rule(
    "pattern_properties_dropped",
    area=AREA,
    of="object",
    direction=Direction.EITHER,
    mirror="pattern_properties_added",
    fix="Keep the rule for those names.",
    bad=({"type": "object", "patternProperties": {"^x-": {"type": "string"}}}, {"type": "object"}),
    good=({"type": "object", "patternProperties": {"^x-": {}}}, {"type": "object"}),
)
def pattern_properties_dropped(pair: SchemaPair) -> Iterator[Fact]:
    """The schema for properties whose names match a pattern is gone.

    In an open object more passes; in a closed one what passed is refused.
    """
    old, new = (form.named.get("patternProperties", {}) for form in (pair.old, pair.new))
    for pattern in sorted(old.keys() - new.keys()):
        yield Fact(
            message=f"Nothing is said any more of properties named like {named(pattern)}.",
            before={pattern: pair.old_reader.raw(old[pattern])},
            keywords=("patternProperties",),
        )


@schema_rule(
    "property_names_restricted",
    area=AREA,
    of="object",
    direction=Direction.NARROWS,
    mirror="property_names_freed",
    fix="Accept the old names.",
    bad=({"type": "object"}, {"type": "object", "propertyNames": {"pattern": "^[a-z]+$"}}),
    good=({"type": "object"}, {"type": "object", "propertyNames": {"type": "string"}}),
)
def property_names_restricted(pair: SchemaPair) -> Iterator[Fact]:
    """Property names have to follow a schema.

    Maps that were keyed otherwise are refused.
    """
    pointer = pair.new.single.get("propertyNames")
    if pointer and "propertyNames" not in pair.old.single:
        schema = pair.new_reader.raw(pointer)
        yield Fact(message=f"Property names have to be {show(schema)}.", after=schema, keywords=("propertyNames",))


@schema_rule(
    "property_names_freed",
    area=AREA,
    of="object",
    direction=Direction.WIDENS,
    mirror="property_names_restricted",
    fix="Keep the rule for names.",
    bad=({"type": "object", "propertyNames": {"pattern": "^[a-z]+$"}}, {"type": "object"}),
    good=({"type": "object", "propertyNames": True}, {"type": "object"}),
)
def property_names_freed(pair: SchemaPair) -> Iterator[Fact]:
    """Property names no longer have to follow a schema.

    Harmless for arguments; consumers meet names they do not expect.
    """
    pointer = pair.old.single.get("propertyNames")
    if pointer and "propertyNames" not in pair.new.single:
        schema = pair.old_reader.raw(pointer)
        yield Fact(message="Property names are free.", before=schema, keywords=("propertyNames",))


@schema_rule(
    "dependency_added",
    area=AREA,
    of="object",
    direction=Direction.NARROWS,
    mirror="dependency_dropped",
    fix="Go on accepting calls that carry the one without the other, and fill in what is missing.",
    bad=({"type": "object"}, {"type": "object", "dependentRequired": {"a": ["b"]}}),
    good=(
        {"type": "object", "required": ["b"]},
        {"type": "object", "required": ["b"], "dependentRequired": {"a": ["b"]}},
    ),
)
def dependency_added(pair: SchemaPair) -> Iterator[Fact]:
    """A property demands something of the rest of the object (`dependentRequired`, `dependentSchemas`).

    Calls that carry the one without the other are refused. Models rarely see such rules: say it in the description.
    """
    for name in sorted(_dependencies(pair, new=True) - _dependencies(pair, new=False)):
        rules = pair.new.scalars.get("dependentRequired")
        demanded = rules.get(name) if isinstance(rules, dict) else None
        is_list = isinstance(demanded, list) and all(isinstance(each, str) for each in demanded)
        needs = f"calls must carry {show_all(demanded)}" if is_list and demanded else "more is demanded than before"
        yield Fact(
            message=f"With the property {named(name)} {needs}.",
            after=name if demanded is None else {name: demanded},
            keywords=("dependentRequired", "dependentSchemas", "dependencies"),
        )


@schema_rule(
    "dependency_dropped",
    area=AREA,
    of="object",
    direction=Direction.WIDENS,
    mirror="dependency_added",
    fix="For results: keep promising both.",
    bad=({"type": "object", "dependentSchemas": {"a": {"required": ["b"]}}}, {"type": "object"}),
    good=(
        {"$schema": "http://json-schema.org/draft-07/schema#", "type": "object", "dependencies": {"a": ["b"]}},
        {"type": "object", "dependentRequired": {"a": ["b"]}},
    ),
)
def dependency_dropped(pair: SchemaPair) -> Iterator[Fact]:
    """A property no longer demands anything of the rest of the object.

    Harmless for arguments; consumers may get the one without the other.
    """
    for name in sorted(_dependencies(pair, new=False) - _dependencies(pair, new=True)):
        yield Fact(
            message=f"With the property {named(name)} less is demanded than before.",
            before=name,
            keywords=("dependentRequired", "dependentSchemas", "dependencies"),
        )


def _dependencies(pair: SchemaPair, *, new: bool) -> set[str]:
    form = pair.new if new else pair.old
    required = form.scalars.get("dependentRequired")
    names = set(required) if isinstance(required, dict) else set()
    return names | set(form.named.get("dependentSchemas", {}))


@schema_rule(
    "dependency_changed",
    area=AREA,
    of="object",
    direction=Direction.EITHER,
    no_mirror="its own opposite",
    fix="Demand no more than before.",
    bad=(
        {"type": "object", "dependentRequired": {"a": ["b"]}},
        {"type": "object", "dependentRequired": {"a": ["b", "c"]}},
    ),
    good=(
        {"type": "object", "dependentRequired": {"a": ["b", "c"]}},
        {"type": "object", "dependentRequired": {"a": ["c", "b"]}},
    ),
)
def dependency_changed(pair: SchemaPair) -> Iterator[Fact]:
    """What a property demands of the rest of the object changed.

    Calls that met the old demand may not meet the new one.
    """
    before, after = pair.scalar("dependentRequired")
    if isinstance(before, dict) and isinstance(after, dict):
        for name in sorted(before.keys() & after.keys()):
            if before[name] != after[name]:
                yield Fact(
                    message=f"What the property {named(name)} demands changed.",
                    before=before[name],
                    after=after[name],
                    keywords=("dependentRequired", "dependencies"),
                )
