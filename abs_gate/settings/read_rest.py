"""Contracts, budgets, reports, canary and evidence, from the configuration."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from fractions import Fraction

from abs_gate.findings import Json
from abs_gate.settings import values
from abs_gate.settings.model import (
    Budget,
    CanarySettings,
    ContractsSettings,
    EvidenceSettings,
    ReportSettings,
)
from abs_gate.settings.options import CLASSIFICATIONS
from abs_gate.settings.reader import Section
from abs_gate.sources.suggest import did_you_mean

_ACTIONS = ("block", "review", "note", "ignore")

KnownRules = Callable[[], Collection[str]]
"""Gives the id of every contract rule; asked only where the file names one, as the catalogue is slow to load."""


def read_contracts(section: Section, known_rules: KnownRules | None) -> ContractsSettings:
    """Everything under `contracts:`."""
    block = section.get("block", values.known_words(*CLASSIFICATIONS), frozenset({"breaking", "safety_breaking"}))
    review = section.get("review", values.known_words(*CLASSIFICATIONS), frozenset({"behavior_sensitive"}))
    if section.given("block") is None and block & review:
        section.refuse("review", f"{', '.join(sorted(block & review))} cannot both block and need review.")
    return ContractsSettings(
        paths=section.get("paths", values.texts, ()),
        base=section.get("base", values.text, "auto"),
        block=block,
        review=review - block,
        rules=_rules(section, known_rules),
        providers=section.get("providers", values.texts, ()),
        acknowledgements=section.get("acknowledgements", values.text, None),
        review_label=section.get("review_label", values.text, None),
        fail_on_lint=section.get("fail_on_lint", values.choice("error", "warning", "info", "none"), "error"),
        retired=section.get("retired", _dates, {}),
    )


def read_budget(section: Section) -> Budget:
    """Everything under `budget:`."""
    budget = Budget(
        max_agent_calls=section.get("max_agent_calls", values.whole_number(1), None),
        max_minutes=section.get("max_minutes", values.amount, None),
        max_tokens=section.get("max_tokens", values.whole_number(1, 10**15), None),
        max_cost=section.get("max_cost", values.amount, None),
        prices=section.get("prices", _amounts, {}),
    )
    if budget.max_cost is not None and not budget.prices:
        section.refuse("max_cost", "A limit on cost needs `prices: {input_per_million, output_per_million}`.")
    return budget


def read_report(section: Section) -> ReportSettings:
    """Everything under `report:`."""
    return ReportSettings(
        dir=section.get("dir", values.text, None),
        junit=section.get("junit", values.text, None),
        json=section.get("json", values.text, None),
        html=section.get("html", values.text, None),
        markdown=section.get("markdown", values.text, None),
        sarif=section.get("sarif", values.text, None),
        comment=section.get("comment", values.choice("auto", "never"), "auto"),
        comment_key=section.get("comment_key", str, ""),
        annotations=section.get("annotations", values.boolean, True),
        check_run=section.get("check_run", values.boolean, False),
    )


def read_canary(section: Section) -> CanarySettings | None:
    """Everything under `canary:`; None where there is nothing."""
    if not isinstance(section.value, Mapping):
        return None
    return CanarySettings(
        owner=section.get("owner", values.text, ""),
        confidence=section.get("confidence", values.open_rate, Fraction(19, 20)),
        min_records=section.get("min_records", values.whole_number(1), 50),
        thresholds=section.get("thresholds", _rates, {}),
    )


def read_evidence(section: Section) -> EvidenceSettings:
    """Everything under `evidence:`."""
    return EvidenceSettings(golden=section.get("golden", read_lists, {}))


def read_lists(value: Json) -> Mapping[str, tuple[str, ...]]:
    """A mapping of names to lists of texts; one text stands for a list of one."""
    if not isinstance(value, Mapping):
        raise ValueError("Write a mapping of names to lists.")
    return {
        str(key): (values.text(item),) if isinstance(item, str) else values.texts(item) for key, item in value.items()
    }


def _rules(section: Section, known_rules: KnownRules | None) -> Mapping[str, str]:
    rules = section.raw("rules")
    if not isinstance(rules, Mapping):
        return {}
    read = section.section("rules")
    if known_rules is not None:
        known = known_rules()
        for rule in rules.keys() - set(known):
            hint = did_you_mean(str(rule), sorted(known)) or " `abs-gate rules` lists them."
            read.refuse(str(rule), f"There is no such rule.{hint}")
    return {str(rule): read.from_file(str(rule), values.choice(*_ACTIONS), "block") for rule in rules}


def _mapping_of(read: values.Read, value: Json) -> Mapping[str, Json]:
    if not isinstance(value, Mapping):
        raise ValueError("Write a mapping.")
    return {str(key): read(item) for key, item in value.items()}


def _dates(value: Json) -> Mapping[str, str]:
    return _mapping_of(values.iso_date, value)


def _rates(value: Json) -> Mapping[str, Fraction]:
    return _mapping_of(values.rate, value)


def _amounts(value: Json) -> Mapping[str, Fraction]:
    return _mapping_of(values.amount, value)
