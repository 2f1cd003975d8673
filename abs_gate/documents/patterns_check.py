"""Checks of patterns and JSON Schemas that stand in documents, before anything runs."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from typing import Any
from urllib.parse import unquote

from abs_gate.documents.placeholders import split_template
from abs_gate.documents.places import Place, Problems
from abs_gate.findings import Json
from abs_gate.sources.excerpt import excerpt
from abs_gate.sources.patterns import compile_pattern

_STAND_IN = "x"
"""Put in for a placeholder: values are escaped when they stand in a pattern, so any text will do."""


def check_pattern(place: Place, problems: Problems) -> None:
    """Note a regular expression that does not compile. Placeholders count as plain text."""
    parts = split_template(place.value)
    if len(parts) == 1 and not isinstance(parts[0], str):
        return  # all of it comes from a variable; checked with the row
    pattern = "".join(part if isinstance(part, str) else _STAND_IN for part in parts)
    try:
        compile_pattern(pattern)
    except ValueError as error:
        hint = "Use single quotes or double every backslash." if "escape" in str(error) else ""
        problems.error("invalid-pattern", place.location, f"The pattern {excerpt(place.value)} is {error}.", hint)


def check_json_schema(place: Place, problems: Problems) -> None:
    """Note a JSON Schema that is itself invalid, or that refers to something outside itself."""
    validators = import_module("jsonschema.validators")
    schema: Json = place.value
    kind: Any = validators.validator_for(schema, default=validators.Draft202012Validator)
    try:
        errors = list(kind(kind.META_SCHEMA, format_checker=kind.FORMAT_CHECKER).iter_errors(schema))
    except RecursionError:
        problems.error("invalid-schema", place.location, "The JSON Schema is nested too deeply.")
        return
    for error in errors[:20]:
        path = (*place.path, *error.absolute_path)
        problems.error(
            "invalid-schema",
            place.document.location(path),
            f"This is not a valid JSON Schema: `{_keyword(error)}` {_reason(error)}.",
        )
    for path, pointer in _references(schema):
        if not _resolves(schema, pointer):
            problems.error(
                "invalid-schema",
                place.document.location((*place.path, *path)),
                f"The reference {excerpt(pointer)} names nothing in this schema.",
                "Only references inside the schema itself are followed, such as #/$defs/name.",
            )


def _keyword(error: Any) -> str:
    return str(error.absolute_path[-1]) if error.absolute_path else "schema"


def _reason(error: Any) -> str:
    reasons = {
        "type": f"must be {error.validator_value}",
        "enum": f"may not be {excerpt(error.instance, 40)}",
        "anyOf": f"may not be {excerpt(error.instance, 40)}",
        "minimum": f"must be at least {error.validator_value}",
        "minItems": "must not be empty",
        "uniqueItems": "holds an entry twice",
        "format": f"is not a valid {error.validator_value}",
        "pattern": f"may not be {excerpt(error.instance, 40)}",
    }
    return reasons.get(str(error.validator), "has a form that is not allowed")


def _references(schema: Json) -> Iterator[tuple[tuple[str | int, ...], str]]:
    pending: list[tuple[tuple[str | int, ...], Json]] = [((), schema)]
    while pending:
        path, value = pending.pop()
        if isinstance(value, dict):
            for key, child in value.items():
                if key == "$ref" and isinstance(child, str):
                    yield (*path, key), child
                elif key not in ("const", "enum", "default", "examples"):
                    pending.append(((*path, key), child))
        elif isinstance(value, list):
            pending.extend(((*path, index), child) for index, child in enumerate(value))


def _resolves(schema: Json, reference: str) -> bool:
    if reference == "#":
        return True
    if not reference.startswith("#/"):
        return reference.startswith("#") and _has_anchor(schema, reference[1:])
    current = schema
    for raw in unquote(reference[2:]).split("/"):
        step = raw.replace("~1", "/").replace("~0", "~")
        if isinstance(current, dict) and step in current:
            current = current[step]
        elif isinstance(current, list) and step.isascii() and step.isdigit() and int(step) < len(current):
            current = current[int(step)]
        else:
            return False
    return isinstance(current, dict | bool)


def _has_anchor(schema: Json, name: str) -> bool:
    pending = [schema]
    while pending:
        value = pending.pop()
        if isinstance(value, dict):
            if name in (value.get("$anchor"), value.get("$dynamicAnchor")) or value.get("$id") == f"#{name}":
                return True
            pending.extend(value.values())
        elif isinstance(value, list):
            pending.extend(value)
    return False
