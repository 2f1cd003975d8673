"""Compares two sets of tool contracts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

from abs_gate.contracts import toolsets, versions
from abs_gate.contracts.drift import name_drift
from abs_gate.contracts.facts import ToolFact, ToolPair
from abs_gate.contracts.model import Change, ContractSet, ToolContract, ToolDiff
from abs_gate.contracts.provider_notes import with_provider_notes
from abs_gate.contracts.rules import rules_of
from abs_gate.contracts.rules.errors import PAYLOAD_KEYS
from abs_gate.contracts.rules.registry import Kind, Rule, Side
from abs_gate.contracts.schema_diff import SchemaDiff
from abs_gate.contracts.schemas import Budget, Engine


def diff_sets(
    base: ContractSet, head: ContractSet, *, today: str, budget: Budget | None = None
) -> tuple[ToolDiff, ...]:
    """Return what changed, one entry a tool and pair of versions, in the order of the head; unchanged tools have none.

    Every tool is compared with the same tool_id in the base and with every version that is still supported.
    `today` is an ISO date; retirement dates are held against it.
    """
    compare = _comparer(head, budget)
    diffs = [
        *toolsets.diff_instructions(base, head),
        *versions.diff_versions(base, head, compare=compare, today=today),
    ]
    return name_drift(tuple(diffs), base, head)


def diff_tools(
    old: ToolContract,
    new: ToolContract,
    *,
    neighbours: Mapping[str, ToolContract] | None = None,
    budget: Budget | None = None,
) -> tuple[Change, ...]:
    """Return the classified changes between two versions of one tool, worst first."""
    if old.fingerprint and old.fingerprint == new.fingerprint:
        return ()
    pair = ToolPair(old=old, new=new, neighbours=neighbours or {})
    engine = Engine(budget)
    changes = [change_of(rule, fact, new) for rule in rules_of(Kind.TOOL) for fact in rule.find(pair)]
    if isinstance(old.input_schema, Mapping | bool) and isinstance(new.input_schema, Mapping | bool):
        changes += SchemaDiff(Side.INPUT, old.input_schema, new.input_schema, engine=engine).changes(new)
    if old.output_schema is not None and new.output_schema is not None:
        changes += SchemaDiff(Side.OUTPUT, old.output_schema, new.output_schema, engine=engine).changes(new)
    changes += _error_payloads(pair, engine)
    return with_provider_notes(sort_changes(changes), old, new)


def change_of(rule: Rule, fact: ToolFact, new: ToolContract) -> Change:
    """Return a tool rule's fact as a classified change."""
    return Change(
        path=fact.path,
        kind=rule.id,
        classification=fact.grade or rule.grades[Side.TOOL],
        affects=fact.affects if fact.affects is not None else rule.affects[Side.TOOL],
        message=fact.message,
        before=fact.before,
        after=fact.after,
        location=new.places.get(fact.part, new.location),
        notes=fact.notes,
    )


def sort_changes(changes: Iterable[Change]) -> tuple[Change, ...]:
    """Order changes: worst first, then by path and kind."""
    return tuple(sorted(changes, key=lambda change: (-change.classification.rank, change.path, change.kind)))


def _comparer(head: ContractSet, budget: Budget | None) -> Callable[[ToolContract, ToolContract], tuple[Change, ...]]:
    neighbours = {tool.tool_id: tool for tool in head.tools}
    return lambda old, new: diff_tools(old, new, neighbours=neighbours, budget=budget)


def _error_payloads(pair: ToolPair, engine: Engine) -> list[Change]:
    """Compare the schemas of what comes with an error: results, for whoever reads them."""
    changes: list[Change] = []
    before = {error.code: error for error in pair.old.errors}
    for error in pair.new.errors:
        old = before.get(error.code)
        for key in PAYLOAD_KEYS if old is not None else ():
            schemas = old.extra.get(key) if old else None, error.extra.get(key)
            if all(isinstance(schema, Mapping | bool) for schema in schemas):
                diff = SchemaDiff(Side.OUTPUT, *schemas, engine=engine, root=f"errors.{error.code}")
                at = pair.new.places.get(("errors", error.code, key), pair.new.location)
                changes += [replace(change, location=at) for change in diff.changes(pair.new)]
    return changes
