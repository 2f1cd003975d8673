"""Use case: one run of the gate. Load all, check contracts, verify tools, run sessions, decide."""

from __future__ import annotations

import platform
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from types import MappingProxyType
from urllib.parse import urlsplit

from msgspec import Struct, field
from msgspec.structs import replace

from abs_gate import __version__
from abs_gate.app.contract_cases import find_unrun, unrun_records
from abs_gate.app.contracts import BaseContents, ContractReport, check_contracts
from abs_gate.app.effects import SessionEffects, probe_suite, tools_needing_approval
from abs_gate.app.loading import Faults, LoadedRun, load_run
from abs_gate.app.ports import Clock, Journal, Progress
from abs_gate.app.sessions import SessionRun, SessionsOutcome
from abs_gate.app.traces import AssignedTraces, assign_traces
from abs_gate.app.verification import OpenBench
from abs_gate.contracts.records import to_record
from abs_gate.conversation import Agent, Usage
from abs_gate.errors import BaseUnavailable, CannotVerify, Interrupted
from abs_gate.evaluators.judged import JudgePanel
from abs_gate.gate.acknowledgements import read_acknowledgements
from abs_gate.gate.budget import BudgetMeter
from abs_gate.gate.evidence import collect_evidence
from abs_gate.gate.journal import run_identity
from abs_gate.gate.records import finding_record
from abs_gate.gate.result import ContractsRecord, Metadata, ResultDocument, VerificationRecord
from abs_gate.gate.verdict import decide
from abs_gate.settings.compare import compare_policies, trust_base
from abs_gate.settings.load import load_settings
from abs_gate.settings.model import Settings
from abs_gate.sources.redaction import Redactor
from abs_gate.sources.workspace import Workspace
from abs_gate.wire.recorded import RecordedConversation


class RunPorts(Struct, frozen=True, kw_only=True):
    """Everything of the world that a run is handed."""

    workspace: Workspace
    base: Callable[[], BaseContents]
    """Opens the base. Raises BaseUnavailable."""
    open_agent: Callable[[Settings], AbstractContextManager[Agent]]
    """Starts what is to be started and gives the agent. Raises CannotVerify."""
    judges: Callable[[Settings], JudgePanel | None]
    verify: Callable[[Faults], Callable[[], Iterator[VerificationRecord]]] | None
    """Loads verification cases (faults are collected), and gives what runs them one by one."""
    open_bench: OpenBench
    """Opens what verification suites and probes run on. Raises CannotVerify."""
    open_journal: Callable[[str], Journal]
    """Opens the journal of the run with this identity."""
    progress: Progress
    clock: Clock
    environ: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    redactor: Redactor
    run_id: str
    commit: str | None = None
    review_label: bool = False
    is_partial: bool = False
    """Whether only what changed is run again: what is left out on purpose is not told as unverified."""
    is_workflow: bool = False
    """Whether files may come from a stranger: then the base's configuration is looked at beside the head's."""
    baseline: ResultDocument | None = None
    traces: Callable[[], Sequence[RecordedConversation]] | None = None
    """Reads recorded conversations that are judged in the agent's place. Raises ConfigurationError."""


