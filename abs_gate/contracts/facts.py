"""What rules see and what they say: pairs of schemas, pairs of tools, facts."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from msgspec import Struct, field

from abs_gate.contracts.model import Classification, ToolContract
from abs_gate.contracts.plain import Plain, SchemaReader
from abs_gate.contracts.rules.registry import Side
from abs_gate.findings import Json


class Fact(Struct, frozen=True, kw_only=True):
    """One difference between two forms of a schema, without an opinion."""

    message: str
    """A sentence."""
    before: Json = None
    after: Json = None
    name: str = ""
    """The property it is about, when it is about one of the schema's."""
    in_old: bool = False
    """Whether the property stands in the old schema only."""
    grade: Classification | None = None
    """Where it differs from the rule's default."""
    keywords: tuple[str, ...] = ()
    """Keywords that say it: a counterexample is looked for with only these changed."""
    edit: Mapping[str, Json] | None = None
    """Or what the old schema would say with only this changed, by keyword."""
    properties: Mapping[str, Json] = field(default_factory=lambda: MappingProxyType({}))
    """And what it would say of these properties, in words of the new schema; None: nothing."""
    requires: tuple[str, ...] = ()
    """Properties it would require besides."""
    frees: tuple[str, ...] = ()
    """Properties it would require no more."""
    notes: tuple[str, ...] = ()


class SchemaPair(Struct, frozen=True, kw_only=True):
    """Two forms of one schema, at one place of the input or output."""

    side: Side
    old: Plain
    new: Plain
    old_reader: SchemaReader
    new_reader: SchemaReader
    old_names: frozenset[str] = frozenset()
    """Properties the old form speaks of anywhere, in branches and conditions too."""
    new_names: frozenset[str] = frozenset()
    renames: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    """Properties that have another name by all appearances, old to new."""
    required: tuple[bool, bool] = (False, False)
    """Whether the value itself had to be given, and has to be."""

    def scalar(self, keyword: str) -> tuple[Json, Json]:
        """Return a keyword's value on both sides, None where it is absent."""
        return self.old.scalars.get(keyword), self.new.scalars.get(keyword)

    def annotation(self, keyword: str) -> tuple[Json, Json]:
        """Return an annotation on both sides, None where it is absent."""
        return self.old.annotations.get(keyword), self.new.annotations.get(keyword)

    def old_property(self, name: str) -> Json:
        """Return a property's old schema as written, `true` where there is none."""
        pointer = self.old.properties.get(name)
        return True if pointer is None else self.old_reader.raw(pointer)

    def new_property(self, name: str) -> Json:
        """Return a property's new schema as written, `true` where there is none."""
        pointer = self.new.properties.get(name)
        return True if pointer is None else self.new_reader.raw(pointer)


class ToolPair(Struct, frozen=True, kw_only=True):
    """Two versions of one tool."""

    old: ToolContract
    new: ToolContract


class ToolFact(Struct, frozen=True, kw_only=True):
    """One difference between two versions of a tool."""

    path: str
    message: str
    """A sentence."""
    before: Json = None
    after: Json = None
    part: tuple[str | int, ...] = ()
    """Which part of the newer contract it is about, for its place."""
    grade: Classification | None = None
    """Where it differs from the rule's default."""
    affects: tuple[str, ...] | None = None
    notes: tuple[str, ...] = ()
