"""Use case: run every planned trial, concurrently and within budgets, and count the results."""

from __future__ import annotations

import functools
from collections.abc import Iterator

from msgspec import Struct
from msgspec.structs import replace

from abs_gate.app.effects import SessionEffects, TrialFindings
from abs_gate.app.loading import LoadedRun
from abs_gate.app.metering import MeteredAgent
from abs_gate.app.pool import Pool
from abs_gate.app.ports import Clock, Journal, Progress
from abs_gate.app.traces import AssignedTraces
from abs_gate.conversation import Agent, Usage
from abs_gate.documents.datasets import iterate_cases
from abs_gate.documents.model import Case
from abs_gate.errors import Interrupted
from abs_gate.evaluators.judged import JudgePanel
from abs_gate.gate.budget import BudgetMeter
from abs_gate.gate.forbid import SafetySlice
from abs_gate.gate.keeping import Keeper
from abs_gate.gate.plan import SessionPlan, shard_of
from abs_gate.gate.result import SessionRecord
from abs_gate.gate.tally import SessionTally
from abs_gate.gate.trial_note import TrialNote, note_trial
from abs_gate.runner.loop import judge_trace, run_trial
from abs_gate.runner.options import RunOptions
from abs_gate.runner.result import TrialResult
from abs_gate.settings.model import Settings
from abs_gate.sources.workspace import Workspace


class Job(Struct, frozen=True, kw_only=True):
    """One trial to run."""

    plan: SessionPlan
    tally: SessionTally
    case: Case
    position: int
    """Place of the case in its session, from 0."""
    trial: int
    """Counts from 0 within its case."""


class SessionsOutcome(Struct, frozen=True, kw_only=True):
    """What running the sessions came to."""

    records: tuple[SessionRecord, ...]
    agent_calls: int
    usage: Usage
    models: tuple[str, ...]
    notices: tuple[str, ...] = ()
    cancelled: int | None = None
    """The signal that ended the run before it was done."""


class PlayedTrial(Struct, frozen=True, kw_only=True):
    """A trial's result, and what watching it gave."""

    result: TrialResult
    found: TrialFindings


