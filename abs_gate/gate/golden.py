"""Which sessions are golden cases of which kind: as the configuration says, else as their behaviors show."""

from __future__ import annotations

import re
from collections.abc import Sequence

from abs_gate.gate.result import SessionRecord
from abs_gate.settings.matching import path_matches
from abs_gate.settings.model import EvidenceSettings

GOLDEN_KINDS = ("selection", "no_call", "missing_facts", "denied_authority", "recovery")

_BEHAVIORS = {
    "selection": re.compile(r"assistant (calls|submits|retrieves|stores|updates)\b"),
    "missing_facts": re.compile(r"assistant (asks|clarifies)\b"),
    "denied_authority": re.compile(r"assistant rejects\b"),
}
"""Behaviors that show a kind. Recovery shows in what a tool answers, which no label tells: it has to be named."""
_NO_CALL = re.compile(r"\bnever\b.*\bcalls\b", re.IGNORECASE)


def covered_by(kind: str, sessions: Sequence[SessionRecord], settings: EvidenceSettings) -> list[SessionRecord]:
    """The sessions that are golden cases of a kind; names in the configuration win over what can be seen."""
    named = settings.golden.get(kind)
    if named is not None:
        return [session for session in sessions if any(_is_named(session, name) for name in named)]
    return [session for session in sessions if _shows(kind, session)]


def _is_named(session: SessionRecord, name: str) -> bool:
    return session["name"] == name or path_matches(name, session["path"])


def _shows(kind: str, session: SessionRecord) -> bool:
    if kind == "no_call":
        return any(_NO_CALL.search(evaluation["label"]) for evaluation in session["evaluations"])
    pattern = _BEHAVIORS.get(kind)
    return pattern is not None and any(pattern.match(behavior["label"]) for behavior in session["behaviors"])
