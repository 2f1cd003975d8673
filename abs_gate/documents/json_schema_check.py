"""Checks of JSON Schemas that stand in documents, before anything runs."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from typing import Any, TypeAlias
from urllib.parse import unquote, urldefrag, urljoin

from abs_gate.documents.places import Place, Problems
from abs_gate.findings import Json
from abs_gate.sources.excerpt import excerpt
from abs_gate.sources.patterns import compile_pattern

Path: TypeAlias = tuple[str | int, ...]
_RULE = "invalid-schema"
_MAX_ERRORS = 20
_DATA = frozenset({"const", "enum", "default", "examples"})
"""Keywords whose value is data: nothing in it is a schema."""


def check_json_schema(place: Place, problems: Problems) -> None:
    """Note a JSON Schema that is itself invalid, that names an unknown draft, or refers to something outside itself."""
    schema: Json = place.value
    validators = import_module("jsonschema.validators")  # late: loading it costs more than most commands do
    kind: Any = validators.validator_for(schema, default=validators.Draft202012Validator)
    declared = schema.get("$schema") if isinstance(schema, dict) else None
    if declared is not None and (not isinstance(declared, str) or not _is_draft(kind, declared)):
        at = place.get("$schema")
        assert at is not None
        problems.error(_RULE, at.location, f"`$schema` {excerpt(declared)} names no known draft of JSON Schema.")
        return
    try:
        errors = list(kind(kind.META_SCHEMA).iter_errors(schema))
    except RecursionError:
        problems.error(_RULE, place.location, "The JSON Schema is nested too deeply.")
        return
    for error in errors[:_MAX_ERRORS]:
        location = place.document.location((*place.path, *error.absolute_path))
        problems.error(_RULE, location, f"This is not a valid JSON Schema: `{_keyword(error)}` {_reason(error)}.")
    if not errors:
        _check_patterns(place, problems)
        _check_references(place, problems)


def _is_draft(kind: Any, declared: str) -> bool:
    return bool(str(kind.META_SCHEMA.get("$schema", "")).rstrip("#") == declared.rstrip("#"))


def _keyword(error: Any) -> str:
    names = [step for step in error.absolute_path if isinstance(step, str)]
    return names[-1] if names else "schema"


def _reason(error: Any) -> str:
    shown = excerpt(error.instance, 40)
    reasons = {
        "type": f"must be {' or '.join(_listed(error.validator_value))}",
        "enum": f"may not be {shown}",
        "anyOf": f"may not be {shown}",
        "minimum": f"must be at least {error.validator_value}",
        "exclusiveMinimum": f"must be above {error.validator_value}",
        "minItems": "must not be empty",
        "uniqueItems": "holds an entry twice",
        "pattern": f"may not be {shown}",
    }
    return reasons.get(str(error.validator), "has a form that is not allowed")


def _listed(value: Json) -> list[str]:
    return [str(item) for item in value] if isinstance(value, list) else [str(value)]


def _subschemas(schema: Json) -> Iterator[tuple[Path, dict[str, Json]]]:
    """Every mapping of a schema that is not data, with its path."""
    pending: list[tuple[Path, Json]] = [((), schema)]
    while pending:
        path, value = pending.pop()
        if isinstance(value, dict):
            yield path, value
            pending.extend(((*path, key), child) for key, child in value.items() if key not in _DATA)
        elif isinstance(value, list):
            pending.extend(((*path, index), child) for index, child in enumerate(value))


def _check_patterns(place: Place, problems: Problems) -> None:
    for path, subschema in _subschemas(place.value):
        found: list[tuple[Path, Json]] = [(("pattern",), subschema.get("pattern"))]
        by_name = subschema.get("patternProperties")
        found.extend((("patternProperties", name), name) for name in (by_name if isinstance(by_name, dict) else ()))
        for steps, pattern in found:
            if isinstance(pattern, str):
                try:
                    compile_pattern(pattern)
                except ValueError as error:
                    find = place.document.key_location if len(steps) > 1 else place.document.location
                    location = find((*place.path, *path, *steps))
                    problems.error(_RULE, location, f"The pattern {excerpt(pattern)} is {error}.")


def _check_references(place: Place, problems: Problems) -> None:
    names = _Names(place.value)
    for path, subschema in _subschemas(place.value):
        reference = subschema.get("$ref")
        if isinstance(reference, str) and not names.has(reference):
            problems.error(
                _RULE,
                place.document.location((*place.path, *path, "$ref")),
                f"The reference {excerpt(reference)} names nothing in this schema.",
                "Only references inside the schema itself are followed, such as #/$defs/name.",
            )


class _Names:
    """What a schema gives a name that references can use: addresses, anchors, and places by pointer."""

    def __init__(self, schema: Json) -> None:
        self._schema = schema
        self._root = schema["$id"] if isinstance(schema, dict) and isinstance(schema.get("$id"), str) else ""
        self._addresses: set[str] = set()
        self._anchors: set[str] = set()
        for _, subschema in _subschemas(schema):
            self._anchors.update(
                anchor for key in ("$anchor", "$dynamicAnchor") if isinstance(anchor := subschema.get(key), str)
            )
            identity = subschema.get("$id")
            if isinstance(identity, str) and identity.startswith("#"):
                self._anchors.add(identity[1:])
            elif isinstance(identity, str):
                self._addresses.add(self._address(identity))

    def has(self, reference: str) -> bool:
        """Whether a reference leads to something inside the schema."""
        url, fragment = urldefrag(reference)
        if url and self._address(url) != self._root:
            return self._address(url) in self._addresses
        if fragment.startswith("/"):
            return self._leads_somewhere(fragment)
        return not fragment or fragment in self._anchors

    def _address(self, url: str) -> str:
        return urldefrag(urljoin(self._root, url))[0]

    def _leads_somewhere(self, pointer: str) -> bool:
        current = self._schema
        for raw in unquote(pointer[1:]).split("/"):
            step = raw.replace("~1", "/").replace("~0", "~")
            if isinstance(current, dict) and step in current:
                current = current[step]
            elif isinstance(current, list) and step.isascii() and step.isdigit() and int(step) < len(current):
                current = current[int(step)]
            else:
                return False
        return isinstance(current, dict | bool)
