"""mcp-diff: a lockfile's tools against a server's. It does not read output schemas."""

import json

from answering import NotTried, serve
from mcp_diff.diff import classify_changes

MEANING = {"breaking": ["breaking", "safety_breaking"], "warning": ["review"], "info": ["compatible"]}


def answer(side, old_text, new_text):
    if side == "output":
        raise NotTried
    found = {
        change.severity for change in classify_changes(json.loads(old_text)["tools"], json.loads(new_text)["tools"])
    }
    return next((verdicts for severity, verdicts in MEANING.items() if severity in found), ["none"])


serve(answer)
