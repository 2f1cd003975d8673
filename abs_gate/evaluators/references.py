"""What `query`, `context`, `response` and `ground_truth` refer to: a behavior, an actor, `self`, or literal text."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from abs_gate.documents.vocabulary import ACTIONS, ACTORS
from abs_gate.evaluators.base import EvalContext
from abs_gate.evaluators.observed import observed_text
from abs_gate.evaluators.values import as_text, clip
from abs_gate.findings import Json
from abs_gate.sources.suggest import did_you_mean
from abs_gate.trace import ObservedStep, StepKind

_REFERENCE = re.compile(r"(?P<head>[\w-]+)(?:\.(?P<action>[a-z_]+))?")


class ReferenceMissing(Exception):
    """A reference names something that was not observed; says what in words."""


def resolve_reference(reference: Json, context: EvalContext) -> str:
    """The text a reference stands for.

    `id` and `id.action` are the step that behavior matched or sent; `actor` and `actor.action` the nearest
    such step up to the one being evaluated (the last one at session level); `self` is the step itself.
    Anything else is literal text.

    Raises:
        ReferenceMissing: the behavior did not match, no such step was observed, or it is a misspelt reference.
    """
    if not isinstance(reference, str):
        return as_text(reference)
    if reference == "self":
        return _text_of(context.step, "there is no step of its own here; name one")
    match = _REFERENCE.fullmatch(reference.strip())
    if match is None:
        return reference
    head, action = match["head"], match["action"]
    behavior = next((b for b in context.session.behaviors if b.id == head), None)
    if behavior is not None:
        return _text_of(context.matched.get(behavior.index), f"{behavior.label} ({head}) did not happen")
    if head in ACTORS:
        return _text_of(_nearest(head, action, context), f"nothing of {reference} was observed")
    if action in ACTIONS:
        ids = [b.id for b in context.session.behaviors if b.id]
        raise ReferenceMissing(f'"{clip(reference, 60)}" names no behavior.{did_you_mean(head, ids)}')
    return reference


def last_message_before(context: EvalContext) -> str:
    """What the user last said before the step being evaluated; empty when nothing was said."""
    step = _nearest_of(_steps_up_to(context), lambda s: s.kind is StepKind.SENT and s.actor != "system")
    return observed_text(step) if step is not None else ""


def last_answer(context: EvalContext) -> ObservedStep | None:
    """The last text of the agent in the trace."""
    return _nearest_of(context.trace.steps, lambda s: s.kind is StepKind.TEXT)


def _steps_up_to(context: EvalContext) -> Sequence[ObservedStep]:
    steps = context.trace.steps
    return steps if context.step is None else steps[: context.step.index + 1]


def _nearest(actor: str, action: str | None, context: EvalContext) -> ObservedStep | None:
    """Verbs of communication count as one here: an unmatched text bears none of them."""
    is_call = action == "calls"
    return _nearest_of(
        _steps_up_to(context), lambda step: step.actor == actor and (step.kind is StepKind.CALL) == is_call
    )


def _nearest_of(steps: Sequence[ObservedStep], fits: Callable[[ObservedStep], bool]) -> ObservedStep | None:
    return next((step for step in reversed(steps) if fits(step)), None)


def _text_of(step: ObservedStep | None, missing: str) -> str:
    if step is None:
        raise ReferenceMissing(missing)
    return observed_text(step)
