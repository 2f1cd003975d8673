"""Frozen settings: what `abs-gate.yaml`, flags, inputs and environment come to. Secrets never stand in the file."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from types import MappingProxyType

from msgspec import Struct, field

from abs_gate.findings import Finding, Json, Location


class Secret(Struct, frozen=True):
    """A secret value that cannot print itself. `origin` says who gave it: flag, input, env:NAME."""

    value: str
    origin: str = ""

    def __str__(self) -> str:
        return "***"

    def __repr__(self) -> str:
        return f"Secret(origin={self.origin!r})"


class AuthSettings(Struct, frozen=True, kw_only=True):
    """How the agent is authenticated to."""

    type: str = "none"
    """none, api_key, bearer, oauth2 or header."""
    token: Secret | None = None
    header: str | None = None
    """Header name for api_key (default X-API-Key) and header."""
    token_url: str | None = None
    endpoint_origin: str = "file"
    """Who named the token URL, as `AgentSettings.url_origin`."""
    client_id: str | None = None
    client_secret: Secret | None = None
    refresh_token: Secret | None = None
    scope: str | None = None


class StartSettings(Struct, frozen=True, kw_only=True):
    """An agent the gate starts and stops."""

    command: str
    ready: str | None = None
    """URL polled until it answers below 500."""
    timeout: float = 60.0
    cwd: str = "."
    env: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))


class AgentSettings(Struct, frozen=True, kw_only=True):
    """The agent under test."""

    url: str | None = None
    format: str = "openai"
    model: str | None = None
    auth: AuthSettings = AuthSettings()
    headers: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    header_secrets: Mapping[str, Secret] = field(default_factory=lambda: MappingProxyType({}))
    timeout: float = 60.0
    session_timeout: float = 300.0
    retries: int = 2
    tools: str = "none"
    """`contracts` or `none`."""
    stream: bool = False
    max_rounds: int = 16
    command: str | None = None
    """For `command` (a command line) and `python` (module:function)."""
    start: StartSettings | None = None
    replay: str | None = None
    record: str | None = None
    url_origin: str = "file"
    """Who named the URL: flag, input, environment, file or base (the base branch's file). Secrets go by it."""
    secret_names: frozenset[str] = frozenset()
    """Environment variables that the file, and not the base branch's file as well, names as secrets (`*_env`)."""
    location: Location | None = None


class JudgeSettings(Struct, frozen=True, kw_only=True):
    """One judge. `name` is what `adapter:` selects; the default judge is named `default`."""

    name: str = "default"
    format: str = "openai"
    """openai, claude, gemini, python or command."""
    url: str | None = None
    model: str | None = None
    token: Secret | None = None
    command: str | None = None
    votes: int = 1
    timeout: float = 60.0
    url_origin: str = "file"
    secret_names: frozenset[str] = frozenset()
    """As `AgentSettings.secret_names`."""
    location: Location | None = None


class SequentialSettings(Struct, frozen=True, kw_only=True):
    """SPRT parameters (Wald 1945)."""

    p0: Fraction
    p1: Fraction
    alpha: Fraction = Fraction(1, 20)
    beta: Fraction = Fraction(1, 10)


class SessionPolicy(Struct, frozen=True, kw_only=True):
    """How one session is decided. The first entry whose `match` fits wins."""

    match: str | None = None
    """Glob over `path`; None matches all."""
    critical: bool = False
    trials: int | None = None
    pass_rate: Fraction = Fraction(1)
    pass_rate_text: str = "100%"
    """As the user wrote it."""
    decide: str = "observed"
    confidence: Fraction | None = None
    per: str = "session"
    """`session` or `row`."""
    pass_hat_k: tuple[int, Fraction] | None = None
    min_coverage: Fraction = Fraction(1)
    max_unverified: int | None = None
    unexpected_calls: str = "allow"
    sequential: SequentialSettings | None = None
    baseline: str = "report"
    """`report` or `gate`: whether a proven regression against the baseline fails the session."""
    forbid: Mapping[str, tuple[str, ...]] = field(default_factory=lambda: MappingProxyType({}))
    """Safety slice: `tools` and `effects` never to be called, tools not to be called `without_approval`."""
    effects: tuple[Json, ...] = ()
    """Effect probes and claims for the sessions matched; read by `verification`."""
    location: Location | None = None


class Quarantine(Struct, frozen=True, kw_only=True):
    """A session that runs and shows but does not gate, until a date."""

    session: str
    owner: str
    until: str
    """ISO date; on and before it the quarantine holds."""
    reason: str = ""
    location: Location | None = None

    def holds(self, today: str) -> bool:
        """Whether it is in force on a day, an ISO date."""
        return today <= self.until


class SessionsSettings(Struct, frozen=True, kw_only=True):
    """Which sessions run, how often, and how they are decided."""

    paths: tuple[str, ...] = ()
    trials: int = 1
    concurrency: int = 8
    policy: tuple[SessionPolicy, ...] = (SessionPolicy(),)
    quarantine: tuple[Quarantine, ...] = ()
    dataset: str | None = None
    variables: Mapping[str, Json] = field(default_factory=lambda: MappingProxyType({}))
    filters: tuple[tuple[str, str], ...] = ()
    select: tuple[str, ...] = ()
    early_stop: bool = True
    actions: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    """Custom action to category."""
    handoff_tools: tuple[str, ...] = ()
    transcripts: str = "failures"
    """`failures`, `all` or `none`."""
    traces: str | None = None
    baseline: str | None = None
    shard: tuple[int, int] | None = None
    """(i, n), i from 1."""
    resume: bool = False


class ContractsSettings(Struct, frozen=True, kw_only=True):
    """Which contracts are compared with what."""

    paths: tuple[str, ...] = ()
    base: str = "auto"
    block: frozenset[str] = frozenset({"breaking", "safety_breaking"})
    review: frozenset[str] = frozenset({"behavior_sensitive"})
    rules: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    """Rule id to block, review, note or ignore."""
    providers: tuple[str, ...] = ()
    acknowledgements: str | None = None
    review_label: str | None = None
    fail_on_lint: str = "error"
    """Lowest lint severity that fails the gate: error, warning, info or none."""
    retired: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))


