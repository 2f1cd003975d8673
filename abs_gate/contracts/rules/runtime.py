"""Runtime limits: deadlines, rates, concurrency, sizes, retries, cost."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from abs_gate.contracts.effective import effective_hints, writes
from abs_gate.contracts.facts import ToolFact, ToolPair
from abs_gate.contracts.limits import read_limit
from abs_gate.contracts.model import Classification
from abs_gate.contracts.rules.registry import BREAKING, COMPATIBLE, REVIEW, SAFETY, tool_rule
from abs_gate.contracts.schemas.values import same
from abs_gate.contracts.wording import named, show
from abs_gate.findings import Json

AREA = "runtime"
_CALLERS = ("saved_runs", "adapter")
_KEEP = "Keep the limit, or announce it in a new tool version."


class _Limit(NamedTuple):
    """A kind of limit, told by its key, and what a lower and a higher one mean."""

    key: re.Pattern[str]
    name: str
    what: str
    example: str
    low: Classification
    low_effect: str
    high: Classification
    high_effect: str
    affects: tuple[str, ...]
    words: tuple[str, str] = ("lowered", "raised")


def _limit(pattern: str, name: str, what: str, example: str) -> Callable[..., _Limit]:
    def with_effects(
        low: tuple[Classification, str],
        high: tuple[Classification, str],
        affects: tuple[str, ...] = _CALLERS,
        words: tuple[str, str] = ("lowered", "raised"),
    ) -> _Limit:
        return _Limit(re.compile(pattern), name, what, example, *low, *high, affects, words)

    return with_effects


_HARMLESS = (COMPATIBLE, "Callers have more room.")
_LIMITS = (
    _limit(r"deadline|timeout", "deadline", "The time a call may take", "deadline_ms")(
        (BREAKING, "Calls that finished in time are cut off, and of a write nobody knows whether it was applied."),
        (COMPATIBLE, "Callers may wait longer; see that their own deadlines are longer still."),
        words=("shortened", "lengthened"),
    ),
    _limit(r"rate", "rate_limit", "The rate of calls", "rate_limit")(
        (BREAKING, "Runs that kept within the old rate are refused."), _HARMLESS
    ),
    _limit(r"concurren|parallel", "concurrency", "The number of calls at a time", "max_concurrency")(
        (BREAKING, "Calls that ran side by side are refused or queue up."), _HARMLESS
    ),
    _limit(r"retr(y|ies)|attempts", "retries", "The number of repeats", "max_retries")(
        (COMPATIBLE, "A failure shows sooner."),
        (REVIEW, "A call is repeated more often. For a write that is not idempotent this is safety-breaking."),
        affects=("recovery_policy",),
    ),
    _limit(r"cost|price|budget", "cost_ceiling", "The cost of a call", "max_cost")(
        (BREAKING, "Calls that were within the ceiling are refused."),
        (REVIEW, "A run may cost more than was agreed."),
        affects=("approval_policy",),
    ),
    _limit(r"(output|result|response)", "output_limit", "The size of a result", "max_output_bytes")(
        (BREAKING, "Results are cut short, and what was read from their end is missing."),
        (REVIEW, "A larger result takes more of the model's context, and costs more."),
        affects=("consumers",),
    ),
    _limit(r"(input|request|page|batch|payload|size|items|rows|bytes|tokens)", "input_limit", "The size of a call",
           "max_input_bytes")(
        (BREAKING, "Calls that were small enough are refused."), _HARMLESS
    ),
)  # fmt: skip


def _kind_of(key: str) -> _Limit | None:
    return next((limit for limit in _LIMITS if limit.key.search(key.lower())), None)


def _changes(pair: ToolPair) -> Iterator[tuple[str, Json, Json]]:
    for key in sorted(pair.old.runtime.keys() | pair.new.runtime.keys()):
        before, after = pair.old.runtime.get(key), pair.new.runtime.get(key)
        if not same(before, after):
            yield key, before, after


def _finder(limit: _Limit, *, lower: bool) -> Callable[[ToolPair], Iterator[ToolFact]]:
    def find(pair: ToolPair) -> Iterator[ToolFact]:
        for key, before, after in _changes(pair):
            old, new = read_limit(before), read_limit(after)
            if _kind_of(key) is limit and old is not None and new is not None and old != new and (new < old) is lower:
                yield ToolFact(
                    path=f"runtime.{key}",
                    message=f"{named(key)} went from {show(before)} to {show(after)}.",
                    before=before,
                    after=after,
                    part=("runtime", key),
                    grade=SAFETY if limit.name == "retries" and not lower and _applies_twice(pair) else None,
                )

    find.__doc__ = (
        f"{limit.what} was {limit.words[0 if lower else 1]}.\n\n{limit.low_effect if lower else limit.high_effect}"
    )
    return find


def _applies_twice(pair: ToolPair) -> bool:
    return writes(pair.new) and pair.keys[1] is None and not effective_hints(pair.new.annotations).idempotent


def _enter(limit: _Limit) -> None:
    ids = [f"{limit.name}_{word}" for word in limit.words]
    low, high = ({"runtime": {limit.example: value}} for value in (10, 20))
    for lower, grade, example in ((True, limit.low, (high, low)), (False, limit.high, (low, high))):
        tool_rule(
            ids[0 if lower else 1],
            area=AREA,
            grade=grade,
            affects=limit.affects,
            mirror=ids[1 if lower else 0],
            fix="Keep the limit, or announce it in a new tool version."
            if grade.rank >= BREAKING.rank
            else "Look at it.",
            bad=example,
            good=(low, {"runtime": {limit.example: 10.0}}),
        )(_finder(limit, lower=lower))


for _each in _LIMITS:
    _enter(_each)


@tool_rule(
    "limit_added",
    area=AREA,
    grade=BREAKING,
    affects=_CALLERS,
    mirror="limit_dropped",
    fix="Announce the limit in a new tool version, or set it above what callers do.",
    bad=({"runtime": {}}, {"runtime": {"rate_limit": "60/min"}}),
    good=({"runtime": {"rate_limit": "60/min"}}, {"runtime": {"rate_limit": "1/s"}}),
)
def limit_added(pair: ToolPair) -> Iterator[ToolFact]:
    """A limit is declared where there was none.

    Runs that knew of no limit may run into it. What kind of limit it is does not matter, so unknown ones count.
    """
    for key, before, after in _changes(pair):
        if before is None:
            kind = _kind_of(key)
            is_harmless = kind is not None and kind.name in ("retries", "cost_ceiling")
            yield ToolFact(
                path=f"runtime.{key}",
                message=f"{named(key)} is limited to {show(after)}; it was not.",
                after=after,
                part=("runtime", key),
                grade=REVIEW if is_harmless else None,
            )


@tool_rule(
    "limit_dropped",
    area=AREA,
    grade=COMPATIBLE,
    affects=_CALLERS,
    mirror="limit_added",
    fix="Nothing, unless callers used it to plan.",
    bad=({"runtime": {"rate_limit": "60/min"}}, {"runtime": {}}),
    good=({"runtime": {"rate_limit": "60/min"}}, {"runtime": {"rate_limit": {"requests": 60, "per": "minute"}}}),
)
def limit_dropped(pair: ToolPair) -> Iterator[ToolFact]:
    """A limit is no longer declared.

    Callers have more room. For review where the limit was one on the size of results, on cost or on repeats.
    """
    for key, before, after in _changes(pair):
        if after is None:
            kind = _kind_of(key)
            yield ToolFact(
                path=f"runtime.{key}",
                message=f"{named(key)} is no longer limited; it was {show(before)}.",
                before=before,
                part=("runtime",),
                grade=REVIEW if kind is not None and kind.high is not COMPATIBLE else None,
            )


@tool_rule(
    "runtime_changed",
    area=AREA,
    grade=REVIEW,
    affects=_CALLERS,
    no_mirror="its own opposite",
    fix="Write limits as numbers with a unit (`30s`, `60/min`), so that the change can be judged.",
    bad=({"runtime": {"region": "eu"}}, {"runtime": {"region": "us"}}),
    good=({"runtime": {"deadline_ms": 1000}}, {"runtime": {"deadline_ms": 1000.0}}),
)
def runtime_changed(pair: ToolPair) -> Iterator[ToolFact]:
    """A part of the runtime section changed in a way that is not understood.

    It is never called compatible.
    """
    for key, before, after in _changes(pair):
        if before is None or after is None:
            continue
        if _kind_of(key) is None or read_limit(before) is None or read_limit(after) is None:
            yield ToolFact(
                path=f"runtime.{key}",
                message=f"{named(key)} went from {show(before)} to {show(after)}.",
                before=before,
                after=after,
                part=("runtime", key),
            )
