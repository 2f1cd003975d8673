"""What is derived from a schema is against it in one thing, and nothing that is allowed is asserted."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from abs_gate.evaluators.json_schema import SchemaUnusable, find_violations
from abs_gate.verification.derive import UNKNOWN_FIELD, derive_faulty_calls

REFUND = {
    "type": "object",
    "properties": {
        "order_id": {"type": "string", "pattern": r"^ORD-\d{4}$"},
        "amount_cents": {"type": "integer", "minimum": 1},
        "reason": {"enum": ["damaged", "late"]},
        "lines": {"type": "array", "minItems": 1, "maxItems": 2, "items": {"type": "string"}},
        "note": {"type": ["string", "null"], "maxLength": 10, "minLength": 2},
        "address": {
            "type": "object",
            "properties": {"zip": {"$ref": "#/$defs/zip"}},
            "required": ["zip"],
        },
    },
    "required": ["order_id", "amount_cents"],
    "additionalProperties": False,
    "$defs": {"zip": {"type": "string", "pattern": "^[0-9]{5}$"}},
}
VALID = {
    "order_id": "ORD-1001",
    "amount_cents": 5,
    "reason": "late",
    "lines": ["a"],
    "note": "abc",
    "address": {"zip": "12345"},
}


def names(schema, valid):
    return {call.name: call for call in derive_faulty_calls(schema, valid)}


def test_every_constraint_gets_its_case():
    found = names(REFUND, VALID)
    assert set(found) == {
        "no arguments",
        "an unknown field",
        "order_id: missing",
        "amount_cents: missing",
        "order_id: wrong type",
        "order_id: wrong form",
        "amount_cents: wrong type",
        "amount_cents: below the minimum",
        "reason: not an allowed value",
        "lines: wrong type",
        "lines: too few items",
        "lines: too many items",
        "note: wrong type",
        "note: too short",
        "note: too long",
        "address: wrong type",
        "address.zip: missing",
        "address.zip: wrong type",
        "address.zip: wrong form",
    }


def test_each_has_one_fault_and_names_its_field():
    for call in derive_faulty_calls(REFUND, VALID):
        assert len(find_violations(REFUND, dict(call.arguments))) >= 1
        if call.fault not in ("empty",):
            assert call.field in (UNKNOWN_FIELD, *VALID, "zip")
    assert names(REFUND, VALID)["address.zip: missing"].arguments == {**VALID, "address": {}}


def test_what_the_schema_allows_is_not_asserted():
    loose = {"type": "object", "properties": {"a": {"type": "integer"}, "b": {}}}
    assert set(names(loose, {"a": 1, "b": 2})) == {"a: wrong type"}
    number = {"type": "object", "properties": {"a": {"type": "number"}}, "additionalProperties": True}
    assert names(number, {"a": 1})["a: wrong type"].arguments == {"a": "abs-gate"}


def test_a_schema_that_cannot_be_used_says_so():
    with pytest.raises(SchemaUnusable):
        derive_faulty_calls({"type": "object", "properties": {"a": {"$ref": "https://example.com/x"}}}, {"a": 1})


@pytest.mark.parametrize("schema", [None, True, {}, {"properties": "x"}, {"properties": {"a": True}}, []])
def test_odd_schemas_derive_nothing_and_do_not_crash(schema):
    with suppress(SchemaUnusable):
        assert derive_faulty_calls(schema, {"a": 1}) == ()


@given(
    st.fixed_dictionaries(
        {"minimum": st.integers(-5, 5), "maximum": st.integers(6, 20), "type": st.sampled_from(["integer", "number"])}
    ),
    st.booleans(),
)
def test_every_derived_call_is_refused_by_the_schema(own, closed):
    schema = {"type": "object", "properties": {"a": own}, "required": ["a"], "additionalProperties": not closed}
    for call in derive_faulty_calls(schema, {"a": 6}):
        assert find_violations(schema, dict(call.arguments))