class Budget(Struct, frozen=True, kw_only=True):
    """Limits over the whole run; None means no limit."""

    max_agent_calls: int | None = None
    max_minutes: Fraction | None = None
    max_tokens: int | None = None
    max_cost: Fraction | None = None
    prices: Mapping[str, Json] = field(default_factory=lambda: MappingProxyType({}))


class ReportSettings(Struct, frozen=True, kw_only=True):
    """Where reports go. None means not written."""

    dir: str | None = None
    junit: str | None = None
    json: str | None = None
    html: str | None = None
    markdown: str | None = None
    sarif: str | None = None
    comment: str = "auto"
    """auto or never."""
    comment_key: str = ""
    annotations: bool = True
    check_run: bool = False


class CanarySettings(Struct, frozen=True, kw_only=True):
    """When a small release is continued, held or rolled back."""

    owner: str
    """Who is told and decides."""
    confidence: Fraction = Fraction(19, 20)
    min_records: int = 50
    """Runs of each side below which nothing is decided."""
    thresholds: Mapping[str, Fraction] = field(default_factory=lambda: MappingProxyType({}))
    """Metric to the worsening, in absolute rate, that rolls back."""


class EvidenceSettings(Struct, frozen=True, kw_only=True):
    """What the release checklist cannot find by itself."""

    golden: Mapping[str, tuple[str, ...]] = field(default_factory=lambda: MappingProxyType({}))
    """Kind of golden case (selection, no_call, missing_facts, denied_authority, recovery) to session names."""


class Settings(Struct, frozen=True, kw_only=True):
    """All settings of a run."""

    agent: AgentSettings = AgentSettings()
    sessions: SessionsSettings = SessionsSettings()
    contracts: ContractsSettings = ContractsSettings()
    verify: Mapping[str, Json] = field(default_factory=lambda: MappingProxyType({}))
    """`verify:` as written: `paths` of verification suites."""
    judges: tuple[JudgeSettings, ...] = ()
    targets: Mapping[str, tuple[str, ...]] = field(default_factory=lambda: MappingProxyType({}))
    budget: Budget = Budget()
    report: ReportSettings = ReportSettings()
    canary: CanarySettings | None = None
    evidence: EvidenceSettings = EvidenceSettings()
    allow_commands: bool = True
    threshold_policy: str = "note"
    """`note` or `block`: what a threshold lowered in the same pull request does."""
    file: str | None = None
    fingerprint: str = ""
    """Hash over everything that decides: policy, thresholds, rules; never over secrets or URLs."""
    secrets: tuple[Secret, ...] = ()
    """Every secret value known, for the redactor."""
    github_token: Secret | None = None
    warnings: tuple[Finding, ...] = ()
    """What is odd about the settings and does not stop the run."""
