"""Evaluators of the whole trace: sequence, eventually, never, count, within, expected.

On a conversation that broke off, only what can no longer change is decided; the rest is `unverified`.
"""

from __future__ import annotations

from abs_gate.documents.model import Evaluation
from abs_gate.evaluators.base import EvalContext, EvalResult, evaluator
from abs_gate.evaluators.calls import describe_calls
from abs_gate.evaluators.results import failed, passed, unverified
from abs_gate.findings import Json
from abs_gate.trace import ObservedStep, Selector, StepKind

SELECTOR_SCHEMA: dict[str, Json] = {
    "type": "object",
    "properties": {"actor": {"type": "string"}, "action": {"type": "string"}, "target": {"type": "string"}},
    "minProperties": 1,
    "additionalProperties": False,
}
_COUNT = {"type": "integer", "minimum": 0}
_MAX_PLACES_SHOWN = 5


@evaluator(
    "sequence",
    levels=("session",),
    fields={"order": {"type": "array", "items": SELECTOR_SCHEMA}},
    required=("order",),
    partial=True,
)
def sequence(evaluation: Evaluation, context: EvalContext) -> EvalResult:
    """Every selector of `order` matches a step, each after the one before; other steps may lie between."""
    position, last = 0, ""
    for number, fields in enumerate(evaluation.fields["order"], start=1):
        selector = Selector.from_mapping(fields)
        index = _find_first(selector, context, position)
        if index is None:
            after = f" after {last}" if last else ""
            earlier = _find_first(selector, context, 0)
            note = f", only before it (step {earlier + 1})" if earlier is not None else f"; {_what_happened(context)}"
            return _missing(context, f"number {number} of the sequence, {selector}, did not happen{after}{note}")
        position, last = index + 1, f"{selector} (step {index + 1})"
    return passed(f"all {len(evaluation.fields['order'])} happened in order")


@evaluator("eventually", levels=("session",), fields={"match": SELECTOR_SCHEMA}, required=("match",), partial=True)
def eventually(evaluation: Evaluation, context: EvalContext) -> EvalResult:
    """The selector matches at least one step."""
    selector = Selector.from_mapping(evaluation.fields["match"])
    found = _find_all(selector, context)
    if found:
        return passed(f"{selector} happened ({_places(found)})")
    return _missing(context, f"{selector} never happened; {_what_happened(context)}{_handoff_note(selector)}")


@evaluator("never", levels=("session",), fields={"match": SELECTOR_SCHEMA}, required=("match",), partial=True)
def never(evaluation: Evaluation, context: EvalContext) -> EvalResult:
    """The selector matches no step, calls that the session did not expect included."""
    selector = Selector.from_mapping(evaluation.fields["match"])
    found = _find_all(selector, context)
    if found:
        return failed(f"{selector} must not happen; it did ({_places(found)})")
    if not context.complete:
        return unverified(f"{selector} did not happen, but the conversation broke off")
    return passed(f"{selector} did not happen{_handoff_note(selector)}")


@evaluator(
    "count",
    levels=("session",),
    fields={"match": SELECTOR_SCHEMA, "min": _COUNT, "max": _COUNT},
    required=("match",),
    partial=True,
)
def count(evaluation: Evaluation, context: EvalContext) -> EvalResult:
    """The selector matches at least `min` and at most `max` steps."""
    selector = Selector.from_mapping(evaluation.fields["match"])
    least, most = evaluation.fields.get("min", 0), evaluation.fields.get("max")
    found = _find_all(selector, context)
    bounds = f"{least} or more" if most is None else (f"exactly {most}" if least == most else f"{least} to {most}")
    observed = f"{selector}: expected {bounds} times; observed {len(found)}{f' ({_places(found)})' if found else ''}"
    if most is not None and len(found) > most:
        return failed(observed)
    if not context.complete and (most is not None or len(found) < least):
        return unverified(f"{observed} before the conversation broke off")
    return failed(observed) if len(found) < least else passed(observed)


@evaluator(
    "within",
    levels=("session",),
    fields={"match": SELECTOR_SCHEMA, "after": SELECTOR_SCHEMA, "max_steps": {"type": "integer", "minimum": 1}},
    required=("match", "after", "max_steps"),
    partial=True,
)
def within(evaluation: Evaluation, context: EvalContext) -> EvalResult:
    """Some `match` comes at most `max_steps` steps after some `after`."""
    match, after = (Selector.from_mapping(evaluation.fields[key]) for key in ("match", "after"))
    limit = evaluation.fields["max_steps"]
    starts = [step.index for step in _find_all(after, context)]
    if not starts:
        return _missing(context, f"{after} never happened, so nothing could follow it")
    ends = [step.index for step in _find_all(match, context)]
    distances = [end - start for start in starts for end in ends if end > start]
    if distances and min(distances) <= limit:
        return passed(f"{match} came {_steps(min(distances))} after {after}")
    observed = f"the nearest came {_steps(min(distances))} after" if distances else "it never came after"
    return _missing(context, f"expected {match} within {_steps(limit)} after {after}; {observed}")


@evaluator(
    "expected",
    levels=("session",),
    fields={"behavior": {"type": "string"}, "after": SELECTOR_SCHEMA, "reason": {"type": "string"}},
    required=("behavior",),
    partial=True,
)
def expected(evaluation: Evaluation, context: EvalContext) -> EvalResult:
    """An optional behavior matched, after the `after` selector's match where one is given."""
    name = evaluation.fields["behavior"]
    behavior = next((b for b in context.session.behaviors if b.id == name), None)
    if behavior is None:
        return unverified(f'no behavior has the id "{name}"')
    step = context.matched.get(behavior.index)
    reason = evaluation.fields.get("reason") or f"{name} was expected to happen"
    if step is None:
        return _missing(context, f"{reason}: {behavior.label} did not match")
    if "after" not in evaluation.fields:
        return passed(f"{name} matched (step {step.index + 1})")
    after = Selector.from_mapping(evaluation.fields["after"])
    first = _find_first(after, context, 0)
    if first is not None and first < step.index:
        return passed(f"{name} matched (step {step.index + 1}) after {after}")
    return failed(f"{reason}: it matched (step {step.index + 1}), but not after {after}")


def _find_all(selector: Selector, context: EvalContext) -> list[ObservedStep]:
    names = context.names
    return [step for step in context.trace.steps if selector.matches(step, names)]


def _find_first(selector: Selector, context: EvalContext, start: int) -> int | None:
    names = context.names
    return next((step.index for step in context.trace.steps[start:] if selector.matches(step, names)), None)


def _missing(context: EvalContext, reason: str) -> EvalResult:
    """What did not happen fails, unless it might still have happened."""
    return failed(reason) if context.complete else unverified(f"{reason} before the conversation broke off")


def _places(steps: list[ObservedStep]) -> str:
    shown = ", ".join(str(step.index + 1) for step in steps[:_MAX_PLACES_SHOWN])
    return f"step{'s' if len(steps) > 1 else ''} {shown}{', …' if len(steps) > _MAX_PLACES_SHOWN else ''}"


def _steps(count: int) -> str:
    return f"{count} step{'' if count == 1 else 's'}"


def _what_happened(context: EvalContext) -> str:
    steps = context.trace.steps
    if any(step.kind is StepKind.CALL for step in steps):
        return f"observed calls: {describe_calls(steps)}"
    return f"{len(steps)} steps were observed, none of them a call"


def _handoff_note(selector: Selector) -> str:
    return " (hand-offs are looked for among tool calls)" if selector.action == "hands_off" else ""
