"""Versions of a tool that live side by side, and what clears a breaking change."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from msgspec.structs import replace

from abs_gate.contracts.fingerprint import fingerprint_content
from abs_gate.contracts.model import Change, Classification, ContractSet, ToolContract, ToolDiff
from abs_gate.contracts.rules import rule
from abs_gate.contracts.rules.registry import BREAKING, COMPATIBLE, Side
from abs_gate.contracts.toolsets import (
    Versions,
    aliases_of,
    diff_added,
    diff_orphans,
    diff_removed,
    pair_tools,
    passed_date,
    replaced,
)
from abs_gate.contracts.version_order import version_key
from abs_gate.contracts.wording import named, show

Compare = Callable[[ToolContract, ToolContract], tuple[Change, ...]]


def versions_of(tools: Sequence[ToolContract]) -> dict[str, list[ToolContract]]:
    """Return the versions of each tool_id, highest first; of two equal ones the first declared."""
    grouped: dict[str, list[ToolContract]] = {}
    for tool in tools:
        known = grouped.setdefault(tool.tool_id, [])
        if not known or all(other.version != tool.version for other in known):
            known.append(tool)
    for known in grouped.values():
        if len(known) > 1:
            known.sort(key=lambda tool: version_key(tool.version), reverse=True)
    return grouped


def newest_tools(tools: ContractSet) -> dict[str, ToolContract]:
    """Return the highest version of each tool: the candidate that a model is shown."""
    return {tool_id: versions[0] for tool_id, versions in versions_of(tools.tools).items()}


def diff_versions(base: ContractSet, head: ContractSet, *, compare: Compare, today: str) -> Iterator[ToolDiff]:
    """Yield the entries of two sets: changed tools in the order of the head, then those that are gone."""
    old, new = versions_of(base.tools), versions_of(head.tools)
    pairing = pair_tools(old, new)
    partners = {new_id: old_id for old_id, new_id in pairing.same}
    for tool_id, versions in new.items():
        if tool_id not in partners:
            yield diff_added(versions[0])
            continue
        earlier = old[partners[tool_id]]
        if [tool.fingerprint for tool in earlier] != [tool.fingerprint for tool in versions]:
            yield from _Lineage(earlier, versions, new, compare, today).diffs()
    aliases = aliases_of(head.tools) if pairing.removed else {}
    for tool_id in pairing.removed:
        yield diff_removed(old[tool_id][0], aliases, today=today)
    yield from diff_orphans([old[tool_id][0] for tool_id in pairing.removed], head.tools)


class _Lineage:
    """The versions of one tool on both sides, highest first."""

    def __init__(
        self, old: Sequence[ToolContract], new: Sequence[ToolContract], head: Versions, compare: Compare, today: str
    ) -> None:
        self._old = old
        self._new = new
        self._head = head
        self._compare = compare
        self._today = today

    def diffs(self) -> Iterator[ToolDiff]:
        """Yield each comparison that found something."""
        before, candidate = self._old[0], self._new[0]
        compared = {(before.fingerprint, candidate.fingerprint)}
        yield from self._diff(before, candidate)
        in_base = {tool.version: tool for tool in self._old}
        for tool in self._new:
            earlier = in_base.get(tool.version)
            if earlier is not None and (earlier.fingerprint, tool.fingerprint) not in compared:
                compared.add((earlier.fingerprint, tool.fingerprint))
                yield from self._diff(earlier, tool)
        known = {tool.fingerprint for tool in self._old}
        for tool in self._new[1:]:
            is_settled = candidate.fingerprint in known and tool.fingerprint in known
            if not is_settled and (tool.fingerprint, candidate.fingerprint) not in compared:
                compared.add((tool.fingerprint, candidate.fingerprint))
                yield from self._diff(tool, candidate)
        shipped = {tool.version for tool in self._new}
        for tool in self._old[1:]:
            if tool.version not in shipped:
                yield self._removed(tool, candidate)

    def _diff(self, old: ToolContract, new: ToolContract) -> Iterator[ToolDiff]:
        if old.fingerprint == new.fingerprint:
            return
        changes = self._compare(old, new)
        if not changes:
            return
        classification = max((change.classification for change in changes), key=lambda each: each.rank)
        cleared_reason = ""
        if classification.rank >= BREAKING.rank:
            missing = self._missing(old, new)
            if not missing:
                cleared_reason = _cleared(old, new)
            elif old.version is not None:
                changes = _with_note(changes, f"To release it all the same: {'; '.join(missing)}.")
        yield ToolDiff(
            tool_id=new.tool_id,
            baseline=old.version,
            candidate=new.version,
            baseline_fingerprint=old.fingerprint,
            candidate_fingerprint=new.fingerprint,
            classification=classification,
            changes=changes,
            cleared=bool(cleared_reason),
            cleared_reason=cleared_reason,
        )

    def _missing(self, old: ToolContract, new: ToolContract) -> list[str]:
        """Return what a breaking change lacks to be released, as things to do; empty when it may be."""
        if old.version is None or new.version is None:
            return ["declare versions"]
        missing: list[str] = []
        if version_key(new.version) <= version_key(old.version):
            missing.append(f"raise `tool_version` above {show(old.version)}")
        entry = f"{old.tool_id}@{old.version}"
        if entry not in self._replaced_by(new):
            missing.append(f"name {named(entry)} in `compatibility.replaces`")
        missing += [f"give `migration.{key}`" for key in ("owner", "retire_when") if not new.migration.get(key)]
        shipped = [tool for tool in self._head.get(old.tool_id, ()) if tool.version == old.version]
        if not shipped or shipped[0] is new:
            missing.append(f"go on shipping version {show(old.version)}, to which paused work is pinned")
        elif fingerprint_content(shipped[0]) != fingerprint_content(old):
            missing.append(f"leave version {show(old.version)} as it was, since paused work is pinned to it")
        return missing

    def _replaced_by(self, tool: ToolContract) -> set[str]:
        """Return what a version replaces, by way of versions that are still shipped too."""
        shipped = {f"{each.tool_id}@{each.version}": each for each in self._new}
        found: set[str] = set()
        queue = replaced(tool)
        while queue:
            entry = queue.pop()
            if entry not in found:
                found.add(entry)
                queue += replaced(shipped[entry]) if entry in shipped else []
        return found

    def _removed(self, tool: ToolContract, candidate: ToolContract) -> ToolDiff:
        each = rule("version_removed")
        entry = f"{tool.tool_id}@{tool.version}"
        successors = [other for other in (*self._new, *self._old) if entry in replaced(other)]
        dates = [passed_date(other.migration.get("retire_when"), self._today) for other in (tool, *successors)]
        date = next((date for date in dates if date), None)
        verdict = each.grades[Side.TOOL]
        if date:
            verdict, reason = COMPATIBLE, f"Its retirement date, {date}, has passed."
        else:
            worst = max((c.classification.rank for c in self._compare(tool, candidate)), default=0)
            if worst < BREAKING.rank:
                verdict = COMPATIBLE if worst <= COMPATIBLE.rank else Classification.BEHAVIOR_SENSITIVE
                reason = f"Version {show(candidate.version)} stands in for it."
            else:
                reason = f"Version {show(candidate.version)} does not accept or return all it did."
        change = Change(
            path="version",
            kind=each.id,
            classification=verdict,
            affects=each.affects[Side.TOOL],
            message=f"Version {show(tool.version)} is no longer shipped. {reason}",
            before=tool.version,
            location=candidate.location,
        )
        return ToolDiff(
            tool_id=candidate.tool_id,
            baseline=tool.version,
            candidate=candidate.version,
            baseline_fingerprint=tool.fingerprint,
            candidate_fingerprint=candidate.fingerprint,
            classification=verdict,
            changes=(change,),
        )


def _cleared(old: ToolContract, new: ToolContract) -> str:
    owner, condition = new.migration.get("owner"), new.migration.get("retire_when")
    return (
        f"Version {show(new.version)} replaces {show(old.version)}, which is still shipped; {show(owner)} owns the "
        f"migration, and the old version retires when: {show(condition)}."
    )


def _with_note(changes: tuple[Change, ...], note: str) -> tuple[Change, ...]:
    return (replace(changes[0], notes=(*changes[0].notes, note)), *changes[1:])
