"""Comparing a run with the result of its base: what changed, what was shown, and what could have been shown."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from fractions import Fraction

from msgspec import Struct

from abs_gate.findings import Json
from abs_gate.gate.result import ResultDocument, SessionRecord
from abs_gate.gate.statistics.comparisons import (
    detectable_passes,
    mcnemar_less,
    mcnemar_mid_p,
    newcombe,
    regression_p,
)
from abs_gate.gate.statistics.multiple import benjamini_hochberg, holm
from abs_gate.gate.statistics.thresholds import floor_percent

LEVEL = 0.05
"""Holm-adjusted p up to which a drop counts as shown."""

SessionKey = tuple[str, str, int]


class _Comparison(Struct, frozen=True, kw_only=True):
    head: SessionRecord
    base: SessionRecord
    p: float
    method: str
    mid_p: float | None = None
    """Two-sided mid-p of paired rows."""


def session_keys(sessions: Iterable[SessionRecord]) -> list[SessionKey]:
    """What a session is recognised by in another result: file, name, and which of that name in the file it is."""
    seen: dict[tuple[str, str], int] = defaultdict(int)
    keys = []
    for session in sessions:
        seen[session["path"], session["name"]] += 1
        keys.append((session["path"], session["name"], seen[session["path"], session["name"]]))
    return keys


def compare_with_baseline(sessions: Sequence[SessionRecord], baseline: ResultDocument) -> list[SessionRecord]:
    """The sessions with their change against the baseline, where both have verdicts.

    A drop counts as a regression only where a one-sided exact test at 5 %, adjusted over all sessions by Holm,
    shows it; where the session's policy gates on it, it then fails.
    """
    before = dict(zip(session_keys(baseline["sessions"]), baseline["sessions"], strict=True))
    comparisons = {
        index: _compare(session, before[key])
        for index, (key, session) in enumerate(zip(session_keys(sessions), sessions, strict=True))
        if key in before and _verified(session) and _verified(before[key])
    }
    p_values = [comparison.p for comparison in comparisons.values()]
    adjusted = dict(zip(comparisons, zip(holm(p_values), benjamini_hochberg(p_values), strict=True), strict=True))
    return [
        _annotate(comparisons[index], *adjusted[index]) if index in comparisons else session
        for index, session in enumerate(sessions)
    ]


def _compare(head: SessionRecord, base: SessionRecord) -> _Comparison:
    pairs = _paired_rows(head, base)
    if pairs is not None:
        fixed, broken = pairs
        p, mid_p = mcnemar_less(fixed, broken), mcnemar_mid_p(fixed, broken)
        return _Comparison(head=head, base=base, p=p, method="mcnemar_exact", mid_p=mid_p)
    p = regression_p(head["trials"]["passed"], _verified(head), base["trials"]["passed"], _verified(base))
    return _Comparison(head=head, base=base, p=p, method="boschloo")


def _annotate(comparison: _Comparison, adjusted: float, discovery_rate: float) -> SessionRecord:
    head, base = comparison.head, comparison.base
    passed, n = head["trials"]["passed"], _verified(head)
    base_passed, base_n = base["trials"]["passed"], _verified(base)
    regression = adjusted <= LEVEL
    most = detectable_passes(n, base_passed, base_n, LEVEL)
    change: dict[str, Json] = {
        "state": _state(comparison, regression=regression),
        "regression": regression,
        "p": comparison.p,
        "p_adjusted": adjusted,
        "q": discovery_rate,
        "mid_p": comparison.mid_p,
        "method": comparison.method,
        "base_passed": base_passed,
        "base_verified": base_n,
        "base_outcome": base["outcome"],
        "difference": passed / n - base_passed / base_n,
        "interval": list(newcombe(passed, n, base_passed, base_n)),
        "detectable": None if most is None else base_passed / base_n - most / n,
    }
    record: SessionRecord = {**head, "baseline": change}
    if regression and head["policy"]["baseline"] == "gate" and head["outcome"] == "passed":
        record["outcome"] = "failed"
        record["reason"] = (
            f"{floor_percent(Fraction(passed, n))} of trials passed, and "
            f"{floor_percent(Fraction(base_passed, base_n))} did on the base: "
            f"a drop that chance does not explain (p = {adjusted:.3g})."
        )
    return record


def _state(comparison: _Comparison, *, regression: bool) -> str:
    """new_failure, fixed, still_failing, flaky (changed, and chance explains it) or same."""
    before, after = comparison.base["outcome"] == "passed", comparison.head["outcome"] == "passed"
    if before == after:
        return "same" if after else "still_failing"
    mixed = _is_mixed(comparison.head) or _is_mixed(comparison.base)
    if before:
        return "flaky" if mixed and not regression else "new_failure"
    improved = _improvement_shown(comparison)
    return "flaky" if mixed and not improved else "fixed"


def _improvement_shown(comparison: _Comparison) -> bool:
    head, base = comparison.head["trials"], comparison.base["trials"]
    p = regression_p(base["passed"], _verified(comparison.base), head["passed"], _verified(comparison.head))
    return p <= LEVEL


def _is_mixed(session: SessionRecord) -> bool:
    """Whether one and the same case both passed and failed."""
    return any(row["passed"] and row["failed"] for row in session["row_counts"])


def _verified(session: SessionRecord) -> int:
    return session["trials"]["passed"] + session["trials"]["failed"]


def _paired_rows(head: SessionRecord, base: SessionRecord) -> tuple[int, int] | None:
    """Rows fixed and broken, where both results have the same rows with one verdict each; else None."""
    after, before = _single_verdicts(head), _single_verdicts(base)
    if after is None or before is None or len(after) < 2 or after.keys() != before.keys():
        return None
    fixed = sum(after[case] and not before[case] for case in after)
    broken = sum(before[case] and not after[case] for case in after)
    return fixed, broken


def _single_verdicts(session: SessionRecord) -> dict[str, bool] | None:
    if session.get("trials_omitted") or session["policy"]["trials"] != 1 or session["trials"]["unverified"]:
        return None
    return {case["id"]: case["trials"][0]["outcome"] == "passed" for case in session["cases"] if case["trials"]}
