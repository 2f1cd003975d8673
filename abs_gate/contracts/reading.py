"""What one load has gathered: documents read, tools found, everything odd with its place."""

from __future__ import annotations

from typing import TypeAlias

from abs_gate.contracts.model import SourceFormat, ToolContract
from abs_gate.contracts.places import PartPath, locate
from abs_gate.errors import ConfigurationError
from abs_gate.findings import Finding, Severity
from abs_gate.sources.located import LocatedDocument, parse_documents
from abs_gate.sources.workspace import Workspace

MAX_DEPTH = 500
"""Levels of lists and mappings in a contract file: schemas nest deeper than other documents, two levels an object."""


KnownTools: TypeAlias = dict[tuple[SourceFormat, bytes], ToolContract]
"""Tools that were read, with nothing to find fault with, by their format and text."""


class Reading:
    """Collects findings over all files of a load, so that one fault does not hide the next."""

    def __init__(self, workspace: Workspace, known: KnownTools) -> None:
        self.workspace = workspace
        self.known = known
        self.faults: list[Finding] = []
        """What makes the load fail."""
        self.oddities: list[Finding] = []
        """What is reported with the set."""
        self.referenced: set[str] = set()
        """Files that a contract refers to: schemas, not contracts of their own."""
        self._documents: dict[str, tuple[LocatedDocument, ...]] = {}

    @property
    def findings(self) -> int:
        """How many there are so far."""
        return len(self.faults) + len(self.oddities)

    def documents(self, file: str) -> tuple[LocatedDocument, ...]:
        """Return the documents of a file, read once. An unreadable file is a fault and has none."""
        if file not in self._documents:
            try:
                self._documents[file] = parse_documents(self.workspace.read_bytes(file), file, max_depth=MAX_DEPTH)
            except ConfigurationError as error:
                self._documents[file] = ()
                self.faults.extend(error.findings or [_unreadable(file, error)])
        return self._documents[file]

    def fault(self, document: LocatedDocument, path: PartPath, rule: str, message: str, hint: str = "") -> None:
        """Record what makes the load fail."""
        self.faults.append(_finding(document, path, Severity.ERROR, rule=rule, message=message, hint=hint))

    def oddity(
        self,
        document: LocatedDocument,
        path: PartPath,
        rule: str,
        message: str,
        hint: str = "",
        *,
        severity: Severity = Severity.WARNING,
    ) -> None:
        """Record what is reported with the set and does not stop the load."""
        self.oddities.append(_finding(document, path, severity, rule=rule, message=message, hint=hint))


def _finding(
    document: LocatedDocument, path: PartPath, severity: Severity, *, rule: str, message: str, hint: str
) -> Finding:
    return Finding(
        rule=rule, severity=severity, message=message, hint=hint, location=locate(document, path), subject=document.file
    )


def _unreadable(file: str, error: ConfigurationError) -> Finding:
    return Finding(
        rule="contract-unreadable", severity=Severity.ERROR, message=error.message, hint=error.hint, subject=file
    )
