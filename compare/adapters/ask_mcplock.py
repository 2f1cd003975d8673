"""mcplock: two snapshots; its check fails from `high` on. It does not read output schemas."""

import json

from answering import NotTried, serve
from mcplock.connector import ServerTarget
from mcplock.diff import diff_snapshots
from mcplock.store import build_snapshot

TARGET = ServerTarget(server_id="server", transport="stdio")
MEANING = {
    "critical": ["safety_breaking", "breaking"],
    "high": ["breaking", "safety_breaking"],
    "medium": ["breaking", "review"],
    "informational": ["review", "compatible"],
}


def answer(side, old_text, new_text):
    if side == "output":
        raise NotTried
    old, new = (build_snapshot(TARGET, json.loads(text)["tools"], timestamp="") for text in (old_text, new_text))
    found = {finding.severity for finding in diff_snapshots(old, new).findings}
    return next((verdicts for severity, verdicts in MEANING.items() if severity in found), ["none"])


serve(answer)
