"""The catalogue of contract rules: every module of this package enters its own."""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache

from abs_gate.contracts.rules.registry import Kind, Rule, entered


@cache
def all_rules() -> tuple[Rule, ...]:
    """Return every rule, by area and id."""
    for module in pkgutil.iter_modules(__path__):
        importlib.import_module(f"{__name__}.{module.name}")
    return tuple(sorted(entered().values(), key=lambda rule: (rule.area, rule.id)))


@cache
def rules_of(kind: Kind) -> tuple[Rule, ...]:
    """Return the rules of one kind, by area and id."""
    return tuple(rule for rule in all_rules() if rule.kind is kind)


def rule(rule_id: str) -> Rule:
    """Return a rule by its id. Raises KeyError."""
    all_rules()
    return entered()[rule_id]
