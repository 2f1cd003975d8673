"""Which policy and which quarantine a session falls under."""

from __future__ import annotations

import re
from functools import cache

from abs_gate.settings.model import Quarantine, SessionPolicy, SessionsSettings

_WILDCARDS = {"**/": "(?:[^/]+/)*", "**": ".*", "*": "[^/]*", "?": "[^/]"}


def path_matches(pattern: str, path: str) -> bool:
    """Whether a file falls under a pattern: `*` and `?` within a directory, `**` across directories."""
    return _expression(pattern.removeprefix("./")).fullmatch(path.removeprefix("./")) is not None


def policy_for(sessions: SessionsSettings, path: str) -> SessionPolicy:
    """The first entry of the policy that matches a session's file."""
    for policy in sessions.policy:
        if policy.match is None or path_matches(policy.match, path):
            return policy
    return SessionPolicy()


def quarantine_for(sessions: SessionsSettings, name: str, path: str) -> Quarantine | None:
    """The entry that names a session by its name or by a pattern of its file, in force or not."""
    for entry in sessions.quarantine:
        if entry.session == name or path_matches(entry.session, path):
            return entry
    return None


@cache
def _expression(pattern: str) -> re.Pattern[str]:
    parts = re.split(r"(\*\*/|\*\*|\*|\?)", pattern)
    return re.compile("".join(_WILDCARDS.get(part, re.escape(part)) for part in parts), re.DOTALL)
