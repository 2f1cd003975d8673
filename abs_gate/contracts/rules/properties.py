"""Properties that came, went, moved or became required."""

from __future__ import annotations

from collections.abc import Iterator

from abs_gate.contracts.facts import Fact, SchemaPair
from abs_gate.contracts.rules.registry import BREAKING, COMPATIBLE, Direction, Side, schema_rule
from abs_gate.contracts.wording import named, show
from abs_gate.findings import Json

AREA = "properties"
_REFUSED = " Consumers that validate against the closed old schema refuse it."
_A = {"a": {"type": "string"}}
_AB = {"a": {"type": "string"}, "b": {"type": "integer"}}


def _object(properties: Json, **more: Json) -> Json:
    return {"type": "object", "properties": properties, **more}


@schema_rule(
    "optional_to_required",
    area=AREA,
    of="object",
    direction=Direction.NARROWS,
    mirror="required_to_optional",
    fix="If the product needs the value, ask for it in a new tool version. If not, keep it optional; for strict "
    "modes represent absence as null.",
    bad=(_object(_A), _object(_A, required=["a"])),
    good=(_object(_AB, required=["a", "b"]), _object(_AB, required=["b", "a"])),
)
def optional_to_required(pair: SchemaPair) -> Iterator[Fact]:
    """An argument that could be left out has to be given.

    The model invents a value where the user gave none; saved calls without it are refused. A `default` does not
    help: it is an annotation, and validators do not fill it in. The usual cause is a schema generator upgrade.
    """
    old_name = {after: before for before, after in pair.renames.items()}
    for name in sorted(pair.new.required - pair.old.required):
        is_renamed = name in old_name and old_name[name] not in pair.old.required
        if name in pair.old_names or is_renamed:
            has_default = isinstance(written := pair.new_property(name), dict) and "default" in written
            hint = " It has a `default`, which validators do not fill in." if has_default else ""
            yield Fact(
                message=f"{named(name)} was optional and is required now.{hint}",
                before="optional",
                after="required",
                requires=(name,),
                name=name,
            )


@schema_rule(
    "required_to_optional",
    area=AREA,
    of="object",
    direction=Direction.WIDENS,
    mirror="optional_to_required",
    fix="For results: go on returning it, or have consumers handle its absence first.",
    bad=(_object(_A, required=["a"]), _object(_A)),
    good=(_object(_A, required=[]), _object(_A)),
)
def required_to_optional(pair: SchemaPair) -> Iterator[Fact]:
    """A property that was always there may be absent.

    Harmless for arguments. Consumers that read the result without a check fail.
    """
    for name in sorted(pair.old.required - pair.new.required):
        if name in pair.new_names or name not in pair.old.properties:
            yield Fact(
                message=f"{named(name)} was required and is optional now.",
                before="required",
                after="optional",
                frees=(name,),
                name=name,
            )


@schema_rule(
    "required_property_added",
    area=AREA,
    of="object",
    direction=Direction.NARROWS,
    mirror="property_removed",
    fix="Make it optional, or add it in a new tool version that asks for it.",
    bad=(_object(_A), _object(_AB, required=["b"])),
    good=(_object(_A), _object(_AB)),
)
def required_property_added(pair: SchemaPair) -> Iterator[Fact]:
    """A new argument that has to be given.

    No saved call carries it, and models that learned the tool from earlier turns leave it out. In a result it is a
    stronger promise, unless the object was closed (C3): consumers that validate refuse it.
    """
    for name in sorted(pair.new.required - pair.old.required):
        if name not in pair.old_names and name not in pair.renames.values():
            is_refused = _is_refused(pair)
            yield Fact(
                message=f"{named(name)} is new and required." + (_REFUSED if is_refused else ""),
                after=pair.new_property(name),
                grade=BREAKING if is_refused else None,
                properties={name: pair.new_property(name)} if is_refused else {},
                requires=(name,),
                name=name,
            )


def _is_refused(pair: SchemaPair) -> bool:
    """Tell whether consumers that validate results by the old schema refuse a new property."""
    return pair.side is Side.OUTPUT and pair.old.is_closed


