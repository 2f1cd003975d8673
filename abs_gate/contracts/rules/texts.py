"""Annotations inside schemas: what the model reads and adapters use, judged by convention."""

from __future__ import annotations

from collections.abc import Iterator

from abs_gate.contracts.facts import Fact, SchemaPair
from abs_gate.contracts.prose import describe_change, same_prose
from abs_gate.contracts.rules.registry import COMPATIBLE, REVIEW, UNCHANGED, Side, schema_rule
from abs_gate.contracts.schemas.values import canonical
from abs_gate.contracts.wording import show

AREA = "annotations"
_STRING = {"type": "string"}


@schema_rule(
    "default_changed",
    area=AREA,
    grades=(REVIEW, UNCHANGED),
    affects=("saved_runs", "model_arguments"),
    no_mirror="its own opposite",
    fix="Check what saved calls that leave the argument out will now do.",
    bad=({**_STRING, "default": "a"}, {**_STRING, "default": "b"}),
    good=({"type": "number", "default": 1}, {"type": "number", "default": 1.0}),
)
def default_changed(pair: SchemaPair) -> Iterator[Fact]:
    """The default of an argument that may be left out came, went or changed.

    The same call without the argument does something else now. A default that comes together with "no longer
    required" changes no old call and is compatible.
    """
    before, after = pair.annotation("default")
    if canonical(before) == canonical(after) and ("default" in pair.old.annotations) == (
        "default" in pair.new.annotations
    ):
        return
    old = show(before) if "default" in pair.old.annotations else "none"
    new = show(after) if "default" in pair.new.annotations else "none"
    is_moot = pair.side is Side.INPUT and any(pair.required)
    yield Fact(
        message=f"The default went from {old} to {new}.",
        before=before,
        after=after,
        grade=COMPATIBLE if is_moot else None,
    )


@schema_rule(
    "property_description_changed",
    area=AREA,
    grades=(REVIEW, COMPATIBLE),
    affects=("model_arguments",),
    no_mirror="its own opposite",
    fix="Run the sessions that fill in this argument against the new text.",
    bad=({**_STRING, "description": "Order number"}, {**_STRING, "description": "Customer number"}),
    good=({**_STRING, "description": "a b "}, {**_STRING, "description": "a  b"}),
)
def property_description_changed(pair: SchemaPair) -> Iterator[Fact]:
    """The description of an argument or result changed.

    The model fills in arguments by this text. Rules that stand only in prose ("at most 50") change with it.
    White space alone is not reported.
    """
    old, new = _texts(pair)
    before, after = (value if isinstance(value, str) else None for value in pair.annotation("description"))
    if old == new:
        return
    if same_prose(before, after):
        before, after = "\n".join(sorted(old - new)), "\n".join(sorted(new - old))
    change = describe_change(before, after)
    yield Fact(message=change.summary, before=before, after=after, notes=change.notes)


def _texts(pair: SchemaPair) -> tuple[frozenset[str], frozenset[str]]:
    """Return the descriptions on both sides, those of a choice too where the other side has none to compare with."""
    old, new = pair.old.all_texts, pair.new.all_texts
    if not pair.new.branches:
        old = old.union(*(pair.old_reader.read(branch).all_texts for branch in pair.old.branches))
    if not pair.old.branches:
        new = new.union(*(pair.new_reader.read(branch).all_texts for branch in pair.new.branches))
    return old, new


@schema_rule(
    "property_examples_changed",
    area=AREA,
    grades=(REVIEW, UNCHANGED),
    affects=("model_arguments",),
    no_mirror="its own opposite",
    fix="Run the sessions that fill in this argument against the new examples.",
    bad=({**_STRING, "examples": ["a"]}, {**_STRING, "examples": ["b"]}),
    good=({"type": "number", "examples": [1]}, {"type": "number", "examples": [1.0]}),
)
def property_examples_changed(pair: SchemaPair) -> Iterator[Fact]:
    """The examples of an argument changed.

    Models copy their form, and sometimes their value.
    """
    before, after = pair.annotation("examples")
    if canonical(before) != canonical(after):
        yield Fact(message="The examples changed.", before=before, after=after)


