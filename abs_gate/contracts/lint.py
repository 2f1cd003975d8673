"""Runs the lint rules over one set of tool contracts."""

from __future__ import annotations

from collections.abc import Sequence

from abs_gate.contracts.linting import LintedSet, LintFact
from abs_gate.contracts.model import ContractSet
from abs_gate.contracts.rules import rules_of
from abs_gate.contracts.rules.registry import Kind, Rule
from abs_gate.errors import ConfigurationError
from abs_gate.findings import Finding, Severity, sort_findings
from abs_gate.sources.suggest import did_you_mean

PROFILES = ("openai", "openai-strict", "anthropic", "anthropic-strict", "gemini", "mcp", "cross")
"""Provider profiles that may be asked for; the strict ones include the plain ones."""


def lint_set(
    head: ContractSet, *, base: ContractSet | None = None, providers: Sequence[str] = ()
) -> tuple[Finding, ...]:
    """Return everything odd about a set of contracts: what loading saw, what rules find, what providers refuse.

    Rules that look at a change (`changed-contract-same-version`) need the base.

    Raises:
        ConfigurationError: for a provider profile that does not exist.
    """
    areas = _areas(providers)
    linted = LintedSet(head, base)
    findings = [
        _finding(rule, fact)
        for rule in rules_of(Kind.LINT)
        if rule.area not in PROFILES or rule.area in areas
        for fact in rule.find(linted)
    ]
    return sort_findings([*head.findings, *findings])


def _areas(providers: Sequence[str]) -> frozenset[str]:
    unknown = [name for name in providers if name not in PROFILES]
    if unknown:
        findings = [
            Finding(
                rule="unknown-provider",
                severity=Severity.ERROR,
                message=f"`{name[:100]}` is no provider profile.{did_you_mean(name, PROFILES)}",
                subject=name,
                hint=f"Use one of: {', '.join(PROFILES)}.",
            )
            for name in unknown
        ]
        raise ConfigurationError(findings=findings)
    plain = {name.removesuffix("-strict") for name in providers}
    return frozenset({*providers, *plain})


def _finding(rule: Rule, fact: LintFact) -> Finding:
    return Finding(
        rule=rule.id,
        severity=fact.severity or rule.severity or Severity.WARNING,
        message=fact.message,
        location=fact.location,
        subject=fact.tool.tool_id if fact.tool and not fact.is_of_set else "",
        hint=rule.fix,
        args={"part": list(map(str, fact.part)), **fact.args},
    )
