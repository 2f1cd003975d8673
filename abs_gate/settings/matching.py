"""Which policy and which quarantine a session falls under."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from functools import cache

from abs_gate.findings import Finding, Severity
from abs_gate.settings.model import Quarantine, SessionPolicy, SessionsSettings
from abs_gate.sources.excerpt import excerpt
from abs_gate.sources.suggest import did_you_mean

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
        if _names(entry, name, path):
            return entry
    return None


def find_idle_quarantines(quarantine: Iterable[Quarantine], sessions: Collection[tuple[str, str]]) -> list[Finding]:
    """A warning for every quarantine that no session (its name and file) falls under."""
    return [
        Finding(
            rule="idle-quarantine",
            severity=Severity.WARNING,
            message=f"No session falls under the quarantine of {excerpt(entry.session)}, so it has no effect."
            + did_you_mean(entry.session, [each for pair in sessions for each in pair]),
            location=entry.location,
            hint="Write a session's whole name, or a pattern of its file.",
        )
        for entry in quarantine
        if not any(_names(entry, name, path) for name, path in sessions)
    ]


def _names(entry: Quarantine, name: str, path: str) -> bool:
    return entry.session == name or path_matches(entry.session, path)


@cache
def _expression(pattern: str) -> re.Pattern[str]:
    parts = re.split(r"(\*\*/|\*\*|\*|\?)", pattern)
    return re.compile("".join(_WILDCARDS.get(part, re.escape(part)) for part in parts), re.DOTALL)
