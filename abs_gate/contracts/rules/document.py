"""The catalogue as a page. `python -m abs_gate.contracts.rules.document` writes it to standard output."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator

from abs_gate.contracts.rules import all_rules
from abs_gate.contracts.rules.registry import Kind, Rule, Side
from abs_gate.findings import Json

_WIDTH = 400
"""Longest example that is shown whole, in characters."""
_INTRODUCTION = """\
# Rules of the contract checks

Generated from the catalogue in `abs_gate/contracts/rules`; `abs-gate rules ID` prints one entry.

A change is judged by what the contract accepts, not by how it is written. For **input**, what was accepted must still
be accepted; for **output**, what may be returned must be what was promised. Rules on schemas name what changed; whether
it narrows or widens is proved, or shown by a witness: a call that was accepted and is refused now. What can be neither
proved nor shown is never called compatible.

Four conventions go beyond sets:

- **C1** A new optional property is compatible, although it formally narrows an open object.
- **C2** A removed argument is breaking even where the object is open: it is ignored in silence, which is worse than a
  refusal.
- **C3** A removed result property is breaking even if it was optional; an added one is breaking where the object was
  closed.
- **C4** Text the model reads is contract: a change of it is for review, never unchanged and never breaking by itself.
  White space alone is nothing.

Classifications, weakest first: `unchanged`, `compatible`, `behavior_sensitive`, `breaking`, `safety_breaking`.
Severities of lint findings: `error`, `warning`, `info`.
"""


def render_rules_markdown() -> str:
    """Return the page of the whole catalogue."""
    return "\n".join([_INTRODUCTION, *_changes(), *_lint()]).rstrip() + "\n"


def render_rule(rule: Rule) -> str:
    """Return one entry of the page."""
    lines = [f"#### `{rule.id}`", "", _facts(rule), "", rule.explanation, "", f"**What to do:** {rule.fix}", ""]
    if rule.kind is Kind.LINT:
        lines += _example("Found", rule.bad) + _example("Not found", rule.good)
    else:
        old, new = rule.bad
        lines += _example("Before", old) + _example("After", new)
    return "\n".join(lines)


def _changes() -> Iterator[str]:
    rules = [rule for rule in all_rules() if rule.kind is not Kind.LINT]
    yield "## Changes\n"
    yield "| rule | input | output or tool | affects |\n|---|---|---|---|"
    for rule in rules:
        sides = [rule.grades.get(Side.INPUT), rule.grades.get(Side.OUTPUT, rule.grades.get(Side.TOOL))]
        cells = [grade.value if grade else "" for grade in sides]
        affects = sorted({who for hit in rule.affects.values() for who in hit})
        yield f"| [`{rule.id}`](#{rule.id}) | {cells[0]} | {cells[1]} | {', '.join(affects)} |"
    yield ""
    yield from _by_area(rules)


def _lint() -> Iterator[str]:
    rules = [rule for rule in all_rules() if rule.kind is Kind.LINT]
    yield "## Lint\n"
    yield "| rule | severity | area |\n|---|---|---|"
    for rule in rules:
        yield f"| [`{rule.id}`](#{rule.id}) | {rule.severity.value if rule.severity else ''} | {rule.area} |"
    yield ""
    yield from _by_area(rules)


def _by_area(rules: list[Rule]) -> Iterator[str]:
    area = ""
    for rule in rules:
        if rule.area != area:
            area = rule.area
            yield f"### {area.capitalize()}\n"
        yield render_rule(rule)


def _facts(rule: Rule) -> str:
    if rule.severity:
        return f"Severity: {rule.severity.value}"
    grades = "; ".join(f"{side.value}: {grade.value}" for side, grade in rule.grades.items())
    mirror = f" · opposite: `{rule.mirror}`" if rule.mirror else ""
    return f"{grades}{mirror}"


def _example(title: str, value: Json) -> list[str]:
    if value is None:
        return [f"{title}: nothing.", ""]
    text = json.dumps(value, ensure_ascii=True)
    return [f"{title}: `{text if len(text) <= _WIDTH else text[:_WIDTH] + '...'}`", ""]


if __name__ == "__main__":
    sys.stdout.write(render_rules_markdown())
