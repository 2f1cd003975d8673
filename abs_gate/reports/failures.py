"""What did not pass in the sessions of a result, each with one trial that shows it, worst first."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal, TypeAlias

from msgspec import Struct

from abs_gate.gate.result import (
    BehaviorRecord,
    CaseRecord,
    MismatchRecord,
    ResultDocument,
    SessionRecord,
    TrialRecord,
)
from abs_gate.reports.selection import does_gate, sort_sessions

Part: TypeAlias = Literal["behavior", "session evaluation", "whole session"]
"""What of a session a record is about."""

_WHOLE = "the whole session"
"""What a mismatch says of itself when it is about no single behavior."""


class Example(Struct, frozen=True, kw_only=True):
    """One trial in which something did not pass."""

    case: CaseRecord
    number: int
    """Which trial of its case, from 1."""
    trial: TrialRecord
    mismatch: MismatchRecord
    turn: int | None
    """The turn of the conversation, from 1, where the transcript tells it."""

    @property
    def place(self) -> str:
        """`turn 2, row 3, trial 1`: as much as is known."""
        parts = [f"turn {self.turn}"] if self.turn is not None else []
        if self.case["row"] is not None:
            parts.append(f"row {self.case['row']}")
        parts.append(f"trial {self.number}")
        return ", ".join(parts)

    @property
    def key(self) -> int:
        """Tells trials apart: two examples of one trial need its transcript only once."""
        return id(self.trial)

    @property
    def check(self) -> str:
        """The evaluation of a behavior that did not pass, with its line; empty where the behavior did not match."""
        if not self.mismatch["where"].startswith("evaluation"):
            return ""
        line = self.mismatch["line"]
        return f"{self.mismatch['label']} (line {line})" if line else self.mismatch["label"]

    @property
    def sides(self) -> dict[str, str]:
        """`expected` and `observed`, as far as either is known."""
        sides = {"expected": self.mismatch["expected"], "observed": self.mismatch["observed"]}
        return {word: text for word, text in sides.items() if text}


class Failure(Struct, frozen=True, kw_only=True):
    """A behavior, a session-level evaluation or a whole session that did not always pass."""

    session: SessionRecord
    behavior: BehaviorRecord
    part: Part
    example: Example | None

    @property
    def gates(self) -> bool:
        """Whether it counts: its session did not pass and is not quarantined."""
        return does_gate(self.session)

    @property
    def reason(self) -> str:
        """The commonest reason, or the example's."""
        if self.behavior["reasons"]:
            return self.behavior["reasons"][0]
        if self.example:
            return self.example.mismatch["reason"]
        return self.session["reason"]

    @property
    def causes(self) -> list[str]:
        """The distinct reasons, but for those that only repeat the example's expected and observed."""
        reasons = self.behavior["reasons"] or ([self.reason] if self.reason else [])
        if self.example and len(self.example.sides) == 2:
            said = f"expected {self.example.mismatch['expected'][:80]}"
            reasons = [reason for reason in reasons if not reason.startswith(said)]
        return reasons[:4]


def behaviors_of(session: SessionRecord) -> Iterator[tuple[BehaviorRecord, Part]]:
    """Every behavior, then every session-level evaluation."""
    for behavior in session["behaviors"]:
        yield behavior, "behavior"
    for evaluation in session["evaluations"]:
        yield evaluation, "session evaluation"


def find_failures(document: ResultDocument) -> list[Failure]:
    """Everything that failed or could not be checked at least once, worst session first."""
    failures: list[Failure] = []
    for session in sort_sessions(document["sessions"]):
        found = [
            Failure(session=session, behavior=behavior, part=part, example=find_example(session, behavior, part))
            for behavior, part in behaviors_of(session)
            if behavior["failed"] or behavior["unverified"]
        ]
        found.sort(key=lambda f: (not f.behavior["failed"], f.part != "behavior", f.behavior["index"]))
        failures += [*found, *_of_whole(session, accounted_for=bool(found))]
    return failures


def _of_whole(session: SessionRecord, *, accounted_for: bool) -> Iterator[Failure]:
    """What is wrong with a session beyond its parts: unexpected calls, or a threshold that no part explains."""
    whole = _whole_session(session)
    example = find_example(session, whole, "whole session")
    if example or (does_gate(session) and not accounted_for):
        whole["reasons"] = [example.mismatch["reason"] if example else session["reason"]]
        yield Failure(session=session, behavior=whole, part="whole session", example=example)


def _whole_session(session: SessionRecord) -> BehaviorRecord:
    trials = session["trials"]
    return {
        "index": 0,
        "id": None,
        "file": session["path"],
        "line": session["line"],
        "label": _WHOLE,
        "passed": trials["passed"],
        "failed": trials["failed"],
        "skipped": 0,
        "inconclusive": 0,
        "unverified": trials["unverified"],
        "pass_rate": session["pass_rate"],
        "interval": session["interval"],
        "coverage": session["coverage"],
        "reasons": [],
        "outcome": session["outcome"],
    }


def find_example(session: SessionRecord, behavior: BehaviorRecord, part: Part) -> Example | None:
    """The first trial, failed before unverified, whose mismatches name this part."""
    found: Example | None = None
    for case in session["cases"]:
        for number, trial in enumerate(case["trials"], start=1):
            if trial["outcome"] == "passed":
                continue
            for mismatch in trial["mismatches"]:
                if not _is_about(mismatch, behavior, part):
                    continue
                turn = _turn_of(behavior, trial) if part == "behavior" else None
                example = Example(case=case, number=number, trial=trial, mismatch=mismatch, turn=turn)
                if mismatch["outcome"] == "failed":
                    return example
                found = found or example
    return found


def _is_about(mismatch: MismatchRecord, behavior: BehaviorRecord, part: Part) -> bool:
    """Whether a mismatch belongs to this part, by the number in its `where`, counted from 1."""
    if part == "whole session":
        return mismatch["where"] == _WHOLE
    named = re.search(r"\bsession evaluation (\d+)$|\bbehavior (\d+)$", mismatch["where"])
    if named is None:
        return False
    number = named[1] if part == "session evaluation" else named[2]
    return number is not None and int(number) == behavior["index"] + 1


def _turn_of(behavior: BehaviorRecord, trial: TrialRecord) -> int | None:
    """The turn a behavior belongs to: that of the last step an earlier or the same behavior matched or sent."""
    turn: int | None = None
    for step in trial["transcript"] or ():
        matched = step["behavior"]
        if matched is not None and matched <= behavior["index"]:
            turn = step["turn"]
    return turn
