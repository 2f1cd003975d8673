"""Verdicts on pairs of schemas that once were wrong, by the row of the catalogue they stand for."""

from __future__ import annotations

from typing import Any

import pytest

from abs_gate.contracts.model import Change
from abs_gate.contracts.rules.registry import Side
from abs_gate.contracts.schema_diff import SchemaDiff
from abs_gate.contracts.schemas import Engine

from .workspaces import verdict

STR, INT, NUM, NULL = ({"type": kind} for kind in ("string", "integer", "number", "null"))
OBJ = {"type": "object"}
SAFE = 2**53 - 1
SAME, REVIEW_TEXT, ADDED = (
    ("unchanged", "unchanged"),
    ("behavior_sensitive", "compatible"),
    ("compatible", "compatible"),
)
NARROWER, BROKEN = ("breaking", "compatible"), ("breaking", "breaking")


def obj(*required: str, **properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, **({"required": list(required)} if required else {})}


def closed(*required: str, **properties: Any) -> dict[str, Any]:
    return {**obj(*required, **properties), "additionalProperties": False}


def said(text: str, schema: Any = STR) -> dict[str, Any]:
    return {**schema, "description": text}


def named(schema: Any, **definitions: Any) -> dict[str, Any]:
    return {**schema, "$defs": definitions}


def ref(name: str) -> dict[str, Any]:
    return {"$ref": f"#/$defs/{name}"}


def when(schema: Any) -> dict[str, Any]:
    return {**obj(a=STR), "if": {"required": ["a"]}, "then": schema}


def beside(schema: Any) -> dict[str, Any]:
    return {**obj(a=STR), "dependentSchemas": {"a": schema}}


def tagged(*branches: Any) -> dict[str, Any]:
    return {"oneOf": [obj("k", k={"const": index}, w=branch) for index, branch in enumerate(branches)]}


def draft7(schema: Any) -> dict[str, Any]:
    return {"$schema": "http://json-schema.org/draft-07/schema#", **schema}


