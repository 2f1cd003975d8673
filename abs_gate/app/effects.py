"""Use case: watch what trials change. Trials that are watched run alone, so that what changes is theirs."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager

from msgspec import Struct, field

from abs_gate.app.tools import ToolFacts
from abs_gate.contracts.model import ContractSet
from abs_gate.contracts.versions import newest_tools
from abs_gate.documents.model import Case
from abs_gate.documents.variables import Scope, VariableError
from abs_gate.errors import ConfigurationError
from abs_gate.findings import Finding, Json, Location, Severity
from abs_gate.gate.plan import SessionPlan
from abs_gate.outcomes import Outcome
from abs_gate.sources.patterns import PatternTimeout
from abs_gate.trace import Trace
from abs_gate.verification.model import Bench, Check, Probe
from abs_gate.verification.run_suite import PlannedSuite
from abs_gate.verification.session_effects import EffectEntry, TrialWatch
from abs_gate.verification.session_rules import entry_faults
from abs_gate.verification.session_safety import injected_actions, unapproved_calls
from abs_gate.verification.suite import Means, Suite

RULE = "session-effects"
_NOT_NEEDED = (None, False, "never", "none")


class TrialFindings(Struct, frozen=True, kw_only=True):
    """What watching a trial gave."""

    checks: tuple[Check, ...] = ()
    attempts: tuple[str, ...] = ()
    """Calls that fail the session whatever the rate, in words."""


class Unwatched:
    """Stands for a look that could not be taken."""

    def __init__(self, reason: str) -> None:
        self._reason = reason

    def checks(self, trace: Trace) -> tuple[Check, ...]:
        """One that says why."""
        return (Check(name="effects", outcome=Outcome.UNVERIFIED, reason=self._reason),)


class Exclusive:
    """Lets many run beside one another, or one alone. One that waits to be alone is not overtaken."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._running = 0
        self._waiting = 0

    @contextmanager
    def together(self) -> Iterator[None]:
        """Run beside others."""
        with self._changed:
            self._changed.wait_for(lambda: self._running >= 0 and not self._waiting)
            self._running += 1
        try:
            yield
        finally:
            with self._changed:
                self._running -= 1
                self._changed.notify_all()

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Run with nothing beside it."""
        with self._changed:
            self._waiting += 1
            try:
                self._changed.wait_for(lambda: self._running == 0)
            finally:
                self._waiting -= 1
            self._running = -1
        try:
            yield
        finally:
            with self._changed:
                self._running = 0
                self._changed.notify_all()


class SessionEffects(Struct, frozen=True, kw_only=True):
    """What the policies of a run say about effects, ready to be held against trials. Thread-safe."""

    bench: Bench | None
    """None where probes cannot look: recorded conversations are judged."""
    scope: Scope
    tools: ToolFacts
    needs_approval: frozenset[str] = frozenset()
    probes: Mapping[int, str] = field(default_factory=dict)
    """Identity of an entry's probe to its name on the bench."""
    turns: Exclusive = field(default_factory=Exclusive)

    def turn(self, plan: SessionPlan) -> AbstractContextManager[None]:
        """When a trial of this session may run."""
        return self.turns.alone() if _probed(plan) else self.turns.together()

    def watch(self, plan: SessionPlan, case: Case) -> TrialWatch | Unwatched | None:
        """A look before a trial; None for sessions that no probe looks at."""
        entries = _probed(plan)
        if not entries:
            return None
        scope = self.scope.for_case(case)
        try:
            return TrialWatch([(self._entry(entry, scope), self._probe(entry)) for entry in entries])
        except VariableError as problem:
            return Unwatched(str(problem))

    def findings(self, plan: SessionPlan, watch: TrialWatch | Unwatched | None, trace: Trace) -> TrialFindings:
        """Everything that the session's entries say of a trial."""
        attempts: list[str] = []
        checks = list(watch.checks(trace)) if watch is not None else []
        for entry in plan.policy.effects:
            if "approval" in entry:
                asks = (entry["approval"] or {}).get("tools") or ()
                attempts += unapproved_calls(trace, needs_approval=self.needs_approval, asks_approval=self._names(asks))
            if "injected" in entry:
                attempts += self._injected(entry["injected"], trace, checks)
        return TrialFindings(checks=tuple(checks), attempts=tuple(attempts))

    def _injected(self, injected: Mapping[str, Json], trace: Trace, checks: list[Check]) -> tuple[str, ...]:
        try:
            return injected_actions(
                trace,
                pattern=injected["pattern"],
                tools=self._names(injected.get("tools") or ()),
                says=injected.get("says"),
                writes=self.tools.write_tools,
            )
        except (ValueError, PatternTimeout) as problem:
            checks.append(Check(name="injected instructions", outcome=Outcome.UNVERIFIED, reason=str(problem)))
            return ()

    def _entry(self, entry: Mapping[str, Json], scope: Scope) -> EffectEntry:
        return EffectEntry(
            expect=scope.resolve(entry.get("expect")),
            claims=[
                {
                    **claim,
                    "says": scope.resolve_pattern(claim["says"]),
                    "where": scope.resolve(claim.get("where") or {}),
                }
                for claim in entry.get("claims") or ()
            ],
            calls=scope.resolve(entry.get("calls") or ()),
            aliases=self.tools.aliases,
        )

    def _probe(self, entry: Mapping[str, Json]) -> Probe | None:
        return None if self.bench is None else self.bench.probe(self.probes[id(entry)])

    def _names(self, tools: Sequence[str]) -> tuple[str, ...]:
        return tuple(name for tool in tools for name in (tool, *self.tools.aliases.get(tool, ())))


