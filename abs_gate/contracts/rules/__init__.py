"""The catalogue of contract rules: every module of this package enters its own."""

from __future__ import annotations

import importlib
import pkgutil
import sys
from functools import cache
from types import ModuleType

from abs_gate.contracts.rules import lint
from abs_gate.contracts.rules.registry import Kind, Rule, entered


@cache
def all_rules() -> tuple[Rule, ...]:
    """Return every rule, by area and id."""
    return tuple(sorted((*rules_over_changes(), *rules_of(Kind.LINT)), key=_order))


@cache
def rules_of(kind: Kind) -> tuple[Rule, ...]:
    """Return the rules of one kind, by area and id. A comparison does not load the rules of lint."""
    if kind is Kind.LINT:
        _import_all(lint)
        return tuple(sorted((rule for rule in entered().values() if rule.kind is kind), key=_order))
    return tuple(rule for rule in rules_over_changes() if rule.kind is kind)


@cache
def rules_over_changes() -> tuple[Rule, ...]:
    """Return the rules over two versions of a schema or tool, by area and id."""
    _import_all(sys.modules[__name__])
    return tuple(sorted((rule for rule in entered().values() if rule.kind is not Kind.LINT), key=_order))


def rule(rule_id: str) -> Rule:
    """Return a rule by its id. Raises KeyError."""
    for load in (rules_over_changes, all_rules):  # the rules of lint are loaded for those who ask for one
        if rule_id not in entered():
            load()
    return entered()[rule_id]


def _import_all(package: ModuleType) -> None:
    for module in pkgutil.iter_modules(package.__path__):
        if not module.ispkg:
            importlib.import_module(f"{package.__name__}.{module.name}")


def _order(rule: Rule) -> tuple[str, str]:
    return rule.area, rule.id
