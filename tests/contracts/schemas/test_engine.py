from __future__ import annotations

import subprocess
import sys
from typing import Any, ClassVar

import pytest

from abs_gate.contracts.schemas import Dialect, Engine, ProblemKind, Proof, Relation, SchemaDocument

ORDER = {
    "type": "object",
    "properties": {
        "order_id": {"type": "string", "pattern": "^ORD-\\d{4}$", "examples": ["ORD-1001"]},
        "amount_cents": {"type": "integer", "minimum": 1},
        "currency": {"type": "string", "default": "EUR"},
        "note": {"type": "string"},
    },
    "required": ["order_id", "amount_cents"],
    "additionalProperties": False,
}


def with_reason(*, required: bool) -> dict[str, Any]:
    properties = {**ORDER["properties"], "reason": {"enum": ["damaged", "late"]}}
    needed = [*ORDER["required"], "reason"] if required else ORDER["required"]
    return {**ORDER, "properties": properties, "required": needed}


def compare(old: Any, new: Any, *pointer: str) -> Any:
    return Engine().compare(SchemaDocument(old).view(*pointer), SchemaDocument(new).view(*pointer))


class TestWitness:
    def test_holds_only_what_is_needed_in_the_words_of_the_author(self) -> None:
        comparison = compare(ORDER, with_reason(required=True))
        assert comparison.old_in_new.witness == {"order_id": "ORD-1001", "amount_cents": 1}
        assert list(comparison.old_in_new.witness) == ["order_id", "amount_cents"]

    def test_holds_the_fault(self) -> None:
        new = {**ORDER, "properties": {**ORDER["properties"], "note": {"type": "string", "maxLength": 2}}}
        witness = compare(ORDER, new).old_in_new.witness
        assert set(witness) == {"order_id", "amount_cents", "note"}
        assert len(witness["note"]) > 2

    def test_prefers_the_default_of_the_changed_member(self) -> None:
        new = {**ORDER, "properties": {**ORDER["properties"], "currency": {"enum": ["USD", "GBP"]}}}
        assert compare(ORDER, new).old_in_new.witness["currency"] == "EUR"

    def test_is_the_missing_value_of_an_enumeration(self) -> None:
        comparison = compare({"enum": ["open", "closed", "all"]}, {"enum": ["open", "closed"]})
        assert comparison.old_in_new.witness == "all"

    def test_can_be_null(self) -> None:
        lost = compare({"type": ["string", "null"]}, {"type": "string"}).old_in_new
        assert lost.has_witness and lost.witness is None

    @pytest.mark.parametrize(
        ("old", "new", "witness"),
        [
            ({"type": "integer", "minimum": 1}, {"type": "integer", "minimum": 5}, 1),
            ({"type": "integer", "maximum": 100}, {"type": "integer", "maximum": 50}, 51),
            ({"type": "string"}, {"type": "string", "minLength": 1}, ""),
            ({"type": "string"}, {"type": "string", "maxLength": 280}, "a" * 281),
            ({"type": "number"}, {"type": "integer"}, 1.5),
            ({"type": "array", "items": {"enum": ["x"]}}, {"type": "array", "maxItems": 1}, ["x", "x"]),
            ({"type": "array", "items": {"enum": ["x", "y"]}}, {"type": "array", "items": {"const": "x"}}, ["y"]),
            ({"type": "object"}, {"type": "object", "oneOf": [{"required": ["a"]}, {"required": ["b"]}]}, {}),
            ({"type": "string", "pattern": "^[ab]$"}, {"type": "string", "pattern": "^a$"}, "b"),
            ({"type": "object"}, {"type": "object", "minProperties": 1}, {}),
        ],
    )
    def test_is_small(self, old: Any, new: Any, witness: Any) -> None:
        assert compare(old, new).old_in_new.witness == witness

    def test_takes_a_date_where_a_date_is_meant(self) -> None:
        old = {"type": "object", "properties": {"due": {"type": "string", "format": "date"}}, "required": ["due"]}
        new = {**old, "required": ["due", "by"]}
        assert compare(old, new).old_in_new.witness == {"due": "2024-01-31"}


