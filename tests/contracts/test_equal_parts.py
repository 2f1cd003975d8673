"""A part that is written alike on both sides means something else when what it depends on changed elsewhere."""

from __future__ import annotations

from typing import Any

import pytest

from abs_gate.contracts.rules.registry import Side
from abs_gate.contracts.schema_diff import SchemaDiff
from abs_gate.contracts.schemas import Engine

from .workspaces import verdict

STR, INT, LONG = {"type": "string"}, {"type": "integer"}, {"type": "string", "minLength": 5}
DRAFT7, DRAFT2019 = "http://json-schema.org/draft-07/schema#", "https://json-schema.org/draft/2019-09/schema"
NARROWER, WIDER, BOTH = ("breaking", "compatible"), ("compatible", "breaking"), ("breaking", "breaking")


def call(argument: Any, **root: Any) -> dict[str, Any]:
    return {"type": "object", "properties": {"v": argument}, "required": ["v"], **root}


def referring(reference: str, a: Any, b: Any = True, **root: Any) -> dict[str, Any]:
    return call({"$ref": reference}, **root, **{"$defs": {"A": a, "B": b}})


def within(definition: Any, **beside: Any) -> dict[str, Any]:
    return {**call({"allOf": [{"$ref": "#/$defs/A"}], **beside}), "$defs": {"A": definition}}


ROWS: dict[str, tuple[Any, Any, tuple[str, str]]] = {
    "definition": (referring("#/$defs/A", STR), referring("#/$defs/A", LONG), NARROWER),
    "definition of a definition": (
        {**call({"$ref": "#/$defs/B"}), "$defs": {"B": {"type": "array", "items": {"$ref": "#/$defs/A"}}, "A": LONG}},
        {**call({"$ref": "#/$defs/B"}), "$defs": {"B": {"type": "array", "items": {"$ref": "#/$defs/A"}}, "A": STR}},
        WIDER,
    ),
    "root": (
        {"type": "object", "properties": {"k": STR, "v": {"$ref": "#"}}},
        {"type": "object", "properties": {"k": LONG, "v": {"$ref": "#"}}},
        NARROWER,
    ),
    "anchors that changed places": (
        referring("#x", {"$anchor": "x", **STR}, {"$anchor": "y", **INT}),
        referring("#x", {"$anchor": "y", **STR}, {"$anchor": "x", **INT}),
        BOTH,
    ),
    "names that changed places": (
        referring("x", {"$id": "x", **STR}, {"$id": "y", **LONG}, **{"$id": "https://example.com/root"}),
        referring("x", {"$id": "y", **STR}, {"$id": "x", **LONG}, **{"$id": "https://example.com/root"}),
        NARROWER,
    ),
    "what is left over by a definition": (
        within({"patternProperties": {"^x-": STR}}, type="object", unevaluatedProperties=False),
        within({"patternProperties": {"^x-": STR, "^y-": STR}}, type="object", unevaluatedProperties=False),
        WIDER,
    ),
    "a property that is new in a definition, where the rest has to be whole numbers": (
        {**call({"allOf": [{"$ref": "#/$defs/A"}], "unevaluatedProperties": INT}), "$defs": {"A": {}}},
        {
            **call({"allOf": [{"$ref": "#/$defs/A"}], "unevaluatedProperties": INT}),
            "$defs": {"A": {"properties": {"k": STR}}},
        },
        BOTH,
    ),
    "items left over by a definition": (
        within({"prefixItems": [STR]}, type="array", unevaluatedItems=False),
        within({"prefixItems": [STR, STR]}, type="array", unevaluatedItems=False),
        WIDER,
    ),
    "further properties beside patterns": (
        call({"type": "object", "patternProperties": {"^a": INT}, "additionalProperties": STR}),
        call({"type": "object", "patternProperties": {"^b": INT}, "additionalProperties": STR}),
        BOTH,
    ),
    "no further properties beside patterns": (
        call({"type": "object", "patternProperties": {"^a": INT}, "additionalProperties": False}),
        call({"type": "object", "patternProperties": {"^a|^b": INT}, "additionalProperties": False}),
        WIDER,
    ),
    "further items beside positions": (
        call({"type": "array", "prefixItems": [STR], "items": INT}),
        call({"type": "array", "prefixItems": [STR, STR], "items": INT}),
        BOTH,
    ),
    "contained items beside their number": (
        call({"type": "array", "contains": STR, "minContains": 1}),
        call({"type": "array", "contains": STR, "minContains": 2}),
        NARROWER,
    ),
    "condition beside its outcome": (
        call({"if": STR, "then": {"minLength": 1}}),
        call({"if": STR, "then": {"minLength": 2}}),
        NARROWER,
    ),
    "condition that refers to a definition": (
        {**call({"if": {"$ref": "#/$defs/A"}, "then": {"maxLength": 9}}), "$defs": {"A": LONG}},
        {**call({"if": {"$ref": "#/$defs/A"}, "then": {"maxLength": 9}}), "$defs": {"A": {**STR, "minLength": 50}}},
        WIDER,
    ),
    "what stands beside a reference in another dialect": (
        {"$schema": DRAFT7, **call({"$ref": "#/definitions/A", "minLength": 5}), "definitions": {"A": STR}},
        {"$schema": DRAFT2019, **call({"$ref": "#/definitions/A", "minLength": 5}), "definitions": {"A": STR}},
        NARROWER,
    ),
}


@pytest.mark.parametrize(("old", "new", "expected"), ROWS.values(), ids=ROWS)
def test_row(old: Any, new: Any, expected: tuple[str, str]) -> None:
    for side, grade in zip((Side.INPUT, Side.OUTPUT), expected, strict=True):
        found = SchemaDiff(side, old, new, engine=Engine()).changes()
        assert verdict(found).value == grade, [(each.path, each.kind) for each in found]
        assert all(each.proof == "witness" for each in found if each.classification.value == "breaking")
