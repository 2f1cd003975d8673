"""The product behind the tool: service, operation, least version."""

from __future__ import annotations

import re
from collections.abc import Iterator

from abs_gate.contracts.facts import ToolFact, ToolPair
from abs_gate.contracts.model import ToolContract
from abs_gate.contracts.rules.registry import BREAKING, COMPATIBLE, REVIEW, tool_rule
from abs_gate.contracts.schemas.values import same
from abs_gate.contracts.version_order import version_key
from abs_gate.contracts.wording import named, show
from abs_gate.findings import Json

AREA = "provider"
_VERSION = re.compile(r"(?:^|[/.\-_])v(\d+)(?:$|[/.\-_])", re.IGNORECASE)
_KNOWN = frozenset({"service", "operation", "minimum_version"})


def _provider(consumes: Json = None, **fields: Json) -> Json:
    return {"provider": fields, **({"compatibility": {"consumes": consumes}} if consumes else {})}


def _consumes(tool: ToolContract) -> list[str]:
    consumes = tool.compatibility.get("consumes")
    items = [consumes] if isinstance(consumes, str) else consumes if isinstance(consumes, list) else []
    return [str(item) for item in items]


def _is_covered(pair: ToolPair) -> bool:
    """Tell whether what both versions consume of the service covers the operation that is called now.

    An entry kept from the old version covers it when it belongs to the service and, where the operation names an
    interface version (`/v2/`), names the same.
    """
    service = str(pair.new.provider.get("service", ""))
    kept = [entry for entry in _consumes(pair.new) if entry in _consumes(pair.old)]
    mine = [
        entry for entry in kept if not service or entry == service or entry.startswith((f"{service}.", f"{service}@"))
    ]
    wanted = _VERSION.search(str(pair.new.provider.get("operation", "")))
    if wanted is None:
        return bool(mine)
    return any((match := _VERSION.search(entry)) and match[1] == wanted[1] for entry in mine)


@tool_rule(
    "provider_operation_changed",
    area=AREA,
    grade=BREAKING,
    affects=("provider", "adapter"),
    no_mirror="its own opposite",
    fix="Verify the adapter against the new operation, and name the consumer contract that covers it in "
    "`compatibility.consumes`.",
    bad=(
        _provider(service="billing-api", operation="POST /v2/refunds"),
        _provider(service="billing-api", operation="POST /v3/refunds"),
    ),
    good=(
        _provider(service="billing-api", operation="POST /v2/refunds"),
        _provider(service="billing-api", operation="POST /v2/refunds"),
    ),
)
def provider_operation_changed(pair: ToolPair) -> Iterator[ToolFact]:
    """The tool calls another service or another operation of it.

    Recorded answers, stubs and error handling were made for the old one. Where a contract in `consumes` that both
    versions name still covers the operation, it is for review.
    """
    for key in ("service", "operation"):
        before, after = pair.old.provider.get(key), pair.new.provider.get(key)
        if not same(before, after):
            is_covered = key == "operation" and _is_covered(pair)
            yield ToolFact(
                path=f"provider.{key}",
                message=f"{named(key)} went from {show(before)} to {show(after)}.",
                before=before,
                after=after,
                part=("provider", key),
                grade=REVIEW if is_covered else None,
                notes=("A contract in `consumes` that both versions name covers it.",) if is_covered else (),
            )


@tool_rule(
    "provider_minimum_raised",
    area=AREA,
    grade=BREAKING,
    affects=("provider",),
    mirror="provider_minimum_lowered",
    fix="Deploy the provider first, or keep to what the older one offers.",
    bad=(
        _provider(service="billing-api", minimum_version="2026-08-01"),
        _provider(service="billing-api", minimum_version="2026-09-01"),
    ),
    good=(
        _provider(service="billing-api", minimum_version="2026-08-01"),
        _provider(service="billing-api", minimum_version="2026-08-01"),
    ),
)
def provider_minimum_raised(pair: ToolPair) -> Iterator[ToolFact]:
    """The tool needs a newer provider than before.

    Against the provider that is deployed it may fail. Where a contract in `consumes` that both versions name covers
    it, it is for review.
    """
    yield from _minimum_facts(pair, raised=True)


@tool_rule(
    "provider_minimum_lowered",
    area=AREA,
    grade=COMPATIBLE,
    affects=("provider",),
    mirror="provider_minimum_raised",
    fix="Nothing.",
    bad=(
        _provider(service="billing-api", minimum_version="2026-09-01"),
        _provider(service="billing-api", minimum_version="2026-08-01"),
    ),
    good=(
        _provider(service="billing-api", minimum_version="2026-08-01"),
        _provider(service="billing-api", minimum_version="2026-08-01"),
    ),
)
def provider_minimum_lowered(pair: ToolPair) -> Iterator[ToolFact]:
    """The tool makes do with an older provider than before.

    It runs against more of them.
    """
    yield from _minimum_facts(pair, raised=False)


def _minimum_facts(pair: ToolPair, *, raised: bool) -> Iterator[ToolFact]:
    before, after = pair.old.provider.get("minimum_version"), pair.new.provider.get("minimum_version")
    if same(before, after):
        return
    is_raised = before is None or (after is not None and version_key(after) > version_key(before))
    if is_raised is raised:
        is_covered = raised and _is_covered(pair)
        yield ToolFact(
            path="provider.minimum_version",
            message=f"The least version of the provider went from {show(before)} to {show(after)}.",
            before=before,
            after=after,
            part=("provider", "minimum_version"),
            grade=REVIEW if is_covered else None,
            notes=("A contract in `consumes` that both versions name covers it.",) if is_covered else (),
        )


@tool_rule(
    "provider_field_changed",
    area=AREA,
    grade=REVIEW,
    affects=("provider",),
    no_mirror="its own opposite",
    fix="Verify the adapter against the provider.",
    bad=(_provider(region="eu"), _provider(region="us")),
    good=(_provider(tier=1), _provider(tier=1.0)),
)
def provider_field_changed(pair: ToolPair) -> Iterator[ToolFact]:
    """A field of the provider section that no other rule knows came, went or changed.

    What is not understood is never called compatible.
    """
    before, after = pair.old.provider, pair.new.provider
    for key in sorted((before.keys() | after.keys()) - _KNOWN):
        if not same(before.get(key), after.get(key)):
            yield ToolFact(
                path=f"provider.{key}",
                message=f"{named(key)} went from {show(before.get(key))} to {show(after.get(key))}.",
                before=before.get(key),
                after=after.get(key),
                part=("provider", key),
            )


@tool_rule(
    "consumes_changed",
    area=AREA,
    grade=REVIEW,
    affects=("provider",),
    no_mirror="its own opposite",
    fix="Verify the provider against what the tool now consumes.",
    bad=(_provider(consumes=["billing-api.refund.v2"]), _provider(consumes=["billing-api.refund.v3"])),
    good=(_provider(consumes=["a.v1", "b.v1"]), _provider(consumes=["b.v1", "a.v1"])),
)
def consumes_changed(pair: ToolPair) -> Iterator[ToolFact]:
    """The provider contracts that the tool consumes changed.

    One that was added is a new expectation nobody may have verified. One that was only dropped is compatible.
    """
    before, after = sorted(_consumes(pair.old)), sorted(_consumes(pair.new))
    if before != after:
        yield ToolFact(
            path="compatibility.consumes",
            message=f"What the tool consumes went from {show(before)} to {show(after)}.",
            before=before,
            after=after,
            part=("compatibility", "consumes"),
            grade=None if set(after) - set(before) else COMPATIBLE,
        )
