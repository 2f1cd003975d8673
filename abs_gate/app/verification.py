"""Use case: load verification suites with the contracts they are about, and run them."""

from __future__ import annotations

import platform
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager

from msgspec import Struct
from msgspec.structs import replace

from abs_gate.app.contract_cases import find_unrun, read_contract_cases, unrun_records
from abs_gate.app.loading import Faults
from abs_gate.contracts.load import load_contracts
from abs_gate.contracts.model import ContractSet, ToolContract
from abs_gate.contracts.versions import newest_tools
from abs_gate.documents.placeholders import find_placeholders
from abs_gate.documents.variables import Scope, environment_variables
from abs_gate.errors import CannotVerify, ConfigurationError
from abs_gate.evaluators.json_schema import SchemaUnusable, find_violations
from abs_gate.findings import Finding, Json, Location, Severity
from abs_gate.gate.metadata import metadata_without_agent
from abs_gate.gate.result import ResultDocument, VerificationRecord
from abs_gate.gate.verdict import decide
from abs_gate.settings.model import Settings
from abs_gate.sources.located import parse_documents
from abs_gate.sources.suggest import did_you_mean
from abs_gate.sources.workspace import Workspace
from abs_gate.verification.model import Bench, CaseResult
from abs_gate.verification.read_suite import RULE, is_suite_shape, load_suite_file
from abs_gate.verification.run_suite import PlannedSuite, nothing_ran, run_suite
from abs_gate.verification.suite import CaseSpec, Means, Suite, ToolSpec

SUFFIXES = (".yaml", ".yml", ".json")
LONGEST_REASON = 2_000
_NEEDS_CALL = frozenset({"input", "output", "retry"})
_CODE = {
    "service": "A service's command",
    "command": "A command",
    "python": "A Python function",
    "mcp": "The command of an MCP server",
}
_EXAMPLE_KEYS = ("arguments", "input", "args")

OpenBench = Callable[[PlannedSuite], AbstractContextManager[Bench]]


class Plan(Struct, frozen=True, kw_only=True):
    """Suites, loaded and checked."""

    suites: tuple[PlannedSuite, ...]
    unrun: tuple[ToolContract, ...] = ()
    """Contracts with cases of tools that no suite describes."""


def load_suites(
    workspace: Workspace,
    paths: Sequence[str],
    *,
    contracts: ContractSet | None,
    scope: Scope,
    faults: Faults,
    allow_commands: bool,
) -> Plan:
    """Every suite of the files and directories named. What is wrong is collected; nothing is started.

    `contracts` are those of the run, for suites that name none.
    """
    suites: list[Suite] = []
    for path in paths:
        for file in faults.collect(lambda p=path: find_suite_files(workspace, p)) or ():  # type: ignore[misc]
            suites += faults.collect(lambda f=file: load_suite_file(workspace, f, scope)) or ()  # type: ignore[misc]
    sets: dict[tuple[str, ...], ContractSet | None] = {(): contracts}
    planned: list[PlannedSuite] = []
    for suite in suites:
        if suite.contracts not in sets:
            sets[suite.contracts] = faults.collect(lambda s=suite: load_contracts(workspace, s.contracts))  # type: ignore[misc]
        known = sets[suite.contracts]
        if known is None and suite.contracts:
            continue
        each = faults.collect(lambda s=suite, k=known: plan_suite(workspace, s, k, allow_commands=allow_commands))  # type: ignore[misc]
        planned += [] if each is None else [each]
    described = {contract.tool_id for each in planned for contract in each.contracts.values()}
    unrun = {tool.tool_id: tool for known in sets.values() if known for tool in find_unrun(known, described)}
    return Plan(suites=tuple(planned), unrun=tuple(unrun.values()))


def verifier(
    workspace: Workspace,
    paths: Sequence[str],
    *,
    settings: Settings,
    environ: Mapping[str, str],
    open_bench: OpenBench,
    note: Callable[[str], None],
) -> Callable[[Faults], Callable[[], Iterator[VerificationRecord]]]:
    """What loads the suites at these paths (its faults are collected), and gives what runs them."""

    def load(faults: Faults) -> Callable[[], Iterator[VerificationRecord]]:
        plan = plan_suites(
            workspace, paths, settings=settings, environ=environ, faults=faults, allow_commands=settings.allow_commands
        )
        return lambda: run_plan(plan, open_bench, note)

    return load


