"""How much detail a result holds, so that a run of a million trials needs no more memory than one of a thousand."""

from __future__ import annotations

import json

from abs_gate.gate.result import CaseRecord
from abs_gate.gate.trial_note import TrialNote

MOST_TRIALS = 20_000
"""Trial records of one run; beyond it trials are counted only."""
MOST_TRANSCRIPT_BYTES = 32 * 1024 * 1024
"""Of all transcripts of one run."""


class Keeper:
    """Shared by all sessions of a run. What passed may take half of the room, so that failures find some."""

    def __init__(self, *, trials: int = MOST_TRIALS, transcript_bytes: int = MOST_TRANSCRIPT_BYTES) -> None:
        self._trials = trials
        self._bytes = transcript_bytes
        self._kept = 0
        self._kept_bytes = 0

    def keep(self, note: TrialNote, cases: dict[str, CaseRecord], *, late: bool) -> bool:
        """Add a trial to the cases, with its transcript where there is room. False when it is only counted."""
        record = note["record"]
        share = 2 if record["outcome"] == "passed" else 1
        if self._kept >= self._trials // share:
            return False
        self._kept += 1
        transcript = record["transcript"]
        if transcript is not None:
            size = len(json.dumps(transcript, ensure_ascii=False, default=str))
            if self._kept_bytes + size > self._bytes // share:
                record = {**record, "transcript": None}
            else:
                self._kept_bytes += size
        if late:
            record = {**record, "after_decision": True}
        case = cases.get(note["case"])
        if case is None:
            case = cases[note["case"]] = {
                "id": note["case"],
                "row": note["row"],
                "variables": note["variables"],
                "trials": [],
            }
        case["trials"].append(record)
        return True
