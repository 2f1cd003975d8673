"""Walks a session's behaviors along what was observed in one turn (ABS specification, sections 5 and 7).

A walk starts where the last turn left off and ends before the next message to send. It decides nothing
outside itself: the loop walks once for each round of tool results, to learn which results are due and
which captures they may use, and once at the end of the turn, whose outcome it keeps.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from abs_gate.documents.model import Behavior, Session
from abs_gate.documents.variables import Scope, VariableError
from abs_gate.evaluators.calls import find_unordered_runs
from abs_gate.outcomes import Outcome
from abs_gate.runner.expectation import Asked, Expectation, Undecided, find_content_differences
from abs_gate.runner.reasons import describe_observed, find_closest
from abs_gate.runner.unordered import match_unordered
from abs_gate.trace import ObservedStep, StepKind, ToolNames


class BehaviorMatch(Struct, frozen=True, kw_only=True):
    """What became of one behavior, evaluations aside."""

    outcome: Outcome
    step: int | None = None
    """Index in the trace of the step it matched, sent or supplied."""
    expected: str = ""
    observed: str = ""
    reason: str = ""
    """For anything that is not passed."""
    closest: int | None = None
    """Index of the call of the same target that stood in its place."""
    before: Scope | None = None
    """Variables as the behavior itself saw them."""
    after: Scope | None = None
    """The same with what it captured."""


class Progress:
    """How far a trial has come."""

    def __init__(self, session: Session, scope: Scope) -> None:
        self.behaviors = session.behaviors
        self.by_id = {behavior.id: behavior for behavior in session.behaviors if behavior.id is not None}
        self.runs = find_unordered_runs(session.behaviors)
        self.scope = scope
        self.position = 0
        """Index of the first behavior the next walk looks at."""
        self.matches: dict[int, BehaviorMatch] = {}
        """Behavior index to what became of it, as far as it is decided."""
        self.supplied: dict[int, int] = {}
        """Behavior index of a tool result to the step that supplied it."""

    def take(self, walk: Walk) -> None:
        """Keep what a walk found. The messages it wants sent are not sent yet."""
        self.scope = walk.scope
        self.position = walk.sends[0].behavior.index if walk.sends else len(self.behaviors)
        self.matches.update(walk.matches)


class Due(Struct, frozen=True, kw_only=True):
    """A message to send, or a result to supply, with the variables it may use."""

    behavior: Behavior
    scope: Scope


class Walk:
    """One walk. Its results are in the attributes after `run`."""

    def __init__(
        self, progress: Progress, steps: Sequence[ObservedStep], names: ToolNames, asked: Asked, *, broken: str = ""
    ) -> None:
        """`steps` are the turn's; `broken` says why the turn was cut off, when it was."""
        self._progress = progress
        self._behaviors = progress.behaviors
        self._steps = steps
        self._names = names
        self._asked = asked
        self._broken = broken
        self._cursor = 0
        self._taken: dict[int, str] = {}
        self.scope = progress.scope
        self.matches: dict[int, BehaviorMatch] = {}
        self.sends: list[Due] = []
        """The messages to send next: one, or the batch of several optional behaviors (ABS section 7.7)."""
        self.results: list[Due] = []
        """The results that calls of this turn may be given."""

    def run(self) -> Walk:
        """Walk up to the next message to send, or the end."""
        for behavior in self._behaviors[self._progress.position :]:
            if behavior.index in self._progress.matches or behavior.index in self.matches:
                continue
            if not self._requirement_met(behavior):
                continue
            if behavior.is_sent:
                if not self._add_send(behavior):
                    break
            elif not _is_observable(behavior):
                self._skip(behavior, f"what a {behavior.actor} {behavior.action} cannot be observed")
            elif self.sends and not (self._is_batch and behavior.optional):
                break
            else:
                self._match(behavior)
        return self

    @property
    def _is_batch(self) -> bool:
        """True when the messages to send answer optional behaviors of this turn: others may answer it too."""
        return bool(self.sends) and self._answers_this_turn(self.sends[0].behavior)

    def _answers_this_turn(self, behavior: Behavior) -> bool:
        required = self._progress.by_id.get(behavior.requires or "")
        return required is not None and required.optional and required.index in self.matches

    def _requirement_met(self, behavior: Behavior) -> bool:
        """Whether the behavior takes part. What can be said when it does not is written down."""
        if behavior.requires is None:
            return True
        required = self._progress.by_id.get(behavior.requires)
        match = None if required is None else self._match_of(required)
        if match is None:
            if not self.sends:
                self._skip(behavior, f"{behavior.requires} has not happened")
            return False
        if match.outcome is Outcome.PASSED:
            return True
        if match.outcome is Outcome.UNVERIFIED:
            self._decide(behavior, BehaviorMatch(outcome=Outcome.UNVERIFIED, reason=f"rests on {behavior.requires}"))
        else:
            self._skip(behavior, f"requires {behavior.requires}, which did not match")
        return False

    def _match_of(self, behavior: Behavior) -> BehaviorMatch | None:
        return self.matches.get(behavior.index) or self._progress.matches.get(behavior.index)

    def _add_send(self, behavior: Behavior) -> bool:
        """Put a message among those to send next; False when it has to wait for a request of its own."""
        if self.sends:
            follows_system = all(due.behavior.actor == "system" for due in self.sends)
            if not (follows_system or (self._is_batch and self._answers_this_turn(behavior))):
                return False
        self.sends.append(Due(behavior=behavior, scope=self.scope))
        self._capture(behavior)
        return True

    def _match(self, behavior: Behavior) -> None:
        if behavior.is_tool_result:
            self._match_result(behavior)
            return
        run = self._free_run(behavior)
        if run:
            self._match_run(run)
        else:
            self._match_step(behavior)

    def _match_step(self, behavior: Behavior) -> None:
        expectation = self._resolve(behavior)
        if expectation is None:
            return
        undecided = ""
        for position in range(self._cursor, len(self._steps)):
            try:
                found = expectation.matches(self._steps[position], self._names, self._asked)
            except Undecided as error:
                undecided = undecided or str(error)
                continue
            if found:
                if not behavior.optional:
                    self._cursor = position + 1
                self._pass(behavior, self._steps[position])
                return
        self._miss(expectation, undecided)

    def _free_run(self, behavior: Behavior) -> list[Behavior]:
        """The calls whose order is free together with this one, itself first; empty when its order is fixed."""
        if self.sends:
            return []
        return [self._behaviors[i] for i in self._progress.runs.get(behavior.index, ()) if i >= behavior.index]

    def _match_run(self, run: Sequence[Behavior]) -> None:
        """Match calls whose order is free: the required ones together, each to a call of its own."""
        start = self._cursor
        expectations: list[Expectation] = []
        for behavior in run:
            if not self._requirement_met(behavior):
                continue
            if behavior.optional:
                self._match_step(behavior)
            elif (expectation := self._resolve(behavior)) is not None:
                expectations.append(expectation)
        undecided: dict[int, str] = {}

        def fits(i: int, j: int) -> bool:
            try:
                return expectations[i].matches(self._steps[start + j], self._names, self._asked)
            except Undecided as error:
                undecided[i] = str(error)
                return False

        found = match_unordered(len(expectations), len(self._steps) - start, fits)
        for i, expectation in enumerate(expectations):
            if i in found:
                self._cursor = max(self._cursor, start + found[i] + 1)
                self._pass(expectation.behavior, self._steps[start + found[i]])
        for i, expectation in enumerate(expectations):
            if i not in found:
                self._miss(expectation, undecided.get(i, ""), since=start)

    def _match_result(self, behavior: Behavior) -> None:
        supplied = self._progress.supplied.get(behavior.index)
        if supplied is not None:
            self._pass(behavior, self._asked.steps[supplied])
            return
        expectation = self._resolve(behavior)
        if expectation is None:
            return
        reported = [
            step
            for step in self._steps
            if step.kind is StepKind.RESULT
            and not step.supplied
            and step.index not in self._taken
            and (expectation.target is None or self._names.means(step.target or "", None, expectation.target))
        ]
        for step in reported:
            if not find_content_differences(expectation.content, step):
                self._pass(behavior, step)
                return
        self.results.append(Due(behavior=behavior, scope=self.scope))
        if reported:
            observed = ", ".join(find_content_differences(expectation.content, reported[0])[:5])
        else:
            observed = "no call that waited for it, and no result reported by the agent"
        self._refuse(expectation, observed)

    def _resolve(self, behavior: Behavior) -> Expectation | None:
        try:
            return Expectation.resolve(behavior, self.scope)
        except VariableError as error:
            self._decide(behavior, BehaviorMatch(outcome=Outcome.UNVERIFIED, reason=str(error)))
            return None

    def _pass(self, behavior: Behavior, step: ObservedStep) -> None:
        if not behavior.optional or step.kind is StepKind.RESULT:
            self._taken[step.index] = f"behavior {behavior.index + 1} ({behavior.label})"
        passed = BehaviorMatch(outcome=Outcome.PASSED, step=step.index, before=self.scope, after=self.scope)
        self._decide(behavior, passed)
        self._capture(behavior)

    def _miss(self, expectation: Expectation, undecided: str, since: int | None = None) -> None:
        if undecided:
            self._decide(
                expectation.behavior,
                BehaviorMatch(
                    outcome=Outcome.UNVERIFIED,
                    expected=expectation.describe(),
                    reason=f"could not be told whether it matches: {undecided}",
                ),
            )
            return
        cursor = self._cursor if since is None else since
        observed = describe_observed(expectation, self._steps, cursor, self._names, self._taken)
        closest = find_closest(expectation, self._steps, cursor, self._names)
        free = closest is not None and closest.index not in self._taken
        self._refuse(expectation, observed, closest.index if closest is not None and free else None)

    def _refuse(self, expectation: Expectation, observed: str, closest: int | None = None) -> None:
        """Write down that nothing matched: left open inside a batch, unverified when the turn was cut off."""
        behavior, expected = expectation.behavior, expectation.describe()
        if self.sends and not self._broken:
            return
        if self._broken:
            match = BehaviorMatch(outcome=Outcome.UNVERIFIED, reason=self._broken)
            if self._steps:
                match = replace(match, expected=expected, observed=observed)
        elif behavior.optional:
            match = BehaviorMatch(outcome=Outcome.SKIPPED, reason="optional, and did not happen", closest=closest)
        else:
            match = BehaviorMatch(
                outcome=Outcome.FAILED,
                expected=expected,
                observed=observed,
                reason=f"expected {expected}; observed {observed}{' instead' if closest is not None else ''}",
                closest=closest,
            )
        self._decide(behavior, match)

    def _skip(self, behavior: Behavior, reason: str) -> None:
        self._decide(behavior, BehaviorMatch(outcome=Outcome.SKIPPED, reason=reason))

    def _decide(self, behavior: Behavior, match: BehaviorMatch) -> None:
        scoped = match if match.before is not None else replace(match, before=self.scope, after=self.scope)
        self.matches[behavior.index] = scoped

    def _capture(self, behavior: Behavior) -> None:
        if not behavior.capture:
            return
        try:
            self.scope = self.scope.with_captures(self.scope.resolve(behavior.capture))
        except VariableError as error:
            self.matches[behavior.index] = BehaviorMatch(outcome=Outcome.UNVERIFIED, reason=str(error))
            return
        if behavior.index in self.matches:
            self.matches[behavior.index] = replace(self.matches[behavior.index], after=self.scope)


def _is_observable(behavior: Behavior) -> bool:
    return behavior.actor == "assistant" or behavior.is_tool_result
