"""A small scheduler that plays scripted trials through a tally, so that tests need no agent."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from fractions import Fraction

from abs_gate.conversation import Usage
from abs_gate.documents.model import Behavior, Case, Category, Evaluation, Session
from abs_gate.findings import Location
from abs_gate.gate.keeping import Keeper
from abs_gate.gate.plan import SessionPlan, plan_session
from abs_gate.gate.result import Metadata, SessionRecord
from abs_gate.gate.tally import SessionTally
from abs_gate.gate.trial_note import note_trial
from abs_gate.outcomes import Outcome
from abs_gate.runner.result import BehaviorResult, EvaluationResult, TrialResult
from abs_gate.settings.model import SessionPolicy, SessionsSettings
from abs_gate.trace import ObservedStep, StepKind, Trace

FORBIDDEN = "delete_account was called, and the policy forbids it."
OUTCOMES = {"X": Outcome.PASSED, "P": Outcome.PASSED, "F": Outcome.FAILED, "U": Outcome.UNVERIFIED}


def place(line: int = 1, file: str = "sessions/refund.abs.yaml") -> Location:
    return Location(file=file, line=line, column=1)


def session(name: str = "Refund", file: str = "sessions/refund.abs.yaml") -> Session:
    return Session(
        name=name,
        file=file,
        location=place(1, file),
        behaviors=(
            Behavior(
                index=0,
                actor="user",
                action="asks",
                category=Category.COMMUNICATION,
                content="A refund, please",
                location=place(3, file),
            ),
            Behavior(
                index=1,
                actor="assistant",
                action="calls",
                category=Category.EXECUTION,
                id="call",
                target="Order MCP",
                location=place(5, file),
            ),
        ),
        evaluations=(Evaluation(type="never", location=place(9, file), label="never calls delete"),),
    )


def trial(outcome: Outcome, reason: str = "expected Order MCP, saw nothing") -> TrialResult:
    told = "" if outcome is Outcome.PASSED else reason
    return TrialResult(
        outcome=outcome,
        reason=told,
        behaviors=(
            BehaviorResult(index=0, id=None, label="user asks", outcome=Outcome.PASSED, reason="", location=place(3)),
            BehaviorResult(
                index=1, id="call", label="assistant calls Order MCP", outcome=outcome, reason=told, location=place(5)
            ),
        ),
        evaluations=(
            EvaluationResult(
                index=0,
                type="never",
                label="never calls delete",
                outcome=Outcome.PASSED,
                reason="",
                location=place(9),
            ),
        ),
        trace=Trace(
            steps=(
                ObservedStep(index=0, turn=1, kind=StepKind.SENT, actor="user", action="asks", content="A refund"),
                ObservedStep(index=1, turn=1, kind=StepKind.TEXT, actor="assistant", action="says", content="Done."),
            )
        ),
        duration_ms=12,
        agent_calls=1,
        usage=Usage(input_tokens=10, output_tokens=5),
    )


def case_of(of: Session, row: int | None) -> Case:
    return Case(session=of, row=row, values={} if row is None else {"order": row}, id=f"{of.file}::{of.name}::{row}")


def play(
    rows: Sequence[str],
    *,
    early_stop: bool = True,
    at_once: int = 1,
    of: Session | None = None,
    keeper: Keeper | None = None,
    today: str = "2026-01-01",
    settings: SessionsSettings | None = None,
    stop_after: int | None = None,
    stop_reason: str = "",
    **policy: object,
) -> SessionRecord:
    """Run scripted trials (P, F, U; X makes a forbidden call), a text a row, `at_once` of them under way at a time."""
    trials = len(rows[0])
    if settings is None:
        settings = SessionsSettings(trials=trials, policy=(SessionPolicy(**policy),))  # type: ignore[arg-type]
    of = of or session()
    plan = plan_session(of, settings, cases=len(rows), today=today)
    tally = SessionTally(plan, keeper or Keeper(), early_stop=early_stop)
    under_way: deque[tuple[Case, int, str]] = deque()
    started = 0

    def finish_one() -> None:
        case, number, word = under_way.popleft()
        tally.add(note_trial(case, number, trial(OUTCOMES[word]), forbidden=(FORBIDDEN,) if word == "X" else ()))

    for index, row in enumerate(rows):
        case = case_of(of, index if len(rows) > 1 else None)
        for number, word in enumerate(row):
            if stop_after is not None and started >= stop_after:
                break
            while len(under_way) >= at_once:
                finish_one()
            if tally.wants(case.id):
                started += 1
                under_way.append((case, number, word))
    while under_way:
        finish_one()
    return tally.record(stop_reason=stop_reason)


def plan(cases: int = 1, trials: int = 3, **policy: object) -> SessionPlan:
    settings = SessionsSettings(trials=trials, policy=(SessionPolicy(**policy),))  # type: ignore[arg-type]
    return plan_session(session(), settings, cases=cases, today="2026-01-01")


def metadata() -> Metadata:
    return {
        "abs_gate_version": "0",
        "started": "2026-01-01T00:00:00Z",
        "duration_ms": 1,
        "agent_url": None,
        "agent_format": None,
        "model": None,
        "toolset_fingerprint": None,
        "policy_fingerprint": None,
        "session_hashes": {},
        "commit": None,
        "base": None,
        "agent_calls": 0,
        "usage": {},
        "versions": {},
    }


def rate(text: str) -> dict[str, object]:
    """The policy fields of a threshold."""
    number = Fraction(text.removesuffix("%")) / 100 if text.endswith("%") else Fraction(text)
    return {"pass_rate": number, "pass_rate_text": text}
