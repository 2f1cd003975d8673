"""Compares two sets of tool contracts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial

from msgspec.structs import replace

from abs_gate.contracts import toolsets, versions
from abs_gate.contracts.drift import name_drift
from abs_gate.contracts.facts import ToolFact, ToolPair
from abs_gate.contracts.model import Change, ContractSet, ToolContract, ToolDiff
from abs_gate.contracts.provider_notes import with_provider_notes
from abs_gate.contracts.rules import rule, rules_of
from abs_gate.contracts.rules.errors import PAYLOAD_KEYS
from abs_gate.contracts.rules.registry import Kind, Rule, Side
from abs_gate.contracts.schema_diff import SchemaDiff
from abs_gate.contracts.schemas import Budget, Engine
from abs_gate.findings import Json


def diff_sets(
    base: ContractSet, head: ContractSet, *, today: str, budget: Budget | None = None
) -> tuple[ToolDiff, ...]:
    """Return what changed, one entry a tool and pair of versions, in the order of the head; unchanged tools have none.

    Every tool is compared with the same tool_id in the base and with every version that is still supported.
    `today` is an ISO date; retirement dates are held against it.
    """
    compare = partial(diff_tools, budget=budget)
    diffs = [
        *toolsets.diff_instructions(base, head),
        *toolsets.diff_twice(base, head),
        *versions.diff_versions(base, head, compare=compare, today=today),
    ]
    return name_drift(tuple(diffs), base, head)


def diff_tools(
    old: ToolContract,
    new: ToolContract,
    *,
    budget: Budget | None = None,
) -> tuple[Change, ...]:
    """Return the classified changes between two versions of one tool, worst first."""
    if old.fingerprint and old.fingerprint == new.fingerprint:
        return ()
    pair = ToolPair(old=old, new=new)
    engine = Engine(budget)
    changes = [change_of(each, fact, new) for each in rules_of(Kind.TOOL) for fact in each.find(pair)]
    schemas = _of_objects(old.input_schema), _of_objects(new.input_schema)
    changes += _diff_schemas(Side.INPUT, *schemas, engine=engine, tool=new)
    changes += _diff_schemas(Side.OUTPUT, old.output_schema, new.output_schema, engine=engine, tool=new)
    changes += _error_payloads(pair, engine)
    return with_provider_notes(sort_changes(changes), old, new)


def change_of(each: Rule, fact: ToolFact, new: ToolContract, *, side: Side = Side.TOOL) -> Change:
    """Return a tool rule's fact as a classified change."""
    return Change(
        path=fact.path,
        kind=each.id,
        classification=fact.grade or each.grades[side],
        affects=fact.affects if fact.affects is not None else each.affects[side],
        message=fact.message,
        before=fact.before,
        after=fact.after,
        location=new.places.get(fact.part, new.location),
        notes=fact.notes,
    )


def sort_changes(changes: Iterable[Change]) -> tuple[Change, ...]:
    """Order changes: worst first, then by path and kind."""
    return tuple(sorted(changes, key=lambda change: (-change.classification.rank, change.path, change.kind)))


def _of_objects(schema: Json) -> Json:
    """Return an input schema with what need not be said: the arguments of a call are an object."""
    if schema is True:
        return {"type": "object"}
    return (
        {"type": "object", **schema} if isinstance(schema, Mapping) and not {"type", "$ref"} & schema.keys() else schema
    )


def _diff_schemas(
    side: Side, old: Json, new: Json, *, engine: Engine, tool: ToolContract, root: str = ""
) -> tuple[Change, ...]:
    """Compare two schemas; a side that has none is for the rules on tools."""
    if not isinstance(old, Mapping | bool) or not isinstance(new, Mapping | bool):
        return ()
    try:
        return SchemaDiff(side, old, new, engine=engine, root=root).changes(tool)
    except RecursionError:
        fact = ToolFact(
            path=root or side.value, message="The schema is nested too deeply to be compared.", part=(side.value,)
        )
        unproven = change_of(rule("schema_not_proven"), fact, tool, side=side)
        return (replace(unproven, proof="not proven"),)


def _error_payloads(pair: ToolPair, engine: Engine) -> list[Change]:
    """Compare the schemas of what comes with an error: results, for whoever reads them."""
    changes: list[Change] = []
    before = {error.code: error for error in pair.old.errors}
    for error in pair.new.errors:
        old = before.get(error.code)
        for key in PAYLOAD_KEYS if old is not None else ():
            schemas = old.extra.get(key) if old else None, error.extra.get(key)
            root = f"errors.{error.code}"
            at = pair.new.places.get(("errors", error.code, key), pair.new.location)
            found = _diff_schemas(Side.OUTPUT, *schemas, engine=engine, tool=pair.new, root=root)
            changes += [replace(change, location=at) for change in found]
    return changes
