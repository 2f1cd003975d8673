"""The JSON Schema dialects that are understood, and which keywords each of them has."""

from __future__ import annotations

from enum import StrEnum

from abs_gate.findings import Json


class Dialect(StrEnum):
    """A draft of JSON Schema, named as people name it."""

    DRAFT4 = "draft-04"
    DRAFT6 = "draft-06"
    DRAFT7 = "draft-07"
    DRAFT2019 = "2019-09"
    DRAFT2020 = "2020-12"

    @property
    def uri(self) -> str:
        """What `$schema` holds for it."""
        return _URIS[self]

    @property
    def keywords(self) -> frozenset[str]:
        """The keywords that decide which instances are accepted."""
        return _KEYWORDS[self]

    @property
    def ignores_ref_siblings(self) -> bool:
        """Up to draft-07 whatever stands beside `$ref` says nothing."""
        return self in {Dialect.DRAFT4, Dialect.DRAFT6, Dialect.DRAFT7}

    @property
    def id_keyword(self) -> str:
        """The keyword that names a resource."""
        return "id" if self is Dialect.DRAFT4 else "$id"


_URIS = {
    Dialect.DRAFT4: "http://json-schema.org/draft-04/schema#",
    Dialect.DRAFT6: "http://json-schema.org/draft-06/schema#",
    Dialect.DRAFT7: "http://json-schema.org/draft-07/schema#",
    Dialect.DRAFT2019: "https://json-schema.org/draft/2019-09/schema",
    Dialect.DRAFT2020: "https://json-schema.org/draft/2020-12/schema",
}

_BY_NAME = {uri.partition("://")[2].rstrip("#"): dialect for dialect, uri in _URIS.items()}

_EVERYWHERE = frozenset(
    [
        "$ref",
        "type",
        "enum",
        "multipleOf",
        "minimum",
        "maximum",
        "exclusiveMinimum",
        "exclusiveMaximum",
        "minLength",
        "maxLength",
        "pattern",
        "items",
        "minItems",
        "maxItems",
        "uniqueItems",
        "properties",
        "patternProperties",
        "additionalProperties",
        "required",
        "minProperties",
        "maxProperties",
        "allOf",
        "anyOf",
        "oneOf",
        "not",
    ]
)
_DRAFT4 = _EVERYWHERE | {"additionalItems", "dependencies"}
_DRAFT6 = _DRAFT4 | {"const", "contains", "propertyNames"}
_DRAFT7 = _DRAFT6 | {"if", "then", "else"}
_LATER = frozenset(
    ["dependentRequired", "dependentSchemas", "minContains", "maxContains", "unevaluatedItems", "unevaluatedProperties"]
)
_DRAFT2019 = (_DRAFT7 - {"dependencies"}) | _LATER | {"$recursiveRef"}
_DRAFT2020 = (_DRAFT2019 - {"additionalItems", "$recursiveRef"}) | {"prefixItems", "$dynamicRef"}

_KEYWORDS = {
    Dialect.DRAFT4: _DRAFT4,
    Dialect.DRAFT6: _DRAFT6,
    Dialect.DRAFT7: _DRAFT7,
    Dialect.DRAFT2019: _DRAFT2019,
    Dialect.DRAFT2020: _DRAFT2020,
}

ANNOTATIONS = frozenset(
    [
        "$schema",
        "$id",
        "id",
        "$anchor",
        "$dynamicAnchor",
        "$recursiveAnchor",
        "$comment",
        "$defs",
        "definitions",
        "$vocabulary",
        "title",
        "description",
        "default",
        "example",
        "examples",
        "deprecated",
        "readOnly",
        "writeOnly",
        "format",
        "contentEncoding",
        "contentMediaType",
        "contentSchema",
        "nullable",
        "discriminator",
        "xml",
        "externalDocs",
        "propertyOrdering",
        "enumNames",
        "enumDescriptions",
        "markdownDescription",
    ]
)
"""Keywords that say nothing about which instances are accepted. `format`, `content*` and `nullable` are judged by
convention, not by the set relation."""


def dialect_of(schema: Json) -> Dialect | None:
    """Return the dialect a root schema declares: 2020-12 when it declares none, None when it is not a known one."""
    declared = schema.get("$schema") if isinstance(schema, dict) else None
    if declared is None:
        return Dialect.DRAFT2020
    if not isinstance(declared, str):
        return None
    return _BY_NAME.get(declared.partition("://")[2].rstrip("#"))
