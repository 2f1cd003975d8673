"""Frozen values for tool contracts and for what changed between two of them."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Any

from msgspec import Struct, field

from abs_gate.contracts.places import Places
from abs_gate.findings import Finding, Json, Location


class SourceFormat(StrEnum):
    """The shape a contract was written in."""

    NATIVE = "native"
    MCP = "mcp"
    OPENAI = "openai"
    ANTHROPIC = "anthropic"
    GEMINI = "gemini"


class Effect(StrEnum):
    """Side-effect level, weakest first."""

    READ_ONLY = "read_only"
    REVERSIBLE_WRITE = "reversible_write"
    HARD_TO_REVERSE_WRITE = "hard_to_reverse_write"
    IRREVERSIBLE_EXTERNAL_WRITE = "irreversible_external_write"


class Classification(StrEnum):
    """What a change can do to those who rely on the contract, weakest first."""

    UNCHANGED = "unchanged"
    COMPATIBLE = "compatible"
    BEHAVIOR_SENSITIVE = "behavior_sensitive"
    BREAKING = "breaking"
    SAFETY_BREAKING = "safety_breaking"

    @property
    def rank(self) -> int:
        """0 (unchanged) to 4 (safety_breaking)."""
        return list(Classification).index(self)


class ErrorSpec(Struct, frozen=True, kw_only=True):
    """One declared error of a tool."""

    code: str
    retryable: bool | None = None
    user_action: str | None = None
    retry_after_source: str | None = None
    message: str | None = None
    extra: Mapping[str, Json] = field(default_factory=lambda: MappingProxyType({}))


class ToolPolicy(Struct, frozen=True, kw_only=True):
    """Authority and effect. None means not declared."""

    required_scopes: tuple[str, ...] = ()
    effect: Effect | None = None
    approval: Json = None
    """`always`, `never`, or a rule object (threshold, role)."""
    idempotency_key: Json = None
    """Name of the argument or header, or an object with name, scope and retention."""
    tenant_boundary: str | None = None
    extra: Mapping[str, Json] = field(default_factory=lambda: MappingProxyType({}))


class ToolContract(Struct, frozen=True, kw_only=True):
    """One version of one tool, whatever format it came from."""

    tool_id: str
    """The native tool_id, or the name for bare tool lists."""
    version: int | str | None = None
    name: str
    """What the model sees."""
    title: str | None = None
    description: str = ""
    examples: Json = None
    input_schema: Json = None
    output_schema: Json = None
    strict: bool = False
    errors: tuple[ErrorSpec, ...] = ()
    policy: ToolPolicy = ToolPolicy()
    annotations: Mapping[str, Json] = field(default_factory=lambda: MappingProxyType({}))
    """MCP annotations as written; effective values are computed by rules."""
    provider: Mapping[str, Json] = field(default_factory=lambda: MappingProxyType({}))
    runtime: Mapping[str, Json] = field(default_factory=lambda: MappingProxyType({}))
    compatibility: Mapping[str, Json] = field(default_factory=lambda: MappingProxyType({}))
    migration: Mapping[str, Json] = field(default_factory=lambda: MappingProxyType({}))
    cases: tuple[Json, ...] = ()
    """Verification cases as written; read by `verification`."""
    extra: Mapping[str, Json] = field(default_factory=lambda: MappingProxyType({}))
    """What the format allows and no field above holds (icons, _meta, execution, ...)."""
    source: SourceFormat
    fingerprint: str = ""
    """`sha256:...` over the canonical form, set by the loader."""
    places: Places
    """Places of parts in the source: ("input", "properties", "reason"), ("policy", "approval"), ...; () is the tool."""

    @property
    def location(self) -> Location:
        """Where the tool begins."""
        return self.places[()]


class ContractSet(Struct, frozen=True, kw_only=True):
    """Every tool of one side, with what was odd while loading (never fatal findings: those are raised)."""

    tools: tuple[ToolContract, ...]
    fingerprint: str = ""
    """Over the sorted tool fingerprints."""
    instructions: str | None = None
    """Server instructions, where the source has them."""
    findings: tuple[Finding, ...] = ()


class Change(Struct, frozen=True, kw_only=True):
    """One fact between base and head, classified by its rule. The gate decides what it means for the merge."""

    path: str
    """`input.reason`, `input.items[].sku`, `errors.CODE`, `policy.approval`, `discovery.description`, ..."""
    kind: str
    """Rule id, snake_case; public, never reused."""
    classification: Classification
    affects: tuple[str, ...] = ()
    message: str = ""
    before: Any = None
    after: Any = None
    proof: str = "convention"
    """`witness`, `proved`, `not proven` or `convention`."""
    witness: Json = None
    has_witness: bool = False
    """Tells a null witness from none."""
    location: Location | None = None
    notes: tuple[str, ...] = ()
    """What else to say: provider notes, hints, how the set relation was found."""


class ToolDiff(Struct, frozen=True, kw_only=True):
    """All changes of one tool between two versions."""

    tool_id: str
    baseline: int | str | None
    candidate: int | str | None
    baseline_fingerprint: str | None
    candidate_fingerprint: str | None
    classification: Classification
    changes: tuple[Change, ...] = ()
    cleared: bool = False
    """A breaking change cleared by the versioning-and-migration rule."""
    cleared_reason: str = ""
