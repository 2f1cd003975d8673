"""One form for all spellings of a contract, so that equal contracts compare equal.

What is left out says nothing to the model or the adapter: file layout, key order, the order of `required`
and of scopes, verification cases, and the release plan (`migration`, `replaces`).
"""

from __future__ import annotations

from typing import Any

from abs_gate.contracts.keywords import map_subschemas
from abs_gate.contracts.model import ErrorSpec, ToolContract, ToolPolicy
from abs_gate.findings import Json


def canonicalise(tool: ToolContract) -> dict[str, Json]:
    """Return the normalised contract as JSON; applying it to its own content changes nothing."""
    return _without_absent(
        {
            "tool_id": tool.tool_id,
            "version": tool.version,
            "name": tool.name,
            "title": tool.title,
            "description": tool.description,
            "examples": tool.examples,
            "input_schema": canonical_schema(tool.input_schema),
            "output_schema": canonical_schema(tool.output_schema),
            "strict": tool.strict or None,
            "errors": {error.code: _error(error) for error in tool.errors},
            "policy": _policy(tool.policy),
            "annotations": tool.annotations,
            "provider": tool.provider,
            "runtime": tool.runtime,
            "consumes": _sorted_if_list(tool.compatibility.get("consumes")),
            "extra": tool.extra,
        }
    )


def canonical_schema(schema: Json) -> Json:
    """Return a schema with `required` in order, at every depth. Everything else is kept: the model reads it."""
    if not isinstance(schema, dict):
        return schema
    changed = map_subschemas(schema, canonical_schema)
    required = changed.get("required")
    if not isinstance(required, list) or len(required) < 2 or not all(isinstance(name, str) for name in required):
        return changed
    in_order = sorted(set(required))
    return changed if in_order == required else {**changed, "required": in_order}


def _error(error: ErrorSpec) -> dict[str, Json]:
    return _without_absent(
        {
            "retryable": error.retryable,
            "user_action": error.user_action,
            "retry_after_source": error.retry_after_source,
            "message": error.message,
            "extra": error.extra,
        }
    )


def _policy(policy: ToolPolicy) -> dict[str, Json]:
    return _without_absent(
        {
            "required_scopes": sorted(policy.required_scopes),
            "effect": policy.effect.value if policy.effect else None,
            "approval": policy.approval,
            "idempotency_key": policy.idempotency_key,
            "tenant_boundary": policy.tenant_boundary,
            "extra": policy.extra,
        }
    )


def _without_absent(parts: dict[str, Any]) -> dict[str, Json]:
    return {key: value for key, value in parts.items() if value or value == 0}


def _sorted_if_list(value: Json) -> Json:
    return sorted(value) if isinstance(value, list) and all(isinstance(item, str) for item in value) else value
