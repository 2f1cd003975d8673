"""Evaluates a finished conversation and sums it up: outcomes of behaviors, of evaluations, of the trial."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from abs_gate.documents.model import Behavior, Case, Evaluation
from abs_gate.evaluators import evaluate
from abs_gate.evaluators.base import EvalContext, EvalResult
from abs_gate.evaluators.results import failed, skipped, unverified
from abs_gate.evaluators.values import canonical_text, clip
from abs_gate.outcomes import Outcome
from abs_gate.runner.options import RunOptions
from abs_gate.runner.result import BehaviorResult, EvaluationResult, TrialResult
from abs_gate.runner.walk import BehaviorMatch, Progress
from abs_gate.trace import ObservedStep, StepKind, Trace

_WORST_FIRST = (Outcome.FAILED, Outcome.UNVERIFIED, Outcome.INCONCLUSIVE, Outcome.PASSED, Outcome.SKIPPED)
"""How a behavior's match and evaluations combine."""


def assess(
    case: Case, progress: Progress, steps: Sequence[ObservedStep], options: RunOptions, *, complete: bool
) -> TrialResult:
    """The result of a trial whose conversation is over; `complete` is False when it broke off.

    Duration, calls and the like are the conversation's to add.
    """
    session = case.session
    trace = Trace(steps=annotate(steps, session.behaviors, progress.matches))
    matched = {i: trace.steps[m.step] for i, m in progress.matches.items() if _is_matched(m) and m.step is not None}
    closest = {i: trace.steps[m.closest] for i, m in progress.matches.items() if m.closest is not None}
    context = EvalContext(
        trace=trace,
        session=session,
        matched=matched,
        aliases=options.aliases,
        handoff_tools=options.handoff_tools,
        judges=options.judges,
        scope=progress.scope,
        scopes={i: m.before for i, m in progress.matches.items() if m.before is not None},
        closest=closest,
        complete=complete,
    )
    behaviors = tuple(_Assessor(context, progress.matches).assess_all(session.behaviors))
    evaluations = tuple(
        _record(index, evaluation, evaluate(evaluation, context))
        for index, evaluation in enumerate(session.evaluations)
    )
    unexpected = tuple(step for step in trace.steps if step.kind is StepKind.CALL and not step.expected)
    faults = find_call_faults(trace.steps, options) if options.unexpected_calls == "fail" else ()
    outcome, reason = _decide(behaviors, evaluations, faults)
    return TrialResult(
        outcome=outcome,
        reason=reason,
        behaviors=behaviors,
        evaluations=evaluations,
        trace=trace,
        duration_ms=0,
        agent_calls=0,
        unexpected_calls=tuple(step.target or "" for step in unexpected),
        call_faults=faults,
    )


def annotate(
    steps: Sequence[ObservedStep], behaviors: Sequence[Behavior], matches: Mapping[int, BehaviorMatch]
) -> tuple[ObservedStep, ...]:
    """The steps with what matched them: its id, its verb, its target; calls that nothing matched are unexpected.

    A reported result takes the actor too: whether a tool or an external system answers is the session's word.
    """
    annotated = [replace(step, expected=False) if step.kind is StepKind.CALL else step for step in steps]
    for behavior in behaviors:
        match = matches.get(behavior.index)
        if match is None or match.step is None or not _is_matched(match):
            continue
        step = annotated[match.step]
        is_first = step.behavior is None or step.behavior == behavior.index
        is_text = step.kind is StepKind.TEXT
        annotated[match.step] = replace(
            step,
            actor=behavior.actor if step.kind is StepKind.RESULT else step.actor,
            behavior=behavior.index if is_first else step.behavior,
            behavior_id=step.behavior_id or behavior.id,
            action=behavior.action if is_first else step.action,
            verbs=(*step.verbs, behavior.action),
            target=(step.target or behavior.target) if is_text else step.target,
            expected=True,
        )
    return tuple(annotated)


def find_call_faults(steps: Sequence[ObservedStep], options: RunOptions) -> tuple[str, ...]:
    """What `unexpected_calls: fail` does not allow: calls that nothing consumed, repeated writes among them."""
    names = options.names
    faults: list[str] = []
    seen: set[tuple[str | None, str]] = set()
    for step in steps:
        if step.kind is not StepKind.CALL:
            continue
        arguments = step.raw_arguments if step.arguments is None else canonical_text(step.arguments)
        name, is_repeated = clip(step.target or "", 60), (step.target, arguments) in seen
        seen.add((step.target, arguments))
        if step.expected:
            continue
        if is_repeated and any(names.stands_for(step.target or "", tool) for tool in options.write_tools):
            faults.append(f"unexpected: {name} was called again with the same arguments, and it writes")
        else:
            faults.append(f"unexpected: {name} was called (step {step.index + 1})")
    return tuple(faults)


