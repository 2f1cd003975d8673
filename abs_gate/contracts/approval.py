"""Reads approval rules well enough to tell whether a new one asks less often or asks less of whom."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from msgspec import Struct

from abs_gate.contracts.schemas.values import canonical, same
from abs_gate.findings import Json

_NEVER = frozenset({"never", "none", "no", "not_required", "auto", "automatic", "off", "false", "optional"})
_ALWAYS = frozenset({"always", "required", "yes", "manual", "on", "true", "human", "each", "every_call", "per_call"})
_SOMETIMES = frozenset(
    {"once", "first_use", "per_session", "per_run", "conditional", "threshold", "on_threshold", "above_threshold"}
)
_MODE_KEYS = ("mode", "required", "when", "type", "policy", "approval")
_COUNT_KEYS = frozenset({"approvers", "quorum", "count", "min_approvals", "approvals"})
_ROLE_KEYS = frozenset({"role", "roles", "approver", "approver_role", "approver_roles", "by", "group", "groups"})


class ApprovalChange(StrEnum):
    """What a change of an approval rule does."""

    DROPPED = "dropped"
    WEAKENED = "weakened"
    ADDED = "added"
    TIGHTENED = "tightened"
    UNCLEAR = "unclear"


class _Approval(Struct, frozen=True, kw_only=True):
    rank: int | None
    """0 never, 1 sometimes, 2 always; None when it cannot be told."""
    thresholds: Mapping[str, float]
    counts: Mapping[str, float]
    roles: frozenset[str] | None
    rest: Mapping[str, str]


def compare_approvals(before: Json, after: Json) -> ApprovalChange | None:
    """Return what became of an approval rule; None when it is the same. Not declared is never asked."""
    if same(before, after):
        return None
    old, new = _read(before), _read(after)
    if old.rank is None or new.rank is None:
        return ApprovalChange.UNCLEAR
    if old.rank == 0 or new.rank == 0:
        return None if old.rank == new.rank else ApprovalChange.DROPPED if new.rank == 0 else ApprovalChange.ADDED
    if new.rank < old.rank:
        return ApprovalChange.WEAKENED
    directions = set(_directions(old, new)) | ({1} if new.rank > old.rank else set())
    if old.rest != new.rest or None in directions:
        return ApprovalChange.UNCLEAR
    if -1 in directions:
        return ApprovalChange.WEAKENED
    return ApprovalChange.TIGHTENED if 1 in directions else None


def _directions(old: _Approval, new: _Approval) -> list[int | None]:
    """Return for each part -1 (weaker), 1 (stricter), None (cannot be told); parts that stayed are left out."""
    found: list[int | None] = []
    if old.thresholds.keys() != new.thresholds.keys():
        found.append(-1 if new.thresholds.keys() > old.thresholds.keys() else 1)
    for key in old.thresholds.keys() & new.thresholds.keys():
        if old.thresholds[key] != new.thresholds[key]:
            found.append(-1 if new.thresholds[key] > old.thresholds[key] else 1)
    for key in old.counts.keys() | new.counts.keys():
        needed = old.counts.get(key, 1), new.counts.get(key, 1)
        if needed[0] != needed[1]:
            found.append(-1 if needed[1] < needed[0] else 1)
    if old.roles != new.roles:
        if old.roles is None or new.roles is None:
            found.append(1 if old.roles is None else -1)
        else:
            found.append(1 if new.roles < old.roles else -1)
    return found


def _read(approval: Json) -> _Approval:
    if not isinstance(approval, Mapping):
        return _Approval(rank=_rank(approval), thresholds={}, counts={}, roles=None, rest={})
    thresholds: dict[str, float] = {}
    counts: dict[str, float] = {}
    roles: set[str] | None = None
    rest: dict[str, str] = {}
    rank: int | None = None
    has_mode = False
    for key, value in approval.items():
        if key in _MODE_KEYS and isinstance(value, str | bool):
            rank, has_mode = _rank(value), True
        elif isinstance(value, int | float) and not isinstance(value, bool):
            (counts if key in _COUNT_KEYS else thresholds)[key] = float(value)
        elif key in _ROLE_KEYS:
            names = value if isinstance(value, list) else [value]
            roles = (roles or set()) | {str(name) for name in names}
        else:
            rest[str(key)] = canonical(value)
    if not has_mode:
        rank = 1 if thresholds or rest else 2
    elif rank == 2 and thresholds:
        rank = 1
    return _Approval(
        rank=rank, thresholds=thresholds, counts=counts, roles=None if roles is None else frozenset(roles), rest=rest
    )


def _rank(approval: Json) -> int | None:
    if approval is None:
        return 0
    word = str(approval).strip().lower().replace("-", "_").replace(" ", "_")
    if word in _NEVER:
        return 0
    if word in _ALWAYS:
        return 2
    return 1 if word in _SOMETIMES else None