class SessionRun:
    """Runs the plans of a loaded run against one agent."""

    def __init__(
        self,
        loaded: LoadedRun,
        *,
        workspace: Workspace,
        settings: Settings,
        agent: Agent,
        judges: JudgePanel | None,
        journal: Journal,
        progress: Progress,
        meter: BudgetMeter,
        clock: Clock,
        run_id: str,
        effects: SessionEffects,
        traces: AssignedTraces | None = None,
    ) -> None:
        self._loaded = loaded
        self._workspace = workspace
        self._settings = settings
        self._agent = MeteredAgent(agent, meter, clock)
        self._clock = clock
        self._journal = journal
        self._progress = progress
        self._meter = meter
        self._traces = traces
        self._effects = effects
        self._slices: dict[str, SafetySlice] = {}
        self._options = RunOptions(
            scope=loaded.scope,
            aliases=loaded.tools.aliases,
            handoff_tools=frozenset(settings.sessions.handoff_tools),
            judges=judges,
            tools=loaded.tools.offers if settings.agent.tools == "contracts" else (),
            example_results=loaded.tools.example_results,
            write_tools=loaded.tools.write_tools,
            max_rounds=settings.agent.max_rounds,
            session_timeout_s=settings.agent.session_timeout,
            run_id=f"{run_id}-",
        )
        self._usage = Usage()
        self._replayed_calls = 0
        self._models: dict[str, None] = {}
        self._stop_reason = ""

    def run(self) -> SessionsOutcome:
        """Run everything that is still worth running."""
        keeper = Keeper()
        # A recording is complete: which trials a replay wants first is not foreseen.
        early_stop = self._settings.sessions.early_stop and not self._settings.agent.record
        tallies = [SessionTally(plan, keeper, early_stop=early_stop) for plan in self._loaded.plans]
        planned = sum(plan.planned for plan in self._loaded.plans)
        by_session = {tally.plan.key: tally for tally in tallies}
        replayed = 0
        for note in self._journal.replay():
            if note["session"] in by_session:
                replayed += 1
                self._replayed_calls += note["record"]["agent_calls"]
                self._count_note(by_session[note["session"]], note, announce=False)
        if replayed:
            self._progress.note(f"{replayed:,} of {planned:,} trials were recorded by the earlier run")
        self._progress.plan(planned - replayed)
        pool: Pool[Job, PlayedTrial] = Pool(self._run_job, concurrency=self._concurrency())
        cancelled = None
        try:
            for job, played in pool.run(self._jobs(tallies)):
                self._count(job, played)
        except Interrupted as interrupted:
            cancelled = interrupted.signal_exit_code - 128
            self._stop_reason = "the run was cancelled"
        return SessionsOutcome(
            records=tuple(tally.record(stop_reason=self._stop_reason) for tally in tallies),
            agent_calls=self._replayed_calls + self._meter.agent_calls,
            usage=self._usage,
            models=tuple(self._models),
            notices=(self._stop_reason,) if self._stop_reason else (),
            cancelled=cancelled,
        )

    @staticmethod
    def nothing_ran(loaded: LoadedRun, *, reason: str) -> SessionsOutcome:
        """The outcome where no trial could even be started."""
        keeper = Keeper()
        return SessionsOutcome(
            records=tuple(SessionTally(plan, keeper).record(stop_reason=reason) for plan in loaded.plans),
            agent_calls=0,
            usage=Usage(),
            models=(),
            notices=(reason,),
        )

    def _jobs(self, tallies: list[SessionTally]) -> Iterator[Job]:
        """Trials in order, pulled just before each starts: what is decided or over budget is never begun."""
        for tally in tallies:
            for position, case in enumerate(self._cases(tally.plan)):
                for trial in range(tally.plan.deciding.trials):
                    if not self._journal.has(case.id, trial) and tally.wants(case.id):
                        if reason := self._meter.stop_reason(self._clock.monotonic()):
                            self._stop_reason = reason
                            return
                        yield Job(plan=tally.plan, tally=tally, case=case, position=position, trial=trial)

    def _concurrency(self) -> int:
        """One at a time where nothing is waited for: recorded traffic then gives the same result, byte for byte."""
        is_recorded = self._traces is not None or self._settings.agent.format == "replay"
        return 1 if is_recorded else self._settings.sessions.concurrency

    def _cases(self, plan: SessionPlan) -> Iterator[Case]:
        sessions = self._settings.sessions
        shard = sessions.shard
        for case in iterate_cases(plan.session, self._workspace, dataset=sessions.dataset, filters=sessions.filters):
            if shard is None or shard_of(case.id, shard[1]) == shard[0]:
                yield case

    def _run_job(self, job: Job) -> PlayedTrial:
        with self._effects.turn(job.plan):
            watch = self._effects.watch(job.plan, job.case)
            result = self._play(job)
            return PlayedTrial(result=result, found=self._effects.findings(job.plan, watch, result.trace))

    def _play(self, job: Job) -> TrialResult:
        options = replace(
            self._session_options(job.plan.policy.unexpected_calls),
            trial_key=f"{job.case.id}-{job.trial}",
        )
        if self._traces is not None:
            return judge_trace(job.case, self._traces.find(job.plan, job.position, job.trial), options)
        return run_trial(job.case, self._agent, options)

    @functools.cache  # noqa: B019  # two values at most, and the run lives as long as they are needed
    def _session_options(self, unexpected_calls: str) -> RunOptions:
        return replace(self._options, unexpected_calls=unexpected_calls)

    def _slice(self, plan: SessionPlan) -> SafetySlice:
        """What the session's policy forbids; attempts count even when they were blocked."""
        known = self._slices.get(plan.key)
        if known is None:
            tools = self._loaded.tools
            known = SafetySlice(plan.policy.forbid, effects=tools.effects, aliases=tools.aliases)
            self._slices[plan.key] = known
        return known

    def _count(self, job: Job, played: PlayedTrial) -> None:
        result = played.result
        forbidden = self._slice(job.plan).violations(result.trace) if job.plan.policy.forbid else ()
        note = note_trial(
            job.case,
            job.trial,
            result,
            transcripts=self._settings.sessions.transcripts,
            forbidden=(*forbidden, *played.found.attempts),
            effects=played.found.checks,
        )
        if note["record"]["outcome"] == "unverified" and (reason := self._meter.stop_reason(self._clock.monotonic())):
            # A trial that a spent budget cut short counts as not run: a resumed run with more to spend runs it.
            self._stop_reason = reason
            self._usage += result.usage
            return
        self._journal.append(note)
        self._count_note(job.tally, note, announce=True)

    def _count_note(self, tally: SessionTally, note: TrialNote, *, announce: bool) -> None:
        self._usage += Usage(input_tokens=note["input_tokens"], output_tokens=note["output_tokens"])
        if note["model"]:
            self._models[note["model"]] = None
        tally.add(note)
        if announce:
            record = note["record"]
            self._progress.trial_done(tally.plan.session.name, record["outcome"], record["reason"])