NOT_NOT = {"not": {"not": obj(a=STR, b=INT)}}
TREE = obj("n", n=STR, kids={"type": "array", "items": ref("N")})
ROWS: list[tuple[str, Any, Any, tuple[str, str]]] = [
    ("C3 required in a closed result", closed(a=STR), closed("b", a=STR, b=STR), BROKEN),
    ("C3 required in a closed branch", tagged(closed(), INT), tagged(closed("b", b=STR), INT), BROKEN),
    ("C3 required in an open result", obj(a=STR), obj("b", a=STR, b=STR), NARROWER),
    ("T9 forbidden that was free", obj(a=STR), obj(a=STR, b=False), NARROWER),
    ("T9 forbidden in a closed object", closed(a=STR), closed(a=STR, b=False), SAME),
    ("T9 forbidden by negation", {**OBJ, "not": {"required": ["a"]}}, obj(a=False), SAME),
    ("T9 no longer forbidden", obj(a=STR, b=False), obj(a=STR), ("compatible", "breaking")),
    ("T9 no longer forbidden by itself", closed(a=STR, b={"not": {}}), closed(a=STR), SAME),
    ("N5 of a generator", INT, {**INT, "minimum": -SAFE, "maximum": SAFE}, ("compatible", "unchanged")),
    ("N5 that went", {**INT, "maximum": SAFE}, INT, ("compatible", "unchanged")),
    (
        "X1 default of what is required",
        obj("v", v=STR),
        obj("v", v={**STR, "default": "x"}),
        ("compatible", "unchanged"),
    ),
    ("X3 of a type in a choice", {"anyOf": [said("a"), INT]}, {"anyOf": [said("b"), INT]}, REVIEW_TEXT),
    ("X3 of null in a choice", {"anyOf": [STR, said("a", NULL)]}, {"anyOf": [STR, said("b", NULL)]}, REVIEW_TEXT),
    (
        "X3 of a listed value",
        {"oneOf": [{"const": "a", "description": "one"}, {"const": "b"}]},
        {"oneOf": [{"const": "a", "description": "two"}, {"const": "b"}]},
        REVIEW_TEXT,
    ),
    ("X3 that came to listed values", {"enum": ["a"]}, {"oneOf": [{"const": "a", "description": "one"}]}, REVIEW_TEXT),
    ("X3 that moved into a choice", said("a", {"type": ["string", "null"]}), {"anyOf": [said("a"), NULL]}, SAME),
    ("X3 that moved into branches", said("a"), {"anyOf": [said("a"), obj(b=STR)]}, ("compatible", "breaking")),
    ("X3 of an outcome", when(said("a", {})), when(said("b", {})), REVIEW_TEXT),
    ("X3 of a negation", {"not": said("a")}, {"not": said("b")}, REVIEW_TEXT),
    ("X3 in a negation", {"not": obj(a=said("a"))}, {"not": obj(a=said("b"))}, REVIEW_TEXT),
    ("X3 of a condition", {**when({}), "if": said("a")}, {**when({}), "if": said("b")}, REVIEW_TEXT),
    ("X3 in a double negation", obj(v=NOT_NOT), obj(v={"not": {**NOT_NOT["not"], "description": "a"}}), REVIEW_TEXT),
    (
        "X3 of a choice in a choice of nothing in common",
        {"oneOf": [OBJ, {"oneOf": [STR, said("a", NULL)]}]},
        {"oneOf": [OBJ, {"oneOf": [STR, said("b", NULL)]}]},
        REVIEW_TEXT,
    ),
    ("X3 of a dependency", beside(said("a", {})), beside(said("b", {})), REVIEW_TEXT),
    (
        "X3 beside a draft-07 reference",
        draft7({**obj(v={"$ref": "#/definitions/T"}), "definitions": {"T": STR}}),
        draft7({**obj(v={"$ref": "#/definitions/T", "description": "a"}), "definitions": {"T": STR}}),
        REVIEW_TEXT,
    ),
    (
        "R5 further items where there are no positions",
        {"type": "array", "items": STR},
        {"type": "array", "items": STR, "additionalItems": False},
        SAME,
    ),
    ("X5 anchor of a reference there is none of", obj(a=STR), obj(a={**STR, "$dynamicAnchor": "x"}), SAME),
    ("B8 new argument of an outcome", when(obj(b=STR)), when(obj(b=STR, c=STR)), ADDED),
    ("B8 argument of an outcome that went", when(obj(b=STR, c=STR)), when(obj(b=STR)), BROKEN),
    ("B8 format in an outcome", when({"format": "date"}), when({"format": "time"}), BROKEN),
    ("B9 new argument of a dependency", beside(obj(b=STR)), beside(obj(b=STR, c=STR)), ADDED),
    ("B9 argument of a dependency that went", beside(obj(b=STR, c=STR)), beside(obj(b=STR)), BROKEN),
    (
        "B10 definition narrowed beside a new argument",
        named(obj(a=ref("A")), A=STR),
        named(obj(a=ref("A"), b=ref("A")), A={**STR, "minLength": 5}),
        NARROWER,
    ),
    (
        "B10 definition widened beside a new argument",
        named(obj(a=ref("A")), A={**STR, "minLength": 5}),
        named(obj(a=ref("A"), b=INT), A=STR),
        ("compatible", "breaking"),
    ),
    (
        "B10 definition under another name beside a new argument",
        named(obj(a=ref("A")), A=STR),
        named(obj(a=ref("B"), b=ref("B")), B=STR),
        ADDED,
    ),
    (
        "B10 definition that two arguments shared, split",
        named(obj(a=ref("T"), b=ref("T")), T=obj(x=STR)),
        named(obj(a=ref("V"), b=ref("U")), V=obj(x=STR, c=INT), U=obj(x=STR, c=STR)),
        ADDED,
    ),
    (
        "B10 closed definition that two arguments shared, split",
        named(closed(a=ref("T"), b={"allOf": [ref("T")]}), T=closed(x=STR)),
        named(closed(a=ref("T"), b={"allOf": [ref("U")]}, c=ref("U")), T=closed(x=STR), U=closed(x=STR, y=STR)),
        ("compatible", "breaking"),
    ),
    (
        "B10 closed definitions joined, one use written out beside",
        named(obj(a=obj(k=STR), c=ref("B")), B=closed(z=ref("X"), y=ref("B")), X=closed(z=ref("B"), y=ref("B"))),
        named(
            obj(a=obj(k=STR, p=INT), c=ref("B")), B=closed(z=ref("B"), y=closed(z=ref("B"), y=ref("B"), p=STR), p=STR)
        ),
        ("compatible", "breaking"),
    ),
    (
        "B10 argument that referred to another, written out",
        draft7(obj(a=closed(x=STR), b={"$ref": "#/properties/a"})),
        draft7(obj(a=closed(x=STR, y=INT), b=closed(x=STR))),
        ("compatible", "breaking"),
    ),
    (
        "B12 definition that refers to itself and grew",
        named(obj(root=ref("N")), N=TREE),
        named(obj(root=ref("N")), N={**TREE, "properties": {**TREE["properties"], "c": STR}}),
        ADDED,
    ),
    (
        "B10 anchor written out",
        named(obj(v={"$ref": "#t"}), T={"$anchor": "t", **obj(a=STR)}),
        obj(v=obj(a=STR)),
        SAME,
    ),
    (
        "B10 definition with an anchor narrowed beside a new argument",
        named(obj(a={"$ref": "#t"}), T={"$anchor": "t", **STR}),
        named(obj(a={"$ref": "#t"}, b={"$ref": "#t"}), T={"$anchor": "t", **STR, "minLength": 5}),
        NARROWER,
    ),
    (
        "B10 definition with a name narrowed beside a new argument",
        named({"$id": "https://example.com/root", **obj(a={"$ref": "t"})}, T={"$id": "t", **STR}),
        named(
            {"$id": "https://example.com/root", **obj(a={"$ref": "t"}, b={"$ref": "t"})},
            T={"$id": "t", **STR, "minLength": 5},
        ),
        NARROWER,
    ),
    ("X5 arguments called like names of schemas", obj(**{"$id": STR}), obj(**{"$id": STR, "$anchor": STR}), ADDED),
    (
        "B10 reference by name written out",
        named({"$id": "https://example.com/root", **obj(v={"$ref": "t"})}, T={"$id": "t", **obj(a=STR)}),
        obj(v=obj(a=STR)),
        SAME,
    ),
    (
        "B14 reference that became dynamic",
        {**obj(a=STR, v={"$ref": "#"}), "$dynamicAnchor": "n"},
        {**obj(a=STR, v={"$dynamicRef": "#n"}), "$dynamicAnchor": "n"},
        ("behavior_sensitive",) * 2,
    ),
    ("B14 keyword in a branch", tagged(STR, INT), tagged({**STR, "level": 3}, INT), ("behavior_sensitive",) * 2),
    (
        "B14 keyword in what is left over",
        {**OBJ, "unevaluatedProperties": STR},
        {**OBJ, "unevaluatedProperties": {**STR, "level": 3}},
        ("behavior_sensitive",) * 2,
    ),
    ("double negation", obj(v=obj(a=STR, b=INT)), obj(v=NOT_NOT), SAME),
    (
        "branches in another order, rewritten",
        {"anyOf": [closed(a=STR, b=NULL), {"allOf": [obj("a", a=STR)], **obj(a={"type": "array"})}]},
        {"anyOf": [{"allOf": [obj("a", a=STR)], **obj(a={"type": ["array"]})}, {"allOf": [closed(a=STR, b=NULL)]}]},
        SAME,
    ),
]


