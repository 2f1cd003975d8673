"""Stopping a session when its outcome is decided: the same verdict as running everything, with fewer calls.

Trials under way when it is decided finish and are recorded, but change nothing. Looking after every trial is
allowed here because what decides is fixed beforehand by the number of trials planned, not by the moment of looking.
"""

from __future__ import annotations

from abs_gate.gate.policy import DecidingPolicy
from abs_gate.gate.standing import Counts, Rule
from abs_gate.outcomes import Outcome


class Curtailment:
    """Counts the trials of one session as they finish and says when none still to come can matter.

    Memory holds the rows under way, not those that are done. `observe` is called from one thread at a time.
    """

    def __init__(self, deciding: DecidingPolicy, *, planned_total: int, enabled: bool = True) -> None:
        self.rule = Rule(deciding)
        self.planned_total = planned_total
        self.decided_after: int | None = None
        self.stopped_by: Outcome | None = None
        self._enabled = enabled
        self._per_row = deciding.policy.per == "row"
        self._trials = deciding.trials
        self._counts = Counts()
        self._rows: dict[str, Counts] = {}
        self._decided_rows: set[str] = set()
        self._finished = 0

    def is_decided(self, case_id: str = "") -> bool:
        """Whether another trial (of this case, where each row is decided by itself) would change nothing."""
        return self.decided_after is not None or case_id in self._decided_rows

    def observe(self, case_id: str, outcome: Outcome, *, final: bool = False) -> bool:
        """Count a finished trial. False when it came after the decision and therefore changes nothing.

        `final` marks a trial that fails its session by itself.
        """
        self._finished += 1
        if self.is_decided(case_id):
            return False
        one = Counts.of(outcome)
        self._counts += one
        if not self._enabled:
            return True
        if final:
            self._decide(outcome)
        elif self._per_row:
            self._observe_row(case_id, one)
        elif self.rule.is_decided(self._counts, self.planned_total):
            self._decide(outcome)
        return True

    def close_case(self, case_id: str) -> None:
        """Forget a case whose trials are all done."""
        self._rows.pop(case_id, None)
        self._decided_rows.discard(case_id)

    def _observe_row(self, case_id: str, one: Counts) -> None:
        row = self._rows.get(case_id, Counts()) + one
        self._rows[case_id] = row
        if self.rule.is_decided(row, self._trials):
            self._decided_rows.add(case_id)
            if self.rule.standing(row, self._trials) is False:
                self._decide(Outcome.FAILED)

    def _decide(self, outcome: Outcome) -> None:
        if self._finished < self.planned_total:
            self.decided_after = self._finished
            self.stopped_by = outcome
