"""mcp-contract: two recorded surfaces, compared as its `check` compares them."""

import json

from answering import serve
from mcp_contract import Contract, compare, surface_from_schema
from mcp_contract.model import Behaviour

MEANING = {
    "breaking": ["breaking", "safety_breaking"],
    "routing": ["review"],
    "additive": ["compatible"],
    "cosmetic": ["none", "compatible"],
}


def surface(tool):
    hints = tool.get("annotations") or {}
    return surface_from_schema(
        tool["name"],
        tool.get("description") or "",
        tool.get("inputSchema") or {},
        tool.get("outputSchema") or {},
        title=tool.get("title") or "",
        behaviour=Behaviour(
            read_only=hints.get("readOnlyHint"),
            destructive=hints.get("destructiveHint"),
            idempotent=hints.get("idempotentHint"),
            open_world=hints.get("openWorldHint"),
            task_support=(tool.get("execution") or {}).get("taskSupport"),
        ),
    )


def answer(side, old_text, new_text):
    old, new = (Contract(tools=[surface(t) for t in json.loads(text)["tools"]]) for text in (old_text, new_text))
    report = compare(old, new)
    found = {change.severity for change in report.changes}
    return next((verdicts for severity, verdicts in MEANING.items() if severity in found), ["none"])


serve(answer)
