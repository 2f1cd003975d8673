"""Use case: lint, fingerprint and compare the head's contracts with the base's."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from abs_gate.contracts.fingerprint import fingerprint_set
from abs_gate.contracts.load import load_contracts
from abs_gate.contracts.model import Classification, ContractSet, ToolDiff
from abs_gate.contracts.reading import KnownTools
from abs_gate.contracts.versions import newest_tools
from abs_gate.errors import BaseUnavailable, ConfigurationError
from abs_gate.findings import Finding
from abs_gate.sources.workspace import Workspace


class ContractReport(Struct, frozen=True, kw_only=True):
    """What the contract layer found, before policy."""

    head: ContractSet
    base: ContractSet | None
    base_label: str | None
    tools: tuple[ToolDiff, ...]
    lint: tuple[Finding, ...]
    error: str = ""
    """Why the comparison could not be made; the gate cannot verify then."""


class BaseContents(Struct, frozen=True, kw_only=True):
    """The base side: a tree and what to call it."""

    workspace: Workspace
    label: str
    paths: tuple[str, ...] | None = None
    """Where its contracts are when the setting names a place; None: where the head has them."""


def load_side(workspace: Workspace, paths: Sequence[str], *, required: bool = False) -> ContractSet:
    """Load one side. On the base a path that does not exist yet has no tools; on the head it is required.

    Raises:
        ConfigurationError: a contract is wrong, or a required path is absent.
    """
    if required:
        return load_contracts(workspace, paths)
    present = [path for path in paths if workspace.is_file(path) or workspace.is_directory(path)]
    return load_contracts(workspace, present) if present else ContractSet(tools=())


def check_contracts(
    head: ContractSet,
    *,
    paths: Sequence[str],
    base: BaseContents | BaseUnavailable,
    providers: Sequence[str],
    today: str,
) -> ContractReport:
    """Compare with the base, and lint. A base that cannot be read is said so, never taken for no changes."""
    from abs_gate.contracts.lint import lint_set

    base_set: ContractSet | None = None
    tools: tuple[ToolDiff, ...] = ()
    error = ""
    label = None
    if isinstance(base, BaseUnavailable):
        error = str(base)
    else:
        label = base.label
        base_set = load_side(base.workspace, base.paths or paths)
        tools = _compare(base_set, head, today=today)
    return ContractReport(
        head=head,
        base=base_set,
        base_label=label,
        tools=tools,
        lint=lint_set(head, base=base_set, providers=providers),
        error=error,
    )


def _compare(base: ContractSet, head: ContractSet, *, today: str) -> tuple[ToolDiff, ...]:
    diffs = compare_sets(base, head, today=today)
    return diffs if base.tools else tuple(_introduced(diff) for diff in diffs)


def _introduced(diff: ToolDiff) -> ToolDiff:
    """A tool of the first contracts there are: it is described for the first time, and no model has known less."""
    if any(change.kind != "tool_added" for change in diff.changes):
        return diff
    note = "These are the first contracts; from now on a new tool that writes needs a review."
    changes = tuple(
        replace(change, classification=Classification.COMPATIBLE, notes=(*change.notes, note))
        for change in diff.changes
    )
    return replace(diff, classification=Classification.COMPATIBLE, changes=changes)


def load_places(places: Sequence[tuple[Workspace, str]]) -> ContractSet:
    """Load the contracts at several places as one set.

    Raises:
        ConfigurationError: a contract is wrong, or there are none.
    """
    sets = [load_contracts(workspace, [path]) for workspace, path in places]
    if not any(each.tools for each in sets):
        raise nothing_found(" or ".join(path for _, path in places))
    if len(sets) == 1:
        return sets[0]
    tools = tuple(tool for each in sets for tool in each.tools)
    instructions = "\n".join(each.instructions for each in sets if each.instructions) or None
    return ContractSet(
        tools=tools,
        fingerprint=fingerprint_set(tools, instructions),
        instructions=instructions,
        findings=tuple(finding for each in sets for finding in each.findings),
    )


def compare_places(
    base: tuple[Workspace, str] | None, head: tuple[Workspace, str], *, today: str
) -> tuple[ToolDiff, ...]:
    """Compare the contracts at two places; without a base every tool is new.

    Raises:
        ConfigurationError: a contract is wrong, or neither place has a tool.
    """
    known: KnownTools = {}
    old = ContractSet(tools=()) if base is None else load_contracts(base[0], [base[1]], known=known)
    new = load_contracts(head[0], [head[1]], known=known)
    if not old.tools and not new.tools:
        raise nothing_found(head[1] if base is None else f"{base[1]} and {head[1]}")
    return _compare(old, new, today=today)


def nothing_found(places: str) -> ConfigurationError:
    """The error of a check that would check nothing: it must not look like a pass."""
    return ConfigurationError(
        f"There is no tool contract in {places}.",
        hint="A contract is a native artifact (`tool_id:`), or a tool list of MCP, OpenAI, Anthropic or Gemini.",
    )


def compare_sets(base: ContractSet, head: ContractSet, *, today: str) -> tuple[ToolDiff, ...]:
    """What changed, and then every tool that did not: a list that says what was compared, not only what was found."""
    from abs_gate.contracts.diff import diff_sets  # the schema engine is slow to load and only needed here

    diffs = diff_sets(base, head, today=today)
    told = {diff.tool_id for diff in diffs}
    before = newest_tools(base)
    unchanged = [
        ToolDiff(
            tool_id=tool.tool_id,
            baseline=before[tool.tool_id].version,
            candidate=tool.version,
            baseline_fingerprint=before[tool.tool_id].fingerprint,
            candidate_fingerprint=tool.fingerprint,
            classification=Classification.UNCHANGED,
        )
        for tool in newest_tools(head).values()
        if tool.tool_id in before and tool.tool_id not in told
    ]
    return (*diffs, *unchanged)
