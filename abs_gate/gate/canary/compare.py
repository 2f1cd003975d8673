"""The verdict over a canary: continue, hold or roll back.

Roll back where a metric worsened by its threshold or more and chance does not explain that it worsened; continue
where every threshold is shown to be kept; hold everything else, as too little is known.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from enum import StrEnum
from fractions import Fraction
from typing import Literal, TypedDict

from abs_gate.errors import ConfigurationError
from abs_gate.gate.canary.metrics import Metric, Share, metrics_for
from abs_gate.gate.canary.records import RunRecord
from abs_gate.gate.statistics.comparisons import newcombe
from abs_gate.gate.statistics.intervals import Interval
from abs_gate.settings.model import CanarySettings


class CanaryVerdict(StrEnum):
    """What to do with the candidate."""

    CONTINUE = "continue"
    HOLD = "hold"
    ROLL_BACK = "roll back"

    @property
    def exit_code(self) -> int:
        """0 continue, 1 roll back, 3 hold: it could not be decided."""
        return {"continue": 0, "hold": 3, "roll back": 1}[self.value]


class MetricRecord(TypedDict):
    """One metric on both sides."""

    name: str
    words: str
    baseline: list[int]
    """Count and of how many."""
    candidate: list[int]
    difference: float | None
    """Candidate rate minus baseline rate."""
    interval: list[float] | None
    """Of the difference (Newcombe)."""
    threshold: float | None
    """The worsening that rolls back; None where none is set."""
    verdict: Literal["continue", "hold", "roll back", "not judged"]
    reason: str


class CanaryDocument(TypedDict):
    """What `abs-gate canary --format json` prints."""

    verdict: Literal["continue", "hold", "roll back"]
    exit_code: int
    owner: str
    reasons: list[str]
    runs: dict[str, int]
    contracts: dict[str, dict[str, int]]
    """Fingerprints seen on each side, with how many runs had them."""
    confidence: float
    metrics: list[MetricRecord]


def compare_canary(
    baseline: Sequence[RunRecord], candidate: Sequence[RunRecord], settings: CanarySettings | None
) -> CanaryDocument:
    """Compare two sets of execution records.

    Raises:
        ConfigurationError: no owner or no rollback threshold is configured, so nothing could be decided.
    """
    if settings is None or not settings.thresholds:
        raise ConfigurationError(
            "The canary has no rollback threshold, so it could not decide anything.",
            hint="Configure canary: {owner: …, thresholds: {missing_argument_rate: 2%, …}}.",
        )
    metrics = metrics_for(baseline, candidate)
    errors = sum(metric.name == "error_code_distribution" for metric in metrics)
    records = [
        _compare(metric, baseline, candidate, settings, errors if metric.name == "error_code_distribution" else 1)
        for metric in metrics
    ]
    verdict, reasons = _conclude(records, len(baseline), len(candidate), settings)
    return {
        "verdict": verdict.value,
        "exit_code": verdict.exit_code,
        "owner": settings.owner,
        "reasons": reasons,
        "runs": {"baseline": len(baseline), "candidate": len(candidate)},
        "contracts": {"baseline": _contracts(baseline), "candidate": _contracts(candidate)},
        "confidence": float(settings.confidence),
        "metrics": records,
    }


def _compare(
    metric: Metric,
    baseline: Sequence[RunRecord],
    candidate: Sequence[RunRecord],
    settings: CanarySettings,
    family: int,
) -> MetricRecord:
    """One metric; `family` is how many shares one threshold watches, which widens their intervals (Bonferroni)."""
    before, after = metric.of(baseline), metric.of(candidate)
    threshold = settings.thresholds.get(metric.name)
    record: MetricRecord = {
        "name": metric.name,
        "words": metric.words,
        "baseline": [before.count, before.of],
        "candidate": [after.count, after.of],
        "difference": None,
        "interval": None,
        "threshold": None if threshold is None else float(threshold),
        "verdict": "not judged" if threshold is None else "hold",
        "reason": "" if threshold is None else f"No record says anything of {metric.words}.",
    }
    if not before.of or not after.of:
        return record
    alpha = float(1 - settings.confidence) / family
    interval = newcombe(after.count, after.of, before.count, before.of, alpha)
    difference = after.count / after.of - before.count / before.of
    record["difference"], record["interval"] = difference, list(interval)
    if threshold is not None:
        verdict = _judge(metric.worse, difference, interval, threshold)
        record["verdict"] = verdict.value
        record["reason"] = _reason(metric, before, after, interval, threshold, verdict)
    return record


def _judge(worse: str, difference: float, interval: Interval, threshold: Fraction) -> CanaryVerdict:
    low, high = interval
    limit = float(threshold)
    if worse == "either":
        shifted = abs(difference) >= limit and not low <= 0 <= high
        kept = -limit < low and high < limit
    else:
        worsening, least, most = (difference, low, high) if worse == "up" else (-difference, -high, -low)
        shifted = worsening >= limit and least > 0
        kept = most < limit or most <= 0
    if shifted:
        return CanaryVerdict.ROLL_BACK
    return CanaryVerdict.CONTINUE if kept else CanaryVerdict.HOLD


def _reason(
    metric: Metric, before: Share, after: Share, interval: Interval, threshold: Fraction, verdict: CanaryVerdict
) -> str:
    seen = (
        f"{metric.words}: {_points(after)} (was {_points(before)}), "
        f"a change of {100 * interval[0]:+.1f} to {100 * interval[1]:+.1f} points"
    )
    limit = f"{100 * float(threshold):.3g} points"
    return {
        CanaryVerdict.ROLL_BACK: f"{seen}; {limit} roll back.",
        CanaryVerdict.HOLD: f"{seen}; whether it stays below {limit} is not shown yet.",
        CanaryVerdict.CONTINUE: f"{seen}; below {limit}.",
    }[verdict]


def _points(share: Share) -> str:
    return f"{share.count} of {share.of}"


def _conclude(
    records: Sequence[MetricRecord], baseline: int, candidate: int, settings: CanarySettings
) -> tuple[CanaryVerdict, list[str]]:
    reasons = {verdict: [r["reason"] for r in records if r["verdict"] == verdict.value] for verdict in CanaryVerdict}
    if reasons[CanaryVerdict.ROLL_BACK]:
        return CanaryVerdict.ROLL_BACK, reasons[CanaryVerdict.ROLL_BACK]
    few = [
        f"The {side} has {count} run{'' if count == 1 else 's'}, and {settings.min_records} are needed."
        for side, count in (("baseline", baseline), ("candidate", candidate))
        if count < settings.min_records
    ]
    if few or reasons[CanaryVerdict.HOLD]:
        return CanaryVerdict.HOLD, few + reasons[CanaryVerdict.HOLD]
    return CanaryVerdict.CONTINUE, ["Every rollback threshold is shown to be kept."]


def _contracts(runs: Sequence[RunRecord]) -> dict[str, int]:
    return dict(Counter(run.contract or "not recorded" for run in runs).most_common(20))
