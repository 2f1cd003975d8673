"""Pairs of schemas for one value, by the row of the rule catalogue they stand for, with the relation of their sets."""

from __future__ import annotations

from typing import Any

STR, INT, NUM = {"type": "string"}, {"type": "integer"}, {"type": "number"}
OBJ = {"type": "object"}


def closed(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "additionalProperties": False}


def opened(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


def draft(number: str, schema: dict[str, Any]) -> dict[str, Any]:
    uri = {
        "2019": "https://json-schema.org/draft/2019-09/schema",
        "2020": "https://json-schema.org/draft/2020-12/schema",
    }.get(number, f"http://json-schema.org/draft-0{number}/schema#")
    return {"$schema": uri, **schema}


TREE = {"type": "object", "properties": {"kids": {"type": "array", "items": {"$ref": "#/$defs/T"}}, "name": STR}}
SHORT_TREE = {
    "type": "object",
    "properties": {"kids": {"type": "array", "items": {"$ref": "#/$defs/T"}}, "name": {**STR, "maxLength": 3}},
}

EQUAL: list[tuple[str, Any, Any]] = [
    ("enum-duplicates", {"enum": ["a", "a", "b"]}, {"enum": ["a", "b"]}),
    ("enum-number-spelling", {"enum": [1]}, {"enum": [1.0]}),
    ("enum-implied-type", {"enum": ["a", "b"]}, {"type": "string", "enum": ["a", "b"]}),
    ("enum-and-type-disagree", {"type": "string", "enum": ["a", None]}, {"enum": ["a"]}),
    ("enum-of-consts-with-titles", {"enum": ["a", "b"]}, {"oneOf": [{"const": "a", "title": "A"}, {"const": "b"}]}),
    ("const-of-equal-objects", {"const": {"a": 1, "b": 2}}, {"const": {"b": 2, "a": 1.0}}),
    ("const-object-spelled-out", {"const": {"a": 1}}, {**closed(a={"const": 1}), "required": ["a"]}),
    ("boolean-enum", {"type": "boolean"}, {"enum": [False, True]}),
    ("integer-as-multiple", {"type": "integer"}, {"type": "number", "multipleOf": 1}),
    ("integer-bounds", {**INT, "minimum": 1}, {**INT, "exclusiveMinimum": 0}),
    ("integer-bounds-fraction", {**INT, "minimum": 0.5, "maximum": 3.5}, {**INT, "minimum": 1, "maximum": 3}),
    ("bounds-folded", {**NUM, "minimum": 1, "exclusiveMinimum": 0}, {**NUM, "minimum": 1}),
    ("multiples-folded", {**INT, "allOf": [{"multipleOf": 4}, {"multipleOf": 6}]}, {**INT, "multipleOf": 12}),
    ("decimal-multiples", {**NUM, "multipleOf": 0.1}, {**NUM, "multipleOf": 0.10}),
    ("integer-in-halves", {**INT, "multipleOf": 0.5}, INT),
    ("any-of-order", {"anyOf": [STR, INT]}, {"anyOf": [INT, STR]}),
    ("any-of-subsumed", {"anyOf": [STR, {**STR, "minLength": 3}]}, STR),
    ("any-of-disjoint-one-of", {"anyOf": [STR, INT]}, {"oneOf": [STR, INT]}),
    (
        "tagged-any-of-one-of",
        {"anyOf": [{**closed(k={"const": 1}), "required": ["k"]}, {**closed(k={"const": 2}), "required": ["k"]}]},
        {"oneOf": [{**closed(k={"const": 1}), "required": ["k"]}, {**closed(k={"const": 2}), "required": ["k"]}]},
    ),
    (
        "nullable-with-constraint",
        {"type": ["string", "null"], "minLength": 2},
        {"anyOf": [{**STR, "minLength": 2}, {"type": "null"}]},
    ),
    ("nullable-const-null", {"anyOf": [STR, {"const": None}]}, {"type": ["null", "string"]}),
    (
        "split-type-constraints",
        {"type": ["string", "integer"], "minLength": 1, "minimum": 0},
        {"anyOf": [{**STR, "minLength": 1}, {**INT, "minimum": 0}]},
    ),
    ("double-negation", {"not": {"not": STR}}, STR),
    ("not-type", {"not": {"type": ["null", "boolean", "number", "array", "object"]}}, STR),
    (
        "de-morgan",
        {"not": {"anyOf": [{"type": "null"}, {"const": 1}]}},
        {"allOf": [{"not": {"type": "null"}}, {"not": {"const": 1}}]},
    ),
    (
        "conditional-unrolled",
        {**OBJ, "if": {"required": ["a"]}, "then": {"required": ["b"]}},
        {**OBJ, "anyOf": [{"not": {"required": ["a"]}}, {"required": ["b"]}]},
    ),
    (
        "conditional-both-branches",
        {"if": {"type": "string"}, "then": {"minLength": 1}, "else": {"minLength": 1}},
        {"minLength": 1},
    ),
    ("else-without-if", {**STR, "else": {"minLength": 4}}, STR),
    ("if-alone", {**STR, "if": {"minLength": 4}}, STR),
    (
        "dependent-as-conditional",
        {**OBJ, "dependentRequired": {"a": ["b"]}},
        {**OBJ, "if": {"required": ["a"]}, "then": {"required": ["b"]}},
    ),
    (
        "dependent-schema-as-required",
        {**OBJ, "dependentSchemas": {"a": {"required": ["b"]}}},
        {**OBJ, "dependentRequired": {"a": ["b"]}},
    ),
    ("empty-properties", {**OBJ, "properties": {}}, OBJ),
    ("true-property", opened(a=True), opened(a={})),
    ("false-property", opened(a=False), opened(a={"not": {}})),
    (
        "false-property-closed",
        {"type": "object", "properties": {"a": STR, "b": False}, "additionalProperties": False},
        closed(a=STR),
    ),
    ("open-property-names-any", {**OBJ, "propertyNames": {"type": "string"}}, OBJ),
    ("closed-by-names", closed(), {**OBJ, "maxProperties": 0}),
    ("names-as-enum", {**OBJ, "propertyNames": {"enum": ["a", "b"]}}, closed(a=True, b=True)),
    ("names-as-pattern", {**OBJ, "propertyNames": {"pattern": "^(a|b)$"}}, closed(a=True, b=True)),
    (
        "closed-pattern",
        {**OBJ, "patternProperties": {"^(a|b)$": STR}, "additionalProperties": False},
        closed(a=STR, b=STR),
    ),
    (
        "closed-in-all-of",
        {"allOf": [opened(a=STR), {"properties": {"a": True}, "additionalProperties": False}]},
        closed(a=STR),
    ),
    ("max-properties-implied", {**closed(a=STR, b=STR), "maxProperties": 2}, closed(a=STR, b=STR)),
    (
        "min-properties-implied",
        {**opened(a=STR), "required": ["a", "b"], "minProperties": 2},
        {**opened(a=STR), "required": ["a", "b"]},
    ),
    (
        "all-required-by-count",
        {**closed(a=STR, b=STR), "minProperties": 2},
        {**closed(a=STR, b=STR), "required": ["a", "b"]},
    ),
    (
        "unevaluated-all-of",
        {"allOf": [{"properties": {"a": STR}}], "unevaluatedProperties": False, "type": "object"},
        closed(a=STR),
    ),
    (
        "unevaluated-ref",
        {
            "$ref": "#/$defs/B",
            "unevaluatedProperties": False,
            "type": "object",
            "$defs": {"B": {"properties": {"a": STR}}},
        },
        closed(a=STR),
    ),
    (
        "unevaluated-items-false",
        {"type": "array", "prefixItems": [STR], "unevaluatedItems": False},
        {"type": "array", "prefixItems": [STR], "items": False},
    ),
    ("items-absent", {"type": "array"}, {"type": "array", "items": {}}),
    ("items-false", {"type": "array", "items": False}, {"type": "array", "maxItems": 0}),
    (
        "prefix-closed-length",
        {"type": "array", "prefixItems": [STR, STR], "items": False},
        {"type": "array", "items": STR, "maxItems": 2},
    ),
    ("unique-one-item", {"type": "array", "maxItems": 1, "uniqueItems": True}, {"type": "array", "maxItems": 1}),
    (
        "unique-finite",
        {"type": "array", "items": {"type": "boolean"}, "uniqueItems": True},
        {"type": "array", "items": {"type": "boolean"}, "uniqueItems": True, "maxItems": 2},
    ),
    ("contains-any", {"type": "array", "contains": {}}, {"type": "array", "minItems": 1}),
    (
        "contains-none",
        {"type": "array", "contains": STR, "minContains": 0, "maxContains": 0},
        {"type": "array", "items": {"not": STR}},
    ),
    (
        "contains-all-items",
        {"type": "array", "items": STR, "contains": STR, "minContains": 2},
        {"type": "array", "items": STR, "minItems": 2},
    ),
    ("length-as-pattern", {**STR, "minLength": 2, "maxLength": 3}, {**STR, "pattern": "^[\\s\\STR]{2,3}$"}),
    ("pattern-rewritten", {**STR, "pattern": "^(foo|bar)$"}, {"enum": ["bar", "foo"]}),
    ("pattern-unanchored", {**STR, "pattern": "a"}, {**STR, "pattern": "a+"}),
    ("pattern-classes", {**STR, "pattern": "^\\d+$"}, {**STR, "pattern": "^[0-9][0-9]*$"}),
    ("pattern-lazy", {**STR, "pattern": "^a+?$"}, {**STR, "pattern": "^a+$"}),
    ("pattern-look-ahead", {**STR, "pattern": "^(?!-)[a-z-]+$"}, {**STR, "pattern": "^[a-z][a-z-]*$"}),
    ("pattern-empty-set", {**STR, "pattern": "a^"}, False),
    ("unsatisfiable-twins", {**INT, "minimum": 2, "maximum": 1}, {**STR, "minLength": 2, "maxLength": 1}),
    ("unsatisfiable-required", {**closed(a=STR), "required": ["b"]}, False),
    ("boolean-schemas", True, {}),
    ("boolean-schemas-false", False, {"not": True}),
    ("draft4-exclusive-unused", draft("4", {**NUM, "exclusiveMinimum": True}), NUM),
    ("draft4-to-2020", draft("4", {**NUM, "maximum": 3, "exclusiveMaximum": True}), {**NUM, "exclusiveMaximum": 3}),
    (
        "draft7-tuple",
        draft("7", {"type": "array", "items": [STR], "additionalItems": INT}),
        {"type": "array", "prefixItems": [STR], "items": INT},
    ),
    (
        "draft7-additional-items-alone",
        draft("7", {"type": "array", "items": STR, "additionalItems": False}),
        {"type": "array", "items": STR},
    ),
    (
        "draft7-dependencies",
        draft("7", {**OBJ, "dependencies": {"a": {"required": ["b"]}}}),
        {**OBJ, "dependentSchemas": {"a": {"required": ["b"]}}},
    ),
    ("draft7-ref-siblings", draft("7", {"$ref": "#/definitions/T", "maxLength": 1, "definitions": {"T": STR}}), STR),
    (
        "draft2019-tuple",
        draft("2019", {"type": "array", "items": [STR], "additionalItems": False}),
        {"type": "array", "prefixItems": [STR], "items": False},
    ),
    ("dialect-only", draft("6", {**STR, "minLength": 1}), draft("2020", {**STR, "minLength": 1})),
    (
        "ref-inlined",
        opened(a={"$ref": "#/$defs/T"}) | {"$defs": {"T": {**STR, "minLength": 1}}},
        opened(a={**STR, "minLength": 1}),
    ),
    ("ref-renamed", {"$ref": "#/$defs/A", "$defs": {"A": STR}}, {"$ref": "#/$defs/B", "$defs": {"B": STR}}),
    ("ref-anchor", {"$ref": "#here", "$defs": {"A": {"$anchor": "here", **STR}}}, STR),
    ("ref-id", {"$ref": "item", "$id": "https://x.test/root", "$defs": {"A": {"$id": "item", **STR}}}, STR),
    ("ref-draft7-id-anchor", draft("7", {"$ref": "#here", "definitions": {"A": {"$id": "#here", **STR}}}), STR),
    ("ref-escaped-pointer", {"$ref": "#/$defs/a~1b%20c", "$defs": {"a/b c": STR}}, STR),
    ("ref-into-properties", opened(a=STR, b={"$ref": "#/properties/a"}), opened(a=STR, b=STR)),
    (
        "recursive-renamed",
        {"$ref": "#/$defs/T", "$defs": {"T": TREE}},
        {"type": "object", "properties": {"name": STR, "kids": {"type": "array", "items": {"$ref": "#"}}}},
    ),
    (
        "recursive-unrolled-once",
        {"$ref": "#/$defs/T", "$defs": {"T": TREE}},
        {
            "type": "object",
            "properties": {"kids": {"type": "array", "items": {"$ref": "#/$defs/T"}}, "name": STR},
            "$defs": {"T": TREE},
        },
    ),
    (
        "recursive-mutual",
        {"$ref": "#/$defs/A", "$defs": {"A": opened(n={"$ref": "#/$defs/B"}), "B": opened(n={"$ref": "#/$defs/A"})}},
        {"type": "object", "properties": {"n": {"$ref": "#"}}},
    ),
    (
        "recursive-endless-is-empty",
        {"$ref": "#/$defs/L", "$defs": {"L": {**opened(n={"$ref": "#/$defs/L"}), "required": ["n"]}}},
        False,
    ),
    ("annotations", {**STR, "title": "T", "default": "x", "examples": ["y"], "x-vendor": 1, "format": "uri"}, STR),
]

NARROWER: list[tuple[str, Any, Any]] = [
    ("type-shrinks", {"type": ["string", "integer"]}, STR),
    ("type-number-integer", NUM, INT),
    ("type-introduced", {}, STR),
    ("null-removed-one-of", {"oneOf": [STR, {"type": "null"}]}, STR),
    ("null-removed-const", {"anyOf": [STR, {"const": None}]}, STR),
    ("nullable-wrap-narrowed", {"type": ["string", "null"]}, {"anyOf": [{**STR, "minLength": 1}, {"type": "null"}]}),
    ("enum-introduced", STR, {"enum": ["a"]}),
    ("enum-value-removed", {"enum": [1, 2]}, {"enum": [2]}),
    ("enum-null-removed", {"enum": ["a", None]}, {"type": "string", "enum": ["a", None]}),
    (
        "required-with-default",
        opened(a={**STR, "default": "x"}),
        {**opened(a={**STR, "default": "x"}), "required": ["a"]},
    ),
    ("required-nested", opened(a=opened(b=STR)), opened(a={**opened(b=STR), "required": ["b"]})),
    ("additional-narrowed", {**OBJ, "additionalProperties": NUM}, {**OBJ, "additionalProperties": INT}),
    ("closed-nested", opened(a=opened(b=STR)), opened(a=closed(b=STR))),
    (
        "pattern-property-in-closed",
        {**OBJ, "patternProperties": {"^x-": True}, "additionalProperties": False},
        closed(),
    ),
    ("names-added", OBJ, {**OBJ, "propertyNames": {"pattern": "^[a-z]+$"}}),
    ("min-properties", OBJ, {**OBJ, "minProperties": 1}),
    ("max-properties", OBJ, {**OBJ, "maxProperties": 3}),
    (
        "unevaluated-kills-branch",
        {"allOf": [opened(a=STR)]},
        {"allOf": [opened(a=STR)], "unevaluatedProperties": False},
    ),
    (
        "closed-beside-all-of",
        {"allOf": [opened(a=STR)], "type": "object"},
        {"allOf": [opened(a=STR)], "type": "object", "additionalProperties": False},
    ),
    ("minimum", {**INT, "minimum": 1}, {**INT, "minimum": 2}),
    ("exclusive", {**NUM, "maximum": 1}, {**NUM, "exclusiveMaximum": 1}),
    ("safe-integer-bound", INT, {**INT, "maximum": 9007199254740991, "minimum": -9007199254740991}),
    ("multiple-introduced", NUM, {**NUM, "multipleOf": 0.01}),
    ("multiple-of-multiple", {**NUM, "multipleOf": 0.5}, {**NUM, "multipleOf": 1.5}),
    ("unsatisfiable", {**INT, "minimum": 1}, {**INT, "minimum": 3, "maximum": 2}),
    ("min-length", STR, {**STR, "minLength": 1}),
    ("max-length", {**STR, "maxLength": 5}, {**STR, "maxLength": 4}),
    ("pattern-added", STR, {**STR, "pattern": "^[a-z]+$"}),
    ("pattern-included", {**STR, "pattern": "^[a-z0-9]+$"}, {**STR, "pattern": "^[a-z]+$"}),
    ("pattern-anchored", {**STR, "pattern": "abc"}, {**STR, "pattern": "^abc$"}),
    ("pattern-quantifier", {**STR, "pattern": "^[A-Z]{2,5}$"}, {**STR, "pattern": "^[A-Z]{2,4}$"}),
    ("items-introduced", {"type": "array"}, {"type": "array", "items": STR}),
    ("items-narrowed-deep", {"type": "array", "items": opened(a=NUM)}, {"type": "array", "items": opened(a=INT)}),
    ("min-items", {"type": "array"}, {"type": "array", "minItems": 1}),
    ("max-items", {"type": "array", "maxItems": 5}, {"type": "array", "maxItems": 4}),
    ("unique", {"type": "array"}, {"type": "array", "uniqueItems": True}),
    ("contains", {"type": "array"}, {"type": "array", "contains": STR}),
    ("min-contains", {"type": "array", "contains": STR}, {"type": "array", "contains": STR, "minContains": 2}),
    ("max-contains", {"type": "array", "contains": STR}, {"type": "array", "contains": STR, "maxContains": 2}),
    ("prefix-open-tail", {"type": "array", "prefixItems": [STR]}, {"type": "array", "prefixItems": [STR, STR]}),
    (
        "prefix-removed-closed-tail",
        {"type": "array", "prefixItems": [STR, STR], "items": False},
        {"type": "array", "prefixItems": [STR], "items": False},
    ),
    ("any-of-branch", {"anyOf": [STR, INT, {"type": "null"}]}, {"anyOf": [STR, INT]}),
    ("one-of-overlap", {"anyOf": [STR, {**STR, "maxLength": 3}]}, {"oneOf": [STR, {**STR, "maxLength": 3}]}),
    (
        "one-of-second-null",
        {"anyOf": [{"type": ["string", "null"]}, {"type": "null"}]},
        {"oneOf": [{"type": ["string", "null"]}, {"type": "null"}]},
    ),
    ("all-of-member", {"allOf": [STR]}, {"allOf": [STR, {"minLength": 1}]}),
    ("not-added", INT, {**INT, "not": {"const": 0}}),
    ("object-to-variants", OBJ, {**OBJ, "oneOf": [closed(a=STR), closed(b=STR)]}),
    (
        "branch-changed-deep",
        {"oneOf": [STR, opened(a={"enum": ["x", "y"]})]},
        {"oneOf": [STR, opened(a={"enum": ["x"]})]},
    ),
    (
        "root-any-of",
        opened(a=STR, b=STR),
        {**opened(a=STR, b=STR), "anyOf": [{"required": ["a"]}, {"required": ["b"]}]},
    ),
    (
        "conditional",
        opened(a=STR, b=STR),
        {
            **opened(a=STR, b=STR),
            "if": {"properties": {"a": {"const": "x"}}, "required": ["a"]},
            "then": {"required": ["b"]},
        },
    ),
    ("dependent-required", OBJ, {**OBJ, "dependentRequired": {"a": ["b"]}}),
    ("dependent-schemas", OBJ, {**OBJ, "dependentSchemas": {"a": closed(a=True)}}),
    (
        "ref-target",
        {"$ref": "#/$defs/T", "$defs": {"T": STR}},
        {"$ref": "#/$defs/T", "$defs": {"T": {**STR, "maxLength": 9}}},
    ),
    (
        "ref-sibling-2020",
        {"$ref": "#/$defs/T", "$defs": {"T": STR}},
        {"$ref": "#/$defs/T", "maxLength": 3, "$defs": {"T": STR}},
    ),
    ("recursive", {"$ref": "#/$defs/T", "$defs": {"T": TREE}}, {"$ref": "#/$defs/T", "$defs": {"T": SHORT_TREE}}),
    (
        "recursive-below-only",
        {"$ref": "#/$defs/T", "$defs": {"T": TREE}},
        {
            "type": "object",
            "properties": {"name": STR, "kids": {"type": "array", "items": {"$ref": "#/$defs/T"}}},
            "$defs": {"T": SHORT_TREE},
        },
    ),
    (
        "draft4-exclusive",
        draft("4", {**NUM, "minimum": 0}),
        draft("4", {**NUM, "minimum": 0, "exclusiveMinimum": True}),
    ),
]

INCOMPARABLE: list[tuple[str, Any, Any]] = [
    ("type-swap", STR, INT),
    ("scalar-array", STR, {"type": "array", "items": STR}),
    ("enum-case", {"enum": ["asc", "desc"]}, {"enum": ["ASC", "DESC"]}),
    ("enum-one-true", {"enum": [1]}, {"enum": [True]}),
    ("enum-text-number", {"enum": ["1"]}, {"enum": [1]}),
    ("enum-zero-false-deep", {"const": [0]}, {"const": [False]}),
    ("nullable-and-narrower", STR, {"anyOf": [{**STR, "minLength": 1}, {"type": "null"}]}),
    ("range-shift", {**INT, "minimum": 1, "maximum": 5}, {**INT, "minimum": 2, "maximum": 6}),
    ("multiples", {**INT, "multipleOf": 4}, {**INT, "multipleOf": 6}),
    ("decimal-multiples", {**NUM, "multipleOf": 0.2}, {**NUM, "multipleOf": 0.3}),
    ("pattern-replaced", {**STR, "pattern": "^[a-z]+$"}, {**STR, "pattern": "^[0-9]+$"}),
    ("rename", {**closed(a=STR), "required": ["a"]}, {**closed(b=STR), "required": ["b"]}),
    ("rename-optional-closed", closed(perPage=INT), closed(per_page=INT)),
    (
        "one-of-branch-overlap",
        {"oneOf": [{**INT, "minimum": 0}]},
        {"oneOf": [{**INT, "minimum": 0}, {**INT, "maximum": 0}]},
    ),
    ("names-by-case", closed(a=STR), closed(A=STR)),
    (
        "conditions-swapped",
        {"if": STR, "then": {"minLength": 1}, "else": INT},
        {"if": STR, "then": INT, "else": {"type": "null"}},
    ),
]
