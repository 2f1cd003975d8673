"""JSON Schema errors as sentences with places, all of them at once."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from importlib import import_module
from typing import Any, TypeAlias

from abs_gate.findings import Finding, Json, Severity, sort_findings
from abs_gate.sources.excerpt import excerpt, type_name
from abs_gate.sources.located import LocatedDocument
from abs_gate.sources.suggest import did_you_mean

MAX_ERRORS = 100
"""Most findings for one document."""
Path: TypeAlias = tuple[str | int, ...]
_TYPE_WORDS = {
    "string": "text",
    "number": "a number",
    "integer": "a whole number",
    "boolean": "true or false",
    "object": "a mapping",
    "array": "a list",
    "null": "null",
}
_UNKNOWN_KEY_KEYWORDS = ("additionalProperties", "unevaluatedProperties")


def find_schema_errors(
    document: LocatedDocument,
    schema: Mapping[str, Json],
    *,
    rule: str,
    path: Sequence[str | int] = (),
    accept: Callable[[Json], bool] = lambda _: False,
) -> tuple[Finding, ...]:
    """Everything in which the value at `path` of a document departs from a schema (2020-12 unless it says otherwise).

    Each finding says what is wrong at which key and, for an unknown key or word, which known one is near.
    Values that `accept` takes are not judged: what they stand for is not known yet.
    """
    value = document.value
    for step in path:
        value = value[step]
    found: list[Finding] = []
    for steps, is_key, message in _sentences(_errors(value, schema), accept):
        place = (*path, *steps)
        location = document.key_location(place) if is_key else document.location(place)
        found.append(Finding(rule=rule, severity=Severity.ERROR, message=message, location=location))
        if len(found) == MAX_ERRORS:
            break
    return sort_findings(_distinct(found))


def explain_mismatches(value: Json, schema: Mapping[str, Json]) -> tuple[str, ...]:
    """The same sentences for a value that stands in no file."""
    return tuple(
        dict.fromkeys(
            message for _, _, message in _sentences(_errors(value, schema), lambda _: False, whole="The value")
        )
    )


def _distinct(findings: Iterable[Finding]) -> list[Finding]:
    return list({(str(finding.location), finding.message): finding for finding in findings}.values())


def _errors(value: Json, schema: Mapping[str, Json]) -> Iterator[Any]:
    validators = import_module("jsonschema.validators")  # late: loading it costs more than most commands do
    kind = validators.validator_for(schema, default=validators.Draft202012Validator)
    errors: Iterator[Any] = kind(schema, format_checker=kind.FORMAT_CHECKER).iter_errors(value)
    return errors


def _sentences(
    errors: Iterable[Any], accept: Callable[[Json], bool], *, whole: str = "The document"
) -> Iterator[tuple[Path, bool, str]]:
    """Path, whether the place is the key's, and the sentence of every error."""
    for error in errors:
        leaf = _most_telling(error)
        if accept(leaf.instance):
            continue
        path: Path = tuple(leaf.absolute_path)
        if leaf.validator in _UNKNOWN_KEY_KEYWORDS and isinstance(leaf.instance, dict):
            known = set(_property_names(leaf.schema))
            for key in _extra_keys(leaf):
                yield (*path, key), True, f"Unknown key {excerpt(key)}{_within(path)}.{did_you_mean(key, known)}"
        elif leaf.validator == "required":
            missing = [key for key in leaf.validator_value if key not in leaf.instance]
            for key in missing:
                yield path, False, f"{excerpt(key)} is missing{_within(path)}."
        else:
            explain = _EXPLANATIONS.get(str(leaf.validator), _other)
            subject = f"`{_dotted(path)}`" if path else whole
            yield path, False, f"{subject} {explain(leaf)}"


def _most_telling(error: Any) -> Any:
    """For a choice of shapes: the error of the branch that the value comes nearest to."""
    while error.validator in ("anyOf", "oneOf") and error.context:
        if all(child.validator == "type" and len(child.path) == 0 for child in error.context):
            return error
        error = max(
            error.context,
            key=lambda child: (len(child.path), child.validator not in ("type", "const", "enum"), -_branch(child)),
        )
    return error


def _branch(error: Any) -> int:
    first = error.schema_path[0] if error.schema_path else 0
    return first if isinstance(first, int) else 0


