"""The list of all cases as compact data for the page's script, bounded in bytes, worst cases first."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from abs_gate.gate.result import CaseRecord, ResultDocument, TrialRecord
from abs_gate.reports.selection import sort_sessions
from abs_gate.reports.transcript_text import step_text
from abs_gate.reports.untrusted import one_line

_OUTCOMES = ("passed", "failed", "unverified")
_CASES_BUDGET = 450_000
_STEPS_BUDGET = 250_000
_IN_SCRIPT = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"}


def cases_data(document: ResultDocument) -> str:
    """JSON for a `script` element of type application/json: it holds no `<`, so it can end no element.

    `sessions` are names, `reasons` distinct reasons; a case is [session, row, variables, trials], a trial
    [outcome, milliseconds, agent calls, reason, steps], where steps are lines of text or absent. `left` counts
    the cases that had no room.
    """
    names: list[str] = []
    reasons: dict[str, int] = {"": 0}
    entries: list[tuple[int, CaseRecord]] = []
    for number, session in enumerate(sort_sessions(document["sessions"])):
        names.append(one_line(session["name"], 120))
        entries += [(number, case) for case in session["cases"]]
    entries.sort(key=lambda entry: _rank(entry[1]))
    cases: list[Any] = []
    spent, steps_spent = 0, 0
    for number, case in entries:
        trials = []
        for trial in case["trials"]:
            steps = list(_steps(trial)) if steps_spent < _STEPS_BUDGET else []
            steps_spent += sum(len(line.encode()) + 3 for line in steps)
            reason = reasons.setdefault(one_line(trial["reason"], 300), len(reasons))
            row = [_OUTCOMES.index(trial["outcome"]), trial["duration_ms"], trial["agent_calls"], reason]
            trials.append([*row, steps] if steps else row)
        variables = ", ".join(f"{name}={value}" for name, value in sorted(case["variables"].items()))
        made = [number, case["row"], one_line(variables, 120), trials]
        spent += len(json.dumps(made))
        if spent > _CASES_BUDGET + steps_spent and cases:
            break
        cases.append(made)
    data = {"sessions": names, "reasons": list(reasons), "cases": cases, "left": len(entries) - len(cases)}
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    return "".join(_IN_SCRIPT.get(char, char) for char in text)


def _rank(case: CaseRecord) -> int:
    """Cases with a failed trial first, then with an unverified one."""
    outcomes = {trial["outcome"] for trial in case["trials"]}
    return 0 if "failed" in outcomes else 1 if "unverified" in outcomes else 2


def _steps(trial: TrialRecord) -> Iterator[str]:
    for step in (trial["transcript"] or [])[:100]:
        yield one_line(step_text(step, 200), 300)
