"""The JSON Schema of a TypedDict, with its docstrings as descriptions: what the shipped schema must be."""

from __future__ import annotations

import ast
import inspect
from types import NoneType, UnionType
from typing import Any, Literal, NotRequired, Union, get_args, get_origin, get_type_hints, is_typeddict

SIMPLE = {str: "string", int: "integer", float: "number", bool: "boolean", NoneType: "null"}


def schema_of(root: type, *, title: str, identifier: str) -> dict[str, Any]:
    definitions: dict[str, Any] = {}
    schema = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": identifier,
        "title": title,
        **_object(root, definitions),
    }
    schema["$defs"] = dict(sorted(definitions.items()))
    return schema


def _object(kind: type, definitions: dict[str, Any]) -> dict[str, Any]:
    hints = get_type_hints(kind, include_extras=True)
    documented = _docstrings(kind)
    properties = {}
    for name, hint in hints.items():
        value = _value(get_args(hint)[0] if get_origin(hint) is NotRequired else hint, definitions)
        properties[name] = {**value, "description": documented[name]} if name in documented else value
    return {
        "description": inspect.cleandoc(kind.__doc__ or ""),
        "type": "object",
        # Not __required_keys__, which cannot see through annotations that are text.
        "required": sorted(name for name, hint in hints.items() if get_origin(hint) is not NotRequired),
        "properties": properties,
    }


def _value(hint: Any, definitions: dict[str, Any]) -> dict[str, Any]:
    origin = get_origin(hint)
    if hint is Any:
        return {}
    if hint in SIMPLE:
        return {"type": SIMPLE[hint]}
    if origin is Literal:
        options = list(get_args(hint))
        return {"const": options[0]} if len(options) == 1 else {"enum": options}
    if origin in (Union, UnionType):
        parts = [_value(part, definitions) for part in get_args(hint)]
        if all(set(part) == {"type"} for part in parts):
            return {"type": [part["type"] for part in parts]}
        return {"anyOf": parts}
    if origin is list:
        return {"type": "array", "items": _value(get_args(hint)[0], definitions)}
    if origin is dict:
        return {"type": "object", "additionalProperties": _value(get_args(hint)[1], definitions)}
    if is_typeddict(hint):
        if hint.__name__ not in definitions:
            definitions[hint.__name__] = {}
            definitions[hint.__name__] = _object(hint, definitions)
        return {"$ref": f"#/$defs/{hint.__name__}"}
    raise TypeError(f"no schema for {hint!r}")


def _docstrings(kind: type) -> dict[str, str]:
    """The text that stands under each field."""
    body = ast.parse(inspect.getsource(kind)).body[0]
    assert isinstance(body, ast.ClassDef)
    found = {}
    for field, after in zip(body.body, body.body[1:], strict=False):
        if (
            isinstance(field, ast.AnnAssign)
            and isinstance(field.target, ast.Name)
            and isinstance(after, ast.Expr)
            and isinstance(after.value, ast.Constant)
            and isinstance(after.value.value, str)
        ):
            found[field.target.id] = inspect.cleandoc(after.value.value)
    return found
