"""Use case: check every document, configuration, contract and case without an agent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from abs_gate.app.contract_cases import find_unrun, unrun_warnings
from abs_gate.app.judges import find_unjudged
from abs_gate.app.loading import Faults, LoadedRun, load_run
from abs_gate.app.verification import Plan, plan_suites, suite_paths
from abs_gate.contracts.formats.shape import is_contract_shape
from abs_gate.documents.advice import find_doubts
from abs_gate.documents.datasets import iterate_cases
from abs_gate.documents.load import SESSION_SUFFIXES
from abs_gate.documents.when_advice import find_case_mismatches
from abs_gate.errors import ConfigurationError
from abs_gate.evaluators import evaluator_shapes
from abs_gate.findings import Finding
from abs_gate.gate.acknowledgements import is_acknowledgements_shape, load_acknowledgements
from abs_gate.settings.load import DEFAULT_FILES
from abs_gate.settings.model import ContractsSettings, Settings
from abs_gate.sources.located import parse_documents
from abs_gate.sources.workspace import Workspace
from abs_gate.verification.read_suite import is_suite_shape

DATA_SUFFIXES = (".yaml", ".yml", ".json")


class Validation(Struct, frozen=True, kw_only=True):
    """What was checked, and what is legal but probably wrong."""

    sessions: int
    cases: int
    tools: int
    suites: int
    acknowledgements: int
    warnings: tuple[Finding, ...]

    @property
    def is_empty(self) -> bool:
        """Whether there was nothing to check at all."""
        return not (self.sessions or self.tools or self.suites or self.acknowledgements)


class NamedFiles(Struct, frozen=True, kw_only=True):
    """What paths on the command line lead to."""

    settings: Settings
    """With only these sessions, contracts and suites to look at."""
    acknowledgements: tuple[str, ...]
    """Files of acknowledgements; the settings of a run name one."""


def validate(
    workspace: Workspace,
    settings: Settings,
    *,
    environ: Mapping[str, str],
    today: str,
    acknowledgements: Sequence[str] = (),
    faults: Faults | None = None,
) -> Validation:
    """Load everything the settings name, and these files of acknowledgements.

    Raises:
        ConfigurationError: with every fault of every file.
    """
    faults = faults or Faults()
    judges_known = settings.file is not None
    plan = plan_suites(
        workspace, suite_paths(settings), settings=settings, environ=environ, faults=faults, allow_commands=True
    )
    named = settings.contracts.acknowledgements
    reviews = [
        faults.collect(lambda f=file: load_acknowledgements(workspace, f)) or ()  # type: ignore[misc]
        for file in (*acknowledgements, *((named,) if named else ()))
    ]
    loaded = load_run(workspace, settings, environ=environ, today=today, faults=faults, judges_known=judges_known)
    return Validation(
        sessions=len(loaded.plans),
        cases=sum(plan.cases_total for plan in loaded.plans),
        tools=len(loaded.contracts.tools) if loaded.contracts is not None else 0,
        suites=len(plan.suites),
        acknowledgements=sum(map(len, reviews)),
        warnings=(
            *settings.warnings,
            *loaded.warnings,
            *_doubts(loaded, settings, workspace),
            *_unrun(plan, loaded, settings),
        ),
    )


def files_at(workspace: Workspace, paths: Sequence[str], settings: Settings) -> NamedFiles:
    """The files at these paths, told apart by what they hold.

    Raises:
        ConfigurationError: a path is absent, or a named file is of no kind.
    """
    found: dict[str, list[str]] = {"session": [], "contract": [], "suite": [], "acknowledgements": []}
    faults = Faults()
    for path in paths:
        for file in faults.collect(lambda p=path: _files(workspace, p)) or ():  # type: ignore[misc]
            kind = faults.collect(lambda f=file, p=path: _kind(workspace, f, named=f == p))  # type: ignore[misc]
            if kind is not None:
                found[kind].append(file)
    faults.raise_any()
    narrowed = replace(
        settings,
        sessions=replace(settings.sessions, paths=tuple(found["session"])),
        contracts=ContractsSettings(paths=tuple(found["contract"])),
        verify={"paths": found["suite"]},
    )
    return NamedFiles(settings=narrowed, acknowledgements=tuple(found["acknowledgements"]))


def _files(workspace: Workspace, path: str) -> tuple[str, ...]:
    if workspace.is_directory(path):
        return tuple(name for name in workspace.list_files(path) if name.lower().endswith(DATA_SUFFIXES))
    workspace.read_bytes(path)
    return (path,)


def _kind(workspace: Workspace, file: str, *, named: bool) -> str | None:
    """`session`, `suite`, `contract`, `acknowledgements`; None for another file of a directory."""
    if file.lower().endswith(SESSION_SUFFIXES):
        return "session"
    values = [document.value for document in parse_documents(workspace.read_bytes(file), file)]
    if any(isinstance(value, dict) and ("session" in value or "behaviors" in value) for value in values):
        return "session"
    if any(is_suite_shape(value) for value in values):
        return "suite"
    if any(is_contract_shape(value) for value in values):
        return "contract"
    if any(is_acknowledgements_shape(value) for value in values):
        return "acknowledgements"
    if named:
        raise ConfigurationError(
            f"{file}: this is no session, contract, verification suite, configuration or list of acknowledgements.",
            hint="A session begins with `session:`, a contract with `tool_id:` or a list of tools, "
            "a suite with `verification:`, a configuration with `version: 1`, a list of reviews with "
            "`acknowledgements:`.",
        )
    return None


def _doubts(loaded: LoadedRun, settings: Settings, workspace: Workspace) -> tuple[Finding, ...]:
    findings: tuple[Finding, ...] = ()
    if loaded.sessions is not None:
        tools = loaded.tools.known_tools(settings.sessions.handoff_tools)
        findings += find_doubts(loaded.sessions, tools=tools, evaluators=evaluator_shapes())
        if settings.file is not None or not any(workspace.is_file(name) for name in DEFAULT_FILES):
            findings += find_unjudged(loaded.sessions.sessions, settings.judges)
        findings += _row_doubts(loaded, settings, workspace, told=findings)
    if loaded.contracts is not None:
        findings += loaded.contracts.findings
    return findings


def _unrun(plan: Plan, loaded: LoadedRun, settings: Settings) -> tuple[Finding, ...]:
    """Cases of contracts that no suite runs, where suites or the configuration that would name them are at hand."""
    if plan.suites:
        return unrun_warnings(plan.unrun)
    if settings.file is None or loaded.contracts is None:
        return ()
    return unrun_warnings(find_unrun(loaded.contracts, ()))


def _row_doubts(
    loaded: LoadedRun, settings: Settings, workspace: Workspace, *, told: Sequence[Finding]
) -> tuple[Finding, ...]:
    """What only the values of rows show, once for each place: the first row stands for the others."""
    places = {(finding.rule, str(finding.location)) for finding in told}
    found: list[Finding] = []
    for plan in loaded.plans:
        sessions = settings.sessions
        for case in iterate_cases(plan.session, workspace, dataset=sessions.dataset, filters=sessions.filters):
            for finding in find_case_mismatches(case, loaded.scope):
                place = (finding.rule, str(finding.location))
                if place not in places:
                    places.add(place)
                    found.append(finding)
    return tuple(found)