class _Assessor(Struct):
    """Runs the step-level evaluations in the session's order; a blocking one stops those after it."""

    context: EvalContext
    matches: Mapping[int, BehaviorMatch]
    blocked_by: str = ""

    def assess_all(self, behaviors: Sequence[Behavior]) -> Iterable[BehaviorResult]:
        for behavior in behaviors:
            yield self._assess(behavior)

    def _assess(self, behavior: Behavior) -> BehaviorResult:
        match = self.matches[behavior.index]
        evaluations = self._evaluate_all(behavior, match) if behavior.evaluations else ()
        outcome = _worst((match.outcome, *(result.outcome for result in evaluations)))
        return BehaviorResult(
            index=behavior.index,
            id=behavior.id,
            label=behavior.label,
            outcome=outcome,
            reason=_reason(match, evaluations, outcome),
            location=behavior.location,
            step=match.step,
            expected=match.expected,
            observed=match.observed,
            evaluations=evaluations,
        )

    def _evaluate_all(self, behavior: Behavior, match: BehaviorMatch) -> tuple[EvaluationResult, ...]:
        context = replace(
            self.context,
            behavior=behavior,
            step=self.context.matched.get(behavior.index),
            scope=match.after or self.context.scope,
        )
        return tuple(
            _record(index, evaluation, self._evaluate(evaluation, context, match))
            for index, evaluation in enumerate(behavior.evaluations)
        )

    def _evaluate(self, evaluation: Evaluation, context: EvalContext, match: BehaviorMatch) -> EvalResult:
        if self.blocked_by:
            return EvalResult(outcome=Outcome.INCONCLUSIVE, reason=f"not looked at: {self.blocked_by}")
        result = _without_step(match) or evaluate(evaluation, context)
        if evaluation.blocking and result.outcome in (Outcome.FAILED, Outcome.UNVERIFIED) and context.behavior:
            label = evaluation.label or evaluation.type
            self.blocked_by = f"{label} of behavior {context.behavior.index + 1} is blocking and {result.outcome}"
        return result


def _without_step(match: BehaviorMatch) -> EvalResult | None:
    """What an evaluation comes to when its behavior has no step; None when it has one."""
    if match.outcome is Outcome.PASSED and match.step is not None:
        return None
    if match.outcome is Outcome.FAILED:
        return failed("there is nothing to look at: the behavior did not match")
    if match.outcome is Outcome.SKIPPED:
        return skipped("the behavior was skipped")
    return unverified("the behavior could not be checked")


def _is_matched(match: BehaviorMatch) -> bool:
    return match.outcome is Outcome.PASSED


def _record(index: int, evaluation: Evaluation, result: EvalResult) -> EvaluationResult:
    return EvaluationResult(
        index=index,
        type=evaluation.type,
        label=evaluation.label or evaluation.type,
        outcome=result.outcome,
        reason=result.reason,
        score=result.score,
        threshold=evaluation.threshold,
        blocking=evaluation.blocking,
        location=evaluation.location,
        details=dict(result.details),
    )


def _worst(outcomes: Iterable[Outcome]) -> Outcome:
    return min(outcomes, key=_WORST_FIRST.index)


def _reason(match: BehaviorMatch, evaluations: Sequence[EvaluationResult], outcome: Outcome) -> str:
    if outcome is Outcome.PASSED:
        return ""
    if match.outcome is outcome:
        return match.reason
    return next((f"{e.label}: {e.reason}" for e in evaluations if e.outcome is outcome), "")


def _decide(
    behaviors: Sequence[BehaviorResult], evaluations: Sequence[EvaluationResult], faults: Sequence[str]
) -> tuple[Outcome, str]:
    """A trial fails if anything failed, else is unverified if anything could not be checked, else passed."""
    parts = [(b.outcome, f"behavior {b.index + 1} ({b.label}): {b.reason}") for b in behaviors]
    parts += [(e.outcome, f"{e.label}: {e.reason}") for e in evaluations]
    parts += [(Outcome.FAILED, fault) for fault in faults]
    for wanted in ((Outcome.FAILED,), (Outcome.UNVERIFIED, Outcome.INCONCLUSIVE)):
        reason = next((text for outcome, text in parts if outcome in wanted), None)
        if reason is not None:
            return wanted[0], reason
    return Outcome.PASSED, ""
