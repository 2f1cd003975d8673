"""Verification for a terminal: every case with its verdict, what did not pass in words, a summary."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from abs_gate.gate.result import ResultDocument, VerificationRecord
from abs_gate.reports.options import ReportOptions
from abs_gate.reports.selection import place_of
from abs_gate.reports.terminal import MIN_WIDTH, Paint, wrap
from abs_gate.reports.untrusted import one_line

_WORDS = {"passed": "PASS", "failed": "FAIL", "unverified": "????", "inconclusive": "????", "skipped": "skip"}
_COUNTED = {"passed": "PASS", "failed": "FAIL", "skipped": "skipped"}
_KINDS = {
    "input": "Arguments: refused before any effect where the contract forbids them",
    "provider": "Provider: results and errors as declared",
    "retry": "Retry safety: one write sent more than once",
    "adapter": "Adapter: one stable, safe result whatever the provider does",
    "claim": "Claims: what was said against what the system of record shows",
    "effect": "Effects: what changed, and what may not",
}
_LONGEST = 400
_MOST_CASES = 1_000


def render_verification(document: ResultDocument, options: ReportOptions) -> str:
    """The whole report; with `quiet` only what did not pass."""
    paint = Paint(enabled=options.color)
    width = max(options.width, MIN_WIDTH)
    records = document["verification"]
    shown = [each for each in records if not options.quiet or each["outcome"] != "passed"]
    lines: list[str] = []
    several = len({_suite(each) for each in records}) > 1
    for suite, own in groupby(shown[:_MOST_CASES], key=_suite):
        cases = sorted(own, key=_order)
        lines += [*wrap(f"== {one_line(suite, 120)}", width), ""] if several else []
        for kind, group in groupby(cases, key=lambda record: record["kind"]):
            lines.append(paint(_KINDS.get(kind, kind), "bold"))
            lines += [line for each in group for line in _case(each, width, paint)]
            lines.append("")
    if len(shown) > _MOST_CASES:
        lines += [f"and {len(shown) - _MOST_CASES:,} more (--format json shows all)", ""]
    if document["verdict"] == "cancelled":
        lines.append("The run was cancelled before it was done.")
    lines.append(paint.outcome(document["verdict"], _summary(records)))
    return "\n".join(lines) + "\n"


def _suite(record: VerificationRecord) -> str:
    return record["id"].partition("/")[0]


def _order(record: VerificationRecord) -> int:
    kinds = list(_KINDS)
    return kinds.index(record["kind"]) if record["kind"] in kinds else len(kinds)


def _case(record: VerificationRecord, width: int, paint: Paint) -> Iterator[str]:
    outcome = record["outcome"]
    title = one_line(record["name"], 160)
    if "/run/" not in record["id"]:
        title = f"{one_line(record['tool_id'], 60)}: {title}"
    first, *rest = wrap(title, width, first=f"  {_WORDS[outcome]}  ", rest="        ")
    yield paint.outcome(outcome, first)
    yield from rest
    for check in record["checks"]:
        if check["outcome"] in ("failed", "unverified", "inconclusive"):
            reason = f": {one_line(check['reason'], _LONGEST)}" if check["reason"] else ""
            yield from wrap(f"{one_line(check['name'], 120)}{reason}", width, first="        - ")
    if outcome in ("failed", "unverified", "inconclusive") and record["file"]:
        yield from wrap(place_of(record["file"], record["line"]), width, first="        ")


def _summary(records: list[VerificationRecord]) -> str:
    counts: dict[str, int] = {}
    for record in records:
        word = _COUNTED.get(record["outcome"], "could not be verified")
        counts[word] = counts.get(word, 0) + 1
    parts = [
        f"{counts[word]:,} {word}" for word in ("PASS", "FAIL", "could not be verified", "skipped") if word in counts
    ]
    return f"Summary: {len(records):,} checks, {', '.join(parts)}" if records else "Nothing was checked."
