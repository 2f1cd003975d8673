"""Whether what a session asks a judge has a judge to answer it: told before a run instead of by an unverified one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from abs_gate.documents.evaluations import walk_evaluations
from abs_gate.documents.model import Evaluation, Session
from abs_gate.evaluators.judged import JUDGED
from abs_gate.findings import Finding, Location, Severity
from abs_gate.settings.model import JudgeSettings


def find_unjudged(sessions: Iterable[Session], judges: Sequence[JudgeSettings]) -> tuple[Finding, ...]:
    """A warning for every session with a check that no judge would answer, at the first such check."""
    names = frozenset(judge.name for judge in judges)
    has_default = len(judges) == 1 or "default" in names
    found: list[Finding] = []
    for session in sessions:
        unanswered = list(_unanswered(session, names, has_default=has_default))
        if unanswered:
            what, place = unanswered[0]
            others = len(unanswered) - 1
            more = f" The same holds for {others} more of this session." if others else ""
            lacking = "no default judge is" if judges else "no judge is"
            found.append(
                Finding(
                    rule="no-judge",
                    severity=Severity.WARNING,
                    message=f"`{what}` asks a judge and {lacking} configured, so a run cannot verify it.{more}",
                    location=place,
                    subject=session.name,
                    hint="Name one under `judges:` in abs-gate.yaml, give a run --judge URL, "
                    "or set a provider's key in the environment.",
                )
            )
    return tuple(found)


def _unanswered(session: Session, names: frozenset[str], *, has_default: bool) -> Iterator[tuple[str, Location]]:
    for behavior in session.behaviors:
        condition = behavior.matches_when
        if condition is not None and condition.type == "llm_judge" and not has_default:
            yield "matches_when", condition.location
        yield from _unanswered_evaluations(behavior.evaluations, names, has_default=has_default)
    yield from _unanswered_evaluations(session.evaluations, names, has_default=has_default)


def _unanswered_evaluations(
    evaluations: tuple[Evaluation, ...], names: frozenset[str], *, has_default: bool
) -> Iterator[tuple[str, Location]]:
    for evaluation in walk_evaluations(evaluations):
        named = evaluation.adapter or (evaluation.fields.get("id") if evaluation.type == "custom" else None)
        if evaluation.type in JUDGED and named not in names and not has_default:
            yield evaluation.type, evaluation.location