class TestViews:
    def test_members_are_compared_inside_their_documents(self) -> None:
        old = {"properties": {"a": {"$ref": "#/$defs/T"}}, "$defs": {"T": {"type": "string"}}}
        new = {"properties": {"a": {"$ref": "#/$defs/T"}}, "$defs": {"T": {"type": "string", "minLength": 1}}}
        comparison = compare(old, new, "properties", "a")
        assert comparison.relation is Relation.NARROWER
        assert comparison.old_in_new.witness == ""

    def test_a_view_further_down(self) -> None:
        document = SchemaDocument({"anyOf": [{"type": "string"}, {"type": "null"}]})
        assert document.view().at("anyOf", 1).schema == {"type": "null"}
        with pytest.raises(KeyError):
            _ = document.view("anyOf", 2).schema

    def test_a_view_of_nothing_is_a_problem(self) -> None:
        comparison = Engine().compare(SchemaDocument({}).view("properties", "a"), SchemaDocument({}).view())
        assert comparison.relation is Relation.UNKNOWN
        assert comparison.old_problems[0].kind is ProblemKind.INVALID

    def test_one_engine_for_many_questions(self) -> None:
        old, new = SchemaDocument(ORDER), SchemaDocument(with_reason(required=False))
        engine = Engine()
        assert engine.compare(old.view("properties", "note"), new.view("properties", "note")).relation is Relation.EQUAL
        assert engine.compare(old.view(), new.view()).relation is Relation.WIDER


class TestLift:
    NESTED: ClassVar[dict[str, Any]] = {
        "type": "object",
        "properties": {
            "order": ORDER,
            "lines": {
                "type": "array",
                "items": {"type": "object", "properties": {"sku": {"type": "string"}}, "required": ["sku"]},
            },
        },
        "required": ["order"],
    }

    def changed(self, **sku: Any) -> dict[str, Any]:
        items = {"type": "object", "properties": {"sku": {"type": "string", **sku}}, "required": ["sku"]}
        return {
            **self.NESTED,
            "properties": {**self.NESTED["properties"], "lines": {"type": "array", "items": items}},
        }

    def test_to_the_root(self) -> None:
        old, new = SchemaDocument(self.NESTED), SchemaDocument(self.changed(minLength=3))
        lifted = Engine().lift("ab", ["lines", 0, "sku"], accepted=old.view(), refused=new.view())
        assert lifted is not None and lifted.proof is Proof.WITNESS
        assert lifted.witness == {"order": {"order_id": "ORD-1001", "amount_cents": 1}, "lines": [{"sku": "ab"}]}

    def test_of_a_value_that_is_no_fault(self) -> None:
        old, new = SchemaDocument(self.NESTED), SchemaDocument(self.changed(description="stock keeping unit"))
        assert Engine().lift("abc", ["lines", 0, "sku"], accepted=old.view(), refused=new.view()) is None

    def test_where_the_place_cannot_be(self) -> None:
        old, new = SchemaDocument(self.NESTED), SchemaDocument(self.changed(minLength=3))
        assert Engine().lift("ab", ["order", "sku"], accepted=old.view(), refused=new.view()) is None