def run_gate(settings: Settings, ports: RunPorts) -> ResultDocument:
    """Run every layer that configuration asks for, and decide over all of them.

    Raises:
        ConfigurationError: something that was read is wrong; nothing was sent.
    """
    started, since = ports.clock.now(), ports.clock.monotonic()
    faults = Faults()
    verify = ports.verify(faults) if ports.verify is not None else None
    acknowledged = faults.collect(lambda: read_acknowledgements(settings, ports.workspace)) or ()
    loaded = load_run(ports.workspace, settings, environ=ports.environ, today=ports.clock.today(), faults=faults)
    traces = None
    if ports.traces is not None:
        traces = assign_traces(ports.traces(), loaded.plans)
        loaded = replace(loaded, plans=traces.plans)
    verification: list[VerificationRecord] = []
    sessions: SessionsOutcome | None = None
    contracts: ContractReport | None = None
    weakened: tuple[str, ...] = ()
    threshold_policy = settings.threshold_policy
    cancelled = None
    try:
        base = _open_base(settings, ports)
        if loaded.contracts is not None:
            contracts = _contracts(loaded, settings, base, ports)
        if isinstance(base, BaseContents) and (old := _base_settings(settings, base)) is not None:
            weakened, threshold_policy = _weakened(old, settings, ports), old.threshold_policy
            settings = trust_base(settings, old)
        if verify is not None:
            verification.extend(verify())  # one by one: what was verified before a cancellation stays
        elif loaded.contracts is not None and not ports.is_partial:
            verification.extend(unrun_records(find_unrun(loaded.contracts, ())))
        if loaded.plans:
            sessions = _run_sessions(loaded, settings, ports, traces)
            cancelled = sessions.cancelled
    except Interrupted as interrupted:
        cancelled = interrupted.signal_exit_code - 128
    duration_ms = round((ports.clock.monotonic() - since) * 1000)
    document = decide(
        contracts=None if contracts is None else _contracts_record(contracts, settings),
        verification=verification,
        sessions=() if sessions is None else sessions.records,
        settings=settings,
        metadata=_metadata(settings, loaded, contracts, sessions, ports, started=started, duration_ms=duration_ms),
        acknowledgements=acknowledged,
        review_label=ports.review_label,
        baseline=ports.baseline,
        weakened=weakened,
        threshold_policy="block" if threshold_policy == "block" else "note",
        cancelled=cancelled,
    )
    document["evidence"] = collect_evidence(document, settings)
    return _redacted(document, ports.redactor)


def _redacted(document: ResultDocument, redactor: Redactor) -> ResultDocument:
    """The document without secrets. Cases take the place of the originals one by one: two of all would not fit."""
    cases = [session["cases"] for session in document["sessions"]]
    for of_session in cases:
        for index, case in enumerate(of_session):
            of_session[index] = redactor.redact_json(case)
    bare = {**document, "sessions": [{**session, "cases": []} for session in document["sessions"]]}
    clean: ResultDocument = redactor.redact_json(bare)
    for session, of_session in zip(clean["sessions"], cases, strict=True):
        session["cases"] = of_session
    return clean


def _open_base(settings: Settings, ports: RunPorts) -> BaseContents | BaseUnavailable | None:
    """The base is needed for contracts, and in a workflow to see what the change does to the policy."""
    if not settings.contracts.paths and not (ports.is_workflow and settings.file):
        return None
    try:
        return ports.base()
    except BaseUnavailable as unavailable:
        return unavailable


def _contracts(
    loaded: LoadedRun, settings: Settings, base: BaseContents | BaseUnavailable | None, ports: RunPorts
) -> ContractReport:
    assert loaded.contracts is not None
    assert base is not None
    ports.progress.note("comparing contracts with the base")
    return check_contracts(
        loaded.contracts,
        paths=settings.contracts.paths,
        base=base,
        providers=settings.contracts.providers,
        today=ports.clock.today(),
    )


def _base_settings(settings: Settings, base: BaseContents) -> Settings | None:
    """The base's own configuration, where it has one that can be read.

    Its word counts: a change may not lower a threshold and forbid itself to be told off for it.
    """
    name = settings.file
    if name is None or not base.workspace.is_file(name):
        return None
    return Faults().collect(lambda: load_settings(base.workspace, name, resolve_secrets=False))


def _weakened(base: Settings, head: Settings, ports: RunPorts) -> tuple[str, ...]:
    """How the head's file asks for less than the base's; both alone, as flags and inputs hold for either."""
    alone = Faults().collect(lambda: load_settings(ports.workspace, head.file, resolve_secrets=False))
    return () if alone is None else compare_policies(base, alone, today=ports.clock.today())


