"""The rule catalogue for a person: a list, or one rule explained with an example and its fix."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from abs_gate.contracts.rules.registry import Kind, Rule, Side
from abs_gate.findings import Json
from abs_gate.reports.advice import AFFECTED, CLASSIFICATION_WORDS
from abs_gate.reports.figures import join_words
from abs_gate.reports.schema_text import json_text
from abs_gate.reports.terminal import wrap

_WIDTH = 100


def render_rules(rules: Sequence[Rule]) -> str:
    """Every rule by area: id, what it comes to, and its first sentence."""
    ordered = sorted(rules, key=lambda rule: (rule.area, rule.id))
    lines: list[str] = []
    for area, members in groupby(ordered, key=lambda rule: rule.area):
        lines += ["", area] if lines else [area]
        for rule in members:
            lines += wrap(f"{rule.id} ({_grades(rule)})", _WIDTH, first="  ", rest="      ")
            lines += wrap(_first_sentence(rule), _WIDTH, first="      ")
    return "\n".join([*lines, "", f"{len(ordered)} rules. `abs-gate rules ID` explains one."]) + "\n"


def render_rule(rule: Rule) -> str:
    """One rule: what it finds and why that matters, whom it hits, an example found and one not found, the fix."""
    lines = [f"{rule.id} ({_grades(rule)})", ""]
    for paragraph in rule.explanation.split("\n\n"):
        lines += [*wrap(" ".join(paragraph.split()), _WIDTH), ""]
    affected = [AFFECTED.get(party, party) for parties in rule.affects.values() for party in parties]
    if affected:
        lines += [*wrap(f"Affects: {join_words(list(dict.fromkeys(affected)))}.", _WIDTH), ""]
    if rule.bad is not None:
        lines += [*_example("Found:", rule, rule.bad), ""]
    if rule.good is not None:
        lines += [*_example("Not found:", rule, rule.good), ""]
    lines += wrap(f"What to do: {rule.fix}", _WIDTH)
    if rule.mirror:
        lines.append(f"The opposite change: {rule.mirror}")
    return "\n".join(lines) + "\n"


def _first_sentence(rule: Rule) -> str:
    return " ".join(rule.explanation.partition("\n\n")[0].split())


def _grades(rule: Rule) -> str:
    """`breaking as input, compatible as output`, `warning`."""
    if rule.severity is not None:
        return "note" if rule.severity == "info" else str(rule.severity)
    words = {side: CLASSIFICATION_WORDS[grade] for side, grade in rule.grades.items()}
    if Side.TOOL in words or len(set(words.values())) == 1:
        return next(iter(words.values()), "graded case by case")
    return ", ".join(f"{word} as {side}" for side, word in words.items()) or "graded case by case"


def _example(title: str, rule: Rule, example: Json) -> Iterator[str]:
    yield title
    if rule.kind is not Kind.LINT and isinstance(example, tuple | list) and len(example) == 2:
        yield from wrap(json_text(example[0], 1000), _WIDTH, first="  before  ")
        yield from wrap(json_text(example[1], 1000), _WIDTH, first="  after   ")
    else:
        yield from wrap(json_text(example, 1000), _WIDTH, first="  ")
