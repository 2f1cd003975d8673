"""The journal of a run: a line of JSON for every finished trial, from which an interrupted run goes on.

The first line says what run it belongs to. A line that was cut off when the run died counts as not written: that
trial runs again. Nothing that is written whole is run twice.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from typing import cast

from abs_gate.errors import ConfigurationError
from abs_gate.findings import Json
from abs_gate.gate.trial_note import TrialNote

_MOST_TRIALS = 1_000_000
_KEYS = frozenset(TrialNote.__required_keys__)
_OUTCOMES = ("passed", "failed", "unverified")
_RECORD_KEYS = frozenset({"outcome", "reason", "agent_calls", "unexpected_calls", "transcript"})


def run_identity(parts: Mapping[str, Json]) -> str:
    """What a run is, so that another one does not go on with its journal: policy, session hashes, agent, shard."""
    text = json.dumps(parts, sort_keys=True, separators=(",", ":"), default=str)
    return hashlib.sha256(text.encode()).hexdigest()


def header_line(identity: str) -> str:
    """The first line of a journal."""
    return json.dumps({"abs_gate_journal": 1, "identity": identity}) + "\n"


def note_line(note: TrialNote) -> str:
    """The line of a finished trial."""
    return json.dumps(note, ensure_ascii=False, default=str) + "\n"


class Resumed:
    """The trials that a journal holds; as bits per case, so that millions of rows fit."""

    def __init__(self) -> None:
        self._done: dict[str, int] = {}

    def add(self, note: TrialNote) -> bool:
        """Remember a trial. False when it is known already."""
        bit, known = 1 << note["trial"], self._done.get(note["case"], 0)
        if known & bit:
            return False
        self._done[note["case"]] = known | bit
        return True

    def has(self, case_id: str, trial: int) -> bool:
        """Whether this trial is done."""
        return bool(self._done.get(case_id, 0) >> trial & 1)


def read_journal(lines: Iterable[bytes], identity: str) -> Iterator[TrialNote]:
    """Every whole note of a journal, in order.

    Raises:
        ConfigurationError: it belongs to another run: sessions, policy, agent or shard are not the same.
    """
    header_seen = False
    for raw in lines:
        entry = _parse(raw)
        if not isinstance(entry, dict):
            continue
        if not header_seen:
            if entry.get("abs_gate_journal") != 1 or entry.get("identity") != identity:
                raise ConfigurationError(
                    "The journal belongs to another run: sessions, policy, agent or shard have changed since.",
                    hint="Run without --resume to start again.",
                )
            header_seen = True
        elif _is_note(entry):
            yield cast("TrialNote", entry)


def _is_note(entry: Mapping[str, Json]) -> bool:
    if not (entry.keys() >= _KEYS and isinstance(entry["record"], dict) and entry["record"].keys() >= _RECORD_KEYS):
        return False
    if entry["record"]["outcome"] not in _OUTCOMES or not isinstance(entry["case"], str):
        return False
    trial = entry["trial"]
    return isinstance(trial, int) and not isinstance(trial, bool) and 0 <= trial < _MOST_TRIALS


def _parse(raw: bytes) -> Json:
    try:
        return json.loads(raw)
    except (ValueError, RecursionError):
        return None
