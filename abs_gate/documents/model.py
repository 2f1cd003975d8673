"""Frozen values for ABS documents after fragments are expanded. Source: ABS specification 0.2."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType

from msgspec import Struct, field

from abs_gate.findings import Json, Location


class Category(StrEnum):
    """The four categories of actions (ABS section 4)."""

    COMMUNICATION = "communication"
    EXECUTION = "execution"
    INTERACTION = "interaction"
    DELEGATION = "delegation"


class MatchesWhen(Struct, frozen=True, kw_only=True):
    """Replaces the action rule of a behavior: `contains` (value), `regex` (pattern) or `llm_judge` (criteria)."""

    type: str
    argument: str
    """The value, pattern or criteria; may hold placeholders until resolved."""
    location: Location


class Evaluation(Struct, frozen=True, kw_only=True):
    """One entry under `evaluations`. Type-specific fields stay a mapping, validated by the evaluator's field schema."""

    type: str
    fields: Mapping[str, Json] = field(default_factory=lambda: MappingProxyType({}))
    """Type-specific fields only (value, pattern, match, order, criteria, ...)."""
    when: str | None = None
    blocking: bool = False
    threshold: float | None = None
    adapter: str | None = None
    children: tuple[Evaluation, ...] = ()
    """Nested evaluations of all_of, any_of and none_of."""
    location: Location
    label: str = ""
    """Readable name: type and its main argument, bounded."""
    places: Mapping[str, Location] = field(default_factory=lambda: MappingProxyType({}))
    """Place of each key's value."""


class Behavior(Struct, frozen=True, kw_only=True):
    """One behavior in place, fragments expanded. `index` counts from 0 in the flat session."""

    index: int
    actor: str
    action: str
    category: Category
    id: str | None = None
    target: str | None = None
    content: Json = None
    capture: Mapping[str, Json] = field(default_factory=lambda: MappingProxyType({}))
    with_: Mapping[str, Json] | None = None
    with_only: Mapping[str, Json] | None = None
    evaluations: tuple[Evaluation, ...] = ()
    optional: bool = False
    requires: str | None = None
    matches_when: MatchesWhen | None = None
    location: Location
    places: Mapping[str, Location] = field(default_factory=lambda: MappingProxyType({}))
    """Place of each key's value."""

    @property
    def is_sent(self) -> bool:
        """True when the gate sends it (user, human, system) rather than expecting it."""
        return self.actor in ("user", "human", "system")

    @property
    def is_tool_result(self) -> bool:
        """True for `tool`/`external` `responds`: the result of an earlier call."""
        return self.actor in ("tool", "external") and self.action == "responds"

    @property
    def is_call(self) -> bool:
        """True when a tool call of the assistant is expected."""
        return self.actor == "assistant" and self.category is Category.EXECUTION

    @property
    def label(self) -> str:
        """What people read: `assistant calls Order MCP`."""
        return " ".join(part for part in (self.actor, self.action, self.target) if part)


class DatasetRef(Struct, frozen=True, kw_only=True):
    """A session's dataset: `id` is the namespace of its columns, `path` relative to the session file."""

    id: str
    path: str
    location: Location


class Session(Struct, frozen=True, kw_only=True):
    """One document, ready to run once its variables are bound."""

    name: str
    file: str
    behaviors: tuple[Behavior, ...]
    evaluations: tuple[Evaluation, ...] = ()
    description: str = ""
    abs_version: str = "0.2"
    dataset: DatasetRef | None = None
    location: Location
    sha256: str = ""
    """Hash of the document's own text and of the fragments it includes, for the result's metadata."""
    occurrence: int = 1
    """Counts the sessions of the same name in the same file, from 1."""


class Case(Struct, frozen=True, kw_only=True):
    """A session with one dataset row (or none). `id` is stable: it does not depend on other rows or sessions."""

    session: Session
    row: int | None = None
    """0-based position in the dataset file, before filters."""
    values: Mapping[str, Json] = field(default_factory=lambda: MappingProxyType({}))
    """Row columns, keyed by plain column name."""
    id: str