def found(side: Side, old: Any, new: Any) -> tuple[Change, ...]:
    return SchemaDiff(side, old, new, engine=Engine()).changes()


@pytest.mark.parametrize(("old", "new", "expected"), [row[1:] for row in ROWS], ids=[row[0] for row in ROWS])
def test_row(old: Any, new: Any, expected: tuple[str, str]) -> None:
    for side, grade in zip((Side.INPUT, Side.OUTPUT), expected, strict=True):
        changes = found(side, old, new)
        assert verdict(changes).value == grade, [(each.path, each.kind) for each in changes]


def test_a_type_that_became_another_and_more_is_one_change() -> None:
    (change,) = found(Side.INPUT, {"type": ["string", "number"]}, {"type": ["string", "integer", "boolean"]})
    assert (change.kind, change.proof) == ("type_changed", "witness")


def test_a_type_that_became_null_is_not_called_nullable() -> None:
    assert [change.kind for change in found(Side.OUTPUT, STR, NULL)] == ["type_changed"]


def test_a_generators_bound_is_not_blamed_for_what_else_changed() -> None:
    kinds = [change.kind for change in found(Side.INPUT, NUM, {**INT, "maximum": SAFE})]
    assert sorted(kinds) == ["safe_integer_bound_changed", "type_narrowed"]