@schema_rule(
    "property_title_changed",
    area=AREA,
    grades=(COMPATIBLE, UNCHANGED),
    affects=("model_arguments",),
    no_mirror="its own opposite",
    fix="Nothing.",
    bad=({**_STRING, "title": "V"}, {**_STRING, "title": "Value"}),
    good=({**_STRING, "title": "V"}, {**_STRING, "title": "V "}),
)
def property_title_changed(pair: SchemaPair) -> Iterator[Fact]:
    """The title inside a schema changed.

    It costs tokens and names nothing that a call carries.
    """
    before, after = pair.annotation("title")
    if not same_prose(*(value if isinstance(value, str) else None for value in (before, after))):
        yield Fact(message=f"The title went from {show(before)} to {show(after)}.", before=before, after=after)


@schema_rule(
    "property_deprecated",
    area=AREA,
    grades=(COMPATIBLE, COMPATIBLE),
    affects=("model_arguments", "consumers"),
    no_mirror="its own opposite",
    fix="Say in the description what to use instead, and when it goes.",
    bad=(_STRING, {**_STRING, "deprecated": True}),
    good=(_STRING, {**_STRING, "deprecated": False}),
)
def property_deprecated(pair: SchemaPair) -> Iterator[Fact]:
    """`deprecated` was set or taken back.

    Calls with it still work: time to move to what replaces it.
    """
    before, after = (value is True for value in pair.annotation("deprecated"))
    if before != after:
        message = "It is deprecated now: it still works." if after else "It is no longer deprecated."
        yield Fact(message=message, before=before, after=after)


@schema_rule(
    "read_only_changed",
    area=AREA,
    grades=(REVIEW, UNCHANGED),
    affects=("model_arguments", "adapter"),
    no_mirror="its own opposite",
    fix="Take a property that callers may not set out of the input schema.",
    bad=(_STRING, {**_STRING, "readOnly": True}),
    good=(_STRING, {**_STRING, "readOnly": False}),
)
def read_only_changed(pair: SchemaPair) -> Iterator[Fact]:
    """`readOnly` of an argument changed.

    Adapters drop what is read-only from calls, so the tool may no longer get it.
    """
    before, after = (value is True for value in pair.annotation("readOnly"))
    if before != after:
        yield Fact(message=f"`readOnly` went from {show(before)} to {show(after)}.", before=before, after=after)


@schema_rule(
    "write_only_changed",
    area=AREA,
    grades=(UNCHANGED, REVIEW),
    affects=("consumers", "adapter"),
    no_mirror="its own opposite",
    fix="Take a property that is never returned out of the output schema.",
    bad=(_STRING, {**_STRING, "writeOnly": True}),
    good=(_STRING, {**_STRING, "writeOnly": False}),
)
def write_only_changed(pair: SchemaPair) -> Iterator[Fact]:
    """`writeOnly` of a result changed.

    Adapters drop what is write-only from results, so consumers may no longer get it.
    """
    before, after = (value is True for value in pair.annotation("writeOnly"))
    if before != after:
        yield Fact(message=f"`writeOnly` went from {show(before)} to {show(after)}.", before=before, after=after)


@schema_rule(
    "header_exposure_changed",
    area=AREA,
    grades=(REVIEW, UNCHANGED),
    affects=("approval_policy",),
    no_mirror="its own opposite",
    fix="Make sure that the value may be seen by every proxy and log on the way.",
    bad=(_STRING, {**_STRING, "x-mcp-header": "Region"}),
    good=({**_STRING, "x-mcp-header": "Region"}, {"x-mcp-header": "Region", **_STRING}),
)
def header_exposure_changed(pair: SchemaPair) -> Iterator[Fact]:
    """`x-mcp-header` of an argument changed (MCP 2026-07-28).

    The value is copied into an HTTP header, where proxies and logs see it.
    """
    before, after = pair.annotation("x-mcp-header")
    if before != after:
        yield Fact(
            message=f"The header that carries the value went from {show(before)} to {show(after)}.",
            before=before,
            after=after,
        )
