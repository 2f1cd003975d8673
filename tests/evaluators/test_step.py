"""exact_match, contains, regex, schema, tool_call on one step."""

from __future__ import annotations

import time
from typing import ClassVar

import pytest

from abs_gate.documents.variables import Scope

from .make import behavior, calls, evaluation, result, run_on, says

YES, NO, UNKNOWN = "passed", "failed", "unverified"


@pytest.mark.parametrize(
    ("value", "step", "outcome"),
    [
        ("shipped", says("shipped"), YES),
        ("shipped", says("Shipped"), NO),
        ("shipped", says("shipped "), NO),
        (12345, says("12345"), YES),
        ("12345", says("12345"), YES),
        (1, says("1.0"), YES),
        (True, says("true"), YES),
        (1, says("true"), NO),
        (None, says("null"), YES),
        ({"a": [1, 2]}, says('{ "a": [1.0, 2] }'), YES),
        ({"a": 1}, result("t", {"a": 1, "b": 2}), NO),
        ({"a": 1}, result("t", {"a": 1}), YES),
        ("12345", result("t", "12345"), YES),
        ({"id": "7"}, calls("t", {"id": "7"}), YES),
        ({"id": 7}, calls("t", {"id": "7"}), NO),
    ],
)
def test_exact_match(value, step, outcome):
    assert run_on(evaluation("exact_match", value=value), step).outcome == outcome


@pytest.mark.parametrize(
    ("value", "step", "outcome"),
    [
        ("ON THE WAY", says("It is on the way."), YES),
        ("delivered", says("It is on the way."), NO),
        (47.5, says("You get 47.5 EUR"), YES),
        (47, says("You get 48 EUR"), NO),
        ("shipped", result("t", {"status": "Shipped"}), YES),
        ("12345", calls("t", {"orderId": "12345"}), YES),
        ("", says("anything"), UNKNOWN),
    ],
)
def test_contains(value, step, outcome):
    assert run_on(evaluation("contains", value=value), step).outcome == outcome


@pytest.mark.parametrize(
    ("pattern", "text", "outcome"),
    [
        (r"^Order #\d+ is (on the way|delivered)$", "Order #5 is delivered", YES),
        (r"^Order", "My Order", NO),
        (r"order", "Order", NO),
        (r"(?i)order", "Order", YES),
        (r"(?<=R-)\d+", "R-55", YES),
    ],
)
def test_regex(pattern, text, outcome):
    assert run_on(evaluation("regex", pattern=pattern), says(text)).outcome == outcome


def test_a_pattern_that_takes_too_long_is_unverified(monkeypatch):
    monkeypatch.setattr("abs_gate.sources.patterns.TIMEOUT_S", 0.05)
    started = time.monotonic()
    slow = run_on(evaluation("regex", pattern=r"^(?=(a+)+$)x|^((a|a)*)*\1b$"), says("a" * 40 + "!"))
    assert slow.outcome == UNKNOWN
    assert time.monotonic() - started < 3


def test_values_inside_a_pattern_are_literal():
    scope = Scope(variables={"id": "R.5+"})
    found = evaluation("regex", pattern=r"^{{id}}$")
    assert run_on(found, says("R.5+"), scope=scope).outcome == YES
    assert run_on(found, says("Rx55"), scope=scope).outcome == NO


