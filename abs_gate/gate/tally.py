"""Counting finished trials of a session as they come in, in memory that does not grow with them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from fractions import Fraction
from threading import Lock

from msgspec import Struct, field

from abs_gate.findings import Json
from abs_gate.gate.curtailment import Curtailment
from abs_gate.gate.keeping import Keeper
from abs_gate.gate.parts import PartCount
from abs_gate.gate.plan import SessionPlan
from abs_gate.gate.policy import to_record
from abs_gate.gate.result import CaseRecord, SessionRecord
from abs_gate.gate.settle import settle
from abs_gate.gate.standing import Counts
from abs_gate.gate.trial_note import TrialNote
from abs_gate.outcomes import Outcome
from abs_gate.settings.model import Quarantine

MOST_DISTINCT_CALLS = 100
"""Distinct tool names of unexpected calls, and distinct violations, counted of one session."""


class _OpenRow(Struct):
    """A case under way."""

    row: int | None = None
    gone: int = 0
    """Trials that finished or were skipped."""
    counts: Counts = field(default_factory=Counts)


class SessionTally:
    """One session. Trials are added in the order they finish, from any thread.

    The scheduler asks `wants` before it starts each trial. It should finish the trials of one case before it opens
    many others, as memory holds the cases under way.
    """

    def __init__(self, plan: SessionPlan, keeper: Keeper, *, early_stop: bool = True) -> None:
        self.plan = plan
        self.curtailment = Curtailment(plan.deciding, planned_total=plan.planned_total, enabled=early_stop)
        session = plan.session
        self._keeper = keeper
        self._behaviors = [
            PartCount(
                behavior.index,
                id=behavior.id,
                file=behavior.location.file,
                line=behavior.location.line,
                label=behavior.label,
            )
            for behavior in session.behaviors
        ]
        self._evaluations = [
            PartCount(
                index,
                id=None,
                file=evaluation.location.file,
                line=evaluation.location.line,
                label=evaluation.label or evaluation.type,
            )
            for index, evaluation in enumerate(session.evaluations)
        ]
        self._lock = Lock()
        self._open: dict[str, _OpenRow] = {}
        self._rows: Counter[tuple[int, int, int]] = Counter()
        self._lowest: tuple[Fraction, int, str, Counts] | None = None
        self._cases: dict[str, CaseRecord] = {}
        self._outcomes: Counter[str] = Counter()
        self._unexpected: Counter[str] = Counter()
        self._forbidden: Counter[str] = Counter()
        self._omitted = 0
        self._skipped = 0

    def wants(self, case_id: str) -> bool:
        """Whether a trial of this case is to be run; where not, it is counted as saved."""
        with self._lock:
            if not self.curtailment.is_decided(case_id):
                return True
            self._skipped += 1
            self._leave(case_id, self._open.setdefault(case_id, _OpenRow()))
            return False

    def add(self, note: TrialNote) -> None:
        """Count a finished trial."""
        with self._lock:
            self._add(note)

    def _add(self, note: TrialNote) -> None:
        record, case_id = note["record"], note["case"]
        outcome = Outcome(record["outcome"])
        decides = self.curtailment.observe(case_id, outcome, final=bool(note["forbidden"]))
        self._outcomes[record["outcome"]] += 1
        _count(self._unexpected, record["unexpected_calls"])
        _count(self._forbidden, dict.fromkeys(note["forbidden"]))
        for parts, noted in ((self._behaviors, note["behaviors"]), (self._evaluations, note["evaluations"])):
            for part in noted:
                if part["index"] < len(parts):
                    parts[part["index"]].add(part["outcome"], part["reason"])
        if not self._keeper.keep(note, self._cases, late=not decides):
            self._omitted += 1
        row = self._open.setdefault(case_id, _OpenRow())
        row.row = note["row"]
        if decides:
            row.counts += Counts.of(outcome)
        self._leave(case_id, row)

    def _leave(self, case_id: str, row: _OpenRow) -> None:
        """One trial of a case is gone; the case is closed with the last."""
        row.gone += 1
        if row.gone == self.plan.deciding.trials:
            self._close(case_id, row)

    def _close(self, case_id: str, row: _OpenRow) -> None:
        del self._open[case_id]
        self.curtailment.close_case(case_id)
        counts = row.counts
        if counts.run:
            self._rows[counts.passed, counts.failed, counts.unverified] += 1
        if counts.verified:
            standing = (Fraction(counts.passed, counts.verified), row.row or 0, case_id, counts)
            if self._lowest is None or standing[:3] < self._lowest[:3]:
                self._lowest = standing

    def record(self, *, stop_reason: str = "") -> SessionRecord:
        """The session's record, decided. `stop_reason` says why planned trials did not run, where they did not."""
        with self._lock:
            for case_id, row in list(self._open.items()):
                self._close(case_id, row)
        plan, run = self.plan, self._outcomes.total()
        decided = self.curtailment.decided_after is not None
        record: SessionRecord = {
            "name": plan.session.name,
            "path": plan.session.file,
            "line": plan.session.location.line,
            "critical": plan.policy.critical,
            "quarantined": plan.quarantined,
            "outcome": "unverified",
            "reason": "",
            "decide": plan.policy.decide,
            "trials": {
                "planned": plan.planned,
                "run": run,
                "passed": self._outcomes["passed"],
                "failed": self._outcomes["failed"],
                "unverified": self._outcomes["unverified"],
                "saved": plan.planned - run if decided else self._skipped,
            },
            "pass_rate": None,
            "interval": None,
            "lowest_row": self._lowest_row(),
            "coverage": None,
            "pass_hat_k": {},
            "pass_at_k": {},
            "required": "",
            "decided_after": self.curtailment.decided_after,
            "behaviors": [part.record() for part in self._behaviors],
            "evaluations": [part.record() for part in self._evaluations],
            # In the order of the rows, whatever finished first.
            "cases": sorted(self._cases.values(), key=lambda case: (case["row"] or 0, case["id"])),
            "unexpected_calls": dict(self._unexpected.most_common()),
            "forbidden_calls": dict(self._forbidden.most_common()),
            "policy": to_record(plan.deciding),
            "planned_total": plan.planned_total,
            "row_counts": [
                {"passed": passed, "failed": failed, "unverified": unverified, "rows": rows}
                for (passed, failed, unverified), rows in sorted(self._rows.items())
            ],
        }
        if self.curtailment.stopped_by is not None:
            record["stopped_by"] = "pass" if self.curtailment.stopped_by is Outcome.PASSED else "failure"
        if stop_reason:
            record["stop_reason"] = stop_reason
        if self._omitted:
            record["trials_omitted"] = self._omitted
        if plan.quarantine is not None:
            record["quarantine_note"] = quarantine_note(plan.quarantine, in_force=plan.quarantined)
        return settle(record)

    def _lowest_row(self) -> dict[str, Json] | None:
        if self._lowest is None or self.plan.cases_total < 2:
            return None
        _, row, case_id, counts = self._lowest
        return {"row": row, "case": case_id, "passed": counts.passed, "verified": counts.verified}


def _count(counts: Counter[str], words: Iterable[str]) -> None:
    for word in words:
        if word in counts or len(counts) < MOST_DISTINCT_CALLS:
            counts[word] += 1


def quarantine_note(quarantine: Quarantine, *, in_force: bool) -> str:
    """Who owns a quarantine, until when, and whether it still holds."""
    reason = f": {quarantine.reason}" if quarantine.reason else ""
    until = f"until {quarantine.until}" if in_force else f"ended on {quarantine.until}, so the session gates again"
    return f"Quarantined by {quarantine.owner}, {until}{reason}"
