"""Validates a JSON value under a JSON Schema as an assertion: formats included, every pattern time-bounded.

`jsonschema` is imported on first use (it is slow to load). Nothing is ever fetched: a `$ref` that leaves
the schema is refused.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import lru_cache
from itertools import islice
from typing import Any

from abs_gate.evaluators.formats import FORMATS
from abs_gate.evaluators.values import canonical_text, clip, json_text, show
from abs_gate.findings import Json
from abs_gate.sources.json_values import json_type
from abs_gate.sources.patterns import Pattern, PatternTimeout, compile_pattern

MAX_VIOLATIONS = 20


class SchemaUnusable(Exception):
    """The schema is not one, refers outside itself, or could not be applied within bounds; says why in words."""


def find_violations(schema: Json, instance: Json) -> tuple[str, ...]:
    """What is wrong with the instance, one sentence each, at most `MAX_VIOLATIONS`; empty when it is valid.

    The draft is the one `$schema` names, 2020-12 without it.

    Raises:
        SchemaUnusable: see there. Never means that the instance is valid.
    """
    from jsonschema.exceptions import best_match
    from referencing.exceptions import Unresolvable

    validator = _validator(json_text(schema))
    try:
        errors = list(islice(validator.iter_errors(instance), MAX_VIOLATIONS))
        return tuple(_sentence(best_match(iter([error]))) for error in errors)
    except Unresolvable as error:
        raise SchemaUnusable(f"a $ref leads nowhere: {clip(str(error))}") from error
    except PatternTimeout as error:
        raise SchemaUnusable(str(error)) from error
    except (RecursionError, OverflowError) as error:
        raise SchemaUnusable("the value is nested too deep or too large for it") from error


@lru_cache(maxsize=256)
def _validator(schema_text: str) -> Any:
    from jsonschema import FormatChecker, validators
    from jsonschema.exceptions import SchemaError
    from jsonschema_specifications import REGISTRY  # type: ignore[import-untyped]

    schema = json.loads(schema_text)
    cls = validators.validator_for(schema, default=validators.Draft202012Validator)
    declared = schema.get("$schema") if isinstance(schema, dict) else None
    if declared is not None and cls.META_SCHEMA.get("$schema", "").rstrip("#") != str(declared).rstrip("#"):
        raise SchemaUnusable(f"$schema {show(declared)} is not a known draft of JSON Schema")
    try:
        cls.check_schema(schema)
    except SchemaError as error:
        raise SchemaUnusable(f"it is not a valid schema: {clip(error.message)}") from error
    checker = FormatChecker(formats=())
    for name, check in FORMATS.items():
        checker.checks(name, raises=ValueError)(check)
    bounded: Any = validators.extend(  # type: ignore[no-untyped-call]
        cls, {name: run for name, run in _BOUNDED.items() if name in cls.VALIDATORS}
    )
    return bounded(schema, registry=REGISTRY, format_checker=checker)


def _pattern(validator: Any, wanted: str, instance: Json, _schema: Json) -> Iterator[Any]:
    if isinstance(instance, str) and not _compiled(wanted).search(instance):
        yield _error(f"{show(instance)} does not match /{clip(wanted, 80)}/")


def _pattern_properties(validator: Any, wanted: Mapping[str, Json], instance: Json, _schema: Json) -> Iterator[Any]:
    if isinstance(instance, dict):
        for pattern, subschema in wanted.items():
            for key in [key for key in instance if _compiled(pattern).search(key)]:
                yield from validator.descend(instance[key], subschema, path=key, schema_path=pattern)


def _additional_properties(validator: Any, wanted: Json, instance: Json, schema: Mapping[str, Json]) -> Iterator[Any]:
    if not isinstance(instance, dict):
        return
    patterns = [_compiled(pattern) for pattern in schema.get("patternProperties", {})]
    declared = schema.get("properties", {})
    for key, value in instance.items():
        if key in declared or any(pattern.search(key) for pattern in patterns):
            continue
        if wanted is False:
            yield _error(f"{show(key)} is not declared and nothing else is allowed")
        else:
            yield from validator.descend(value, wanted, path=key)


def _unique_items(validator: Any, wanted: bool, instance: Json, _schema: Json) -> Iterator[Any]:
    """By canonical text, so that large arrays stay linear."""
    if wanted and isinstance(instance, list):
        texts = [canonical_text(item) for item in instance]
        if len(set(texts)) < len(texts):
            yield _error("some items are equal")


def _unevaluated_properties(validator: Any, wanted: Json, instance: Json, schema: Json) -> Iterator[Any]:
    """Refused beside `patternProperties`: jsonschema applies those patterns here without a time bound."""
    if "patternProperties" in json_text(validator.schema):
        raise SchemaUnusable("`unevaluatedProperties` together with `patternProperties` is not supported")
    from jsonschema import Draft202012Validator

    yield from Draft202012Validator.VALIDATORS["unevaluatedProperties"](validator, wanted, instance, schema)


_BOUNDED = {
    "pattern": _pattern,
    "patternProperties": _pattern_properties,
    "additionalProperties": _additional_properties,
    "uniqueItems": _unique_items,
    "unevaluatedProperties": _unevaluated_properties,
}


def _compiled(pattern: str) -> Pattern:
    try:
        return compile_pattern(pattern)
    except ValueError as error:
        raise SchemaUnusable(f"/{clip(pattern, 80)}/ does not compile: {error}") from error


def _error(message: str) -> Any:
    from jsonschema.exceptions import ValidationError

    return ValidationError(message)


def _sentence(error: Any) -> str:
    place = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in error.absolute_path).lstrip(".")
    subject = clip(place, 80) or "the value"
    wanted, instance = error.validator_value, error.instance
    if error.validator == "type":
        kinds = wanted if isinstance(wanted, list) else [wanted]
        return f"{subject} is {show(instance, 60)} ({json_type(instance)}), expected {' or '.join(map(str, kinds))}"
    if error.validator == "enum":
        return f"{subject} is {show(instance, 60)}, expected one of {show(wanted)}"
    if error.validator == "const":
        return f"{subject} is {show(instance, 60)}, expected {show(wanted)}"
    if error.validator == "format":
        return f"{subject} is {show(instance, 60)}, which is not a {wanted}"
    message = clip(str(error.message))
    return f"{subject}: {message}" if place else message
