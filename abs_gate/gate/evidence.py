"""Release evidence: the checklist of a contract release, each item with what shows it.

An item is met only where the result itself shows it; what was not looked at is not met. It is not applicable where
there is nothing it could be about.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from msgspec import Struct

from abs_gate.findings import Json
from abs_gate.gate.golden import GOLDEN_KINDS, covered_by
from abs_gate.gate.result import ChangeRecord, ResultDocument, ToolDiffRecord, VerificationRecord
from abs_gate.settings.model import Settings

MET, NOT_MET, NOT_APPLICABLE = "met", "not met", "not applicable"
MOST_POINTERS = 20
_BREAKING = ("breaking", "safety_breaking")
_DIALECT_RULES = ("schema-invalid", "schema-dialect-unknown")
_PROVIDER_KINDS = ("provider", "retry", "output")


class _Finding(Struct, frozen=True, kw_only=True):
    state: str
    reason: str
    pointers: Sequence[str] = ()


_Look = Callable[[ResultDocument, Settings], _Finding]


def collect_evidence(document: ResultDocument, settings: Settings) -> list[dict[str, Json]]:
    """The ten items: `id`, `item`, `state`, `reason` and `pointers` to findings, files and fingerprints."""
    entries = []
    for identifier, item, look in _ITEMS:
        found = look(document, settings)
        pointers = list(found.pointers)
        more = [f"and {len(pointers) - MOST_POINTERS} more"] if len(pointers) > MOST_POINTERS else []
        entries.append(
            {
                "id": identifier,
                "item": item,
                "state": found.state,
                "reason": found.reason,
                "pointers": pointers[:MOST_POINTERS] + more,
            }
        )
    return entries


def is_complete(document: ResultDocument) -> bool:
    """Whether the checklist was drawn up and no item is unmet."""
    return bool(document["evidence"]) and all(
        entry.get("state") in (MET, NOT_APPLICABLE) for entry in document["evidence"]
    )


def evidence_document(document: ResultDocument) -> dict[str, Json]:
    """`evidence.json`: the checklist, and the manifest of the release that it speaks of."""
    return {
        "schema_version": 1,
        "complete": is_complete(document),
        "items": document["evidence"],
        "manifest": release_manifest(document),
    }


def release_manifest(document: ResultDocument) -> dict[str, Json]:
    """What identifies the release that was gated, to be kept with it: answers which contract the model saw."""
    metadata, contracts = document["metadata"], document["contracts"]
    return {
        "verdict": document["verdict"],
        "commit": metadata["commit"],
        "base": metadata["base"],
        "model": metadata["model"],
        "agent_url": metadata["agent_url"],
        "toolset_fingerprint": metadata["toolset_fingerprint"],
        "tools": dict(contracts["fingerprints"]) if contracts is not None else {},
        "policy_fingerprint": metadata["policy_fingerprint"],
        "session_hashes": dict(metadata["session_hashes"]),
        "dataset_hashes": dict(metadata.get("dataset_hashes", {})),
        "versions": {**metadata["versions"], "abs_gate": metadata["abs_gate_version"]},
        "started": metadata["started"],
    }


def _fingerprint(document: ResultDocument, settings: Settings) -> _Finding:
    if missing := _not_compared(document):
        return missing
    contracts = document["contracts"]
    assert contracts is not None
    unnamed = [name for name, fingerprint in contracts["fingerprints"].items() if not fingerprint]
    if unnamed:
        return _Finding(state=NOT_MET, reason="Tools have no fingerprint.", pointers=unnamed)
    pointers = [
        f"{tool['tool_id']}: {tool['baseline_fingerprint'] or 'no predecessor (new)'} -> "
        f"{tool['candidate_fingerprint'] or 'removed'}"
        for tool in contracts["tools"]
        if tool["changes"]
    ]
    pointers = pointers or [f"{name}: {fingerprint}" for name, fingerprint in contracts["fingerprints"].items()]
    return _Finding(state=MET, reason=f"Compared with {contracts['base']}.", pointers=pointers)


def _dialect(document: ResultDocument, settings: Settings) -> _Finding:
    contracts = document["contracts"]
    if contracts is None:
        return _no_contracts()
    wrong = [
        f"{finding['file']}:{finding['line']}: {finding['message']}"
        for finding in contracts["lint"]
        if finding["rule"] in _DIALECT_RULES
    ]
    if wrong:
        return _Finding(state=NOT_MET, reason="Schemas are invalid for their dialect.", pointers=wrong)
    checked = [f"{name}: {fingerprint}" for name, fingerprint in contracts["fingerprints"].items()]
    return _Finding(state=MET, reason="Every schema was checked against its dialect when loaded.", pointers=checked)


def _diff(document: ResultDocument, settings: Settings) -> _Finding:
    if missing := _not_compared(document):
        return missing
    contracts = document["contracts"]
    assert contracts is not None
    found = [f"{tool['tool_id']}: {change['path']} ({change['kind']})" for tool, change in _changes(document)]
    changes = "1 change" if len(found) == 1 else f"{len(found):,} changes"
    return _Finding(
        state=MET,
        reason=f"All parts of every tool were compared with {contracts['base']}: {changes}.",
        pointers=found,
    )


def _migration(document: ResultDocument, settings: Settings) -> _Finding:
    if missing := _not_compared(document):
        return missing
    breaking = [(tool, change) for tool, change in _changes(document) if change["classification"] in _BREAKING]
    if not breaking:
        return _Finding(state=NOT_APPLICABLE, reason="No change is breaking.")
    open_ones = [
        f"{_place(change)}{tool['tool_id']}: {change['path']}"
        for tool, change in breaking
        if not _is_cleared(tool, change)
    ]
    if open_ones:
        reason = "Breaking changes lack a new version, a migration owner, a retirement condition or the old version."
        return _Finding(state=NOT_MET, reason=reason, pointers=open_ones)
    cleared = [f"{tool['tool_id']}: {tool.get('cleared', '')}" for tool, _ in breaking]
    return _Finding(
        state=MET, reason="Every breaking change is versioned and has a migration.", pointers=_once(cleared)
    )


def _provider(document: ResultDocument, settings: Settings) -> _Finding:
    return _verified(document, _PROVIDER_KINDS, "provider")


def _adapter(document: ResultDocument, settings: Settings) -> _Finding:
    return _verified(document, ("adapter",), "adapter")


def _verified(document: ResultDocument, kinds: Sequence[str], what: str) -> _Finding:
    contracts = document["contracts"]
    records = [record for record in document["verification"] if record["kind"] in kinds]
    if not records and (contracts is None or not contracts["fingerprints"]):
        return _no_contracts()
    if not records:
        return _Finding(state=NOT_MET, reason=f"No {what} verification was run.")
    unproven = [_case(record) for record in records if record["outcome"] != "passed"]
    if unproven:
        return _Finding(
            state=NOT_MET, reason=f"{len(unproven)} of {len(records)} cases did not pass.", pointers=unproven
        )
    named = {name.split("@")[0] for name in contracts["fingerprints"]} if contracts is not None else set()
    bare = sorted(named - {record["tool_id"] for record in records})
    if bare:
        return _Finding(state=NOT_MET, reason=f"Tools have no {what} verification.", pointers=bare)
    return _Finding(
        state=MET, reason=f"All {len(records)} cases passed.", pointers=[_case(record) for record in records]
    )


def _golden(document: ResultDocument, settings: Settings) -> _Finding:
    if not document["sessions"] and document["contracts"] is None:
        return _Finding(state=NOT_APPLICABLE, reason="There is no agent and no contract in this run.")
    covered = {kind: covered_by(kind, document["sessions"], settings.evidence) for kind in GOLDEN_KINDS}
    passing = {kind: [s["name"] for s in sessions if s["outcome"] == "passed"] for kind, sessions in covered.items()}
    missing = [kind.replace("_", " ") for kind, names in passing.items() if not names]
    failing = [
        f'{kind.replace("_", " ")}: session "{session["name"]}" is {session["outcome"]}'
        for kind, sessions in covered.items()
        for session in sessions
        if session["outcome"] != "passed"
    ]
    shown = [f"{kind.replace('_', ' ')}: {', '.join(names[:3])}" for kind, names in passing.items() if names]
    if missing or failing:
        reason = f"No passing session covers {', '.join(missing)}." if missing else "Golden cases did not pass."
        hint = " Name the sessions that do under evidence.golden." if missing else ""
        return _Finding(state=NOT_MET, reason=reason + hint, pointers=failing + shown)
    return _Finding(state=MET, reason="Every kind of golden case is covered by passing sessions.", pointers=shown)


def _trace(document: ResultDocument, settings: Settings) -> _Finding:
    metadata = document["metadata"]
    if not document["sessions"]:
        return _Finding(state=NOT_APPLICABLE, reason="No session was run.")
    recorded = {
        "model": metadata["model"],
        "neighboring tools and contract fingerprints": metadata["toolset_fingerprint"],
        "policy version": metadata["policy_fingerprint"],
    }
    missing = [name for name, value in recorded.items() if not value]
    pointers = [f"{name}: {value}" for name, value in recorded.items() if value]
    if missing:
        return _Finding(state=NOT_MET, reason=f"The result does not record: {', '.join(missing)}.", pointers=pointers)
    return _Finding(state=MET, reason="The result records all of them.", pointers=pointers)


def _canary(document: ResultDocument, settings: Settings) -> _Finding:
    canary = settings.canary
    if canary is None:
        return _Finding(state=NOT_MET, reason="No canary is configured: canary.owner and canary.thresholds.")
    if not canary.thresholds:
        return _Finding(state=NOT_MET, reason="The canary has no rollback threshold.", pointers=[canary.owner])
    pointers = [f"owner: {canary.owner}"]
    pointers += [f"{metric}: rolls back from {float(limit):.3g}" for metric, limit in canary.thresholds.items()]
    return _Finding(state=MET, reason="Metrics, thresholds and an owner are named.", pointers=pointers)


def _pinned(document: ResultDocument, settings: Settings) -> _Finding:
    if missing := _not_compared(document):
        return missing
    loose = [
        f"{_place(change)}{tool['tool_id']}: {change['path']} ({change['kind']})"
        for tool, change in _changes(document)
        if change["classification"] in _BREAKING and not _is_cleared(tool, change)
    ]
    if loose:
        reason = "Work that is paused or under way would meet a contract it was not made for."
        return _Finding(state=NOT_MET, reason=reason, pointers=loose)
    return _Finding(state=MET, reason="Every version that work may be pinned to is still served compatibly.")


_ITEMS: tuple[tuple[str, str, _Look], ...] = (
    ("fingerprint", "The candidate contract has a canonical fingerprint and an explicit predecessor.", _fingerprint),
    ("dialect", "Input and output schemas are valid for the JSON Schema dialect they declare.", _dialect),
    (
        "diff",
        "The comparison covers schema, description, errors, authority, effect, approval and idempotency.",
        _diff,
    ),
    ("migration", "Every breaking change has a new version, a migration owner and a retirement condition.", _migration),
    ("provider", "Provider verification covers success and every declared business error.", _provider),
    ("adapter", "Adapter tests fail closed on unknown, malformed and sensitive provider results.", _adapter),
    (
        "golden",
        "Golden cases cover selection, no call, missing facts, denied authority and recovery.",
        _golden,
    ),
    ("trace", "The result records model, neighboring tools, contract fingerprints and policy version.", _trace),
    ("canary", "The canary has comparison metrics, rollback thresholds and a named owner.", _canary),
    ("pinned", "Paused and long-running work stays pinned to a compatible contract.", _pinned),
)


def _no_contracts() -> _Finding:
    return _Finding(state=NOT_APPLICABLE, reason="There is no tool contract in this run.")


def _not_compared(document: ResultDocument) -> _Finding | None:
    contracts = document["contracts"]
    if contracts is None:
        return _no_contracts()
    if error := contracts.get("error"):
        return _Finding(state=NOT_MET, reason=f"Contracts could not be compared: {error}")
    if contracts["base"] is None:
        return _Finding(state=NOT_MET, reason="Contracts were compared with nothing, so no predecessor is known.")
    return None


def _changes(document: ResultDocument) -> Iterator[tuple[ToolDiffRecord, ChangeRecord]]:
    contracts = document["contracts"]
    for tool in contracts["tools"] if contracts is not None else ():
        for change in tool["changes"]:
            yield tool, change


def _is_cleared(tool: ToolDiffRecord, change: Mapping[str, Json] | ChangeRecord) -> bool:
    return bool(tool.get("cleared")) and change.get("action") in (None, "cleared")


def _case(record: VerificationRecord) -> str:
    place = f"{record['file']}:{record['line']}: " if record["file"] else ""
    ending = "" if record["outcome"] == "passed" else f" ({record['outcome']}: {record['reason'][:120]})"
    return f"{place}{record['tool_id']}: {record['name']}{ending}"


def _place(change: ChangeRecord) -> str:
    return f"{change['file']}:{change['line']}: " if change["file"] else ""


def _once(texts: Sequence[str]) -> list[str]:
    return list(dict.fromkeys(texts))
