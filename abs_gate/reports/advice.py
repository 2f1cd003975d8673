"""What to do next about a contract change, in a sentence or two an agent developer can act on."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from abs_gate.gate.result import ChangeRecord, ToolDiffRecord
from abs_gate.reports.selection import action_of, sort_changes
from abs_gate.reports.untrusted import one_line

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


def next_step(change: ChangeRecord, tool: ToolDiffRecord, quote: Quote) -> str:
    """What to do; empty where nothing needs doing.

    Our own words hold no character that HTML or Markdown acts on, but for the backticks around names.
    """
    action = action_of(change)
    if action == "review":
        return (
            "Run the sessions that use this tool, then acknowledge the change (an entry under "
            "`acknowledgements:` pinned to both fingerprints, or the review label)."
        )
    if action != "block":
        return ""
    if tool["candidate"] is None and tool["candidate_fingerprint"] is None:
        return "Keep the tool until its retirement condition is met, or bring it back under the old name."
    if tool["baseline"] is not None:
        replaces = quote(f"compatibility.replaces: {tool['tool_id']}@{tool['baseline']}")
        return (
            f"Accept again what version {_version(tool['baseline'], quote)} accepted and promised; or publish the "
            f"change beside it: raise `tool_version`, set {replaces}, give `migration` an `owner` and "
            "`retire_when`, and keep shipping the old version."
        )
    return (
        "Accept again what the base accepted and promised (this tool list has no versions, so a break cannot be "
        "migrated); or add the new shape under a new tool name and keep the old tool."
    )


def steps_for(tool: ToolDiffRecord, quote: Quote) -> list[str]:
    """The distinct next steps of all changes of a tool, what blocks first."""
    steps = [next_step(change, tool, quote) for change in sort_changes(tool["changes"])]
    return list(dict.fromkeys(step for step in steps if step))
