"""Follows references inside one document; one that leads out of it is never fetched."""

from __future__ import annotations

from abs_gate.contracts.schemas.dialects import Dialect
from abs_gate.findings import Json

Pointer = tuple[str, ...]

MAPS_OF_SCHEMAS = frozenset(
    {"properties", "patternProperties", "$defs", "definitions", "dependentSchemas", "dependencies"}
)
"""Keywords whose members are schemas under names of the author's choice."""

DATA = frozenset({"enum", "const", "default", "examples", "example"})
"""Keywords whose values are data, whatever they look like."""


class UnresolvedReference(ValueError):
    """A reference that leads nowhere, or out of the document; the message is a whole sentence."""


def tokens_of(fragment: str) -> Pointer:
    """Return the tokens of a JSON pointer in its URI fragment form, without the `#`."""
    from urllib.parse import unquote  # start-up speed

    return tuple(token.replace("~1", "/").replace("~0", "~") for token in unquote(fragment).split("/")[1:])


def step(value: Json, token: str) -> Json:
    """Return the member or item a pointer token names. Raises KeyError when there is none."""
    if isinstance(value, dict):
        return value[token]
    if isinstance(value, list) and token.isascii() and token.isdigit() and (token == "0" or token[0] != "0"):
        try:
            return value[int(token)]
        except (IndexError, ValueError):
            raise KeyError(token) from None
    raise KeyError(token)


class References:
    """Where the names a document gives to its parts (`$id`, `$anchor`) lead."""

    def __init__(self, schema: Json, dialect: Dialect) -> None:
        self._schema = schema
        self._dialect = dialect
        self._resources: dict[str, Pointer] = {"": ()}
        self._anchors: dict[tuple[str, str], Pointer] = {}
        self._bases: dict[Pointer, str] = {(): ""}
        self._indexed = False

    def resolve(self, reference: str, at: Pointer) -> Pointer:
        """Return the pointer a reference leads to from the subschema at `at`. Raises UnresolvedReference."""
        self._index()
        base = self._base(at)
        uri, fragment = self._absolute(reference, base)
        root = self._resources.get(uri)
        if root is None:
            raise UnresolvedReference(
                f'"{_short(reference)}" points outside this document; references are never fetched.'
            )
        if fragment and not fragment.startswith("/"):
            target = self._anchors.get((uri, fragment))
            if target is None:
                raise UnresolvedReference(f'"{_short(reference)}" names an anchor that this document does not have.')
            return target
        pointer = (*root, *tokens_of(fragment))
        if not self._exists(pointer):
            raise UnresolvedReference(f'"{_short(reference)}" points to nothing in this document.')
        return pointer

    def _exists(self, pointer: Pointer) -> bool:
        value = self._schema
        try:
            for token in pointer:
                value = step(value, token)
        except KeyError:
            return False
        return True

    def _base(self, at: Pointer) -> str:
        if len(self._bases) == 1:
            return self._bases[()]
        for length in range(len(at), -1, -1):
            base = self._bases.get(at[:length])
            if base is not None:
                return base
        return ""

    @staticmethod
    def _absolute(reference: str, base: str) -> tuple[str, str]:
        if reference.startswith("#"):
            return base, reference[1:]
        from urllib.parse import urldefrag, urljoin  # start-up speed

        try:
            uri, fragment = urldefrag(urljoin(base, reference))
        except ValueError:
            raise UnresolvedReference(f'"{_short(reference)}" is not a reference.') from None
        return uri, fragment

    def _index(self) -> None:
        """Collect names, iteratively: documents are as deep as their authors like."""
        if self._indexed:
            return
        self._indexed = True
        pending: list[tuple[Json, Pointer, str, bool]] = [(self._schema, (), "", False)]
        while pending:
            value, pointer, base, is_map = pending.pop()
            if isinstance(value, dict):
                if not is_map:
                    base = self._name(value, pointer, base)
                for key, child in value.items():
                    if isinstance(child, dict | list) and (is_map or key not in DATA):
                        maps = not is_map and key in MAPS_OF_SCHEMAS
                        pending.append((child, (*pointer, str(key)), base, maps))
            elif isinstance(value, list):
                pending.extend(
                    (child, (*pointer, str(index)), base, False)
                    for index, child in enumerate(value)
                    if isinstance(child, dict | list)
                )

    def _name(self, schema: dict[str, Json], pointer: Pointer, base: str) -> str:
        identifier = schema.get(self._dialect.id_keyword)
        if self._dialect.ignores_ref_siblings and "$ref" in schema and pointer:
            identifier = None
        if isinstance(identifier, str) and identifier.startswith("#") and len(identifier) > 1:
            self._anchors.setdefault((base, identifier[1:]), pointer)
        elif isinstance(identifier, str) and identifier.strip("#"):
            try:
                base = self._absolute(identifier, base)[0]
            except UnresolvedReference:
                return base
            self._resources.setdefault(base, pointer)
            self._bases[pointer] = base
        if not self._dialect.ignores_ref_siblings:
            for keyword in ("$anchor", "$dynamicAnchor"):
                if isinstance(schema.get(keyword), str):
                    self._anchors.setdefault((base, schema[keyword]), pointer)
        return base


def _short(text: str) -> str:
    return text if len(text) <= 80 else f"{text[:77]}..."