class TestProblems:
    @pytest.mark.parametrize(
        ("schema", "kind", "keyword"),
        [
            ({"type": "strin"}, ProblemKind.INVALID, "type"),
            ({"minLength": "1"}, ProblemKind.INVALID, "minLength"),
            ({"minLength": -1}, ProblemKind.INVALID, "minLength"),
            ({"required": "a"}, ProblemKind.INVALID, "required"),
            ({"pattern": "("}, ProblemKind.INVALID, "pattern"),
            ({"patternProperties": {"[": {}}}, ProblemKind.INVALID, "patternProperties"),
            ({"multipleOf": 0}, ProblemKind.INVALID, "multipleOf"),
            ({"anyOf": []}, ProblemKind.INVALID, "anyOf"),
            ({"items": [{}]}, ProblemKind.INVALID, "items"),
            ({"exclusiveMinimum": True}, ProblemKind.INVALID, "exclusiveMinimum"),
            ({"properties": {"a": "string"}}, ProblemKind.INVALID, ""),
            ({"$ref": "#/$defs/none"}, ProblemKind.INVALID, "$ref"),
            ({"$ref": "https://example.com/schema.json"}, ProblemKind.INVALID, "$ref"),
            ({"$ref": "other.json#/a"}, ProblemKind.INVALID, "$ref"),
            ({"$ref": "#nowhere"}, ProblemKind.INVALID, "$ref"),
            ({"$ref": 3}, ProblemKind.INVALID, "$ref"),
            ({"$dynamicRef": "#node"}, ProblemKind.NOT_UNDERSTOOD, "$dynamicRef"),
            ({"minLenght": 3}, ProblemKind.NOT_UNDERSTOOD, "minLenght"),
            ({"dependencies": {"a": ["b"]}}, ProblemKind.NOT_UNDERSTOOD, "dependencies"),
            ({"$schema": "https://example.com/own-dialect"}, ProblemKind.NOT_UNDERSTOOD, "$schema"),
            ({"$schema": "http://json-schema.org/draft-03/schema#"}, ProblemKind.NOT_UNDERSTOOD, "$schema"),
        ],
    )
    def test_are_told(self, schema: Any, kind: ProblemKind, keyword: str) -> None:
        problems = Engine().problems(SchemaDocument(schema).view())
        assert [(problem.kind, problem.keyword) for problem in problems] == [(kind, keyword)]
        assert problems[0].message.endswith(".")

    @pytest.mark.parametrize(
        "schema",
        [
            {"$ref": "#/$defs/none"},
            {"minLenght": 3},
            {"$dynamicRef": "#node"},
            {"type": "strin"},
            {"$schema": "https://example.com/own-dialect", "type": "string"},
        ],
    )
    def test_are_never_compatible(self, schema: Any) -> None:
        assert compare({}, schema).old_in_new.included is not True
        assert compare(schema, {"type": "string"}).old_in_new.included is not True

    def test_lie_where_they_are(self) -> None:
        schema = {"properties": {"a": {"$ref": "#/$defs/A"}}, "$defs": {"A": {"items": {"$ref": "#/none"}}}}
        (problem,) = Engine().problems(SchemaDocument(schema).view("properties", "a"))
        assert problem.pointer == ("$defs", "A", "items")

    def test_of_other_parts_are_not_told(self) -> None:
        schema = {"properties": {"a": {"$ref": "#/none"}, "b": {"type": "string"}}}
        assert Engine().problems(SchemaDocument(schema).view("properties", "b")) == ()

    def test_that_stay_hide_no_change(self) -> None:
        old = {"type": "object", "properties": {"a": {"$ref": "#/none"}, "b": {"type": "string"}}}
        new = {**old, "properties": {**old["properties"], "b": {"type": "string", "minLength": 1}}}
        comparison = compare(old, new)
        assert comparison.old_in_new.witness == {"b": ""}
        assert comparison.new_in_old.included is True

    def test_a_dropped_one_only_widens(self) -> None:
        comparison = compare({"type": "string", "minLenght": 3}, {"type": "string"})
        assert comparison.old_in_new.included is True
        assert comparison.new_in_old.included is None

    def test_a_dynamic_reference_is_still_shown_to_break(self) -> None:
        old = {"$dynamicAnchor": "n", "type": ["object", "string"], "properties": {"k": {"$dynamicRef": "#n"}}}
        new = {**old, "type": "object"}
        assert compare(old, new).old_in_new.proof is Proof.WITNESS


