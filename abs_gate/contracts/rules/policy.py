"""Authority, approval, effect and idempotency as the artifact declares them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from abs_gate.contracts.approval import ApprovalChange, compare_approvals
from abs_gate.contracts.effective import UNDO_KEYS, effect_rank, effective_effect, undo_of, writes
from abs_gate.contracts.facts import ToolFact, ToolPair
from abs_gate.contracts.model import Effect
from abs_gate.contracts.rules.registry import BREAKING, COMPATIBLE, REVIEW, SAFETY, tool_rule
from abs_gate.contracts.schemas.values import same
from abs_gate.contracts.wording import named, show
from abs_gate.findings import Json

AREA = "policy"
_GUARDS = ("approval_policy", "authority")
_WRITE_SCOPE = re.compile(r"\b(write|admin|manage|delete|create|update|send|full|all|owner)\b|\*", re.IGNORECASE)


def _policy(**fields: Json) -> Json:
    return {"policy": fields}


def _approval_fact(pair: ToolPair, wanted: ApprovalChange, message: str) -> Iterator[ToolFact]:
    before, after = pair.old.policy.approval, pair.new.policy.approval
    if compare_approvals(before, after) is wanted:
        yield ToolFact(
            path="policy.approval",
            message=message.format(before=show(before), after=show(after)),
            before=before,
            after=after,
            part=("policy", "approval"),
        )


@tool_rule(
    "approval_dropped",
    area=AREA,
    grade=SAFETY,
    affects=_GUARDS,
    mirror="approval_added",
    fix="Keep the approval. If it shall go, let the owner of the policy decide that on its own.",
    bad=(_policy(approval="always"), _policy(approval="never")),
    good=(_policy(approval="never"), _policy()),
)
def approval_dropped(pair: ToolPair) -> Iterator[ToolFact]:
    """Calls that a person had to approve run unasked now.

    Nothing else stands between a wrong call and its effect.
    """
    yield from _approval_fact(pair, ApprovalChange.DROPPED, "Approval is no longer asked: {before} became {after}.")


@tool_rule(
    "approval_weakened",
    area=AREA,
    grade=SAFETY,
    affects=_GUARDS,
    mirror="approval_tightened",
    fix="Keep the rule, or let the owner of the policy decide that on its own.",
    bad=(_policy(approval={"above": 100}), _policy(approval={"above": 5000})),
    good=(_policy(approval={"above": 100, "role": "lead"}), _policy(approval={"role": "lead", "above": 100.0})),
)
def approval_weakened(pair: ToolPair) -> Iterator[ToolFact]:
    """Approval is asked less often, or of more or other people.

    A higher threshold, fewer approvers, another role, "always" turned into "sometimes".
    """
    yield from _approval_fact(pair, ApprovalChange.WEAKENED, "Approval became weaker: {before} became {after}.")


@tool_rule(
    "approval_unclear",
    area=AREA,
    grade=SAFETY,
    affects=_GUARDS,
    no_mirror="its own opposite",
    fix="Use `always`, `never`, or a rule with thresholds and roles, so that the change can be judged.",
    bad=(_policy(approval="committee"), _policy(approval="buddy")),
    good=(_policy(approval="committee"), _policy(approval="committee")),
)
def approval_unclear(pair: ToolPair) -> Iterator[ToolFact]:
    """The approval rule changed in a way that is not understood.

    It may be weaker, so it is treated as weaker.
    """
    message = "Approval changed from {before} to {after}, and whether it is weaker cannot be told."
    yield from _approval_fact(pair, ApprovalChange.UNCLEAR, message)


@tool_rule(
    "approval_added",
    area=AREA,
    grade=REVIEW,
    affects=("saved_runs", "approval_policy"),
    mirror="approval_dropped",
    fix="See that unattended runs have somebody to ask, and that paused runs can ask too.",
    bad=(_policy(), _policy(approval="always")),
    good=(_policy(approval="always"), _policy(approval="required")),
)
def approval_added(pair: ToolPair) -> Iterator[ToolFact]:
    """Calls that ran unasked have to be approved now.

    Safer, but unattended and paused runs stop at this tool.
    """
    yield from _approval_fact(pair, ApprovalChange.ADDED, "Approval is asked now: {before} became {after}.")


@tool_rule(
    "approval_tightened",
    area=AREA,
    grade=REVIEW,
    affects=("saved_runs", "approval_policy"),
    mirror="approval_weakened",
    fix="See that unattended runs have somebody to ask.",
    bad=(_policy(approval={"above": 5000}), _policy(approval={"above": 100})),
    good=(_policy(approval={"above": 5000}), _policy(approval={"above": 5000})),
)
def approval_tightened(pair: ToolPair) -> Iterator[ToolFact]:
    """Approval is asked more often, or of fewer people.

    Safer, but runs that went through may stop here.
    """
    yield from _approval_fact(pair, ApprovalChange.TIGHTENED, "Approval became stricter: {before} became {after}.")


@tool_rule(
    "effect_raised",
    area=AREA,
    grade=SAFETY,
    affects=("approval_policy", "recovery_policy", "authority"),
    mirror="effect_lowered",
    fix="Put the tool behind the approval its new effect asks for, under a new version.",
    bad=(_policy(effect="read_only"), _policy(effect="irreversible_external_write")),
    good=(_policy(), _policy(effect="irreversible_external_write")),
)
def effect_raised(pair: ToolPair) -> Iterator[ToolFact]:
    """The tool does more to the world than before.

    Approvals, retries and allow-lists were made for the weaker effect. An undeclared effect counts as the strongest.
    """
    yield from _effect_fact(pair, raised=True)


@tool_rule(
    "effect_lowered",
    area=AREA,
    grade=REVIEW,
    affects=("approval_policy",),
    mirror="effect_raised",
    fix="Ask for evidence: a test that shows that nothing more is changed.",
    bad=(_policy(effect="reversible_write"), _policy(effect="read_only")),
    good=(_policy(effect="irreversible_external_write"), _policy()),
)
def effect_lowered(pair: ToolPair) -> Iterator[ToolFact]:
    """The tool claims to do less to the world than before.

    Guards are relaxed on the word of the author.
    """
    yield from _effect_fact(pair, raised=False)


def _effect_fact(pair: ToolPair, *, raised: bool) -> Iterator[ToolFact]:
    if pair.old.policy.effect is None and pair.new.policy.effect is None:
        return
    before, after = effective_effect(pair.old), effective_effect(pair.new)
    if before is not after and (effect_rank(after) > effect_rank(before)) is raised:
        yield ToolFact(
            path="policy.effect",
            message=f"The effect went from {_named(pair.old.policy.effect, before)} to "
            f"{_named(pair.new.policy.effect, after)}.",
            before=pair.old.policy.effect,
            after=pair.new.policy.effect,
            part=("policy", "effect"),
        )


def _named(declared: Effect | None, effective: Effect) -> str:
    return show(effective) if declared is not None else f"none declared, which counts as {show(effective)},"


@tool_rule(
    "scope_added",
    area=AREA,
    grade=SAFETY,
    affects=("authority", "approval_policy"),
    mirror="scope_removed",
    fix="Ask for no more authority, or let the owner of the policy grant it on its own.",
    bad=(_policy(required_scope="refunds.read"), _policy(required_scopes=["refunds.read", "refunds.write"])),
    good=(_policy(required_scopes=["a", "b"]), _policy(required_scopes=["b", "a"])),
)
def scope_added(pair: ToolPair) -> Iterator[ToolFact]:
    """The tool needs authority it did not need.

    Outside what was granted it is safety-breaking; inside (`refunds.*` covers `refunds.write`) it is for review.
    """
    before, after = set(pair.old.policy.required_scopes), set(pair.new.policy.required_scopes)
    for scope in sorted(after - before):
        is_covered = any(_covers(granted, scope) for granted in before)
        yield ToolFact(
            path="policy.required_scopes",
            message=f"The tool needs the scope {named(scope)}" + (", which one it had covers." if is_covered else "."),
            before=sorted(before),
            after=sorted(after),
            part=("policy",),
            grade=REVIEW if is_covered else None,
        )


@tool_rule(
    "scope_removed",
    area=AREA,
    grade=COMPATIBLE,
    affects=("authority",),
    mirror="scope_added",
    fix="See that the effect still works with what is left.",
    bad=(_policy(required_scopes=["a.read", "b.read"]), _policy(required_scopes=["a.read"])),
    good=(_policy(required_scope="a.read"), _policy(required_scopes=["a.read"])),
)
def scope_removed(pair: ToolPair) -> Iterator[ToolFact]:
    """The tool no longer asks for a scope.

    Breaking where the effect still needs it: a tool that writes without any scope left, or without the one for
    writing.
    """
    before, after = set(pair.old.policy.required_scopes), set(pair.new.policy.required_scopes)
    for scope in sorted(before - after):
        is_needed = writes(pair.new) and (
            not after or (_WRITE_SCOPE.search(scope) and not any(_WRITE_SCOPE.search(left) for left in after))
        )
        yield ToolFact(
            path="policy.required_scopes",
            message=f"The scope {named(scope)} is no longer asked for"
            + (", though the tool still writes." if is_needed else "."),
            before=sorted(before),
            after=sorted(after),
            part=("policy",),
            grade=BREAKING if is_needed else None,
        )


def _covers(granted: str, scope: str) -> bool:
    """Tell whether a scope lies within one that was granted: `a.*`, `a:*`, `a/*`, `*`."""
    return granted == "*" or (granted.endswith("*") and len(granted) > 1 and scope.startswith(granted[:-1]))


@tool_rule(
    "tenant_boundary_changed",
    area=AREA,
    grade=SAFETY,
    affects=("authority",),
    no_mirror="its own opposite",
    fix="Keep the boundary: it is what keeps one customer's data from another.",
    bad=(_policy(tenant_boundary="account_id"), _policy()),
    good=(_policy(tenant_boundary="account_id"), _policy(tenant_boundary="account_id")),
)
def tenant_boundary_changed(pair: ToolPair) -> Iterator[ToolFact]:
    """The boundary between tenants is gone or is another one.

    A call may reach another customer's data. One that is declared for the first time is for review.
    """
    before, after = pair.old.policy.tenant_boundary, pair.new.policy.tenant_boundary
    if before != after:
        yield ToolFact(
            path="policy.tenant_boundary",
            message=f"The tenant boundary went from {show(before)} to {show(after)}.",
            before=before,
            after=after,
            part=("policy", "tenant_boundary"),
            grade=REVIEW if before is None else None,
        )


@tool_rule(
    "policy_field_changed",
    area=AREA,
    grade=REVIEW,
    affects=("approval_policy",),
    no_mirror="its own opposite",
    fix="Find out who enforces the field.",
    bad=(_policy(data_class="public"), _policy(data_class="secret")),
    good=(_policy(level=1), _policy(level=1.0)),
)
def policy_field_changed(pair: ToolPair) -> Iterator[ToolFact]:
    """A field of the policy that no other rule knows came, went or changed.

    What is not understood is never called compatible.
    """
    before, after = pair.old.policy.extra, pair.new.policy.extra
    for key in sorted((before.keys() | after.keys()) - set(UNDO_KEYS)):
        if not same(before.get(key), after.get(key)):
            yield ToolFact(
                path=f"policy.{key}",
                message=f"{named(key)} went from {show(before.get(key))} to {show(after.get(key))}.",
                before=before.get(key),
                after=after.get(key),
                part=("policy", key),
            )


@tool_rule(
    "compensation_removed",
    area=AREA,
    grade=SAFETY,
    affects=("recovery_policy",),
    mirror="compensation_added",
    fix="Keep a way to undo what the tool does.",
    bad=(_policy(compensation="billing.cancel_refund"), _policy()),
    good=(_policy(), _policy()),
)
def compensation_removed(pair: ToolPair) -> Iterator[ToolFact]:
    """The tool that undoes this one is gone, is another one, or is no longer among the tools.

    Recovery relies on it when a later step fails.
    """
    before, after = undo_of(pair.old), undo_of(pair.new)
    if before is not None and before != after:
        yield ToolFact(
            path="policy.compensation",
            message=f"The tool that undoes this one went from {show(before)} to {show(after)}.",
            before=before,
            after=after,
            part=("policy",),
        )


@tool_rule(
    "compensation_added",
    area=AREA,
    grade=COMPATIBLE,
    affects=("recovery_policy",),
    mirror="compensation_removed",
    fix="Nothing.",
    bad=(_policy(), _policy(compensation="billing.cancel_refund")),
    good=(_policy(), _policy()),
)
def compensation_added(pair: ToolPair) -> Iterator[ToolFact]:
    """A tool that undoes this one is declared.

    Recovery can use it.
    """
    before, after = undo_of(pair.old), undo_of(pair.new)
    if before is None and after is not None:
        message = f"{show(after)} is declared to undo this tool."
        yield ToolFact(path="policy.compensation", message=message, after=after, part=("policy",))
