"""`abs-gate rules`: list every rule, or explain one."""

from __future__ import annotations

import click

from abs_gate.cli import output
from abs_gate.cli.options import common
from abs_gate.errors import ConfigurationError


@click.command()
@click.argument("rule", required=False, metavar="[ID]")
@common
def command(rule: str | None, quiet: bool, no_color: bool, debug: bool) -> int:
    """List every rule, or explain one with an example and its fix."""
    from abs_gate.contracts.rules import all_rules
    from abs_gate.reports.rules_text import render_rule, render_rules
    from abs_gate.sources.suggest import did_you_mean

    rules = {each.id: each for each in all_rules()}
    if rule is None:
        output.data(render_rules(tuple(rules.values())))
        return 0
    if rule not in rules:
        raise ConfigurationError(
            f"There is no rule `{rule}`.{did_you_mean(rule, rules)}", hint="`abs-gate rules` lists them."
        )
    output.data(render_rule(rules[rule]))
    return 0