def check_effects(plans: Sequence[SessionPlan], *, file: str | None, allow_commands: bool) -> None:
    """Check the `effects` of every policy in use.

    Raises:
        ConfigurationError: with every fault.
    """
    faults: dict[str, Finding] = {}
    for plan in plans:
        place = plan.policy.location or (Location(file=file) if file else None)
        for entry in plan.policy.effects:
            for wrong in (*entry_faults(entry), *_commands(entry, allow_commands)):
                finding = Finding(
                    rule=RULE,
                    severity=Severity.ERROR,
                    message=f"`effects` of the policy: {wrong}",
                    location=place,
                    hint="See docs/verification.md.",
                )
                faults.setdefault(str(finding), finding)
    if faults:
        raise ConfigurationError(findings=faults.values())


def _commands(entry: Json, allowed: bool) -> Iterator[str]:
    probe = entry.get("probe") if isinstance(entry, Mapping) else None
    if (
        not allowed
        and isinstance(probe, Mapping)
        and isinstance(probe.get("mcp"), Mapping)
        and "command" in probe["mcp"]
    ):
        yield "The probe starts a command, which is not allowed here: see allow-commands."


def probe_suite(
    plans: Sequence[SessionPlan], file: str | None, contracts: ContractSet | None
) -> tuple[PlannedSuite, dict[int, str]]:
    """A suite that holds only the probes of these sessions, and the name of each by its entry's identity."""
    place = Location(file=file or "abs-gate.yaml")
    probes: dict[str, Means] = {}
    names: dict[int, str] = {}
    for plan in plans:
        for entry in _probed(plan):
            if id(entry) not in names:
                ((kind, options),) = entry["probe"].items()
                names[id(entry)] = name = f"effects-{len(probes) + 1}"
                probes[name] = Means(kind=kind, options=options, location=plan.policy.location or place)
    suite = Suite(name="session effects", file=place.file, directory="", probes=probes, location=place)
    known = newest_tools(contracts) if contracts is not None else {}
    return PlannedSuite(suite=suite, contracts=known, cases=()), names


def tools_needing_approval(contracts: ContractSet | None) -> frozenset[str]:
    """Names of the tools whose contract requires approval."""
    tools = contracts.tools if contracts is not None else ()
    return frozenset(
        name for tool in tools if tool.policy.approval not in _NOT_NEEDED for name in (tool.name, tool.tool_id)
    )


def _probed(plan: SessionPlan) -> list[Mapping[str, Json]]:
    return [entry for entry in plan.policy.effects if "probe" in entry]
