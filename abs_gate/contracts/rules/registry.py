"""What a rule is, and how one is entered in the catalogue.

A rule finds facts; its table row says what a fact means on each side. Three kinds: rules over two forms of one
schema (`schema_rule`), over two versions of one tool (`tool_rule`), over one tool set (`lint_rule`).
Examples are run by the tests: `bad` must be found by its rule, `good` must not.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Any

from msgspec import Struct, field

from abs_gate.contracts.model import Classification
from abs_gate.findings import Json, Severity

UNCHANGED, COMPATIBLE = Classification.UNCHANGED, Classification.COMPATIBLE
REVIEW, BREAKING = Classification.BEHAVIOR_SENSITIVE, Classification.BREAKING
SAFETY = Classification.SAFETY_BREAKING


class Side(StrEnum):
    """Which part of the contract a rule is about."""

    INPUT = "input"
    OUTPUT = "output"
    TOOL = "tool"


class Direction(StrEnum):
    """What a change of a schema does to the accepted set, before the engine confirms it."""

    NARROWS = "narrows"
    WIDENS = "widens"
    EITHER = "either"
    """Only the engine can tell."""


class Kind(StrEnum):
    """What a rule looks at."""

    SCHEMA = "schema"
    TOOL = "tool"
    LINT = "lint"


class Rule(Struct, frozen=True, kw_only=True):
    """One row of the catalogue."""

    id: str
    """Public and never reused: snake_case for changes, kebab-case for lint."""
    kind: Kind
    area: str
    explanation: str
    """What it finds and why that breaks an agent, from the docstring."""
    fix: str
    """What to do about it."""
    grades: Mapping[Side, Classification] = field(default_factory=lambda: MappingProxyType({}))
    """Default classification by side; what depends on more than the side is said in the explanation."""
    affects: Mapping[Side, tuple[str, ...]] = field(default_factory=lambda: MappingProxyType({}))
    direction: Direction | None = None
    """Of schema rules that the engine confirms; None for those that hold by convention."""
    of: str | None = None
    """The JSON type that a schema rule is about: where either side rules the type out, its keywords say nothing."""
    severity: Severity | None = None
    """Of lint rules."""
    mirror: str | None = None
    """The rule that finds the opposite change."""
    no_mirror: str = ""
    """Why there is none."""
    bad: Json = None
    """Found: (old, new) for changes, one tool for lint."""
    good: Json = None
    """Near by and not found."""
    find: Callable[..., Iterator[Any]]


_RULES: dict[str, Rule] = {}

_BY_DIRECTION: Mapping[Direction, Mapping[Side, Classification]] = {
    Direction.NARROWS: {Side.INPUT: BREAKING, Side.OUTPUT: COMPATIBLE},
    Direction.WIDENS: {Side.INPUT: COMPATIBLE, Side.OUTPUT: BREAKING},
    Direction.EITHER: {Side.INPUT: BREAKING, Side.OUTPUT: BREAKING},
}
INPUT_BROKEN = ("model_arguments", "saved_runs", "adapter")
OUTPUT_BROKEN = ("consumers",)
_BY_GRADE: Mapping[tuple[Side, bool], tuple[str, ...]] = {
    (Side.INPUT, True): INPUT_BROKEN,
    (Side.INPUT, False): ("model_arguments",),
    (Side.OUTPUT, True): OUTPUT_BROKEN,
    (Side.OUTPUT, False): OUTPUT_BROKEN,
}


def schema_affects(side: Side, classification: Classification) -> tuple[str, ...]:
    """Return who is hit by a change of a schema when its rule does not say otherwise."""
    return _BY_GRADE[side, classification.rank >= BREAKING.rank]


def schema_rule(
    rule_id: str,
    *,
    area: str,
    fix: str,
    bad: tuple[Json, Json],
    good: tuple[Json, Json],
    direction: Direction | None = None,
    grades: tuple[Classification, Classification] | None = None,
    affects: tuple[str, ...] | None = None,
    of: str | None = None,
    mirror: str | None = None,
    no_mirror: str = "",
) -> Callable[[Callable[..., Iterator[Any]]], Callable[..., Iterator[Any]]]:
    """Enter a rule over two forms of one schema.

    Either a `direction` that the engine confirms, or `grades` (input, output) that hold by convention.
    """
    by_side = _BY_DIRECTION[direction] if direction else dict(zip((Side.INPUT, Side.OUTPUT), grades or (), strict=True))
    hit = {side: affects or schema_affects(side, grade) for side, grade in by_side.items()}

    def enter(find: Callable[..., Iterator[Any]]) -> Callable[..., Iterator[Any]]:
        _enter(
            Rule(
                id=rule_id,
                kind=Kind.SCHEMA,
                area=area,
                explanation=_doc(find),
                fix=fix,
                grades=MappingProxyType(dict(by_side)),
                affects=MappingProxyType(hit),
                direction=direction,
                of=of,
                mirror=mirror,
                no_mirror=no_mirror,
                bad=bad,
                good=good,
                find=find,
            )
        )
        return find

    return enter


def tool_rule(
    rule_id: str,
    *,
    area: str,
    grade: Classification,
    affects: tuple[str, ...],
    fix: str,
    bad: tuple[Json, Json],
    good: tuple[Json, Json],
    mirror: str | None = None,
    no_mirror: str = "",
) -> Callable[[Callable[..., Iterator[Any]]], Callable[..., Iterator[Any]]]:
    """Enter a rule over two versions of one tool."""

    def enter(find: Callable[..., Iterator[Any]]) -> Callable[..., Iterator[Any]]:
        _enter(
            Rule(
                id=rule_id,
                kind=Kind.TOOL,
                area=area,
                explanation=_doc(find),
                fix=fix,
                grades=MappingProxyType({Side.TOOL: grade}),
                affects=MappingProxyType({Side.TOOL: affects}),
                mirror=mirror,
                no_mirror=no_mirror,
                bad=bad,
                good=good,
                find=find,
            )
        )
        return find

    return enter


def lint_rule(
    rule_id: str, *, area: str, severity: Severity, fix: str, bad: Json, good: Json
) -> Callable[[Callable[..., Iterator[Any]]], Callable[..., Iterator[Any]]]:
    """Enter a rule over one tool set."""

    def enter(find: Callable[..., Iterator[Any]]) -> Callable[..., Iterator[Any]]:
        _enter(
            Rule(
                id=rule_id,
                kind=Kind.LINT,
                area=area,
                explanation=_doc(find),
                fix=fix,
                severity=severity,
                no_mirror="looks at one version",
                bad=bad,
                good=good,
                find=find,
            )
        )
        return find

    return enter


def entered() -> Mapping[str, Rule]:
    """Return the catalogue as far as its modules have been imported."""
    return MappingProxyType(_RULES)


def _enter(rule: Rule) -> None:
    if rule.id in _RULES:
        raise ValueError(f"the rule {rule.id} is entered twice")
    _RULES[rule.id] = rule


def _doc(find: Callable[..., Iterator[Any]]) -> str:
    return inspect.cleandoc(find.__doc__ or "")
