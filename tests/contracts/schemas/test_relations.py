from __future__ import annotations

from typing import Any

import pytest
from jsonschema.validators import validator_for

from abs_gate.contracts.schemas import Comparison, Engine, Proof, Relation, SchemaDocument
from tests.contracts.schemas.relations import EQUAL, INCOMPARABLE, NARROWER


def compared(old: Any, new: Any) -> Comparison:
    return Engine().compare(SchemaDocument(old).view(), SchemaDocument(new).view())


def accepts(schema: Any, instance: Any) -> bool:
    return bool(validator_for(schema)(schema).is_valid(instance))


def nested(schema: Any) -> Any:
    """The schema as a property, its definitions and dialect kept at the root where its references look for them."""
    inner, outer = schema, {}
    if isinstance(schema, dict):
        outer = {key: schema[key] for key in ("$schema", "$defs", "definitions") if key in schema}
        inner = {key: value for key, value in schema.items() if key not in outer}
    return {**outer, "type": "object", "properties": {"v": inner}, "required": ["v"]}


def ids(cases: list[tuple[str, Any, Any]]) -> Any:
    return pytest.mark.parametrize(("old", "new"), [pytest.param(old, new, id=name) for name, old, new in cases])


@ids(EQUAL)
def test_equal(old: Any, new: Any) -> None:
    comparison = compared(old, new)
    assert comparison.relation is Relation.EQUAL
    assert comparison.old_in_new.proof is comparison.new_in_old.proof is Proof.PROVED


@ids(NARROWER)
def test_narrower(old: Any, new: Any) -> None:
    comparison = compared(old, new)
    assert comparison.relation is Relation.NARROWER
    assert comparison.new_in_old.proof is Proof.PROVED
    lost = comparison.old_in_new
    assert lost.has_witness and accepts(old, lost.witness) and not accepts(new, lost.witness)


@ids(NARROWER)
def test_wider(old: Any, new: Any) -> None:
    assert compared(new, old).relation is Relation.WIDER


@ids(INCOMPARABLE)
def test_incomparable(old: Any, new: Any) -> None:
    comparison = compared(old, new)
    assert comparison.relation is Relation.INCOMPARABLE
    lost, gained = comparison.old_in_new, comparison.new_in_old
    assert accepts(old, lost.witness) and not accepts(new, lost.witness)
    assert accepts(new, gained.witness) and not accepts(old, gained.witness)


def _without_references(cases: list[tuple[str, Any, Any]]) -> list[tuple[str, Any, Any]]:
    return [case for case in cases if "$ref" not in str(case) and "$schema" not in str(case)]


@ids(_without_references(EQUAL))
def test_equal_as_a_member(old: Any, new: Any) -> None:
    assert compared(nested(old), nested(new)).relation is Relation.EQUAL


@ids(_without_references(NARROWER))
def test_narrower_as_a_member(old: Any, new: Any) -> None:
    comparison = compared(nested(old), nested(new))
    assert comparison.relation in {Relation.NARROWER}
    witness = comparison.old_in_new.witness
    assert set(witness) == {"v"}, "the witness holds the required member and nothing else"


@ids(_without_references(NARROWER))
def test_narrower_as_a_branch(old: Any, new: Any) -> None:
    other = {
        "type": "object",
        "properties": {"other": {"const": 1}},
        "required": ["other"],
        "additionalProperties": False,
    }
    comparison = compared({"anyOf": [nested(old), other]}, {"anyOf": [other, nested(new)]})
    assert comparison.relation is Relation.NARROWER
