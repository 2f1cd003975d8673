"""Outcomes of trials that were run elsewhere, as a result that every report can show.

Recognised: `{"rewards": {task: [0, 1, …]}}` as benchmark extracts have it, `{task: [true, false, …]}`, and a list of
`{"task_id": …, "reward": …}` with one entry a trial. A trial passed when its reward is 1 within 1e-6; null means
that it could not be verified.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping

from abs_gate.errors import ConfigurationError
from abs_gate.findings import Json
from abs_gate.gate.metadata import metadata_without_agent
from abs_gate.gate.policy import DecidingPolicy, to_record
from abs_gate.gate.result import CaseRecord, Metadata, ResultDocument, SessionRecord, TrialRecord
from abs_gate.gate.settle import settle
from abs_gate.gate.verdict import conclude
from abs_gate.outcomes import Outcome
from abs_gate.settings.model import SessionPolicy

_CLOSE = 1e-6
_LONGEST_NAME = 200


def import_outcomes(
    value: Json, *, name: str, metadata: Metadata | None = None, policy: SessionPolicy | None = None
) -> ResultDocument:
    """The result of recorded outcomes: one session, a case for every task.

    Raises:
        ConfigurationError: the value is in none of the recognised forms, or an outcome is neither passed nor failed.
    """
    policy = policy or SessionPolicy()
    cases = [_case(task, outcomes, name) for task, outcomes in _tasks(value, name).items()]
    counts = Counter(trial["outcome"] for case in cases for trial in case["trials"])
    longest = max(len(case["trials"]) for case in cases)
    rows = Counter(_counts(case) for case in cases)
    record: SessionRecord = {
        "name": name,
        "path": name,
        "line": None,
        "critical": policy.critical,
        "quarantined": False,
        "outcome": "unverified",
        "reason": "",
        "decide": policy.decide,
        "trials": {
            "planned": counts.total(),
            "run": counts.total(),
            "passed": counts["passed"],
            "failed": counts["failed"],
            "unverified": counts["unverified"],
            "saved": 0,
        },
        "pass_rate": None,
        "interval": None,
        "lowest_row": None,
        "coverage": None,
        "pass_hat_k": {},
        "pass_at_k": {},
        "required": "",
        "decided_after": None,
        "behaviors": [],
        "evaluations": [],
        "cases": cases,
        "unexpected_calls": {},
        "policy": to_record(DecidingPolicy(policy=policy, trials=longest)),
        "planned_total": counts.total(),
        "row_counts": [
            {"passed": passed, "failed": failed, "unverified": unverified, "rows": count}
            for (passed, failed, unverified), count in sorted(rows.items())
        ],
    }
    document: ResultDocument = {
        "schema_version": 1,
        "verdict": "unverified",
        "exit_code": 3,
        "reasons": [],
        "contracts": None,
        "verification": [],
        "sessions": [settle(record)],
        "metadata": metadata or metadata_without_agent(),
        "evidence": [],
    }
    return conclude(document)


def looks_like_outcomes(value: Json) -> bool:
    """Whether a parsed JSON document holds outcomes rather than a result of this program."""
    return _grouped(value) is not None


def _tasks(value: Json, name: str) -> Mapping[str, list[Json]]:
    tasks = _grouped(value)
    if tasks is None:
        raise ConfigurationError(
            f"{name} holds neither a result of abs-gate nor outcomes of trials.",
            hint='Outcomes are written {"task": [true, false]}, one entry a trial.',
        )
    return tasks


def _grouped(value: Json) -> Mapping[str, list[Json]] | None:
    if isinstance(value, list):
        return _by_task(value)
    if not isinstance(value, dict):
        return None
    inner = value.get("rewards", value)
    if isinstance(inner, dict) and inner and all(isinstance(row, list) and row for row in inner.values()):
        return inner
    return None


def _by_task(entries: list[Json]) -> Mapping[str, list[Json]] | None:
    grouped: dict[str, list[Json]] = {}
    for entry in entries:
        if not isinstance(entry, dict) or "task_id" not in entry or "reward" not in entry:
            return None
        grouped.setdefault(str(entry["task_id"]), []).append(entry["reward"])
    return grouped or None


def _case(task: str, outcomes: list[Json], name: str) -> CaseRecord:
    return {
        "id": task[:_LONGEST_NAME],
        "row": None,
        "variables": {"task": task[:_LONGEST_NAME]},
        "trials": [_trial(task, outcome, name) for outcome in outcomes],
    }


def _trial(task: str, reward: Json, name: str) -> TrialRecord:
    outcome = _outcome(task, reward, name)
    return {
        "outcome": outcome,  # type: ignore[typeddict-item]
        "reason": "" if outcome is Outcome.PASSED else f"reward {reward}" if reward is not None else "no reward",
        "duration_ms": 0,
        "agent_calls": 0,
        "unexpected_calls": [],
        "warnings": [],
        "steps": 0,
        "mismatches": [],
        "transcript": None,
    }


def _outcome(task: str, reward: Json, name: str) -> Outcome:
    if reward is None:
        return Outcome.UNVERIFIED
    if isinstance(reward, (bool, int, float)) and math.isfinite(reward) and -_CLOSE <= reward <= 1 + _CLOSE:
        return Outcome.PASSED if abs(reward - 1) <= _CLOSE else Outcome.FAILED
    raise ConfigurationError(f"{name}: task {task[:80]!r} has an outcome that is no reward from 0 to 1.")


def _counts(case: CaseRecord) -> tuple[int, int, int]:
    outcomes = Counter(trial["outcome"] for trial in case["trials"])
    return outcomes["passed"], outcomes["failed"], outcomes["unverified"]
