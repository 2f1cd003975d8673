"""The list of all cases as compact data for the page's script, bounded in bytes, worst cases first."""

from __future__ import annotations

import json
from collections.abc import Iterator

from abs_gate.findings import Json
from abs_gate.gate.result import CaseRecord, ResultDocument, TrialRecord
from abs_gate.reports.selection import sort_sessions
from abs_gate.reports.transcript_text import step_text
from abs_gate.reports.untrusted import one_line

_OUTCOMES = ("passed", "failed", "unverified")
_CASES_BUDGET = 350_000
_STEPS_BUDGET = 150_000
_MAX_TRIALS = 100
_IN_SCRIPT = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"}


def cases_data(document: ResultDocument) -> str:
    """JSON for a `script` element of type application/json: it holds no `<`, so it can end no element.

    `sessions` are names, `reasons` distinct reasons; a case is [session, row, variables, trials], a trial
    [outcome, milliseconds, agent calls, reason, steps] with steps as lines of text, or none. A case shows at most
    a hundred trials; `left` counts the cases that had no room.
    """
    entries = [(session["name"], case) for session in sort_sessions(document["sessions"]) for case in session["cases"]]
    entries.sort(key=lambda entry: _rank(entry[1]))
    table = _Table()
    for name, case in entries:
        if not table.add(name, case):
            break
    data = {
        "sessions": list(table.names),
        "reasons": list(table.reasons),
        "cases": table.cases,
        "left": len(entries) - len(table.cases),
    }
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    return _inert(text)


def _inert(text: str) -> str:
    return "".join(_IN_SCRIPT.get(char, char) for char in text)


class _Table:
    """The cases so far, with what they cost."""

    def __init__(self) -> None:
        self.names: dict[str, int] = {}
        self.reasons: dict[str, int] = {"": 0}
        self.cases: list[Json] = []
        self._spent = 0
        self._steps_spent = 0

    def add(self, name: str, case: CaseRecord) -> bool:
        """Add a case; False when there is no room for it."""
        if self._spent > _CASES_BUDGET:
            return False
        variables = ", ".join(f"{name}={value}" for name, value in sorted(case["variables"].items()))
        trials = [self._trial(trial) for trial in case["trials"][:_MAX_TRIALS]]
        row: list[Json] = [self._number(self.names, one_line(name, 120)), case["row"], one_line(variables, 120), trials]
        self._spent += len(_inert(row[2]).encode()) + 20 + 30 * len(trials)
        self.cases.append(row)
        return True

    def _trial(self, trial: TrialRecord) -> Json:
        reason = self._number(self.reasons, one_line(trial["reason"], 300))
        row = [_OUTCOMES.index(trial["outcome"]), trial["duration_ms"], trial["agent_calls"], reason]
        steps = list(_steps(trial)) if self._steps_spent < _STEPS_BUDGET else []
        self._steps_spent += sum(len(_inert(line).encode()) + 3 for line in steps)
        return [*row, steps] if steps else row

    def _number(self, texts: dict[str, int], text: str) -> int:
        """The number of a text that is written once however often it is used."""
        if text not in texts:
            self._spent += len(_inert(text).encode()) + 3
            texts[text] = len(texts)
        return texts[text]


def _rank(case: CaseRecord) -> int:
    """Cases with a failed trial first, then with an unverified one."""
    outcomes = {trial["outcome"] for trial in case["trials"]}
    return 0 if "failed" in outcomes else 1 if "unverified" in outcomes else 2


def _steps(trial: TrialRecord) -> Iterator[str]:
    for step in (trial["transcript"] or [])[:100]:
        yield one_line(step_text(step, 200), 300)
