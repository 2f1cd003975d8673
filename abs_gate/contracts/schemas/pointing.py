"""Writes references by name (`$anchor`, `$id`) as JSON pointers, so that parts of a document can be moved."""

from __future__ import annotations

from collections.abc import Mapping

from abs_gate.contracts.schemas.dialects import Dialect
from abs_gate.contracts.schemas.document import SchemaDocument
from abs_gate.contracts.schemas.references import (
    DATA,
    MAPS_OF_SCHEMAS,
    Pointer,
    References,
    UnresolvedReference,
)
from abs_gate.findings import Json

_NAMES = frozenset({"$id", "$anchor", "$dynamicAnchor"})
_DYNAMIC = ('"$dynamicRef"', '"$recursiveRef"')


def pointed(document: SchemaDocument) -> SchemaDocument:
    """Return a document that accepts the same and names nothing; the same one where nothing is named.

    Where references are dynamic the names have to stay. A reference that leads nowhere stays as it is.
    """
    dialect = document.dialect or Dialect.DRAFT2020
    names = _NAMES | {dialect.id_keyword}
    text = document.text or ""
    if not any(f'"{name}"' in text for name in names) or any(keyword in text for keyword in _DYNAMIC):
        return document
    try:
        return SchemaDocument(_Pointing(document.schema, dialect, names).of(document.schema, ()))
    except RecursionError:  # deeper than any schema that parts are moved out of
        return document


class _Pointing:
    def __init__(self, schema: Json, dialect: Dialect, names: frozenset[str]) -> None:
        self._references = References(schema, dialect)
        self._names = names

    def of(self, value: Json, at: Pointer) -> Json:
        """Return a schema, or a list of them, with its references written as pointers."""
        if isinstance(value, list):
            return [self.of(item, (*at, str(index))) for index, item in enumerate(value)]
        if not isinstance(value, Mapping):
            return value
        return {
            key: self._keyword(key, item, at)
            for key, item in value.items()
            if not (key in self._names and isinstance(item, str))
        }

    def _keyword(self, key: str, value: Json, at: Pointer) -> Json:
        if key == "$ref" and isinstance(value, str):
            return self._pointer(value, at)
        if key in DATA:
            return value
        if key in MAPS_OF_SCHEMAS and isinstance(value, Mapping):
            return {name: self.of(item, (*at, key, str(name))) for name, item in value.items()}
        return self.of(value, (*at, key))

    def _pointer(self, reference: str, at: Pointer) -> str:
        try:
            target = self._references.resolve(reference, at)
        except UnresolvedReference:
            return reference
        tokens = (token.replace("~", "~0").replace("/", "~1").replace("%", "%25") for token in target)
        return "".join(["#", *(f"/{token}" for token in tokens)])