def test_what_is_not_understood_is_said_once() -> None:
    (change,) = found(Side.INPUT, STR, {"$schema": "https://example.com/dialect", **STR})
    assert (change.kind, change.proof) == ("schema_not_proven", "not proven")


@pytest.mark.parametrize(
    ("side", "old", "new", "kind", "witness"),
    [
        (Side.INPUT, {"type": ["string", "null"]}, {**STR, "minLength": 1}, "null_removed", None),
        (Side.OUTPUT, {**STR, "maxLength": 5}, {"type": ["string", "null"], "maxLength": 9}, "null_added", None),
        (Side.INPUT, {**STR, "pattern": "^a"}, {**STR, "pattern": "^b"}, "pattern_changed", "a"),
        (Side.INPUT, STR, {**STR, "pattern": "^.*$"}, "pattern_added", "a\nb"),
        (Side.OUTPUT, closed(a=STR), closed("b", a=STR, b=STR), "required_property_added", {"b": "text"}),
        (Side.INPUT, obj("q", q=STR), obj("query", query=STR), "property_renamed", {"q": "text"}),
        *(
            (Side.INPUT, within(obj("q", q=STR)), within(obj("query", query=STR)), "property_renamed", witness)
            for within, witness in (
                (lambda schema: {**OBJ, "additionalProperties": schema}, {"extra": {"q": "text"}}),
                (lambda schema: {"type": "array", "prefixItems": [NULL], "items": schema}, [None, {"q": "text"}]),
                (lambda schema: {"type": "array", "contains": schema}, [{"q": "text"}]),
            )
        ),
    ],
)
def test_a_witness_shows_what_it_stands_beside(side: Side, old: Any, new: Any, kind: str, witness: Any) -> None:
    (change,) = (each for each in found(side, old, new) if each.kind == kind)
    assert change.has_witness and change.witness == witness


def test_a_rename_of_what_may_be_left_out_has_no_witness() -> None:
    """No call that was accepted is refused: the old name is ignored in silence."""
    (change,) = found(Side.INPUT, obj(q=STR), obj(query=STR))
    assert (change.kind, change.proof, change.has_witness) == ("property_renamed", "convention", False)


def test_distinct_items_that_must_hold_one_are_compared() -> None:
    old = {"type": "array", "uniqueItems": True, "minItems": 2, "contains": NULL}
    (change,) = found(Side.INPUT, old, {**old, "items": NULL})
    assert change.witness == ["text", None]


def test_a_change_that_one_use_of_a_definition_hides_is_shown_at_another() -> None:
    old = named(obj(a={"anyOf": [ref("T"), STR]}, b=ref("T")), T=obj(k=STR))
    new = named(obj(a={"anyOf": [ref("T"), STR, OBJ]}, b=ref("T")), T=obj("k", k=STR))
    changes = {change.path: change.kind for change in found(Side.INPUT, old, new)}
    assert changes == {"input.a": "branch_added", "input.b.k": "optional_to_required"}


def test_what_went_is_not_compared_with_definitions_that_changed_elsewhere() -> None:
    """Evened out, the argument that went refers to the closed definition, and to the open one on the other side."""
    old = named(obj(a=ref("T"), c={"type": "array", "items": ref("T")}), T=closed(k=STR, t=ref("T")))
    new = named(obj(a=ref("T")), T=obj(k=STR, t=ref("T"), q={"enum": ["a"]}))
    kinds = {change.kind for change in found(Side.INPUT, old, new)}
    assert kinds == {"property_removed", "additional_properties_opened", "optional_property_added"}


def test_what_no_result_can_show_is_not_called_breaking() -> None:
    """The new schema allows no result at all: what went is still required and ruled out."""
    new = {**closed(b=INT), "required": ["a"]}
    grades = {change.kind: change.classification.value for change in found(Side.OUTPUT, closed("a", a=STR, b=STR), new)}
    assert grades == {"property_removed": "breaking", "type_changed": "compatible"}
