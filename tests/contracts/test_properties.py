"""Laws over generated schemas: a verdict of compatible or unchanged is never wrong, and a witness always is one."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from hypothesis_jsonschema import from_schema
from jsonschema import Draft202012Validator

from abs_gate.contracts.canonicalise import canonical_schema
from abs_gate.contracts.model import Change
from abs_gate.contracts.rules.registry import Side
from abs_gate.contracts.schema_diff import SchemaDiff
from abs_gate.contracts.schemas import Engine

from .workspaces import diff, mcp, one

NAMES = ("a", "b", "c")
SCALARS = st.sampled_from(["a", "b", "ab", "", 0, 1, 2, 3, 1.5, True, None])


def bounds(low: str, high: str) -> st.SearchStrategy[dict[str, int]]:
    return st.fixed_dictionaries({}, optional={low: st.integers(0, 2), high: st.integers(1, 3)})


LEAVES = st.one_of(
    st.just({}),
    bounds("minimum", "maximum").map(lambda b: {"type": "integer", **b}),
    bounds("minLength", "maxLength").map(lambda b: {"type": ["string", "null"], **b}),
    st.sampled_from([{"type": "string", "pattern": "^a"}, {"type": "number", "multipleOf": 2}, {"type": "null"}]),
    st.lists(SCALARS, min_size=1, max_size=3).map(lambda values: {"enum": values}),
)


def objects(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries(
        {"type": st.just("object"), "properties": st.dictionaries(st.sampled_from(NAMES), inner, max_size=3)},
        optional={
            "required": st.lists(st.sampled_from(NAMES), max_size=2, unique=True),
            "additionalProperties": st.one_of(st.just(False), inner),
            "dependentRequired": st.just({"a": ["b"]}),
        },
    )


def lists(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    return st.tuples(inner, bounds("minItems", "maxItems")).map(lambda t: {"type": "array", "items": t[0], **t[1]})


def choices(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    branches = st.lists(inner, min_size=1, max_size=3)
    return st.tuples(st.sampled_from(["anyOf", "oneOf"]), branches).map(lambda t: {t[0]: t[1]})


INNER = st.recursive(LEAVES, lambda inner: st.one_of(objects(inner), lists(inner), choices(inner)), max_leaves=4)
SCHEMAS = objects(INNER)
SETTINGS = settings(max_examples=120, deadline=None, suppress_health_check=list(HealthCheck))


@st.composite
def edits(draw: st.DrawFn) -> tuple[dict[str, Any], dict[str, Any]]:
    """A schema and one that grew out of it by replacing, dropping or adding a part."""
    old = draw(SCHEMAS)
    new = json.loads(json.dumps(old))
    for _ in range(draw(st.integers(1, 2))):
        where = new
        while isinstance(where, dict) and where and draw(st.booleans()):
            inner = where[draw(st.sampled_from(sorted(where)))]
            if not isinstance(inner, dict):
                break
            where = inner
        key = draw(st.sampled_from(sorted(where))) if where else None
        if key is not None and draw(st.booleans()):
            del where[key]
        else:
            new["properties"] = {**new.get("properties", {}), draw(st.sampled_from(NAMES)): draw(INNER)}
    return old, new


def is_schema(value: Any) -> bool:
    try:
        Draft202012Validator.check_schema(value)
    except Exception:
        return False
    return True


def added(found: tuple[Change, ...]) -> set[str]:
    """Properties that convention C1 speaks of: an instance that carries one of them is judged by it."""
    return {change.path.rpartition(".")[2] for change in found if change.kind == "optional_property_added"}


def keys(value: Any) -> set[str]:
    if isinstance(value, dict):
        return set(value) | {key for item in value.values() for key in keys(item)}
    return {key for item in value for key in keys(item)} if isinstance(value, list) else set()


@SETTINGS
@given(edits(), st.sampled_from([Side.INPUT, Side.OUTPUT]), st.data())
def test_compatible_is_never_wrong_and_a_witness_always_is_one(
    pair: tuple[dict[str, Any], dict[str, Any]], side: Side, data: st.DataObject
) -> None:
    old, new = pair
    assume(is_schema(new))
    found = SchemaDiff(side, old, new, engine=Engine()).changes()
    sides = (old, new) if side is Side.INPUT else (new, old)
    accepting, refusing = (Draft202012Validator(schema) for schema in sides)
    for change in found:
        if change.has_witness:
            assert change.classification == "breaking" and change.proof == "witness"
            assert accepting.is_valid(change.witness) and not refusing.is_valid(change.witness)
    if any(change.classification.rank > 1 for change in found):
        return
    try:
        instance = data.draw(from_schema(sides[0]))
    except Exception:
        assume(False)
    if accepting.is_valid(instance) and not keys(instance) & added(found):
        assert refusing.is_valid(instance)


@SETTINGS
@given(SCHEMAS)
def test_nothing_differs_from_itself(schema: dict[str, Any]) -> None:
    turned = json.loads(json.dumps(schema, sort_keys=True))
    for side in (Side.INPUT, Side.OUTPUT):
        assert SchemaDiff(side, schema, turned, engine=Engine()).changes() == ()
    assert one(mcp(schema=schema)).fingerprint == one(mcp(schema=turned)).fingerprint
    assert canonical_schema(canonical_schema(schema)) == canonical_schema(schema)


JSON = st.recursive(
    st.one_of(
        st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False), st.text(max_size=5)
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(
            st.sampled_from(
                ["type", "properties", "items", "anyOf", "$ref", "required", "enum", "minimum", "a", "not"]
            ),
            inner,
            max_size=4,
        ),
    ),
    max_leaves=12,
)


@SETTINGS
@given(JSON, JSON)
def test_no_json_whatever_makes_a_traceback(old: Any, new: Any) -> None:
    diff(
        [mcp(schema={"type": "object", "properties": {"a": old}})],
        [mcp(schema={"type": "object", "properties": {"a": new}})],
    )
    diff(
        [{"name": "a", "description": "b", "inputSchema": old}], [{"name": "a", "description": "b", "inputSchema": new}]
    )
