"""Generated schemas, small and rich, and rewritings that leave the accepted set as it is."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

NAMES = st.sampled_from(["a", "b", "c", "ab"])
PATTERNS = st.sampled_from(["^a", "b$", "^[ab]+$", "c", "^.$", "^x-"])
SCALARS = st.sampled_from([None, True, False, 0, 1, 2, -1, 1.5, 10, "", "a", "b", "ab", "abc"])
INSTANCES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES | st.just("x-"), inner, max_size=3),
    max_leaves=6,
)
TYPES = st.sampled_from(["null", "boolean", "integer", "number", "string", "array", "object"])
SIZES = st.integers(0, 2)
FACTS: dict[str, st.SearchStrategy[Any]] = {
    "type": TYPES | st.lists(TYPES, min_size=1, max_size=3, unique=True),
    "enum": st.lists(INSTANCES, min_size=1, max_size=3),
    "const": INSTANCES,
    "minimum": st.sampled_from([0, 1, 1.5]),
    "maximum": st.sampled_from([0, 1, 2.5]),
    "exclusiveMinimum": st.sampled_from([0, 1]),
    "multipleOf": st.sampled_from([1, 2, 0.5]),
    "minLength": SIZES,
    "maxLength": SIZES,
    "pattern": PATTERNS,
    "minItems": SIZES,
    "maxItems": SIZES,
    "uniqueItems": st.booleans(),
    "required": st.lists(NAMES, max_size=2, unique=True),
    "minProperties": SIZES,
    "maxProperties": SIZES,
    "dependentRequired": st.dictionaries(NAMES, st.lists(NAMES, max_size=1), max_size=1),
}
ANNOTATIONS = ("title", "description", "$comment", "x-note")


def _applicators(inner: st.SearchStrategy[Any]) -> dict[str, st.SearchStrategy[Any]]:
    several = st.lists(inner, min_size=1, max_size=3)
    return {
        "properties": st.dictionaries(NAMES, inner, max_size=2),
        "patternProperties": st.dictionaries(PATTERNS, inner, max_size=1),
        "additionalProperties": st.booleans() | inner,
        "propertyNames": inner,
        "dependentSchemas": st.dictionaries(NAMES, inner, max_size=1),
        "unevaluatedProperties": st.booleans() | inner,
        "items": inner,
        "prefixItems": several,
        "contains": inner,
        "minContains": SIZES,
        "maxContains": SIZES,
        "allOf": several,
        "anyOf": several,
        "oneOf": several,
        "not": inner,
        "if": inner,
        "then": inner,
        "else": inner,
    }


def _object_of(keywords: dict[str, st.SearchStrategy[Any]]) -> st.SearchStrategy[Any]:
    names = st.lists(st.sampled_from(sorted(keywords)), max_size=3, unique=True)
    return names.flatmap(lambda chosen: st.fixed_dictionaries({name: keywords[name] for name in chosen}))


SCHEMAS = st.recursive(
    st.booleans() | _object_of(FACTS),
    lambda inner: _object_of({**FACTS, **_applicators(inner)}),
    max_leaves=6,
)


@st.composite
def mutated(draw: st.DrawFn, schema: Any) -> Any:
    """The schema with one keyword dropped, replaced or added somewhere."""
    if not isinstance(schema, dict) or draw(st.integers(0, 3)) == 0:
        return draw(SCHEMAS)
    keyword = draw(st.sampled_from([*schema, "new"]))
    value = schema.get(keyword)
    rest = {key: item for key, item in schema.items() if key != keyword}
    if keyword in {"not", "items", "contains", "if", "then", "else", "additionalProperties", "propertyNames"}:
        return {**rest, keyword: draw(mutated(value))}
    if keyword in {"allOf", "anyOf", "oneOf", "prefixItems"}:
        return {**rest, keyword: [draw(mutated(value[0])), *value[1:]]}
    if keyword == "properties" and value:
        name = draw(st.sampled_from(sorted(value)))
        return {**rest, keyword: {**value, name: draw(mutated(value[name]))}}
    return draw(st.sampled_from([rest, schema | draw(_object_of(FACTS))]))


@st.composite
def rewritten(draw: st.DrawFn, schema: Any) -> Any:
    """The schema said differently: order of keywords, wrapping, references, annotations."""
    if schema is True:
        return draw(st.sampled_from([True, {}, {"not": False}, {"title": "anything"}]))
    if schema is False:
        return draw(st.sampled_from([False, {"not": {}}, {"enum": ["a"], "type": "number"}]))
    changed = {keyword: schema[keyword] for keyword in draw(st.permutations(list(schema)))}
    for keyword in ("not", "items", "contains", "if", "then", "else", "propertyNames"):
        if keyword in changed:
            changed[keyword] = draw(rewritten(changed[keyword]))
    for keyword in ("anyOf", "oneOf", "allOf"):
        if keyword in changed:
            changed[keyword] = [draw(rewritten(branch)) for branch in draw(st.permutations(changed[keyword]))]
    if "required" in changed:
        changed["required"] = draw(st.permutations(changed["required"]))
    if isinstance(changed.get("type"), str):
        changed["type"] = draw(st.sampled_from([changed["type"], [changed["type"]]]))
    match draw(st.integers(0, 5)):
        case 0:
            return {"allOf": [changed]}
        case 1:
            return {"anyOf": [changed]}
        case 2:
            return {"oneOf": [changed]}
        case 3:
            return {**changed, draw(st.sampled_from(ANNOTATIONS)): "words"}
        case 4 if "unevaluatedProperties" not in str(schema):
            return {"anyOf": [changed, {**changed, "allOf": [*changed.get("allOf", []), {"minLength": 1}]}]}
    return changed
