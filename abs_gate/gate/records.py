"""Findings as records of the result."""

from __future__ import annotations

from abs_gate.findings import Finding
from abs_gate.gate.result import FindingRecord


def finding_record(finding: Finding) -> FindingRecord:
    """The record of a finding."""
    place = finding.location
    return {
        "rule": finding.rule,
        "severity": finding.severity.value,
        "message": finding.message,
        "subject": finding.subject,
        "hint": finding.hint,
        "file": place.file if place is not None else None,
        "line": place.line if place is not None else None,
        "column": place.column if place is not None else None,
        "fingerprint": finding.fingerprint,
    }
