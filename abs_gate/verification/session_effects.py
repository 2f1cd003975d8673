"""What a trial of a session changed, against what it had to change and what the agent said and called."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType

from msgspec import Struct, field

from abs_gate.findings import Json
from abs_gate.outcomes import Outcome
from abs_gate.sources.patterns import PatternTimeout, compile_pattern
from abs_gate.trace import ObservedStep, StepKind, Trace
from abs_gate.verification.effects import Difference, Watch, contains, matches_expectation
from abs_gate.verification.model import Check, Probe, judged
from abs_gate.verification.recorded_run import compare_claim


class EffectEntry(Struct, frozen=True, kw_only=True):
    """One entry of a policy's `effects` that looks at the system of record; placeholders resolved for the case."""

    expect: Json = None
    claims: Sequence[Mapping[str, Json]] = ()
    calls: Sequence[Mapping[str, Json]] = ()
    aliases: Mapping[str, Sequence[str]] = field(default_factory=lambda: MappingProxyType({}))
    """Names that stand for a tool."""


class TrialWatch:
    """Looks before a trial, and judges after it. Nothing else may change what is looked at meanwhile."""

    def __init__(self, entries: Sequence[tuple[EffectEntry, Probe | None]]) -> None:
        missing = "what a recorded conversation changed cannot be seen any more"
        self._entries = [(entry, Watch(probe, missing).start()) for entry, probe in entries]

    def checks(self, trace: Trace) -> tuple[Check, ...]:
        """Every check of every entry."""
        return tuple(check for entry, watch in self._entries for check in _entry_checks(entry, watch, trace))


def _entry_checks(entry: EffectEntry, watch: Watch, trace: Trace) -> Iterator[Check]:
    difference = watch.difference()
    if difference is None:
        yield watch.check_nothing("effects")
        return
    if entry.expect is not None:
        yield judged("effects", matches_expectation(difference, entry.expect))
    for claim in entry.claims:
        yield _claim(claim, difference, trace)
    for calls in entry.calls:
        yield _calls(calls, difference, trace, entry.aliases)


def _claim(claim: Mapping[str, Json], difference: Difference, trace: Trace) -> Check:
    name = "said against done"
    try:
        pattern = compile_pattern(claim["says"])
        said = next((step for step in trace.steps if _is_agent_text(step) and pattern.search(str(step.content))), None)
    except (ValueError, PatternTimeout) as problem:
        return Check(name=name, outcome=Outcome.UNVERIFIED, reason=f"the pattern of the claim: {problem}")
    count = int(claim.get("count", 1)) if said is not None else 0
    shown = _matching(difference, claim.get("where") or {})
    wrong = compare_claim(count, shown)
    quoted = f' ("{str(said.content)[:120]}")' if said is not None else ""
    return judged(name, f"{wrong}: said {count}{quoted}, and {shown} done" if wrong else "")


def _calls(
    wanted: Mapping[str, Json], difference: Difference, trace: Trace, aliases: Mapping[str, Sequence[str]]
) -> Check:
    tool = str(wanted["tool"])
    names = {tool, *aliases.get(tool, ())}
    done = sum(
        step.kind is StepKind.RESULT and step.target in names and not step.supplied and not step.is_error
        for step in trace.steps
    )
    shown = _matching(difference, wanted.get("where") or {})
    word = "" if done == shown else "done twice" if shown > done else "reported as done, and not done"
    return judged(f"{tool} against done", f"{word}: {done} calls succeeded, and {shown} effects show" if word else "")


def _matching(difference: Difference, where: Mapping[str, Json]) -> int:
    if not difference.added and not where:
        return difference.effects
    return sum(contains(entry, where) for entry in difference.added)


def _is_agent_text(step: ObservedStep) -> bool:
    return step.kind is StepKind.TEXT and isinstance(step.content, str)
