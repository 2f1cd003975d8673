"""Calls that a tool must refuse, derived from its own input schema.

Every derived call is the valid call with one fault, and is checked against the schema before it is used: what the
schema does not forbid is not asserted.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from msgspec import Struct

from abs_gate.evaluators.json_schema import find_violations
from abs_gate.findings import Json
from abs_gate.sources.patterns import PatternTimeout, compile_pattern

UNKNOWN_FIELD = "abs_gate_unknown_field"
MOST_CASES = 60
"""Derived calls of one tool."""
DEEPEST = 3
"""Levels of nested objects that faults are planted in."""
_WRONG: tuple[tuple[str, Json], ...] = (
    ("string", "abs-gate"),
    ("integer", 41),
    ("boolean", True),
    ("array", []),
    ("object", {}),
    ("null", None),
)
_PREFERRED_WRONG = {"string": "integer", "integer": "string", "number": "string", "boolean": "string"}


class FaultyCall(Struct, frozen=True, kw_only=True):
    """A call with one fault."""

    name: str
    """`amount_cents: wrong type`."""
    fault: str
    """missing, type, enum, pattern, bounds, unknown or empty."""
    field: str
    """Name of the argument an error message must name; "" where several would do."""
    arguments: Mapping[str, Json]
    why: str
    """What the schema says against it."""


def derive_faulty_calls(schema: Json, valid: Mapping[str, Json]) -> tuple[FaultyCall, ...]:
    """Every call that the schema refuses, one fault each, in the order of the schema.

    Raises:
        SchemaUnusable: the schema cannot be applied, so nothing can be derived from it.
    """
    found: list[FaultyCall] = []
    if not isinstance(schema, dict):
        return ()
    for fault, field, name, arguments in _candidates(schema, valid):
        violations = find_violations(schema, dict(arguments))
        if violations:
            found.append(FaultyCall(name=name, fault=fault, field=field, arguments=arguments, why=violations[0]))
        if len(found) >= MOST_CASES:
            break
    return tuple(found)


_Candidate = tuple[str, str, str, Mapping[str, Json]]


def _candidates(schema: Json, valid: Mapping[str, Json]) -> Iterator[_Candidate]:
    yield "empty", "", "no arguments", {}
    yield "unknown", UNKNOWN_FIELD, "an unknown field", {**valid, UNKNOWN_FIELD: "x"}
    yield from _object_faults(schema, schema, valid, lambda inner: inner, (), DEEPEST)


def _object_faults(root, schema, valid, wrap, path, depth) -> Iterator[_Candidate]:  # type: ignore[no-untyped-def]
    schema = _followed(root, schema)
    if not isinstance(schema, dict) or not isinstance(schema.get("properties"), dict):
        return
    for field in schema.get("required") or ():
        if field in valid:
            rest = {name: value for name, value in valid.items() if name != field}
            yield "missing", field, f"{_dotted(path, field)}: missing", wrap(rest)
    for field, own in schema["properties"].items():
        part = _followed(root, own)
        for fault, words, value in _bad_values(part, valid.get(field)):
            yield fault, field, f"{_dotted(path, field)}: {words}", wrap({**valid, field: value})
        inner = valid.get(field)
        if depth > 1 and isinstance(inner, dict):

            def wrap_inner(value: Json, field: str = field) -> Mapping[str, Json]:
                return wrap({**valid, field: value})  # type: ignore[no-any-return]

            yield from _object_faults(root, part, inner, wrap_inner, (*path, field), depth - 1)


def _bad_values(schema: Json, example: Json) -> Iterator[tuple[str, str, Json]]:
    """The kind of fault, the fault in words, and a value that has it."""
    if not isinstance(schema, dict):
        return
    types = schema.get("type")
    allowed = {types} if isinstance(types, str) else set(types or ()) if isinstance(types, list) else set()
    if allowed:
        yield "type", "wrong type", _wrong_type(allowed)
    if isinstance(schema.get("enum"), list) or "const" in schema:
        yield (
            "enum",
            "not an allowed value",
            "abs-gate-not-allowed" if not allowed or "string" in allowed else 987654321,
        )
    if isinstance(schema.get("pattern"), str):
        yield from (("pattern", "wrong form", text) for text in _not_matching(schema["pattern"])[:1])
    yield from (("bounds", words, value) for words, value in _out_of_bounds(schema, example))


def _wrong_type(allowed: set[str]) -> Json:
    preferred = next((_PREFERRED_WRONG[each] for each in sorted(allowed) if each in _PREFERRED_WRONG), None)
    accepted = allowed | ({"integer"} if "number" in allowed else set())
    order = sorted(_WRONG, key=lambda pair: pair[0] != preferred)
    return next((value for name, value in order if name not in accepted), None)


def _not_matching(pattern: str) -> list[str]:
    try:
        compiled = compile_pattern(pattern)
        return [text for text in ("abs-gate !", "", "0", "x" * 300) if not compiled.search(text)]
    except (ValueError, PatternTimeout):
        return []


_BOUNDS = (
    ("minimum", -1, "below the minimum"),
    ("exclusiveMinimum", 0, "at the exclusive minimum"),
    ("maximum", 1, "above the maximum"),
    ("exclusiveMaximum", 0, "at the exclusive maximum"),
)


def _out_of_bounds(schema: Mapping[str, Json], example: Json) -> Iterator[tuple[str, Json]]:
    for keyword, step, words in _BOUNDS:
        bound = schema.get(keyword)
        if isinstance(bound, (int, float)) and not isinstance(bound, bool):
            yield words, bound + step
    shortest, longest = schema.get("minLength"), schema.get("maxLength")
    if isinstance(shortest, int) and 0 < shortest <= 1000:
        yield "too short", "x" * (shortest - 1)
    if isinstance(longest, int) and 0 <= longest <= 100_000:
        yield "too long", "x" * (longest + 1)
    fewest, most = schema.get("minItems"), schema.get("maxItems")
    if isinstance(fewest, int) and 0 < fewest <= 100:
        yield "too few items", []
    if isinstance(most, int) and 0 <= most <= 100 and isinstance(example, list):
        yield "too many items", (example * (most + 1))[: most + 1]


def _followed(root: Json, schema: Json) -> Json:
    """A subschema behind a local reference; one step of each kind is enough to find faults."""
    for _ in range(5):
        reference = schema.get("$ref") if isinstance(schema, dict) else None
        if not isinstance(reference, str) or not reference.startswith("#/"):
            return schema
        target = root
        for token in reference[2:].split("/"):
            key = token.replace("~1", "/").replace("~0", "~")
            target = target.get(key) if isinstance(target, dict) else None
        schema = target
    return schema


def _dotted(path: tuple[str, ...], field: str) -> str:
    return ".".join((*path, field))
