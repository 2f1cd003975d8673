"""The comparison of a canary with its baseline, for a terminal and as Markdown."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from abs_gate.gate.canary.compare import CanaryDocument, MetricRecord
from abs_gate.reports.figures import count_of, percent
from abs_gate.reports.markdown_text import cell, code
from abs_gate.reports.options import ReportOptions
from abs_gate.reports.terminal import Paint, wrap
from abs_gate.reports.untrusted import one_line

_PAINTED_AS = {"continue": "passed", "hold": "unverified", "roll back": "failed", "not judged": "skipped"}
_ICONS = {"continue": "✅", "hold": "⚠️", "roll back": "❌", "not judged": "➖"}
_MEANING = {
    "continue": "The candidate may go on.",
    "hold": "Too little is known to go on or to roll back.",
    "roll back": "A metric worsened by its threshold or more, and chance does not explain it.",
}
_INDENT = " " * 14


def render_canary(document: CanaryDocument, options: ReportOptions) -> str:
    """The verdict, why, and every metric on both sides; with `quiet` the verdict and its reasons."""
    paint, width = Paint(enabled=options.color), options.width
    verdict = document["verdict"]
    first, *more = wrap(f"{verdict.upper()}: {_MEANING[verdict]} Decides: {_owner(document)}.", width, rest="  ")
    lines = [paint.outcome(_PAINTED_AS[verdict], first), *more]
    for reason in document["reasons"]:
        lines += wrap(one_line(reason, 400), width, first="  - ")
    if options.quiet:
        return "\n".join(lines) + "\n"
    lines += ["", *wrap(_sides(document), width)]
    for metric in document["metrics"]:
        lead = f"  {metric['verdict']:<12}"
        first, *more = wrap(f"{metric['name']}: {one_line(metric['words'], 200)}", width, first=lead)
        lines += [paint.outcome(_PAINTED_AS[metric["verdict"]], first), *more]
        lines += wrap(f"{_share(metric['baseline'])}, now {_share(metric['candidate'])}", width, first=_INDENT)
        if change := _change(metric, document["confidence"]):
            lines += wrap(change, width, first=_INDENT)
    for side in ("baseline", "candidate"):
        lines += ["", f"Contracts of the {side}", *_contracts(document["contracts"][side], width)]
    return "\n".join(lines) + "\n"


def render_canary_markdown(document: CanaryDocument) -> str:
    """The same with a table of the metrics."""
    verdict = document["verdict"]
    lines = [
        f"## {_ICONS[verdict]} Canary: {verdict}",
        "",
        f"{_MEANING[verdict]} Decides: {code(document['owner'])}.",
        "",
    ]
    lines += [f"- {code(reason, 400)}" for reason in document["reasons"]]
    lines += ["", _sides(document), ""]
    lines += ["| | Metric | Baseline | Candidate | Change | Rolls back at |", "|---|---|---|---|---|---|"]
    lines += [
        f"| {_ICONS[metric['verdict']]} {metric['verdict']} | {metric['name']}: {cell(metric['words'])} "
        f"| {_share(metric['baseline'])} | {_share(metric['candidate'])} "
        f"| {_change(metric, document['confidence'], limit=False) or '-'} | {_limit(metric) or '-'} |"
        for metric in document["metrics"]
    ]
    for side in ("baseline", "candidate"):
        lines += ["", f"Contracts of the {side}:", ""]
        lines += [f"- {code(name)}: {count_of(runs, 'run')}" for name, runs in document["contracts"][side].items()]
    return "\n".join(lines) + "\n"


def _owner(document: CanaryDocument) -> str:
    return one_line(document["owner"], 120)


def _sides(document: CanaryDocument) -> str:
    runs = document["runs"]
    return (
        f"{count_of(runs['baseline'], 'run')} of the baseline, {count_of(runs['candidate'], 'run')} of the candidate."
    )


def _share(counts: list[int]) -> str:
    count, of = counts
    return f"{count:,} of {of:,} ({percent(count / of)})" if of else "not recorded"


def _change(metric: MetricRecord, confidence: float, *, limit: bool = True) -> str:
    interval = metric["interval"]
    if interval is None or metric["difference"] is None:
        return ""
    low, high = interval
    change = f"{100 * metric['difference']:+.1f} points"
    text = f"{change} (at {percent(confidence)} confidence {100 * low:+.1f} to {100 * high:+.1f})"
    rolls_back = _limit(metric) if limit else ""
    return f"{text}; rolls back at {rolls_back}" if rolls_back else text


def _limit(metric: MetricRecord) -> str:
    threshold = metric["threshold"]
    return "" if threshold is None else f"{100 * threshold:.3g} points"


def _contracts(runs: Mapping[str, int], width: int) -> Iterator[str]:
    for name, count in runs.items():
        yield from wrap(f"{one_line(name, 120)}: {count_of(count, 'run')}", width, first="  ")