class TestDialects:
    @pytest.mark.parametrize(
        ("declared", "dialect"),
        [
            (None, Dialect.DRAFT2020),
            ("http://json-schema.org/draft-04/schema#", Dialect.DRAFT4),
            ("http://json-schema.org/draft-07/schema", Dialect.DRAFT7),
            ("https://json-schema.org/draft-07/schema#", Dialect.DRAFT7),
            ("https://json-schema.org/draft/2019-09/schema", Dialect.DRAFT2019),
            ("https://json-schema.org/draft/2020-12/schema#", Dialect.DRAFT2020),
            ("https://example.com/schema", None),
            (7, None),
        ],
    )
    def test_are_told_by_their_names(self, declared: Any, dialect: Dialect | None) -> None:
        schema = {} if declared is None else {"$schema": declared}
        assert SchemaDocument(schema).dialect is dialect

    def test_keywords_of_another_dialect_say_nothing_here(self) -> None:
        draft4 = {"$schema": "http://json-schema.org/draft-04/schema#", "if": {}, "then": False}
        comparison = compare(draft4, {"$schema": "http://json-schema.org/draft-04/schema#"})
        assert comparison.relation is not Relation.EQUAL, "not understood rather than skipped"


def test_the_library_decides_on_instances() -> None:
    engine = Engine()
    view = SchemaDocument({"$defs": {"A": {"type": "string", "format": "date"}}}).view("$defs", "A")
    assert engine.accepts(view, "no date") is True, "formats are not asserted"
    assert engine.accepts(view, 1) is False
    assert engine.accepts(SchemaDocument({"$ref": "https://example.com/x"}).view(), 1) is None


def test_nothing_heavy_is_imported_before_it_is_needed() -> None:
    code = (
        "import sys; from abs_gate.contracts.schemas import Engine, SchemaDocument;"
        "Engine().compare(SchemaDocument({'type': 'string'}).view(), SchemaDocument({'type': ['string']}).view());"
        "print([name for name in ('jsonschema', 'referencing', 're2', 'requests') if name in sys.modules])"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == "[]"


class TestPartsThatAreWrittenAlike:
    def test_are_read_anew_where_the_dialect_gives_their_words_another_meaning(self) -> None:
        part = {"type": "array", "prefixItems": [{"type": "string"}], "minItems": 1}
        old = {"$schema": "http://json-schema.org/draft-07/schema#", "properties": {"a": part}}
        comparison = compare(old, {"properties": {"a": part, "b": {"type": "string"}}})
        assert comparison.old_in_new.included is not True
        assert any(problem.keyword == "prefixItems" for problem in comparison.old_problems)
        assert not comparison.new_problems

    def test_are_read_anew_where_a_reference_leads_elsewhere(self) -> None:
        part = {"type": "object", "properties": {"x": {"$ref": "#/$defs/x"}}}
        old, new = ({"properties": {"a": part}, "$defs": {"x": {"type": kind}}} for kind in ("string", "number"))
        comparison = compare(old, new)
        assert comparison.old_in_new.witness == {"a": {"x": comparison.old_in_new.witness["a"]["x"]}}
        assert isinstance(comparison.old_in_new.witness["a"]["x"], str)

    def test_are_told_from_parts_that_only_python_takes_for_equal(self) -> None:
        old, new = ({"properties": {"a": {"additionalProperties": value}, "b": {}}} for value in (True, 1))
        comparison = compare(old, new)
        assert comparison.new_problems and not comparison.old_problems
        assert comparison.relation is not Relation.EQUAL

    def test_keep_what_is_not_understood_in_them(self) -> None:
        part = {"$dynamicRef": "#x"}
        old, new = ({"properties": {"a": part, "b": {"type": kind}}} for kind in ("string", "number"))
        comparison = compare(old, new)
        assert [problem.pointer for problem in comparison.new_problems] == [("properties", "a")]
