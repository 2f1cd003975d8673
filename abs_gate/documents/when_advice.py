"""Comparisons in `when` that can never be equal because the two sides are of different types."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from abs_gate.documents.evaluations import walk_evaluations
from abs_gate.documents.model import Case, Session
from abs_gate.documents.variables import Scope, UnknownVariable
from abs_gate.documents.when_grammar import Comparison, Condition, Literal, Reference, Template, When, parse_when
from abs_gate.findings import Finding, Json, Severity
from abs_gate.sources.excerpt import excerpt, type_name

_UNKNOWN = object()


def find_static_mismatches(when: When, session: Session) -> Iterator[str]:
    """Mismatches that can be told without a row: two literals, a captured literal, a column of a CSV file."""
    captured = {name: value for behavior in session.behaviors for name, value in behavior.capture.items()}
    dataset = session.dataset

    def look_up(name: str) -> Json:
        if name in captured:
            value = captured[name]
            return _UNKNOWN if isinstance(value, str) and "{{" in value else value
        if dataset is not None and name.startswith(f"{dataset.id}.") and dataset.path.lower().endswith(".csv"):
            return ""
        return _UNKNOWN

    yield from _mismatches(when, look_up)


def find_case_mismatches(case: Case, scope: Scope) -> Iterator[Finding]:
    """Mismatches with the values of one row, as warnings. Captures count by their literal values."""
    session = case.session
    scope = scope.for_case(case)
    behaviors = session.behaviors
    evaluations = [one for behavior in behaviors for one in walk_evaluations(behavior.evaluations)]
    evaluations.extend(walk_evaluations(session.evaluations))

    def look_up(name: str) -> Json:
        try:
            return scope.lookup(name)
        except UnknownVariable:
            return _UNKNOWN

    for evaluation in evaluations:
        if evaluation.when is None:
            continue
        for message in _mismatches(parse_when(evaluation.when), look_up):
            row = f" (row {case.row + 1})" if case.row is not None else ""
            yield Finding(
                rule="when-types",
                severity=Severity.WARNING,
                message=f"{message[:-1]}{row}.",
                hint="Values of different types are never equal.",
                location=evaluation.places.get("when", evaluation.location),
                subject=session.name,
            )


def _mismatches(when: When, look_up: Callable[[str], Json]) -> Iterator[str]:
    for comparison in when.comparisons():
        left, right = _value(comparison.left, look_up), _value(comparison.right, look_up)
        if _UNKNOWN in (left, right) or None in (left, right) or type_name(left) == type_name(right):
            continue
        names = (_named(comparison.left, left), _named(comparison.right, right))
        yield f"`when` compares {names[0]} with {names[1]}."


def _value(node: Condition, look_up: Callable[[str], Json]) -> Json:
    if isinstance(node, Literal):
        return node.value
    if isinstance(node, Reference):
        return look_up(node.name)
    return "" if isinstance(node, Template) else (True if isinstance(node, Comparison) else _UNKNOWN)


def _named(node: Condition, value: Json) -> str:
    kind = type_name(value)
    if isinstance(node, Reference):
        return f"`{{{{{node.name[:60]}}}}}` ({kind})"
    return f"{excerpt(value, 40)} ({kind})" if isinstance(node, Literal) else kind