class TestSchema:
    ORDER: ClassVar = {
        "type": "object",
        "required": ["status", "eta"],
        "properties": {
            "status": {"type": "string", "enum": ["shipped", "pending", "cancelled"]},
            "eta": {"type": "string", "format": "date"},
        },
        "additionalProperties": False,
    }

    @pytest.mark.parametrize(
        ("payload", "outcome", "reason"),
        [
            ({"status": "shipped", "eta": "2026-07-30"}, YES, ""),
            ({"status": "lost", "eta": "2026-07-30"}, NO, 'status is "lost", expected one of'),
            ({"status": "shipped", "eta": "30 July"}, NO, "which is not a date"),
            ({"status": "shipped"}, NO, "'eta' is a required property"),
            ({"status": "shipped", "eta": "2026-07-30", "x": 1}, NO, '"x" is not declared'),
        ],
    )
    def test_payloads(self, payload, outcome, reason):
        found = run_on(evaluation("schema", schema=self.ORDER), result("t", payload))
        assert found.outcome == outcome
        assert reason in found.reason

    @pytest.mark.parametrize(
        ("schema", "text", "outcome"),
        [
            ({"type": "object"}, '{"a": 1}', YES),
            ({"type": "object"}, "hello", NO),
            ({"required": ["a"]}, "hello", NO),
            ({"required": ["a"]}, '```json\n{"a": 1}\n```', NO),
            ({"type": "string", "maxLength": 5}, "hello", YES),
            ({"type": "string", "maxLength": 4}, "hello", NO),
            ({"type": "string"}, "12345", YES),
            ({"type": "integer"}, "12345", YES),
            ({"type": "integer"}, "12345.0", YES),
            ({"type": "boolean"}, "12345", NO),
            (False, "hello", NO),
            ({"const": 1}, "true", NO),
            ({"oneOf": [{"type": "array"}, {"type": "object"}]}, "[]", YES),
        ],
    )
    def test_texts(self, schema, text, outcome):
        assert run_on(evaluation("schema", schema=schema), says(text)).outcome == outcome

    @pytest.mark.parametrize("schema", [{"type": "object"}, {"required": ["total"]}])
    def test_json_in_a_code_fence_is_told_for_what_it_is(self, schema):
        found = run_on(evaluation("schema", schema=schema), says('```json\n{"total": 12}\n```'))
        assert found.outcome == NO and "fenced as Markdown code" in found.reason

    def test_the_draft_is_the_one_named(self):
        draft7 = {"$schema": "http://json-schema.org/draft-07/schema#", "items": [{"type": "string"}]}
        assert run_on(evaluation("schema", schema=draft7), result("t", [1])).outcome == NO
        current = {"prefixItems": [{"type": "string"}]}
        assert run_on(evaluation("schema", schema=current), result("t", [1])).outcome == NO
        assert run_on(evaluation("schema", schema={"$schema": "urn:x"}), result("t", [1])).outcome == UNKNOWN

    def test_references_inside_are_followed_and_never_outside(self):
        inside = {"$defs": {"n": {"type": "integer"}}, "properties": {"a": {"$ref": "#/$defs/n"}}}
        assert run_on(evaluation("schema", schema=inside), result("t", {"a": "x"})).outcome == NO
        for away in ("http://127.0.0.1:9/schema.json", "file:///etc/passwd", "#/nowhere"):
            found = run_on(evaluation("schema", schema={"$ref": away}), result("t", {"a": 1}))
            assert found.outcome == UNKNOWN, away

    @pytest.mark.parametrize("keyword", ["pattern", "patternProperties", "additionalProperties", "propertyNames"])
    def test_patterns_cannot_hang(self, keyword):
        evil = "^(a+)+$"
        schema = {
            "pattern": {"properties": {"x": {"pattern": evil}}},
            "patternProperties": {"patternProperties": {evil: False}},
            "additionalProperties": {"patternProperties": {evil: True}, "additionalProperties": False},
            "propertyNames": {"propertyNames": {"anyOf": [{"pattern": evil}, {"const": "x"}]}},
        }[keyword]
        text = "a" * 50 + "!"
        started = time.monotonic()
        run_on(evaluation("schema", schema=schema), result("t", {"x": text, text: 1}))
        assert time.monotonic() - started < 3

    def test_large_arrays_of_objects_stay_fast(self):
        items = [{"i": i, "x": [i]} for i in range(20_000)]
        started = time.monotonic()
        assert run_on(evaluation("schema", schema={"uniqueItems": True}), result("t", items)).outcome == YES
        assert run_on(evaluation("schema", schema={"uniqueItems": True}), result("t", [1, 1.0])).outcome == NO
        assert run_on(evaluation("schema", schema={"uniqueItems": True}), result("t", [1, True])).outcome == YES
        assert time.monotonic() - started < 5

    def test_bottomless_values_are_no_traceback(self):
        deep: list = []
        for _ in range(900):
            deep = [deep]
        recursive = {"$defs": {"n": {"items": {"$ref": "#/$defs/n"}}}, "$ref": "#/$defs/n"}
        assert run_on(evaluation("schema", schema=recursive), result("t", deep)).outcome in (YES, UNKNOWN)


class TestToolCall:
    ON_CALL = behavior("assistant", "calls", target="get_order")

    @pytest.mark.parametrize(
        ("fields", "outcome"),
        [
            ({}, YES),
            ({"target": "Order MCP"}, YES),
            ({"target": "refund"}, NO),
            ({"with": {"id": "1"}}, YES),
            ({"with": {"id": "2"}}, NO),
            ({"with_only": {"id": "1"}}, NO),
            ({"with_only": {"id": "1", "n": 2}}, YES),
        ],
    )
    def test_the_call_of_the_behavior(self, fields, outcome):
        step = calls("get_order", {"id": "1", "n": 2})
        aliases = {"Order MCP": ("get_order",)}
        rule = evaluation("tool_call", **{f"{key}_": value for key, value in fields.items()})
        assert run_on(rule, step, behavior=self.ON_CALL, aliases=aliases).outcome == outcome


def test_a_field_that_a_variable_made_useless_is_unverified():
    from .make import run

    rule = evaluation("count", match={"actor": "user"}, min="{{n}}")
    found = run(rule, scope=Scope(variables={"n": "two"}))
    assert found.outcome == UNKNOWN and "min" in found.reason
    assert run(rule, scope=Scope(variables={"n": 0})).outcome == YES


def test_a_variable_without_a_value_is_unverified():
    found = run_on(evaluation("contains", value="{{nope}}"), says("x"))
    assert found.outcome == UNKNOWN and "nope" in found.reason


@pytest.mark.parametrize(("when", "outcome"), [("{{x}} == 1", YES), ("{{x}} == 2", "skipped"), ("{{y}} == 1", UNKNOWN)])
def test_when_guards_any_evaluator(when, outcome):
    rule = evaluation("contains", value="a", when=when)
    assert run_on(rule, says("a"), scope=Scope(variables={"x": 1})).outcome == outcome


def test_a_false_when_hides_what_could_not_be_resolved():
    rule = evaluation("contains", value="{{nope}}", when="1 == 2")
    assert run_on(rule, says("a")).outcome == "skipped"
