"""Checks of what one part of a session says about another, once fragments are expanded."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from abs_gate.documents.evaluations import walk_evaluations
from abs_gate.documents.model import Behavior, Evaluation
from abs_gate.documents.placeholders import has_placeholder
from abs_gate.documents.places import Problems
from abs_gate.findings import Json, Location
from abs_gate.sources.excerpt import excerpt
from abs_gate.sources.suggest import did_you_mean


def check_references(behaviors: Sequence[Behavior], evaluations: tuple[Evaluation, ...], problems: Problems) -> None:
    """Note what names nothing: ids, `requires`, `expected`, a `tool_call` without a tool; and impossible sequences."""
    first: dict[str, Behavior] = {}
    for behavior in behaviors:
        if behavior.id is not None:
            _check_unique(behavior, first, problems)
    for behavior in behaviors:
        _check_requires(behavior, first, problems)
        for evaluation in walk_evaluations(behavior.evaluations):
            _check_evaluation(evaluation, behaviors, first, problems, is_call=behavior.is_call)
    for evaluation in walk_evaluations(evaluations):
        _check_evaluation(evaluation, behaviors, first, problems, is_call=False)


def _check_evaluation(
    evaluation: Evaluation,
    behaviors: Sequence[Behavior],
    first: Mapping[str, Behavior],
    problems: Problems,
    *,
    is_call: bool,
) -> None:
    if evaluation.type == "expected":
        _check_expected(evaluation, first, problems)
    elif evaluation.type == "sequence":
        _check_sequence(evaluation, behaviors, problems)
    elif evaluation.type == "tool_call" and not is_call and "target" not in evaluation.fields:
        message = "`tool_call` needs `target` where it does not stand under a call of the assistant."
        problems.error("missing-key", evaluation.location, message)


def _check_unique(behavior: Behavior, first: dict[str, Behavior], problems: Problems) -> None:
    assert behavior.id is not None
    earlier = first.setdefault(behavior.id, behavior)
    if earlier is behavior:
        return
    place = _place(behavior, "id")
    if earlier.location == behavior.location:
        message = f"The id {excerpt(behavior.id)} comes twice: its fragment is included more than once in a session."
        problems.error("duplicate-id", place, message, "Leave the id out of the fragment, or include it once.")
    else:
        line = earlier.location.line
        message = f"The id {excerpt(behavior.id)} is used a second time in this session."
        problems.error("duplicate-id", place, message, f"The first behavior with it stands in line {line}.")


def _check_requires(behavior: Behavior, first: Mapping[str, Behavior], problems: Problems) -> None:
    if behavior.requires is None:
        return
    place = _place(behavior, "requires")
    required = first.get(behavior.requires)
    if required is None:
        hint = did_you_mean(behavior.requires, first).strip() or _known(first)
        problems.error("unknown-id", place, f"`requires` names no behavior: {excerpt(behavior.requires)}.", hint)
    elif required.index >= behavior.index:
        which = "itself" if required.index == behavior.index else "a behavior that comes after it"
        problems.error(
            "unknown-id",
            place,
            f"`requires` names {which}: {excerpt(behavior.requires)}.",
            "It could never be met; name a behavior that comes before.",
        )


def _check_expected(evaluation: Evaluation, first: Mapping[str, Behavior], problems: Problems) -> None:
    name = evaluation.fields.get("behavior")
    if isinstance(name, str) and name not in first:
        hint = did_you_mean(name, first).strip() or _known(first)
        place = evaluation.places.get("behavior", evaluation.location)
        problems.error("unknown-id", place, f"`expected` names no behavior: {excerpt(name)}.", hint)


def _check_sequence(evaluation: Evaluation, behaviors: Sequence[Behavior], problems: Problems) -> None:
    order = evaluation.fields.get("order")
    if not isinstance(order, list) or not any(behavior.optional for behavior in behaviors):
        return
    seen: set[str] = set()
    for number, selector in enumerate(order, start=1):
        key = json.dumps(selector, sort_keys=True)
        if key in seen:
            continue
        seen.add(key)
        meant = [behavior for behavior in behaviors if may_select(selector, behavior)]
        if meant and all(behavior.optional for behavior in meant):
            named = meant[0].id or meant[0].label
            problems.error(
                "sequence-of-optional",
                evaluation.places.get("order", evaluation.location),
                f"Entry {number} of `sequence` can only mean the optional behavior {excerpt(named)}.",
                "A sequence must happen, an optional behavior may not: use `expected` with `after`.",
            )


def may_select(selector: Json, behavior: Behavior) -> bool:
    """Whether a selector can mean a behavior as it is declared. `calls` means every verb that is a call."""
    if not isinstance(selector, Mapping):
        return False
    for key, declared in (("actor", behavior.actor), ("action", behavior.action), ("target", behavior.target)):
        wanted = selector.get(key)
        if wanted is None or wanted == declared or has_placeholder(wanted) or has_placeholder(declared):
            continue
        if key == "action" and wanted == "calls" and behavior.category.value in ("execution", "delegation"):
            continue
        return False
    return selector.get("id") in (None, behavior.id)


def _place(behavior: Behavior, key: str) -> Location:
    return behavior.places.get(key, behavior.location)


def _known(first: Mapping[str, Behavior]) -> str:
    if not first:
        return "No behavior in this session has an id."
    return f"Ids in this session: {', '.join(list(first)[:20])}."
