"""Runs one suite: derived cases, written cases, adapters, recorded runs, each in its state."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from msgspec import Struct

from abs_gate.contracts.model import ToolContract
from abs_gate.documents.variables import VariableError
from abs_gate.errors import CannotVerify
from abs_gate.findings import Location
from abs_gate.outcomes import Outcome
from abs_gate.verification.adapter import AdapterChecks
from abs_gate.verification.cases import verify_case
from abs_gate.verification.inputs import verify_inputs
from abs_gate.verification.model import Bench, CaseResult, Check
from abs_gate.verification.outputs import verify_errors, verify_output
from abs_gate.verification.recorded_run import verify_run
from abs_gate.verification.retry import verify_retry
from abs_gate.verification.subject import Subject, fill_fresh
from abs_gate.verification.suite import CaseSpec, Means, Suite, ToolSpec


class PlannedSuite(Struct, frozen=True, kw_only=True):
    """A suite with the contract of each of its tools."""

    suite: Suite
    contracts: Mapping[str, ToolContract]
    """By the name that the suite gives the tool."""
    cases: Sequence[CaseSpec]
    """The suite's own, and those of its contracts."""


def run_suite(planned: PlannedSuite, bench: Bench) -> Iterator[CaseResult]:
    """Every case of the suite, in order. What cannot be run is unverified; nothing that is due is left out."""
    run = _SuiteRun(planned, bench)
    suite = planned.suite
    for name, tool in suite.tools.items():
        yield from run.derived(name, tool)
    for case in planned.cases:
        yield from run.written(case)
    for adapter in suite.adapters:
        subject = run.subjects[adapter.tool]
        state = adapter.state or suite.tools[adapter.tool].state
        checks = AdapterChecks(adapter, subject, bench, lambda state=state: run.enter(state))  # type: ignore[misc]
        yield from run.guarded(checks.run(), subject, "adapter", adapter.location)
        run.leave(state)
    for name, tool in suite.tools.items():
        if "errors" in tool.derive:
            yield from verify_errors(run.subjects[name])
    if suite.run is not None:
        yield from run.recorded()


def nothing_ran(planned: PlannedSuite, reason: str) -> CaseResult:
    """The one result of a suite that could not be started."""
    suite = planned.suite
    return CaseResult(
        id=f"{suite.name}/start",
        tool_id=", ".join(suite.tools) or suite.name,
        kind="provider",
        name=suite.name,
        checks=(Check(name="start", outcome=Outcome.UNVERIFIED, reason=reason),),
        location=suite.location,
    )


class _SuiteRun:
    def __init__(self, planned: PlannedSuite, bench: Bench) -> None:
        self._planned = planned
        self._suite = planned.suite
        self._bench = bench
        self.subjects = {name: self._subject(name, tool) for name, tool in planned.suite.tools.items()}

    def derived(self, name: str, tool: ToolSpec) -> Iterator[CaseResult]:
        subject = self.subjects[name]
        groups: dict[str, Callable[[], Iterator[CaseResult]]] = {
            "input": lambda: verify_inputs(subject),
            "output": lambda: iter([verify_output(subject)]),
            "retry": lambda: iter([] if subject.is_read_only else [verify_retry(subject)]),
        }
        for kind, cases in groups.items():
            if kind in tool.derive:
                yield from self.guarded(cases(), subject, kind, tool.location)
        self.leave(tool.state)

    def written(self, case: CaseSpec) -> Iterator[CaseResult]:
        subject = self.subjects[case.tool]
        state = case.state or self._suite.tools[case.tool].state

        def run() -> Iterator[CaseResult]:
            self.enter(state)
            yield verify_case(case, subject, self._bench)

        yield from self.guarded(run(), subject, case.kind, case.location, case.name)
        self.leave(state)

    def recorded(self) -> Iterator[CaseResult]:
        run = self._suite.run
        assert run is not None

        def cases() -> Iterator[CaseResult]:
            self.enter(run.state)
            yield from verify_run(run, self.subjects, self._bench)

        first = self.subjects[run.calls[0].tool]
        yield from self.guarded(cases(), first, "claim", run.calls[0].location, "recorded run")
        self.leave(run.state)

    def guarded(
        self, cases: Iterator[CaseResult], subject: Subject, kind: str, location: Location, name: str = ""
    ) -> Iterator[CaseResult]:
        """The cases; where they cannot go on, one more that says why."""
        try:
            yield from cases
        except (CannotVerify, VariableError) as problem:
            tool_id = subject.contract.tool_id
            yield CaseResult(
                id=f"{tool_id}/{kind}/{name or 'stopped'}",
                tool_id=tool_id,
                kind=kind,
                name=name or f"{kind} checks could not go on",
                checks=(Check(name="run", outcome=Outcome.UNVERIFIED, reason=str(problem)),),
                location=location,
            )

    def enter(self, state: str | None) -> None:
        """Bring a state about. Raises CannotVerify."""
        if state is not None:
            self._steps(self._suite.states[state].setup)

    def leave(self, state: str | None) -> None:
        """End a state; what goes wrong here is noticed by the set-up of the next."""
        if state is not None:
            try:
                self._steps(self._suite.states[state].teardown)
            except CannotVerify:
                return

    def _steps(self, steps: Sequence[Means]) -> None:
        for step in steps:
            if step.kind == "tool":
                options = self._bench.scope.resolve(step.options)
                subject = self.subjects[options["name"]]
                arguments = fill_fresh(options.get("arguments") or {})
                key = options.get("key")
                answer = subject.driver.call(arguments) if key is None else subject.call(arguments, key)
                if answer.is_refusal:
                    raise CannotVerify(f"{step.location}: the step was refused: {answer.message or answer.code}")
            else:
                self._bench.do(step)

    def _subject(self, name: str, tool: ToolSpec) -> Subject:
        return Subject(
            contract=self._planned.contracts[name],
            driver=self._bench.driver(name),
            probe=None if tool.probe is None else self._bench.probe(tool.probe),
            valid=None if tool.valid is None else self._bench.scope.resolve(tool.valid),
            vary=None if tool.vary is None else self._bench.scope.resolve(tool.vary),
            refusal=tool.refusal,
            reset=lambda: self.enter(tool.state),
        )
