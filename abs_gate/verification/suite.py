"""A verification suite as values: what is called how, what is looked at, and what must be seen."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from msgspec import Struct, field

from abs_gate.findings import Json, Location

DERIVED = ("input", "output", "retry", "errors")
"""Kinds of cases that are derived from a contract."""
BUILT_IN = ("tmp", "python", "stand_in", "canary", "receipt", "fresh")
"""Variables that every suite has; besides them `port.NAME` is a free port."""


def _empty() -> Mapping[str, Json]:
    return MappingProxyType({})


class Means(Struct, frozen=True, kw_only=True):
    """How something is reached: a kind (`http`, `mcp`, ...) and its options as written, placeholders inside."""

    kind: str
    options: Mapping[str, Json]
    location: Location


class ToolSpec(Struct, frozen=True, kw_only=True):
    """One tool under verification."""

    tool_id: str
    driver: Means
    probe: str | None = None
    valid: Mapping[str, Json] | None = None
    vary: Mapping[str, Json] | None = None
    state: str | None = None
    refusal: str | None = None
    derive: tuple[str, ...] = DERIVED
    location: Location


class StateSpec(Struct, frozen=True, kw_only=True):
    """A state of the provider: steps that bring it about, and steps that end it."""

    setup: tuple[Means, ...] = ()
    teardown: tuple[Means, ...] = ()


class CaseSpec(Struct, frozen=True, kw_only=True):
    """One written case."""

    name: str
    tool: str
    kind: str = "provider"
    state: str | None = None
    arguments: Mapping[str, Json] | None = None
    """None: the tool's valid call."""
    key: str | None = None
    repeat: int = 1
    at_once: bool = False
    lose_answer: bool = False
    context: Mapping[str, Json] = field(default_factory=_empty)
    provider: tuple[Mapping[str, Json], ...] = ()
    expect: Mapping[str, Json] = field(default_factory=_empty)
    location: Location


class AdapterSpec(Struct, frozen=True, kw_only=True):
    """A tool whose provider the gate stands in for."""

    tool: str
    success: Mapping[str, Json]
    arguments: Mapping[str, Json] | None = None
    state: str | None = None
    key_at: Mapping[str, Json] | None = None
    duplicate: Mapping[str, Json] | None = None
    ineligible: Mapping[str, Json] | None = None
    hang: float | None = None
    expect: Mapping[str, Mapping[str, Json]] = field(default_factory=_empty)
    location: Location


class RunCall(Struct, frozen=True, kw_only=True):
    """One call of a recorded run."""

    id: str
    tool: str
    arguments: Mapping[str, Json]
    key: str | None = None
    retries: str | None = None
    location: Location


class Said(Struct, frozen=True, kw_only=True):
    """What an agent said was done about one thing."""

    about: str
    count: int
    where: Mapping[str, Json]
    location: Location


class RunSpec(Struct, frozen=True, kw_only=True):
    """Calls made by an agent, and what it said was done."""

    calls: tuple[RunCall, ...]
    said: tuple[Said, ...] = ()
    unit: str = "effect"
    probe: str | None = None
    state: str | None = None


class Suite(Struct, frozen=True, kw_only=True):
    """One verification suite."""

    name: str
    file: str
    directory: str
    """Where the file lies; what it names is relative to this."""
    contracts: tuple[str, ...] = ()
    """Paths in the workspace; empty: the contracts of the run."""
    variables: Mapping[str, Json] = field(default_factory=_empty)
    start: tuple[Means, ...] = ()
    tools: Mapping[str, ToolSpec] = field(default_factory=_empty)
    probes: Mapping[str, Means] = field(default_factory=_empty)
    states: Mapping[str, StateSpec] = field(default_factory=_empty)
    cases: tuple[CaseSpec, ...] = ()
    adapters: tuple[AdapterSpec, ...] = ()
    run: RunSpec | None = None
    uses: frozenset[str] = frozenset()
    """Names of all variables that stand in it."""
    location: Location
