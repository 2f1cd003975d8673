"""How much detail a result holds, so that a run of a million trials needs no more memory than one of a thousand."""

from __future__ import annotations

import json

from abs_gate.findings import Json
from abs_gate.gate.result import CaseRecord
from abs_gate.gate.trial_note import TrialNote

MOST_TRIALS = 20_000
"""Trial records of one run; beyond it trials are counted only."""
MOST_DETAIL_BYTES = 8 * 1024 * 1024
"""Of all transcripts, mismatches and variables of one run, as JSON; about ten times as much in memory."""


class Keeper:
    """Shared by all sessions of a run. What passed may take half of the room, so that failures find some."""

    def __init__(self, *, trials: int = MOST_TRIALS, detail_bytes: int = MOST_DETAIL_BYTES) -> None:
        self._trials = trials
        self._bytes = detail_bytes
        self._kept = 0
        self._kept_bytes = 0

    def keep(self, note: TrialNote, cases: dict[str, CaseRecord], *, late: bool) -> bool:
        """Add a trial to the cases, with its details where there is room. False when it is only counted."""
        record = note["record"]
        share = 2 if record["outcome"] == "passed" else 1
        if self._kept >= self._trials // share:
            return False
        case = cases.get(note["case"])
        if case is None:
            if not self._takes(note["variables"], share):
                return False
            case = cases[note["case"]] = {
                "id": note["case"],
                "row": note["row"],
                "variables": note["variables"],
                "trials": [],
            }
        self._kept += 1
        if not self._takes([record["transcript"], record["mismatches"]], share):
            record = {**record, "transcript": None, "mismatches": []}
        if late:
            record = {**record, "after_decision": True}
        case["trials"].append(record)
        return True

    def _takes(self, detail: Json, share: int) -> bool:
        """Whether there is room for a detail, which then takes it."""
        size = len(json.dumps(detail, ensure_ascii=False, default=str))
        if self._kept_bytes + size > self._bytes // share:
            return False
        self._kept_bytes += size
        return True
