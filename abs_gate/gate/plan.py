"""What is going to run: each session with its policy, its cases and trials, checked before anything is sent."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

from msgspec import Struct
from msgspec.structs import replace

from abs_gate.documents.model import Session
from abs_gate.errors import ConfigurationError
from abs_gate.findings import Finding, Severity, sort_findings
from abs_gate.gate.policy import DecidingPolicy
from abs_gate.gate.standing import Rule
from abs_gate.gate.statistics.intervals import trials_to_prove, trials_to_refute
from abs_gate.gate.statistics.stopping import SequentialTest
from abs_gate.gate.statistics.thresholds import floor_percent
from abs_gate.gate.words import trials_word
from abs_gate.settings.matching import policy_for, quarantine_for
from abs_gate.settings.model import Quarantine, SessionPolicy, SessionsSettings

MOST_TRIALS = 100_000_000
"""Planned trials of one session."""


class SessionPlan(Struct, frozen=True, kw_only=True):
    """One session to run."""

    session: Session
    deciding: DecidingPolicy
    cases: int
    """Cases run here."""
    cases_total: int
    """Cases over all shards."""
    cases_hash: str = ""
    """Over the identities of all cases, so that another data set is told from this one."""
    quarantine: Quarantine | None = None
    quarantined: bool = False
    """Whether the quarantine is in force, so that the session does not gate."""

    @property
    def key(self) -> str:
        """What tells the session from all others of the run."""
        return session_key(self.session)

    @property
    def policy(self) -> SessionPolicy:
        """How it is decided."""
        return self.deciding.policy

    @property
    def planned(self) -> int:
        """Trials planned here."""
        return self.cases * self.deciding.trials

    @property
    def planned_total(self) -> int:
        """Trials planned over all shards."""
        return self.cases_total * self.deciding.trials


def session_key(session: Session) -> str:
    """What tells a session from all others of a run: its file, its name, and which of that name it is."""
    return f"{session.file}::{session.name}::{session.occurrence}"


def plan_session(
    session: Session,
    settings: SessionsSettings,
    *,
    cases: int,
    cases_total: int | None = None,
    cases_hash: str = "",
    today: str,
) -> SessionPlan:
    """The plan of a session. `today` is an ISO date: on and before its `until` a quarantine is in force."""
    policy = policy_for(settings, session.file)
    quarantine = quarantine_for(settings, session.name, session.file)
    return SessionPlan(
        session=session,
        deciding=DecidingPolicy(policy=policy, trials=policy.trials or settings.trials),
        cases=cases,
        cases_total=cases if cases_total is None else cases_total,
        cases_hash=cases_hash,
        quarantine=quarantine,
        quarantined=quarantine is not None and quarantine.holds(today),
    )


def check_plans(plans: Iterable[SessionPlan]) -> tuple[Finding, ...]:
    """Refuse plans that could decide nothing; of a session in quarantine, which decides nothing anyway, warn.

    Raises:
        ConfigurationError: no session, a session without cases, or trials too few to ever pass, or to ever fail,
            under its policy; says how many are needed.
    """
    plans = tuple(plans)
    if not plans:
        raise ConfigurationError(
            "No session was found, so nothing would be checked.",
            hint="Check sessions.paths, the selection and the filters.",
        )
    findings = [finding for plan in plans for finding in (*_nothing_to_run(plan), *_undecidable(plan))]
    if any(finding.severity is Severity.ERROR for finding in findings):
        raise ConfigurationError(findings=sort_findings(findings))
    return sort_findings(findings)


def shard_of(case_id: str, shards: int) -> int:
    """The shard, from 1, that runs a case: by hash, so that rows spread evenly and stay put when others come."""
    digest = hashlib.sha256(case_id.encode()).digest()
    return int.from_bytes(digest[:8], "big") % shards + 1


def _nothing_to_run(plan: SessionPlan) -> Iterable[Finding]:
    if plan.cases_total == 0:
        yield _finding(plan, "The session has no case to run: its dataset is empty, or the filters match no row.")
    elif plan.planned_total > MOST_TRIALS:
        yield _finding(plan, f"{plan.planned_total:,} trials are planned, and {MOST_TRIALS:,} are allowed.")


def _undecidable(plan: SessionPlan) -> Iterable[Finding]:
    severity = Severity.WARNING if plan.quarantined else Severity.ERROR
    return (replace(finding, severity=severity) for finding in _too_few_trials(plan))


def _too_few_trials(plan: SessionPlan) -> Iterable[Finding]:
    if not 0 < plan.planned_total <= MOST_TRIALS:
        return
    policy, n = plan.policy, plan.deciding.trials if plan.policy.per == "row" else plan.planned_total
    what = trials_word(n)
    cases = "1 case" if plan.cases_total == 1 else f"{plan.cases_total:,} cases"
    of = " of each row" if policy.per == "row" else f" ({cases}, {plan.deciding.trials:,} each)"
    if policy.decide == "demonstrated" and policy.pass_rate == 1:
        yield _finding(plan, "No number of trials demonstrates a rate of 100 %.", hint="Ask for less, or observe it.")
    elif policy.decide == "demonstrated":
        needed = trials_to_prove(policy.pass_rate, plan.deciding.alpha)
        one = trials_to_prove(policy.pass_rate, plan.deciding.alpha, 1)
        if n < needed:
            yield _finding(
                plan,
                f"{what}{of} can never demonstrate {policy.pass_rate_text} with "
                f"{floor_percent(1 - plan.deciding.alpha)} confidence.",
                hint=f"{needed} are needed when all pass, {one} when one fails. {_set_trials(plan, needed)}",
            )
    elif policy.decide == "not_worse" and Rule(plan.deciding).bounds(n).failures is None:
        needed = trials_to_refute(policy.pass_rate, plan.deciding.alpha)
        yield _finding(
            plan,
            f"{what}{of} could never fail: even if all failed, a rate of {policy.pass_rate_text} would not be refuted.",
            hint=f"{needed} are needed. {_set_trials(plan, needed)}",
        )
    elif policy.sequential is not None:
        test = policy.sequential
        shortest = SequentialTest(
            p0=float(test.p0), p1=float(test.p1), alpha=float(test.alpha), beta=float(test.beta)
        ).shortest_pass()
        if n < shortest:
            yield _finding(
                plan,
                f"{what}{of} can never pass this sequential test.",
                hint=f"{shortest} passes in a row are needed. {_set_trials(plan, shortest)}",
            )


def _set_trials(plan: SessionPlan, needed: int) -> str:
    cases = 1 if plan.policy.per == "row" else plan.cases_total
    return f"Set trials to {-(-needed // cases)} or more."


def _finding(plan: SessionPlan, message: str, *, hint: str = "") -> Finding:
    return Finding(
        rule="plan-decides-nothing",
        severity=Severity.ERROR,
        message=f"{plan.session.name}: {message}",
        location=plan.policy.location or plan.session.location,
        subject=plan.session.name,
        hint=hint,
    )
