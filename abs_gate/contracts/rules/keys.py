"""Idempotency keys: what makes a repeat harmless."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from abs_gate.contracts.facts import ToolFact, ToolPair
from abs_gate.contracts.rules.registry import COMPATIBLE, REVIEW, SAFETY, tool_rule
from abs_gate.contracts.schemas.values import same
from abs_gate.contracts.wording import named, show
from abs_gate.findings import Json

AREA = "policy"


def _policy(**fields: Json) -> Json:
    return {"policy": fields}


@tool_rule(
    "idempotency_key_removed",
    area=AREA,
    grade=SAFETY,
    affects=("recovery_policy",),
    mirror="idempotency_key_declared",
    fix="Keep the key: without it a retry after a timeout takes effect twice.",
    bad=(_policy(idempotency_key="action_id"), _policy()),
    good=(_policy(idempotency_key="action_id"), _policy(idempotency_key="action_id")),
)
def idempotency_key_removed(pair: ToolPair) -> Iterator[ToolFact]:
    """The idempotency key is gone or is carried elsewhere.

    Retries that were safe apply twice now: two refunds, two messages.
    """
    before, after = pair.keys
    if before is None or (after is not None and before.name == after.name):
        return
    what = f"is carried by {named(after.name)} now" if after else "is gone"
    yield ToolFact(
        path="policy.idempotency_key",
        message=f"The idempotency key {named(before.name)} {what}.",
        before=before.name,
        after=after.name if after else None,
        part=("policy", "idempotency_key") if before.is_declared else ("input",),
    )


@tool_rule(
    "idempotency_key_declared",
    area=AREA,
    grade=COMPATIBLE,
    affects=("recovery_policy",),
    mirror="idempotency_key_removed",
    fix="Nothing, unless it is a new required argument, which is reported by itself.",
    bad=(_policy(), _policy(idempotency_key="action_id")),
    good=(_policy(), _policy()),
)
def idempotency_key_declared(pair: ToolPair) -> Iterator[ToolFact]:
    """An idempotency key is declared where there was none.

    Retries become safe for callers that send it.
    """
    before, after = pair.keys
    if before is None and after is not None:
        yield ToolFact(
            path="policy.idempotency_key",
            message=f"{named(after.name)} is the idempotency key now.",
            after=after.name,
            part=("policy", "idempotency_key"),
        )


@tool_rule(
    "idempotency_key_optional",
    area=AREA,
    grade=SAFETY,
    affects=("recovery_policy",),
    no_mirror="the opposite is reported as `optional_to_required`",
    fix="Keep it required: what models may leave out, they leave out.",
    bad=(
        {
            "policy": {"idempotency_key": "key"},
            "model_surface": {
                "input_schema": {"type": "object", "properties": {"key": {"type": "string"}}, "required": ["key"]}
            },
        },
        {
            "policy": {"idempotency_key": "key"},
            "model_surface": {"input_schema": {"type": "object", "properties": {"key": {"type": "string"}}}},
        },
    ),
    good=(_policy(idempotency_key="key"), _policy(idempotency_key="key")),
)
def idempotency_key_optional(pair: ToolPair) -> Iterator[ToolFact]:
    """The argument that carries the idempotency key may be left out now.

    Calls without it are not protected against being applied twice.
    """
    before, after = pair.keys
    if before and after and before.name == after.name and before.is_required and not after.is_required:
        yield ToolFact(
            path="policy.idempotency_key",
            message=f"The idempotency key {named(after.name)} may be left out now.",
            before="required",
            after="optional",
            part=("input", "properties", after.name),
        )


@tool_rule(
    "idempotency_key_weakened",
    area=AREA,
    grade=SAFETY,
    affects=("recovery_policy",),
    no_mirror="a wider scope or longer retention breaks nothing",
    fix="Keep the scope and the retention: they have to cover realistic retries and resumed runs.",
    bad=(
        _policy(idempotency_key={"name": "key", "retention_hours": 48}),
        _policy(idempotency_key={"name": "key", "retention_hours": 1}),
    ),
    good=(
        _policy(idempotency_key={"name": "key", "retention_hours": 48}),
        _policy(idempotency_key={"name": "key", "retention_hours": 96}),
    ),
)
def idempotency_key_weakened(pair: ToolPair) -> Iterator[ToolFact]:
    """The idempotency key holds for a shorter time or for less than before.

    A repeat that comes later, or from elsewhere, applies again.
    """
    before, after = pair.old.policy.idempotency_key, pair.new.policy.idempotency_key
    if after is None:
        return
    rules = _key_rules(after)
    for key, old in sorted(_key_rules(before).items()):
        new = rules.get(key)
        is_longer = _is_number(old) and _is_number(new) and new >= old
        if not same(old, new) and not is_longer:
            yield ToolFact(
                path="policy.idempotency_key",
                message=f"{named(key)} of the idempotency key went from {show(old)} to {show(new)}.",
                before=before,
                after=after,
                part=("policy", "idempotency_key"),
            )


@tool_rule(
    "idempotency_key_changed",
    area=AREA,
    grade=REVIEW,
    affects=("recovery_policy",),
    no_mirror="its own opposite",
    fix="See that retries and resumed runs still lie within what the key covers.",
    bad=(_policy(idempotency_key="key"), _policy(idempotency_key={"name": "key", "retention_hours": 1})),
    good=(_policy(idempotency_key="key"), _policy(idempotency_key={"name": "key"})),
)
def idempotency_key_changed(pair: ToolPair) -> Iterator[ToolFact]:
    """More is said of the idempotency key than before: a scope, a retention.

    It may be a limit that was not there.
    """
    before, after = (_key_rules(tool.policy.idempotency_key) for tool in (pair.old, pair.new))
    for key in sorted(after.keys() - before.keys()) if pair.keys[0] else ():
        yield ToolFact(
            path="policy.idempotency_key",
            message=f"{named(key)} of the idempotency key is {show(after[key])} now; nothing was said of it.",
            after=after[key],
            part=("policy", "idempotency_key"),
        )


def _key_rules(declared: Json) -> Mapping[str, Json]:
    named_by = {"name", "argument", "field", "header"}
    return (
        {key: value for key, value in declared.items() if key not in named_by} if isinstance(declared, Mapping) else {}
    )


def _is_number(value: Json) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
