"""The tool_call evaluator, and runs of calls whose order is free (ABS EVALUATIONS.md)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from abs_gate.documents.model import Behavior, Evaluation
from abs_gate.evaluators.arguments import (
    arguments_match,
    describe_arguments,
    describe_call,
    find_argument_differences,
    find_differing_keys,
)
from abs_gate.evaluators.base import EvalContext, EvalResult, evaluator
from abs_gate.evaluators.results import failed, passed, unverified
from abs_gate.evaluators.values import clip
from abs_gate.findings import Json
from abs_gate.trace import ObservedStep, StepKind

MAX_NAMES_SHOWN = 6
_FIELDS: dict[str, dict[str, Json]] = {
    "target": {"type": "string"},
    "with": {"type": "object"},
    "with_only": {"type": "object"},
    "ordered": {"type": "boolean"},
}


def frees_order(behavior: Behavior) -> bool:
    """True when the behavior carries `tool_call` with `ordered: false`."""
    return behavior.is_call and any(
        evaluation.type == "tool_call" and evaluation.fields.get("ordered") is False
        for evaluation in behavior.evaluations
    )


def find_unordered_runs(behaviors: Sequence[Behavior]) -> dict[int, tuple[int, ...]]:
    """For every call whose order is free: the indexes of its run, in order.

    A run is consecutive calls up to one that carries `ordered: false`. Tool results between calls do not end
    it: they are answers, not steps of the assistant.
    """
    runs: dict[int, tuple[int, ...]] = {}
    current: list[int] = []
    for behavior in behaviors:
        if behavior.is_call:
            current.append(behavior.index)
            if frees_order(behavior):
                runs.update(dict.fromkeys(current, tuple(current)))
                current = []
        elif not behavior.is_tool_result:
            current = []
    return runs


@evaluator("tool_call", levels=("step", "session"), fields=_FIELDS, partial=True)
def tool_call(evaluation: Evaluation, context: EvalContext) -> EvalResult:
    """The call this behavior matched has the target and arguments; with `ordered: false`, the whole run was called.

    What the evaluation leaves out was compared when the behavior matched. At session level some call has to
    satisfy it; on a behavior that is not a call, some call of its turn.
    """
    fields = evaluation.fields
    with_, with_only = fields.get("with"), fields.get("with_only")
    step, target = context.step, fields.get("target")
    if step is None or step.kind is not StepKind.CALL:
        return _some_call(target, with_, with_only, context)
    if isinstance(target, str) and not context.names.stands_for(step.target or "", target):
        return failed(f"expected a call of {target}; observed {step.target}")
    differences = find_argument_differences(step, with_, with_only)
    if differences:
        return failed(
            f"expected a call{describe_arguments(with_, with_only)}; observed {describe_call(step, differences)}"
        )
    return _whole_run(context) or passed(f"{step.target} was called as expected")


def describe_calls(steps: Sequence[ObservedStep]) -> str:
    """The tools that were called, in order, bounded: `get_order, refund`."""
    names = [clip(step.target or "", 60) for step in steps if step.kind is StepKind.CALL]
    more = f" and {len(names) - MAX_NAMES_SHOWN} more" if len(names) > MAX_NAMES_SHOWN else ""
    return f"{', '.join(names[:MAX_NAMES_SHOWN])}{more}" if names else "no call"


def _some_call(
    target: Json, with_: Mapping[str, Json] | None, with_only: Mapping[str, Json] | None, context: EvalContext
) -> EvalResult:
    if not isinstance(target, str):
        return unverified("`tool_call` needs a `target` where it does not stand on a call")
    turn = None if context.step is None else context.step.turn
    calls = [step for step in context.trace.steps if step.kind is StepKind.CALL and turn in (None, step.turn)]
    named = [step for step in calls if context.names.stands_for(step.target or "", target)]
    wanted = f"a call of {target}{describe_arguments(with_, with_only)}"
    if any(arguments_match(step, with_, with_only) for step in named):
        return passed(f"{target} was called as expected")
    if not context.complete:
        return unverified(f"the conversation broke off before {wanted}")
    if not named:
        return failed(f"expected {wanted}; observed {describe_calls(calls)}")
    closest = min(named, key=lambda step: sum(1 for _ in find_differing_keys(step, with_, with_only)))
    differences = find_argument_differences(closest, with_, with_only)
    return failed(f"expected {wanted}; observed {describe_call(closest, differences)}")


def _whole_run(context: EvalContext) -> EvalResult | None:
    """None when every call of the run this behavior frees has its own step."""
    if context.behavior is None:
        return None
    behaviors = context.session.behaviors
    run = find_unordered_runs(behaviors).get(context.behavior.index, ()) if frees_order(context.behavior) else ()
    missing = [behaviors[i].label for i in run if i not in context.matched and not behaviors[i].optional]
    return failed(f"not called, in any order: {', '.join(missing)}") if missing else None
