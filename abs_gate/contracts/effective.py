"""What a tool may do, with what is not declared filled in for the worst.

The defaults are MCP's (ToolAnnotations): not read-only, destructive, not idempotent, open world. A tool nobody
described counts as a write that may destroy.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from abs_gate.contracts.model import Effect, ToolContract
from abs_gate.findings import Json

HINTS: Mapping[str, bool] = {
    "readOnlyHint": False,
    "destructiveHint": True,
    "idempotentHint": False,
    "openWorldHint": True,
}
"""MCP's hints with their defaults."""
UNDO_KEYS = ("compensation", "compensation_tool", "undo", "undo_tool", "compensated_by")
"""Under which a policy may name the tool that undoes another."""


class Hints(Struct, frozen=True, kw_only=True):
    """The effective MCP hints of a tool."""

    read_only: bool
    destructive: bool
    idempotent: bool
    open_world: bool


def effective_hints(annotations: Mapping[str, Json]) -> Hints:
    """Return the hints with defaults filled in; anything but true or false counts as absent."""
    values = {
        hint: annotations[hint] if isinstance(annotations.get(hint), bool) else default
        for hint, default in HINTS.items()
    }
    return Hints(
        read_only=values["readOnlyHint"],
        destructive=values["destructiveHint"],
        idempotent=values["idempotentHint"],
        open_world=values["openWorldHint"],
    )


def effective_effect(tool: ToolContract) -> Effect:
    """Return the side-effect level: the declared one, else what the hints say, else the worst."""
    if tool.policy.effect is not None:
        return tool.policy.effect
    hints = effective_hints(tool.annotations)
    if hints.read_only:
        return Effect.READ_ONLY
    return Effect.IRREVERSIBLE_EXTERNAL_WRITE if hints.destructive else Effect.REVERSIBLE_WRITE


def writes(tool: ToolContract) -> bool:
    """Tell whether a tool may change anything."""
    return effective_effect(tool) is not Effect.READ_ONLY


def effect_rank(effect: Effect) -> int:
    """Return 0 (read_only) to 3 (irreversible_external_write)."""
    return list(Effect).index(effect)


def undo_of(tool: ToolContract) -> Json:
    """Return the tool that undoes this one, as the policy names it; None where it names none."""
    return next((tool.policy.extra[key] for key in UNDO_KEYS if key in tool.policy.extra), None)
