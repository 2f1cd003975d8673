"""Reviews on record: who accepted which change of a contract, pinned to the fingerprints of both versions."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from abs_gate.contracts.model import ToolDiff
from abs_gate.errors import ConfigurationError
from abs_gate.findings import Finding, Json, Location, Severity, sort_findings
from abs_gate.sources.located import LocatedDocument, parse_documents
from abs_gate.sources.suggest import did_you_mean

KEYS = ("tool", "from", "to", "by", "reason")
_FINGERPRINT = re.compile(r"sha256:[0-9a-f]{64}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Acknowledgement:
    """One review. It holds as long as both fingerprints stay what they were."""

    tool: str
    """The tool_id."""
    before: str | None
    """Fingerprint of the base; None for a tool that was added."""
    after: str | None
    """Fingerprint of the candidate; None for a tool that was removed."""
    by: str
    reason: str
    location: Location

    def covers(self, diff: ToolDiff) -> bool:
        """Tell whether this is a review of exactly that change."""
        return (self.tool, self.before, self.after) == (
            diff.tool_id,
            diff.baseline_fingerprint,
            diff.candidate_fingerprint,
        )


def parse_acknowledgements(text: bytes | str, file: str) -> tuple[Acknowledgement, ...]:
    """Read a file of the form `acknowledgements: [{tool, from, to, by, reason}]`.

    Raises:
        ConfigurationError: with every fault of the file.
    """
    findings: list[Finding] = []
    parsed: list[Acknowledgement] = []
    for document in parse_documents(text, file):
        entries = document.value.get("acknowledgements") if isinstance(document.value, Mapping) else None
        if not isinstance(entries, list):
            message = "There is no list `acknowledgements` in this file."
            findings.append(_finding(document, (), message, "Write `acknowledgements:` and a list below it."))
            continue
        for index, entry in enumerate(entries):
            problems, acknowledgement = _read(document, ("acknowledgements", index), entry)
            findings += problems
            parsed += [acknowledgement] if acknowledgement else []
    if findings:
        raise ConfigurationError(findings=sort_findings(findings))
    return tuple(parsed)


def find_acknowledgement(diff: ToolDiff, acknowledgements: Iterable[Acknowledgement]) -> Acknowledgement | None:
    """Return the review of a change, None when nobody reviewed exactly this one."""
    return next((each for each in acknowledgements if each.covers(diff)), None)


def _read(
    document: LocatedDocument, path: tuple[str | int, ...], entry: Json
) -> tuple[list[Finding], Acknowledgement | None]:
    if not isinstance(entry, Mapping):
        message = "An acknowledgement is no mapping."
        return [_finding(document, path, message, f"Give it {', '.join(f'`{key}`' for key in KEYS)}.")], None
    problems = [
        _finding(document, (*path, key), f"`{str(key)[:100]}` is no key of an acknowledgement.{_nearest(key)}", _HINT)
        for key in entry
        if key not in KEYS
    ]
    for key in ("tool", "by", "reason"):
        value = entry.get(key)
        if not isinstance(value, str) or not value.strip():
            problems.append(_finding(document, (*path, key), f"An acknowledgement has no `{key}`.", _HINT))
    for key in ("from", "to"):
        value = entry.get(key)
        if value is not None and not (isinstance(value, str) and _FINGERPRINT.fullmatch(value)):
            message = f"`{key}` is no fingerprint."
            problems.append(
                _finding(document, (*path, key), message, "Copy it from the report: `sha256:` and 64 digits.")
            )
    if entry.get("from") is None and entry.get("to") is None:
        problems.append(_finding(document, path, "An acknowledgement names neither `from` nor `to`.", _HINT))
    if problems:
        return problems, None
    return [], Acknowledgement(
        tool=entry["tool"],
        before=entry.get("from"),
        after=entry.get("to"),
        by=entry["by"],
        reason=entry["reason"],
        location=document.location(path),
    )


_HINT = "An acknowledgement says which tool, from and to which fingerprint, by whom and why."


def _nearest(key: Json) -> str:
    return did_you_mean(str(key), KEYS)


def _finding(document: LocatedDocument, path: Sequence[str | int], message: str, hint: str) -> Finding:
    return Finding(
        rule="acknowledgement-invalid",
        severity=Severity.ERROR,
        message=message,
        hint=hint,
        location=document.location(path),
        subject=document.file,
    )
