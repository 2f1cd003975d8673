"""Tools and versions that came or went. The comparison of two sets applies these."""

from __future__ import annotations

from collections.abc import Iterator

from abs_gate.contracts.facts import ToolFact, ToolPair
from abs_gate.contracts.rules.registry import BREAKING, COMPATIBLE, REVIEW, tool_rule
from abs_gate.findings import Json

AREA = "tool set"
_READS: Json = {
    "name": "get_order",
    "description": "Finds one order by its number.",
    "inputSchema": {"type": "object", "properties": {"order_id": {"type": "string"}}},
    "annotations": {"readOnlyHint": True},
}
_ARGUMENTS: Json = {
    "type": "object",
    "properties": {"order_id": {"type": "string"}, "reason": {"type": "string"}, "note": {"type": "string"}},
}


def _version(number: int, **more: Json) -> Json:
    return {"tool_version": number, **more}


@tool_rule(
    "tool_added",
    area=AREA,
    grade=COMPATIBLE,
    affects=("model_selection", "approval_policy"),
    mirror="tool_removed",
    fix="Run the sessions that choose among its neighbours. If it writes, decide who approves it.",
    bad=(None, _READS),
    good=(_READS, _READS),
)
def tool_added(_: ToolPair) -> Iterator[ToolFact]:
    """A tool is new.

    Models choose among more tools, and every one costs tokens with each request. One that writes, or does not say
    that it does not, is for review.
    """
    yield from ()


@tool_rule(
    "tool_removed",
    area=AREA,
    grade=BREAKING,
    affects=("model_arguments", "saved_runs", "adapter", "approval_policy"),
    mirror="tool_added",
    fix="Keep it until its retirement date, or let another tool answer to its name.",
    bad=(_READS, None),
    good=(_READS, _READS),
)
def tool_removed(_: ToolPair) -> Iterator[ToolFact]:
    """A tool is gone.

    Saved and paused runs, prompts and adapters still call it. Compatible when the retirement date it declared has
    passed, or when another tool declares its name as an alias.
    """
    yield from ()


@tool_rule(
    "tool_declared_twice",
    area=AREA,
    grade=BREAKING,
    affects=("model_selection", "provider", "adapter"),
    no_mirror="a list that is mended breaks nobody",
    fix="Keep one of them.",
    bad=({"tools": [_READS]}, {"tools": [_READS, {**_READS, "description": "Finds an order otherwise."}]}),
    good=({"tools": [_READS, _READS]}, {"tools": [_READS, _READS]}),
)
def tool_declared_twice(_: ToolPair) -> Iterator[ToolFact]:
    """A tool stands twice in the list.

    Providers and hosts refuse the list, or take either: which of them a call reaches cannot be told.
    """
    yield from ()


@tool_rule(
    "version_removed",
    area=AREA,
    grade=BREAKING,
    affects=("saved_runs",),
    no_mirror="a version that was added is compared as a whole",
    fix="Keep the version until its retirement condition is met, and write the condition as a date.",
    bad=(
        [_version(1, runtime={"deadline_ms": 20}), _version(2, runtime={"deadline_ms": 10})],
        [_version(2, runtime={"deadline_ms": 10})],
    ),
    good=([_version(1), _version(2)], [_version(1), _version(2)]),
)
def version_removed(_: ToolPair) -> Iterator[ToolFact]:
    """A version that was supported is no longer shipped.

    Paused and long-running work stays pinned to the version it began with. Compatible when its retirement date has
    passed or when the version that is left accepts and returns all it did.
    """
    yield from ()


@tool_rule(
    "instructions_changed",
    area=AREA,
    grade=REVIEW,
    affects=("model_selection",),
    no_mirror="its own opposite",
    fix="Run the sessions against the new text.",
    bad=(
        {"tools": [_READS], "instructions": "Look before you write."},
        {"tools": [_READS], "instructions": "Always write first."},
    ),
    good=({"tools": [_READS], "instructions": "Look  first."}, {"tools": [_READS], "instructions": "Look first."}),
)
def instructions_changed(_: ToolPair) -> Iterator[ToolFact]:
    """The instructions the server gives beside its tools changed.

    Hosts put them into the prompt: they steer the choice among all tools.
    """
    yield from ()


@tool_rule(
    "strict_mode_drift",
    area=AREA,
    grade=BREAKING,
    affects=("model_arguments", "saved_runs", "adapter"),
    no_mirror="a converter that stops doing so is reported as `required_to_optional`",
    fix="One of three. Represent absence: keep the argument required and let it be null. Keep the argument optional in "
    "the contract and convert at the provider's edge. Or, if the product needs the value, ask for it in a new tool "
    "version.",
    bad=(
        {**_READS, "inputSchema": {**_ARGUMENTS, "required": ["order_id"]}},
        {**_READS, "inputSchema": {**_ARGUMENTS, "required": ["order_id", "reason", "note"]}},
    ),
    good=(_READS, {**_READS, "inputSchema": {**_READS["inputSchema"], "required": ["order_id"]}}),
)
def strict_mode_drift(_: ToolPair) -> Iterator[ToolFact]:
    """Every argument is required now, where some were optional: the mark of a converter for strict mode.

    The product still accepts the old calls and every test passes, while models fill the forced arguments with empty
    texts, zeroes and invented reasons.
    """
    yield from ()
