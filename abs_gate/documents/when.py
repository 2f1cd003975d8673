"""Decides `when` conditions. Values of different types are unequal; ordering them is an error."""

from __future__ import annotations

import operator
from collections.abc import Callable

from abs_gate.documents.variables import as_text
from abs_gate.documents.when_grammar import (
    Comparison,
    Condition,
    Junction,
    Literal,
    Negation,
    Reference,
    Template,
    When,
    parse_when,
)
from abs_gate.findings import Json
from abs_gate.sources.excerpt import excerpt, type_name
from abs_gate.sources.json_values import json_equal

__all__ = ["When", "WhenError", "evaluate_when", "parse_when"]

_ORDERINGS: dict[str, Callable[[Json, Json], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


class WhenError(ValueError):
    """A condition that cannot be decided, in words."""


def evaluate_when(when: When, lookup: Callable[[str], Json]) -> bool:
    """Whether the condition holds. `lookup` gives a variable's value or raises `UnknownVariable`.

    Every variable of the condition must exist, those that need not be read to decide it included.

    Raises:
        WhenError: values that cannot be ordered, or something that is neither true nor false.
        UnknownVariable: from `lookup`.
    """
    values = {name: lookup(name) for name in when.names}
    return _decide(when.root, values)


def _decide(node: Condition, values: dict[str, Json]) -> bool:
    if isinstance(node, Negation):
        return not _decide(node.operand, values)
    if isinstance(node, Junction):
        decided = (_decide(operand, values) for operand in node.operands)
        return all(decided) if node.is_and else any(decided)
    if isinstance(node, Comparison):
        return _compare(node, values)
    value = _value(node, values)
    if isinstance(value, bool):
        return value
    named = f"`{{{{{node.name[:60]}}}}}`" if isinstance(node, Reference) else "a value"
    raise WhenError(f"{named} is {_described(value)}, neither true nor false; compare it with something.")


def _value(node: Condition, values: dict[str, Json]) -> Json:
    if isinstance(node, Literal):
        return node.value
    if isinstance(node, Reference):
        return values[node.name]
    if isinstance(node, Template):
        return "".join(part if isinstance(part, str) else as_text(values[part.name]) for part in node.parts)
    return _decide(node, values)


def _compare(node: Comparison, values: dict[str, Json]) -> bool:
    left, right = _value(node.left, values), _value(node.right, values)
    order = _ORDERINGS.get(node.symbol)
    if order is None:
        return json_equal(left, right) == node.symbol.startswith("=")
    if not ((_is_number(left) and _is_number(right)) or (isinstance(left, str) and isinstance(right, str))):
        raise WhenError(
            f"`{node.symbol}` at character {node.position} cannot order {_described(left)} and {_described(right)}; "
            "both must be numbers or both text."
        )
    return order(left, right)


def _is_number(value: Json) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _described(value: Json) -> str:
    if value is None or isinstance(value, bool | list | dict):
        return excerpt(value)
    return f"{type_name(value)} ({excerpt(value, 40)})"