def plan_suites(
    workspace: Workspace,
    paths: Sequence[str],
    *,
    settings: Settings,
    environ: Mapping[str, str],
    faults: Faults,
    allow_commands: bool,
) -> Plan:
    """The suites at these paths with the contracts and variables of the settings; what is wrong is collected."""
    contracts = None
    if paths and settings.contracts.paths:
        contracts = faults.collect(lambda: load_contracts(workspace, settings.contracts.paths))
    scope = Scope(variables=settings.sessions.variables, environment=environment_variables(environ))
    return load_suites(workspace, paths, contracts=contracts, scope=scope, faults=faults, allow_commands=allow_commands)


def suite_paths(settings: Settings) -> tuple[str, ...]:
    """The suites that `verify:` of the configuration names."""
    return tuple(settings.verify.get("paths") or ())


def conclude_verification(
    records: Sequence[VerificationRecord],
    settings: Settings,
    *,
    started: str,
    duration_ms: int,
    cancelled: int | None = None,
) -> ResultDocument:
    """The result of a run that only verifies. `cancelled` is the signal that ended it early, if one did."""
    return decide(
        contracts=None,
        verification=records,
        sessions=(),
        settings=Settings(threshold_policy=settings.threshold_policy),
        cancelled=cancelled,
        metadata={
            **metadata_without_agent(started=started, duration_ms=duration_ms),
            "versions": {"python": platform.python_version()},
        },
    )


def find_suite_files(workspace: Workspace, path: str) -> tuple[str, ...]:
    """The file named, or every file of a directory that holds a suite.

    Raises:
        ConfigurationError: there is none, or a file cannot be read.
    """
    if not workspace.is_directory(path):
        workspace.read_bytes(path)
        return (path,)
    files = tuple(
        file for file in workspace.list_files(path) if file.lower().endswith(SUFFIXES) and _holds_suite(workspace, file)
    )
    if not files:
        raise ConfigurationError(
            f"{path}: there is no verification suite in this directory.", hint="One begins with `verification: NAME`."
        )
    return files


def plan_suite(
    workspace: Workspace, suite: Suite, contracts: ContractSet | None, *, allow_commands: bool
) -> PlannedSuite:
    """A suite with the contract of each of its tools, and the cases that stand in those contracts.

    `contracts` are those that the suite names, or else those of the run.

    Raises:
        ConfigurationError: a tool has no contract, a call is against its schema, a command is not allowed.
    """
    faults: list[Finding] = []
    known = _by_name(contracts)
    found: dict[str, ToolContract] = {}
    tools: dict[str, ToolSpec] = {}
    for name, tool in suite.tools.items():
        contract = known.get(name)
        if contract is None:
            message = f"There is no contract of the tool `{name}`.{did_you_mean(name, known)}"
            faults.append(_fault(tool.location, message, "Name its file under `contracts:`."))
            continue
        found[name] = contract
        tools[name] = _with_valid_call(tool, contract, faults)
    if not allow_commands:
        faults += _commands(suite)
    cases = list(suite.cases)
    if not faults:
        for name, contract in found.items():
            cases += read_contract_cases(workspace, name, contract, suite)
    if faults:
        raise ConfigurationError(findings=faults)
    uses = suite.uses | {name for case in cases for name in _variables_of(case)}
    return PlannedSuite(suite=replace(suite, tools=tools, uses=uses), contracts=found, cases=tuple(cases))


def run_plan(plan: Plan, open_bench: OpenBench, note: Callable[[str], None]) -> Iterator[VerificationRecord]:
    """Run every suite, and give each case as it is done. A suite that cannot be started is unverified.

    So are the cases of contracts that belong to no suite.

    Raises:
        ConfigurationError: a command or module that a suite names is not there.
    """
    for planned in plan.suites:
        note(f"verifying {planned.suite.name}")
        for result in _results(planned, open_bench):
            yield to_record(result, planned.suite)
    yield from unrun_records(plan.unrun)


