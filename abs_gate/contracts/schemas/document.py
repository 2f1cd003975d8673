"""One schema document and views into it."""

from __future__ import annotations

from functools import cached_property

from msgspec import Struct

from abs_gate.contracts.schemas.dialects import Dialect, dialect_of
from abs_gate.contracts.schemas.references import Pointer, step
from abs_gate.contracts.schemas.values import canonical
from abs_gate.findings import Json


class SchemaDocument:
    """A root schema as it was written. Any JSON value may be given; nothing is raised for a bad one.

    Keep one per schema: what the engine learns about a document is kept with it.
    """

    def __init__(self, schema: Json) -> None:
        self.schema = schema

    @cached_property
    def dialect(self) -> Dialect | None:
        """The dialect `$schema` names, 2020-12 without one, None for one that is not known."""
        return dialect_of(self.schema)

    @cached_property
    def text(self) -> str | None:
        """One text for all spellings of the document; None when it is nested too deep or is not JSON."""
        try:
            return canonical(self.schema)
        except (RecursionError, TypeError, ValueError):
            return None

    def equals(self, other: SchemaDocument) -> bool:
        """Return whether two documents are certainly the same JSON."""
        return self is other or (self.text is not None and self.text == other.text)

    def view(self, *tokens: str | int) -> SchemaView:
        """Return the view of the subschema at a pointer given as tokens; the root without any."""
        return SchemaView(document=self, pointer=tuple(str(token) for token in tokens))


class SchemaView(Struct, frozen=True, kw_only=True):
    """A subschema inside its document, so that its references can be followed."""

    document: SchemaDocument
    pointer: Pointer = ()

    def at(self, *tokens: str | int) -> SchemaView:
        """Return the view further down, for example `view.at("properties", "reason")`."""
        return SchemaView(document=self.document, pointer=(*self.pointer, *(str(token) for token in tokens)))

    @property
    def schema(self) -> Json:
        """The raw subschema. Raises KeyError when the pointer leads nowhere."""
        value = self.document.schema
        for token in self.pointer:
            value = step(value, token)
        return value
