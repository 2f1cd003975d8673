"""Contract changes as records of the result document: plain, bounded, ready for JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, cast

from abs_gate.contracts.model import Change, ToolDiff
from abs_gate.findings import Json

if TYPE_CHECKING:
    from abs_gate.gate.result import ChangeRecord, ToolDiffRecord

MAX_TEXT = 2_000
"""Longest text kept of a value before or after a change, in characters."""
MAX_VALUE = 8_000
"""Longest value kept whole, in characters of JSON; a longer one is kept as cut text."""
MAX_WITNESS = 20_000
"""Longest witness kept, in characters of JSON."""


def to_record(diff: ToolDiff) -> ToolDiffRecord:
    """Return one tool's changes as a record."""
    record: ToolDiffRecord = {
        "tool_id": diff.tool_id,
        "baseline": diff.baseline,
        "candidate": diff.candidate,
        "baseline_fingerprint": diff.baseline_fingerprint,
        "candidate_fingerprint": diff.candidate_fingerprint,
        "classification": diff.classification.value,
        "changes": [change_record(change) for change in diff.changes],
    }
    if diff.cleared:
        record["cleared"] = diff.cleared_reason
    return record


def change_record(change: Change) -> ChangeRecord:
    """Return one change as a record."""
    record: dict[str, Json] = {
        "path": change.path,
        "kind": change.kind,
        "classification": change.classification.value,
        "affects": list(change.affects),
        "message": change.message,
        "before": bounded(change.before),
        "after": bounded(change.after),
        "proof": change.proof,
        "file": change.location.file if change.location else None,
        "line": change.location.line if change.location else None,
        "notes": list(change.notes),
    }
    if change.has_witness and _length(change.witness) <= MAX_WITNESS:
        record["witness"] = _plain(change.witness)
    return cast("ChangeRecord", record)


def bounded(value: Json) -> Json:
    """Return a value small enough for a report: itself, or its JSON text cut short."""
    if isinstance(value, str):
        return value if len(value) <= MAX_TEXT else f"{value[: MAX_TEXT - 1]}…"
    if _length(value) <= MAX_VALUE:
        return _plain(value)
    text = json.dumps(_plain(value), ensure_ascii=False)
    return f"{text[: MAX_TEXT - 1]}…"


def _length(value: Json) -> int:
    return len(json.dumps(_plain(value), ensure_ascii=False))


def _plain(value: Json) -> Json:
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value
