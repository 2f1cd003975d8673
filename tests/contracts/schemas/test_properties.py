"""What must hold for any two schemas."""

from __future__ import annotations

from typing import Any

from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from hypothesis_jsonschema import from_schema
from jsonschema import Draft202012Validator

from abs_gate.contracts.schemas import Budget, Comparison, Engine, Proof, Relation, SchemaDocument
from abs_gate.contracts.schemas.budget import Meter
from abs_gate.contracts.schemas.validation import Validation
from tests.contracts.schemas.strategies import INSTANCES, SCHEMAS, mutated, rewritten

PAIRS = SCHEMAS.flatmap(lambda schema: st.tuples(st.just(schema), mutated(schema)))
ANY_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    "$ref",
                    "$id",
                    "$anchor",
                    "$schema",
                    "$defs",
                    "$dynamicRef",
                    "type",
                    "enum",
                    "const",
                    "properties",
                    "required",
                    "items",
                    "prefixItems",
                    "allOf",
                    "anyOf",
                    "oneOf",
                    "not",
                    "if",
                    "then",
                    "else",
                    "pattern",
                    "patternProperties",
                    "additionalProperties",
                    "minLength",
                    "maximum",
                    "multipleOf",
                    "unevaluatedProperties",
                    "unevaluatedItems",
                    "contains",
                    "dependencies",
                    "propertyNames",
                    "foo",
                ]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


def compared(old: Any, new: Any) -> Comparison:
    return Engine().compare(SchemaDocument(old).view(), SchemaDocument(new).view())


def accepts(schema: Any, instance: Any) -> bool | None:
    document = SchemaDocument(schema)
    return Validation(schema, document.dialect, Meter.of(Budget())).accepts((), instance)


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(pair=PAIRS, data=st.data())
def test_what_is_proved_included_is_never_refused(pair: tuple[Any, Any], data: st.DataObject) -> None:
    old, new = pair
    comparison = compared(old, new)
    assume(comparison.old_in_new.proof is Proof.PROVED)
    instances = INSTANCES
    try:
        instances = INSTANCES | from_schema(old)
        instance = data.draw(instances)
    except Exception:  # the generator of instances does not know every keyword
        instance = data.draw(INSTANCES)
    if accepts(old, instance):
        assert accepts(new, instance)


@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(pair=PAIRS)
def test_every_witness_is_one(pair: tuple[Any, Any]) -> None:
    old, new = pair
    comparison = compared(old, new)
    for inclusion, inner, outer in ((comparison.old_in_new, old, new), (comparison.new_in_old, new, old)):
        assert inclusion.has_witness is (inclusion.included is False)
        if inclusion.has_witness:
            assert Draft202012Validator(inner).is_valid(inclusion.witness)
            assert not Draft202012Validator(outer).is_valid(inclusion.witness)


@settings(max_examples=80, deadline=None, suppress_health_check=list(HealthCheck))
@given(pair=PAIRS, instances=st.lists(INSTANCES, max_size=20))
def test_a_difference_any_instance_shows_is_found(pair: tuple[Any, Any], instances: list[Any]) -> None:
    old, new = pair
    if any(accepts(old, instance) and accepts(new, instance) is False for instance in instances):
        assert compared(old, new).relation in {Relation.NARROWER, Relation.INCOMPARABLE}


@settings(max_examples=80, deadline=None, suppress_health_check=list(HealthCheck))
@given(schema=SCHEMAS)
def test_a_schema_equals_itself(schema: Any) -> None:
    assert compared(schema, schema).relation is Relation.EQUAL
    if isinstance(schema, dict):
        assert compared(schema, {**schema, "title": "other"}).relation is Relation.EQUAL


@settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_a_rewritten_schema_is_equal(data: st.DataObject) -> None:
    schema = data.draw(SCHEMAS)
    assert compared(schema, data.draw(rewritten(schema))).relation is Relation.EQUAL


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(schema=SCHEMAS, data=st.data())
def test_a_reference_equals_what_it_names(schema: Any, data: st.DataObject) -> None:
    inlined = {"type": "object", "properties": {"v": schema, "w": schema}, "required": ["v"]}
    named = {
        "$defs": {"V": data.draw(rewritten(schema))},
        "type": "object",
        "properties": {"v": {"$ref": "#/$defs/V"}, "w": {"allOf": [{"$ref": "#/$defs/V"}]}},
        "required": ["v"],
    }
    assert compared(inlined, named).relation is Relation.EQUAL


@settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck))
@given(pair=PAIRS)
def test_turned_round_the_answer_is_the_same(pair: tuple[Any, Any]) -> None:
    there, back = compared(*pair), compared(*reversed(pair))
    assert there.old_in_new.included == back.new_in_old.included
    assert there.new_in_old.included == back.old_in_new.included


@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(old=ANY_JSON, new=ANY_JSON, value=ANY_JSON)
def test_any_json_is_taken_for_a_schema(old: Any, new: Any, value: Any) -> None:
    before, after = SchemaDocument(old), SchemaDocument(new)
    engine = Engine()
    assert engine.compare(before.view(), after.view()).relation in Relation
    engine.compare(before.view("properties", "x"), after.view("items", 0))
    engine.lift(value, ["a", 0], accepted=before.view(), refused=after.view())