@schema_rule(
    "required_property_declared",
    area=AREA,
    of="object",
    direction=Direction.NARROWS,
    no_mirror="a declaration that went is reported as `property_removed`",
    fix="Accept every value that was accepted under that name.",
    bad=(_object(_A, required=["b"]), _object(_AB, required=["b"])),
    good=(_object(_A, required=["b"]), _object({**_A, "b": {}}, required=["b"])),
)
def required_property_declared(pair: SchemaPair) -> Iterator[Fact]:
    """A property that had to be given and could be anything has to follow a schema.

    Every call carried it, in whatever form.
    """
    for name in sorted(pair.old.required & pair.new.properties.keys()):
        if name not in pair.old_names and name not in pair.renames.values():
            declared = pair.new_property(name)
            yield Fact(
                message=f"{named(name)}, which could be anything, has to be {show(declared)}.",
                after=declared,
                properties={name: declared},
                name=name,
            )


@schema_rule(
    "optional_property_added",
    area=AREA,
    of="object",
    grades=(COMPATIBLE, COMPATIBLE),
    mirror="property_removed",
    fix="For results of a closed object: open it, or announce the property in a new tool version.",
    bad=(_object(_A), _object(_AB)),
    good=(_object(_AB), _object(_AB)),
)
def optional_property_added(pair: SchemaPair) -> Iterator[Fact]:
    """A new property that may be absent (convention C1).

    Compatible, although it formally narrows an open object: that name could hold anything before. In a result whose
    object was closed it is breaking (C3): consumers that validate refuse it.
    """
    for name in sorted(set(pair.added) - pair.new.required):
        is_refused = _is_refused(pair)
        yield Fact(
            message=f"{named(name)} is new and optional." + (_REFUSED if is_refused else ""),
            after=pair.new_property(name),
            grade=BREAKING if is_refused else None,
            properties={name: pair.new_property(name)} if is_refused else {},
            name=name,
        )


@schema_rule(
    "property_removed",
    area=AREA,
    of="object",
    grades=(BREAKING, BREAKING),
    mirror="optional_property_added",
    fix="Go on accepting it, or remove it in a new tool version and keep the old one until saved work has drained.",
    bad=(_object(_AB), _object(_A)),
    good=(_object(_AB), {"allOf": [_object(_A), _object({"b": {"type": "integer"}})]}),
)
def property_removed(pair: SchemaPair) -> Iterator[Fact]:
    """A property is gone (conventions C2 and C3).

    A closed object refuses calls that carry it; an open one ignores it in silence, which is worse: the call does
    something else and nobody is told. Consumers lose the result they read.
    """
    for name in sorted(pair.removed):
        if pair.side is Side.OUTPUT:
            effect = "Consumers that read it find nothing."
        elif pair.new.is_closed:
            effect = "Calls that carry it are refused."
        else:
            effect = "Calls that carry it are accepted, and it is ignored in silence."
        yield Fact(
            message=f"{named(name)} is gone. {effect}",
            before=pair.old_property(name),
            frees=(name,) if name in pair.old.required else (),
            properties={name: None},
            name=name,
            in_old=True,
        )


@schema_rule(
    "property_renamed",
    area=AREA,
    of="object",
    grades=(BREAKING, BREAKING),
    no_mirror="its own opposite",
    fix="Accept both names until saved work has drained; return both.",
    bad=(_object({"issueNumber": {"type": "integer"}}), _object({"issue_number": {"type": "integer"}})),
    good=(_object({"issueNumber": {"type": "integer"}}), _object({"issueNumber": {"type": "integer"}})),
)
def property_renamed(pair: SchemaPair) -> Iterator[Fact]:
    """A property has another name, by all appearances.

    Names compare exactly: to the tool the old one is unknown. What else changed with the name is reported besides.
    """
    for before, after in sorted(pair.renames.items()):
        yield Fact(
            message=f"{named(before)} is now called {named(after)}, by all appearances.",
            before=before,
            after=after,
            requires=(after,) if after in pair.new.required else (),
            frees=(before,),
            properties={before: None, after: True},
            name=after,
        )
