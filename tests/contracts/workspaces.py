"""An in-memory workspace and short ways to load contracts from values."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from abs_gate.contracts.diff import diff_sets
from abs_gate.contracts.load import load_contracts
from abs_gate.contracts.model import Change, Classification, ContractSet, ToolContract, ToolDiff
from abs_gate.errors import ConfigurationError
from abs_gate.findings import Finding, Severity

TODAY = "2026-11-05"
OBJECT = {"type": "object", "properties": {}}
ARTIFACT: dict[str, Any] = {
    "tool_id": "billing.issue_refund",
    "tool_version": 4,
    "provider": {"service": "billing-api", "operation": "POST /v2/refunds", "minimum_version": "2026-08-01"},
    "model_surface": {
        "name": "issue_refund",
        "description": "Issue one refund for an eligible order after approval.",
        "input_schema": {
            "type": "object",
            "properties": {
                "order_id": {"type": "string", "pattern": "^ORD-[0-9]{4}$"},
                "amount_cents": {"type": "integer", "minimum": 1},
                "reason": {"type": "string", "enum": ["damaged", "late"]},
                "action_id": {"type": "string"},
            },
            "required": ["order_id", "amount_cents", "action_id"],
            "additionalProperties": False,
        },
        "output_schema": {
            "type": "object",
            "properties": {"receipt": {"type": "object", "properties": {"id": {"type": "string"}}, "required": ["id"]}},
            "required": ["receipt"],
        },
    },
    "errors": [
        {"code": "ORDER_NOT_FOUND", "retryable": False, "user_action": "verify_order"},
        {"code": "PROVIDER_TIMEOUT", "retryable": True, "retry_after_source": "response"},
    ],
    "policy": {
        "required_scope": "refunds.write",
        "effect": "irreversible_external_write",
        "approval": "always",
        "idempotency_key": "action_id",
    },
    "runtime": {"deadline_ms": 10_000, "rate_limit": "60/min"},
    "compatibility": {"consumes": ["billing-api.refund.v2"], "replaces": "billing.issue_refund@3"},
}
PLAIN: dict[str, Any] = {
    "tool_id": "orders.find",
    "tool_version": 1,
    "model_surface": {"name": "find_order", "description": "Finds one order by its number.", "input_schema": OBJECT},
}
"""An artifact that declares nothing it need not."""


class MemoryWorkspace:
    """Files by path; nothing else exists."""

    def __init__(self, files: Mapping[str, str | bytes]) -> None:
        self._files = {path: text.encode() if isinstance(text, str) else text for path, text in files.items()}

    def read_bytes(self, path: str, *, limit: int = 5 * 1024 * 1024) -> bytes:
        if path not in self._files:
            finding = Finding(rule="missing", severity=Severity.ERROR, message=f"There is no file {path}.")
            raise ConfigurationError(findings=(finding,))
        return self._files[path][:limit]

    def is_file(self, path: str) -> bool:
        return path in self._files

    def is_directory(self, path: str) -> bool:
        return any(file.startswith(f"{path.rstrip('/')}/") for file in self._files)

    def list_files(self, path: str) -> tuple[str, ...]:
        return tuple(sorted(file for file in self._files if file.startswith(f"{path.rstrip('/')}/")))


def load_files(files: Mapping[str, str | bytes], *paths: str) -> ContractSet:
    return load_contracts(MemoryWorkspace(files), paths or list(files))


def load(value: Any) -> ContractSet:
    return load_files({"tools.json": json.dumps(value)})


def one(value: Any) -> ToolContract:
    (tool,) = load(value).tools
    return tool


def faults(files: Mapping[str, str | bytes], *paths: str) -> list[str]:
    try:
        load_files(files, *paths)
    except ConfigurationError as error:
        return [str(finding) for finding in error.findings]
    return []


def artifact(**changes: Any) -> dict[str, Any]:
    """Return the refund artifact with sections changed; mappings are merged, None takes a key away."""
    return merged(ARTIFACT, changes)


def merged(base: Any, changes: Mapping[str, Any]) -> dict[str, Any]:
    result = dict(base)
    for key, value in changes.items():
        if value is None:
            result.pop(key, None)
        elif isinstance(value, Mapping) and isinstance(result.get(key), Mapping) and not key.endswith("_schema"):
            result[key] = merged(result[key], value)
        else:
            result[key] = value
    return result


def mcp(name: str = "get_order", schema: Any = None, **more: Any) -> dict[str, Any]:
    return {"name": name, "description": "Finds one order by its number.", "inputSchema": schema or OBJECT, **more}


def diff(old: Any, new: Any, *, today: str = TODAY) -> tuple[ToolDiff, ...]:
    return diff_sets(load(old), load(new), today=today)


def changes(old: Any, new: Any, *, today: str = TODAY) -> list[Change]:
    return [change for entry in diff(old, new, today=today) for change in entry.changes]


def kinds(old: Any, new: Any) -> list[tuple[str, str, str]]:
    return [(change.path, change.kind, change.classification.value) for change in changes(old, new)]


def verdict(found: list[Change] | tuple[Change, ...]) -> Classification:
    return max(
        (change.classification for change in found), key=lambda each: each.rank, default=Classification.UNCHANGED
    )
