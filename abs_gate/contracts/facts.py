"""What rules see and what they say: pairs of schemas, pairs of tools, facts."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from types import MappingProxyType

from msgspec import Struct, field

from abs_gate.contracts.idempotency import KeyArgument, find_key
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
    """Keywords that say it: a counterexample is looked for with only these changed in the old schema, ..."""
    properties: Mapping[str, Json] = field(default_factory=lambda: MappingProxyType({}))
    """... these properties, in words of the new schema (None: nothing is said of them), ..."""
    requires: tuple[str, ...] = ()
    """... these required besides, ..."""
    frees: tuple[str, ...] = ()
    """... and these required no more."""
    shown_by: tuple[Json, ...] = ()
    """Values that show it, if any value does."""
    notes: tuple[str, ...] = ()


class SchemaPair(Struct, frozen=True, kw_only=True):
    """Two forms of one schema, at one place of the input or output."""

    side: Side
    old: Plain
    new: Plain
    old_reader: SchemaReader
    new_reader: SchemaReader
    old_names: frozenset[str] = frozenset()
    """Properties the old form speaks of anywhere, in branches and conditions too, and those of the schema around."""
    new_names: frozenset[str] = frozenset()
    outer: tuple[frozenset[str], frozenset[str]] = (frozenset(), frozenset())
    """Properties that schemas around this one declare for the same value, on both sides."""
    renames: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    """Properties that have another name by all appearances, old to new."""
    required: tuple[bool, bool] = (False, False)
    """Whether the value itself had to be given, and has to be."""

    @property
    def added(self) -> list[str]:
        """The properties only the new form has, without those that were renamed or are ruled out."""
        known = self.old_names | self.new.forbidden | set(self.renames.values())
        return [name for name in self.new.properties if name not in known]

    @property
    def removed(self) -> list[str]:
        """The properties only the old form had, without those that were renamed or were ruled out."""
        known = self.new_names | self.old.forbidden | self.renames.keys()
        return [name for name in self.old.properties if name not in known]

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


class ToolPair(Struct, frozen=True, kw_only=True, dict=True):
    """Two versions of one tool."""

    old: ToolContract
    new: ToolContract

    @cached_property
    def keys(self) -> tuple[KeyArgument | None, KeyArgument | None]:
        """The idempotency keys of both."""
        return find_key(self.old), find_key(self.new)


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