def to_record(result: CaseResult, suite: Suite) -> VerificationRecord:
    """A case's result as reports show it."""
    location = result.location or suite.location
    return {
        "id": f"{suite.name}/{result.id}",
        "tool_id": result.tool_id,
        "kind": result.kind,
        "name": result.name,
        "outcome": result.outcome.value,
        "reason": result.reason[:LONGEST_REASON],
        "checks": [
            {"name": check.name, "outcome": check.outcome.value, "reason": check.reason[:LONGEST_REASON]}
            for check in result.checks
        ],
        "file": location.file,
        "line": location.line,
        "duration_ms": result.duration_ms,
    }


def _results(planned: PlannedSuite, open_bench: OpenBench) -> Iterator[CaseResult]:
    count = 0
    try:
        with open_bench(planned) as bench:
            for result in run_suite(planned, bench):
                count += 1
                yield result
    except CannotVerify as problem:
        yield nothing_ran(planned, str(problem))
        return
    if not count:
        yield nothing_ran(planned, "the suite holds no case, and none is derived")


def _holds_suite(workspace: Workspace, file: str) -> bool:
    data = workspace.read_bytes(file)
    return b"verification" in data and any(is_suite_shape(each.value) for each in parse_documents(data, file))


def _by_name(contracts: ContractSet | None) -> dict[str, ToolContract]:
    """The newest version of every tool, by id and by name; an id wins over another tool's name."""
    newest = newest_tools(contracts) if contracts is not None else {}
    return {**{tool.name: tool for tool in newest.values()}, **newest}


def _with_valid_call(tool: ToolSpec, contract: ToolContract, faults: list[Finding]) -> ToolSpec:
    valid = tool.valid if tool.valid is not None else _example_call(contract)
    if valid is None:
        if _NEEDS_CALL & set(tool.derive):
            message = f"The tool `{tool.tool_id}` has no valid call, so nothing can be derived from its contract."
            faults.append(_fault(tool.location, message, "Give `valid: {...}`, or say `derive: []`."))
        return tool
    if not find_placeholders(valid):
        try:
            wrong = find_violations(contract.input_schema, dict(valid))
        except SchemaUnusable:
            wrong = ()
        if wrong:
            message = f"The valid call of `{tool.tool_id}` is against its own contract: {wrong[0]}."
            faults.append(_fault(tool.location, message, "Correct `valid`, or the contract."))
    return replace(tool, valid=valid)


def _example_call(contract: ToolContract) -> Mapping[str, Json] | None:
    for example in contract.examples if isinstance(contract.examples, list) else ():
        for key in _EXAMPLE_KEYS:
            if isinstance(example, Mapping) and isinstance(example.get(key), Mapping):
                return example[key]  # type: ignore[no-any-return]
    return None


def _variables_of(case: CaseSpec) -> Iterator[str]:
    parts = [case.arguments, case.key, case.context, list(case.provider), case.expect]
    return (placeholder.name for placeholder in find_placeholders(parts))


def _commands(suite: Suite) -> Iterator[Finding]:
    steps = [step for state in suite.states.values() for step in (*state.setup, *state.teardown)]
    for means in (*suite.start, *(tool.driver for tool in suite.tools.values()), *suite.probes.values(), *steps):
        if _runs_code(means):
            message = f"{_CODE[means.kind]} is named in a file, and running it is not allowed here."
            hint = "Set allow-commands to true if everyone who can change that file may run commands in this workflow."
            yield Finding(
                rule="commands-not-allowed",
                severity=Severity.ERROR,
                message=message,
                hint=hint,
                location=means.location,
            )


def _runs_code(means: Means) -> bool:
    return means.kind in ("service", "command", "python") or (means.kind == "mcp" and "command" in means.options)


def _fault(location: Location, message: str, hint: str) -> Finding:
    return Finding(rule=RULE, severity=Severity.ERROR, message=message, hint=hint, location=location)
