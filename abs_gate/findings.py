"""Findings: anything reported about a document, configuration, contract or case.

Knows nothing of where a finding came from or how it is shown.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Any, TypeAlias

from msgspec import Struct, field

Json: TypeAlias = Any
"""A JSON value as Python has it. Treat as immutable once inside a domain value."""


class Severity(StrEnum):
    """Of lint and document findings; maps to error, warning and notice annotations."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"


class Location(Struct, frozen=True, kw_only=True):
    """A place in a user's file. Lines and columns count from 1; the file is relative to the workspace."""

    file: str
    line: int | None = None
    column: int | None = None

    def __str__(self) -> str:
        parts = [self.file]
        if self.line is not None:
            parts.append(str(self.line))
            if self.column is not None:
                parts.append(str(self.column))
        return ":".join(parts)


class Finding(Struct, frozen=True, kw_only=True):
    """One thing to tell the user: which rule, about what, where, and what to do."""

    rule: str
    """Stable id, snake_case for contract changes and kebab-case for lint and document rules."""
    severity: Severity
    message: str
    """A whole sentence, already holding names and values (bounded, one line)."""
    location: Location | None = None
    subject: str = ""
    """The tool, session or setting it is about."""
    hint: str = ""
    """What to do about it."""
    args: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))

    @property
    def fingerprint(self) -> str:
        """Identity for reviews: hash of rule, subject and args, never of wording, severity or line."""
        data = json.dumps([self.rule, self.subject, dict(self.args)], sort_keys=True, default=str)
        return hashlib.sha256(data.encode()).hexdigest()[:16]

    def __str__(self) -> str:
        place = f"{self.location}: " if self.location else ""
        hint = f" {self.hint}" if self.hint else ""
        return f"{place}{self.message}{hint}"


def sort_findings(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Order by file, line, column, then rule: the order every report uses."""
    return tuple(
        sorted(
            findings,
            key=lambda f: (
                f.location.file if f.location else "",
                (f.location.line if f.location else 0) or 0,
                (f.location.column if f.location else 0) or 0,
                f.rule,
                f.message,
            ),
        )
    )
