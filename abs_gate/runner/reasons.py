"""Why an expected behavior did not match, in words: what was observed in its place."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from abs_gate.documents.model import Category
from abs_gate.evaluators.arguments import describe_call, find_argument_differences, find_differing_keys
from abs_gate.evaluators.calls import describe_calls
from abs_gate.evaluators.values import clip, show
from abs_gate.runner.expectation import Expectation, find_content_differences
from abs_gate.trace import ObservedStep, StepKind, ToolNames


def find_closest(
    expectation: Expectation, steps: Sequence[ObservedStep], cursor: int, names: ToolNames
) -> ObservedStep | None:
    """The call of the right tool that comes nearest: at or after the cursor first, then with the fewest differences."""
    if not expectation.is_call:
        return None
    named = [
        (
            position < cursor,
            sum(1 for _ in find_differing_keys(step, expectation.with_, expectation.with_only)),
            position,
        )
        for position, step in enumerate(steps)
        if step.kind is StepKind.CALL and expectation.is_of_kind(step, names)
    ]
    return steps[min(named)[2]] if named else None


def describe_observed(
    expectation: Expectation,
    steps: Sequence[ObservedStep],
    cursor: int,
    names: ToolNames,
    taken: Mapping[int, str],
) -> str:
    """What was observed instead.

    Args:
        expectation: what did not match.
        steps: the turn's steps.
        cursor: where the search began; what lies before it was passed by earlier behaviors.
        names: the names tools go by.
        taken: index of a step to the label of the behavior that consumed it.
    """
    if not steps:
        return "nothing: the agent produced neither text nor call in this turn"
    if expectation.behavior.category is Category.DELEGATION:
        return _instead_of_handoff(expectation, steps)
    if expectation.is_call:
        return _instead_of_call(expectation, steps, cursor, names, taken)
    return _instead_of_text(expectation, steps, cursor, taken)


def _instead_of_call(
    expectation: Expectation,
    steps: Sequence[ObservedStep],
    cursor: int,
    names: ToolNames,
    taken: Mapping[int, str],
) -> str:
    closest = find_closest(expectation, steps, cursor, names)
    if closest is not None:
        differences = find_argument_differences(closest, expectation.with_, expectation.with_only)
        if differences:
            return describe_call(closest, differences)
        if closest.index in taken:
            return f"{closest.target} once, already taken by {taken[closest.index]}"
        if closest.index - steps[0].index < cursor:
            return f"{closest.target} earlier than the session has it"
        return f"{closest.target}, which does not meet the condition"
    calls = [step for step in steps if step.kind is StepKind.CALL]
    if not calls:
        return f"no call, {_last_text(steps)}"
    target = expectation.target or ""
    hint = (
        "" if target in names.aliases else f' (if one of these stands for "{clip(target, 60)}", say so under `targets`)'
    )
    return f"{describe_calls(calls)}{hint}"


def _instead_of_handoff(expectation: Expectation, steps: Sequence[ObservedStep]) -> str:
    advice = (
        "a text alone does not prove a hand-off: add `matches_when`, or name the hand-off tool in the configuration"
    )
    if expectation.behavior.matches_when is not None:
        advice = "and no text meets the condition"
    return f"{describe_calls(steps)}, {_last_text(steps)}; {advice}"


def _instead_of_text(
    expectation: Expectation, steps: Sequence[ObservedStep], cursor: int, taken: Mapping[int, str]
) -> str:
    texts = [step for step in steps[cursor:] if step.kind is StepKind.TEXT]
    if not texts:
        earlier = next((step for step in reversed(steps) if step.kind is StepKind.TEXT), None)
        if earlier is None:
            return f"no text, {describe_calls(steps)}"
        owner = f", taken by {taken[earlier.index]}" if earlier.index in taken else " before it was due"
        return f"only {show(earlier.content)}{owner}"
    differences = find_content_differences(expectation.content, texts[0])
    if differences:
        return ", ".join(differences[:5])
    return f"the text {show(texts[-1].content)}"


def _last_text(steps: Sequence[ObservedStep]) -> str:
    text = next((step for step in reversed(steps) if step.kind is StepKind.TEXT), None)
    return "and no text" if text is None else f"the text {show(text.content, 100)}"