def _property_names(schema: Mapping[str, Json]) -> Iterator[str]:
    yield from schema.get("properties", {})
    for keyword in ("allOf", "anyOf", "oneOf"):
        for branch in schema.get(keyword, ()):
            if isinstance(branch, dict):
                yield from _property_names(branch)


def _extra_keys(error: Any) -> list[str]:
    known = set(_property_names(error.schema))
    patterns = [re.compile(pattern) for pattern in error.schema.get("patternProperties", {})]
    return [key for key in error.instance if key not in known and not any(form.search(key) for form in patterns)]


def _within(path: Path) -> str:
    return f" in `{_dotted(path)}`" if path else ""


def _dotted(path: Path) -> str:
    shown = "".join(f"[{step}]" if isinstance(step, int) else f".{step[:40]}" for step in path[-6:])
    return shown.removeprefix(".")


def _words(types: str | Sequence[str]) -> str:
    names = [types] if isinstance(types, str) else list(types)
    return " or ".join(_TYPE_WORDS.get(name, name) for name in names)


def _type(error: Any) -> str:
    return f"must be {_words(error.validator_value)}, not {_shown(error.instance)}."


def _shown(value: Json) -> str:
    if value is None or isinstance(value, list | dict):
        return type_name(value)
    if isinstance(value, bool):
        return json.dumps(value)
    return f"{type_name(value)} ({excerpt(value, 40)})"


def _choice(error: Any) -> str:
    options = error.validator_value if error.validator == "enum" else [error.validator_value]
    shown = ", ".join(excerpt(option, 40) for option in options[:30])
    names = [option for option in options if isinstance(option, str)]
    hint = did_you_mean(error.instance, names) if isinstance(error.instance, str) else ""
    lead = f"must be {shown}" if len(options) == 1 else f"must be one of {shown}"
    return f"{lead}, not {_shown(error.instance)}.{hint}"


def _either(error: Any) -> str:
    types = [_words(child.validator_value) for child in error.context if child.validator == "type"]
    if types:
        return f"must be {' or '.join(dict.fromkeys(types))}, not {_shown(error.instance)}."
    return f"fits {'more than one' if error.validator == 'oneOf' else 'none'} of the shapes allowed here."


def _empty(error: Any) -> str:
    least = error.validator_value
    if least == 1:
        return "must not be empty."
    return f"needs at least {least} entries, but has {len(error.instance)}."


def _other(error: Any) -> str:
    return f"does not satisfy `{error.validator}`."


_EXPLANATIONS: dict[str, Callable[[Any], str]] = {
    "type": _type,
    "enum": _choice,
    "const": _choice,
    "anyOf": _either,
    "oneOf": _either,
    "minItems": _empty,
    "minProperties": _empty,
    "minLength": lambda error: "must not be empty." if error.validator_value == 1 else "is too short.",
    "maxItems": lambda error: f"may have at most {error.validator_value} entries, but has {len(error.instance)}.",
    "maxProperties": lambda error: f"may have at most {error.validator_value} keys, but has {len(error.instance)}.",
    "maxLength": lambda error: f"is longer than {error.validator_value} characters.",
    "minimum": lambda error: f"must be at least {error.validator_value}, not {excerpt(error.instance)}.",
    "exclusiveMinimum": lambda error: f"must be above {error.validator_value}, not {excerpt(error.instance)}.",
    "maximum": lambda error: f"must be at most {error.validator_value}, not {excerpt(error.instance)}.",
    "exclusiveMaximum": lambda error: f"must be below {error.validator_value}, not {excerpt(error.instance)}.",
    "multipleOf": lambda error: f"must be a multiple of {error.validator_value}, not {excerpt(error.instance)}.",
    "pattern": lambda error: f"{excerpt(error.instance)} does not have the form `{error.validator_value}`.",
    "format": lambda error: f"{excerpt(error.instance)} is not a valid {error.validator_value}.",
    "uniqueItems": lambda _: "holds the same entry twice.",
    "not": lambda _: "has a form that is not allowed here.",
    "dependentRequired": lambda error: f"lacks a key that another one needs: {excerpt(error.message, 120)}.",
    "propertyNames": lambda error: f"has a key that is not allowed: {excerpt(error.instance)}.",
}
