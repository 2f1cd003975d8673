"""Names the mark of a converter for strict mode: every argument of a tool became required."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from msgspec.structs import replace

from abs_gate.contracts.keywords import subschemas
from abs_gate.contracts.model import Change, ContractSet, ToolContract, ToolDiff
from abs_gate.contracts.rules import rule
from abs_gate.contracts.rules.registry import Side
from abs_gate.contracts.wording import show_all
from abs_gate.findings import Json

_ENOUGH = 2
"""One argument that became required may be meant. This many in a set, with none left optional, point to a converter."""


def name_drift(diffs: tuple[ToolDiff, ...], base: ContractSet, head: ContractSet) -> tuple[ToolDiff, ...]:
    """Add `strict_mode_drift` to the tools in which every argument became required."""
    old = {tool.fingerprint: tool for tool in base.tools}
    new = {tool.fingerprint: tool for tool in head.tools}
    forced: dict[int, list[str]] = {}
    for index, diff in enumerate(diffs):
        names = _forced(diff)
        before, after = old.get(diff.baseline_fingerprint or ""), new.get(diff.candidate_fingerprint or "")
        if names and before and after and not list(_optional(after.input_schema)):
            forced[index] = names
    if sum(map(len, forced.values())) < _ENOUGH:
        return diffs
    return tuple(
        replace(diff, changes=(*diff.changes, _change(forced[index], new[diff.candidate_fingerprint or ""])))
        if index in forced
        else diff
        for index, diff in enumerate(diffs)
    )


def _forced(diff: ToolDiff) -> list[str]:
    """Return the arguments that became required, without those that may be null since: there absence is represented."""
    nullable = {change.path for change in diff.changes if change.kind == "null_added"}
    paths = [change.path for change in diff.changes if change.kind == "optional_to_required"]
    return [path for path in paths if path.startswith("input") and path not in nullable]


def _change(names: list[str], tool: ToolContract) -> Change:
    each = rule("strict_mode_drift")
    closed = isinstance(tool.input_schema, Mapping) and tool.input_schema.get("additionalProperties") is False
    return Change(
        path="input",
        kind=each.id,
        classification=each.grades[Side.TOOL],
        affects=each.affects[Side.TOOL],
        message=f"Every argument is required now; {show_all(names)} could be left out."
        + (" The object is closed too, as strict mode wants it." if closed else "")
        + " This is the mark of a schema converter, not of a product that needs the values.",
        location=tool.places.get(("input",), tool.location),
        notes=(each.fix,),
    )


def _optional(schema: Json) -> Iterator[str]:
    """Yield the properties that may be left out, at any depth."""
    if not isinstance(schema, dict):
        return
    properties = schema.get("properties")
    if isinstance(properties, Mapping):
        listed = schema.get("required")
        required = {name for name in listed if isinstance(name, str)} if isinstance(listed, list) else set()
        yield from (str(name) for name in properties if name not in required)
    for sub in subschemas(schema):
        yield from _optional(sub)
