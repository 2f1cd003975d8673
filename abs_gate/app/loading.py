"""Everything a run reads, loaded and checked before anything is sent: all faults of all files in one report."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from msgspec import Struct, field

from abs_gate.app.contracts import load_side
from abs_gate.app.effects import check_effects
from abs_gate.app.tools import ToolFacts, tool_facts
from abs_gate.contracts.model import ContractSet
from abs_gate.documents.case_check import check_variables
from abs_gate.documents.datasets import iterate_cases
from abs_gate.documents.load import LoadedSessions, LoadOptions, load_sessions
from abs_gate.documents.model import Session
from abs_gate.documents.variables import Scope, environment_variables
from abs_gate.errors import ConfigurationError
from abs_gate.evaluators import evaluator_shapes
from abs_gate.findings import Finding, Severity, sort_findings
from abs_gate.gate.plan import SessionPlan, check_plans, plan_session, shard_of
from abs_gate.settings.matching import find_idle_quarantines
from abs_gate.settings.model import Settings
from abs_gate.sources.suggest import did_you_mean
from abs_gate.sources.workspace import Workspace

Loaded = TypeVar("Loaded")
MOST_ROW_FAULTS = 50
"""Faults of rows that are reported of one session: a data set with a wrong column has as many as rows."""


class LoadedRun(Struct, frozen=True, kw_only=True):
    """All that configuration asks for, clean."""

    sessions: LoadedSessions | None = None
    plans: tuple[SessionPlan, ...] = ()
    contracts: ContractSet | None = None
    scope: Scope = field(default_factory=Scope)
    tools: ToolFacts = field(default_factory=ToolFacts)
    warnings: tuple[Finding, ...] = ()
    """What is legal and probably not meant in the policy: told by `validate` and by a run."""


class Faults:
    """Collects what every loader refuses."""

    def __init__(self) -> None:
        self.findings: list[Finding] = []

    def collect(self, load: Callable[[], Loaded]) -> Loaded | None:
        """Load one thing; None where it is refused."""
        try:
            return load()
        except ConfigurationError as wrong:
            self.findings += wrong.findings or [
                Finding(rule="configuration", severity=Severity.ERROR, message=wrong.message, hint=wrong.hint)
            ]
            return None

    def raise_any(self) -> None:
        """Raise ConfigurationError with everything collected, if there is anything."""
        if self.findings:
            distinct = {(str(finding), finding.rule): finding for finding in self.findings}
            raise ConfigurationError(findings=sort_findings(distinct.values()))


def load_run(
    workspace: Workspace,
    settings: Settings,
    *,
    environ: Mapping[str, str],
    today: str,
    faults: Faults | None = None,
    judges_known: bool = True,
) -> LoadedRun:
    """Load and check sessions with their data sets, and contracts.

    `judges_known` is False where documents are looked at without the configuration that names their judges.

    Raises:
        ConfigurationError: with every fault of every file.
    """
    faults = faults or Faults()
    contracts = None
    if settings.contracts.paths:
        contracts = faults.collect(lambda: load_side(workspace, settings.contracts.paths, required=True))
    scope = Scope(variables=settings.sessions.variables, environment=environment_variables(environ))
    loaded = None
    warnings: list[Finding] = []
    plans: tuple[SessionPlan, ...] = ()
    if settings.sessions.paths:
        options = _load_options(settings, judges_known=judges_known)
        loaded = faults.collect(lambda: load_sessions(workspace, settings.sessions.paths, options))
    if loaded is not None:
        sessions = faults.collect(lambda: select_sessions(loaded.sessions, settings.sessions.select)) or ()
        found = [faults.collect(lambda s=session: _plan(s, workspace, settings, scope, today)) for session in sessions]  # type: ignore[misc]
        plans = tuple(plan for plan in found if plan is not None)
        if len(plans) == len(found):
            warnings += faults.collect(lambda: check_plans(plans)) or ()
        named = [(session.name, session.file) for session in loaded.sessions]
        warnings += find_idle_quarantines(settings.sessions.quarantine, named)
        faults.collect(lambda: check_effects(plans, file=settings.file, allow_commands=settings.allow_commands))
    faults.raise_any()
    return LoadedRun(
        sessions=loaded,
        plans=plans,
        contracts=contracts,
        scope=scope,
        tools=tool_facts(contracts, settings.targets),
        warnings=tuple(warnings),
    )


def select_sessions(sessions: Sequence[Session], names: Sequence[str]) -> tuple[Session, ...]:
    """The sessions named; all when no name is given.

    Raises:
        ConfigurationError: a name that no session has, so that a misspelt selection never runs nothing.
    """
    known = {session.name for session in sessions}
    unknown = [name for name in names if name not in known]
    if unknown:
        raise ConfigurationError(
            findings=[
                Finding(
                    rule="unknown-selection",
                    severity=Severity.ERROR,
                    message=f"No session is called `{name}`.{did_you_mean(name, known)}",
                    hint="A selection names sessions by their whole name.",
                )
                for name in unknown
            ]
        )
    return tuple(session for session in sessions if not names or session.name in names)


def _load_options(settings: Settings, *, judges_known: bool) -> LoadOptions:
    return LoadOptions(
        evaluators=evaluator_shapes(),
        actions=settings.sessions.actions,
        adapters=frozenset(judge.name for judge in settings.judges) if judges_known else None,
    )


def _plan(session: Session, workspace: Workspace, settings: Settings, scope: Scope, today: str) -> SessionPlan:
    """Read every row once: count it, check its values. Memory does not grow with the rows."""
    shapes = evaluator_shapes()
    here = total = 0
    identities = hashlib.sha256()
    faults: list[Finding] = []
    shard = settings.sessions.shard
    for case in iterate_cases(session, workspace, dataset=settings.sessions.dataset, filters=settings.sessions.filters):
        total += 1
        identities.update(case.id.encode())
        here += shard is None or shard_of(case.id, shard[1]) == shard[0]
        if len(faults) < MOST_ROW_FAULTS:
            faults += check_variables(case, scope, shapes)
    if faults:
        raise ConfigurationError(findings=faults[:MOST_ROW_FAULTS])
    return plan_session(
        session,
        settings.sessions,
        cases=here,
        cases_total=total,
        cases_hash=f"sha256:{identities.hexdigest()}",
        today=today,
    )
