"""What to do next about a contract change, in a sentence or two an agent developer can act on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeAlias

from abs_gate.contracts.rules import rule as find_rule
from abs_gate.reports.figures import count_of
from abs_gate.reports.selection import action_of
from abs_gate.reports.untrusted import one_line

if TYPE_CHECKING:
    from abs_gate.gate.result import ChangeRecord, ToolDiffRecord

Quote: TypeAlias = Callable[[str], str]
"""Makes text of others inert for the place it lands in."""

AFFECTED: dict[str, str] = {
    "model_arguments": "the arguments models generate",
    "model_selection": "which tool a model picks",
    "saved_runs": "saved, queued and paused calls",
    "adapter": "the adapter code around the tool",
    "provider": "the provider's API",
    "consumers": "whatever reads the result",
    "recovery_policy": "retries and recovery",
    "approval_policy": "approvals",
    "authority": "permissions",
}
"""Each `affects` value in words. An unknown value is shown as it is."""

CLASSIFICATION_WORDS: dict[str, str] = {
    "safety_breaking": "safety breaking",
    "breaking": "breaking",
    "behavior_sensitive": "behavior sensitive",
    "compatible": "compatible",
    "unchanged": "unchanged",
}

ACTION_WORDS: dict[str, str] = {
    "block": "blocks",
    "review": "needs review",
    "note": "noted",
    "ignore": "ignored by policy",
    "cleared": "cleared by version and migration",
    "acknowledged": "acknowledged",
}


def plain(text: str) -> str:
    """How terminal text and JUnit quote what others wrote: on one line, in backticks as our own words do."""
    return f"`{one_line(text, 160)}`"


def affected_text(change: ChangeRecord, quote: Quote) -> str:
    """`the arguments models generate; saved, queued and paused calls`; empty when nobody is named."""
    return "; ".join(AFFECTED.get(party) or quote(party) for party in change["affects"])


def versions_text(tool: ToolDiffRecord, quote: Quote) -> str:
    """`3 to 4`, `new`, `removed`; empty for tools without versions."""
    before, after = tool["baseline"], tool["candidate"]
    if tool["baseline_fingerprint"] is None and before is None:
        return "new"
    if tool["candidate_fingerprint"] is None and after is None:
        return "removed"
    if before is None or after is None:
        return ""
    if before == after:
        return f"version {_version(before, quote)}"
    return f"{_version(before, quote)} to {_version(after, quote)}"


def _version(version: int | str, quote: Quote) -> str:
    return str(version) if isinstance(version, int) else quote(version)


def proof_text(change: ChangeRecord) -> str:
    """How sure the classification is, in words."""
    return {
        "witness": "shown by a call",
        "proved": "proved",
        "not proven": "not proven either way, so treated as the worse",
    }.get(change["proof"], "by convention")


def witness_title(change: ChangeRecord) -> str:
    """What the witness shows: a call that is refused now, or a result that was never promised."""
    if change["path"].split(".")[0].split("[")[0] == "output":
        return "A result the tool may return now and the old contract forbade:"
    return "A call that worked before and is refused now:"


def fix_of(change: ChangeRecord) -> str:
    """What the change's rule says to do about it; empty where nothing needs doing."""
    if action_of(change) not in ("block", "review"):
        return ""
    try:
        return find_rule(change["kind"]).fix
    except KeyError:
        return ""


def notes_of(change: ChangeRecord) -> list[str]:
    """The notes of a change without what `fix_of` says already."""
    return [note for note in change["notes"] if note != fix_of(change)]


def clearing_steps(tools: Sequence[ToolDiffRecord]) -> list[str]:
    """What clears changes that block or need review, besides mending each of them: once for all tools.

    Where versions and migration can clear a break, the change's own notes say what is missing.
    """
    found = {(action_of(change), _is_bare(tool)) for tool in tools for change in tool["changes"]}
    steps = []
    if ("block", True) in found:
        steps.append(
            "To clear what blocks: accept again what the base accepted and promised (a tool list has no versions, so "
            "a break cannot be migrated); or add the new shape under a new name and keep the old tool."
        )
    if {("review", True), ("review", False)} & found:
        steps.append(
            "To clear what needs review: run the sessions that use these tools, then acknowledge the changes (an entry "
            "under `acknowledgements:` pinned to both fingerprints, or the review label)."
        )
    return steps


def _is_bare(tool: ToolDiffRecord) -> bool:
    """Whether a tool comes from a list without versions."""
    return tool["baseline"] is None and tool["candidate"] is None


def diff_summary(tools: Sequence[ToolDiffRecord]) -> str:
    """`3 tools compared: 1 breaking, 2 unchanged`."""
    counts: dict[str, int] = {}
    for tool in sorted(tools, key=lambda t: list(CLASSIFICATION_WORDS).index(t["classification"])):
        counts[tool["classification"]] = counts.get(tool["classification"], 0) + 1
    if not counts:
        return "No tools on either side."
    parts = [f"{number:,} {CLASSIFICATION_WORDS[name]}" for name, number in counts.items()]
    cleared = sum(1 for tool in tools if tool.get("cleared"))
    more = f" {cleared:,} of them cleared by version and migration." if cleared else ""
    return f"{count_of(len(tools), 'tool')} compared: {', '.join(parts)}.{more}"