def _run_sessions(
    loaded: LoadedRun, settings: Settings, ports: RunPorts, traces: AssignedTraces | None
) -> SessionsOutcome:
    meter = BudgetMeter(settings.budget, started=ports.clock.monotonic())
    try:
        probes, names = probe_suite(loaded.plans, settings.file, loaded.contracts)
        with ports.open_bench(probes) as bench, ports.open_agent(settings) as agent:
            effects = SessionEffects(
                bench=bench if traces is None else None,
                scope=loaded.scope,
                tools=loaded.tools,
                needs_approval=tools_needing_approval(loaded.contracts),
                probes=names,
            )
            return SessionRun(
                loaded,
                workspace=ports.workspace,
                settings=settings,
                agent=agent,
                judges=ports.judges(settings),
                journal=ports.open_journal(_identity(settings, loaded)),
                progress=ports.progress,
                meter=meter,
                clock=ports.clock,
                run_id=ports.run_id,
                traces=traces,
                effects=effects,
            ).run()
    except CannotVerify as unavailable:
        return SessionRun.nothing_ran(loaded, reason=str(unavailable))


def _identity(settings: Settings, loaded: LoadedRun) -> str:
    """What makes two runs the same, so that one may go on where the other stopped."""
    return run_identity(
        {
            "policy": settings.fingerprint,
            "sessions": {
                plan.key: [plan.session.sha256, plan.deciding.trials, plan.cases, plan.cases_hash]
                for plan in loaded.plans
            },
            "agent": [settings.agent.url, settings.agent.format, settings.agent.model, settings.agent.command],
            "tools": loaded.contracts.fingerprint if loaded.contracts is not None else None,
            "judges": [[judge.name, judge.format, judge.url, judge.model, judge.votes] for judge in settings.judges],
            "variables": [dict(settings.sessions.variables), dict(loaded.scope.environment)],
            "traces": settings.sessions.traces,
            "shard": settings.sessions.shard,
        }
    )


def _contracts_record(report: ContractReport, settings: Settings) -> ContractsRecord:
    record: ContractsRecord = {
        "base": report.base_label,
        "tools": [to_record(diff) for diff in report.tools],
        "lint": [finding_record(finding) for finding in report.lint],
        "toolset_fingerprint": report.head.fingerprint or None,
        "fingerprints": {
            tool.tool_id if tool.version is None else f"{tool.tool_id}@{tool.version}": tool.fingerprint
            for tool in report.head.tools
        },
        "fail_on_lint": settings.contracts.fail_on_lint,  # type: ignore[typeddict-item]
    }
    if report.error:
        record["error"] = report.error
    return record


def _metadata(
    settings: Settings,
    loaded: LoadedRun,
    contracts: ContractReport | None,
    sessions: SessionsOutcome | None,
    ports: RunPorts,
    *,
    started: str,
    duration_ms: int,
) -> Metadata:
    usage = Usage() if sessions is None else sessions.usage
    shard = settings.sessions.shard
    warnings = [str(warning) for warning in (*settings.warnings, *loaded.warnings)]
    return {
        "abs_gate_version": __version__,
        "started": started,
        "duration_ms": duration_ms,
        "agent_url": public_url(settings.agent.url) if loaded.plans else None,
        "agent_format": settings.agent.format if loaded.plans else None,
        "model": settings.agent.model or (", ".join(sessions.models) if sessions and sessions.models else None),
        "toolset_fingerprint": contracts.head.fingerprint if contracts is not None else None,
        "policy_fingerprint": settings.fingerprint or None,
        "session_hashes": {f"{plan.session.file}#{plan.session.name}": plan.session.sha256 for plan in loaded.plans},
        "dataset_hashes": {
            f"{plan.session.file}#{plan.session.name}": plan.cases_hash
            for plan in loaded.plans
            if plan.session.dataset is not None or settings.sessions.dataset is not None
        },
        "commit": ports.commit,
        "base": contracts.base_label if contracts is not None else None,
        "agent_calls": 0 if sessions is None else sessions.agent_calls,
        "usage": {"input_tokens": usage.input_tokens, "output_tokens": usage.output_tokens},
        "versions": {"python": platform.python_version()},
        "shard": None if shard is None else f"{shard[0]}/{shard[1]}",
        "notices": [*warnings, *(() if sessions is None else sessions.notices)],
    }


def public_url(url: str | None) -> str | None:
    """An address without credentials, query and fragment."""
    if not url:
        return None
    parts = urlsplit(url)
    host = parts.hostname or ""
    if ":" in host:
        host = f"[{host}]"
    port = f":{parts.port}" if parts.port else ""
    return f"{parts.scheme}://{host}{port}{parts.path}"
