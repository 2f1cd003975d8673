"""Acknowledgements: someone has reviewed this very change of this tool."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from msgspec import Struct
from msgspec.structs import replace

from abs_gate.errors import ConfigurationError
from abs_gate.findings import Finding, Json, Location, Severity, sort_findings
from abs_gate.gate.result import ToolDiffRecord
from abs_gate.settings.model import Settings
from abs_gate.sources.located import LocatedDocument, parse_documents
from abs_gate.sources.schema_errors import find_schema_errors
from abs_gate.sources.workspace import Workspace

_TEXT = {"type": "string", "minLength": 1, "pattern": r"\S"}
_FINGERPRINT = {"anyOf": [{"type": "string", "pattern": r"^sha256:[0-9a-f]{64}$"}, {"type": "null"}]}
_SCHEMA: Mapping[str, Json] = {
    "type": "object",
    "additionalProperties": False,
    "required": ["acknowledgements"],
    "properties": {
        "acknowledgements": {
            "type": "array",
            "items": {
                "type": "object",
                "additionalProperties": False,
                "required": ["tool", "from", "to", "by", "reason"],
                "properties": {"tool": _TEXT, "from": _FINGERPRINT, "to": _FINGERPRINT, "by": _TEXT, "reason": _TEXT},
            },
        }
    },
}


class Acknowledgement(Struct, frozen=True, kw_only=True):
    """One reviewed change. Another fingerprint on either side needs another one."""

    tool: str
    before: str | None
    """Fingerprint of the base; None for a tool that is new."""
    after: str | None
    """Fingerprint of the candidate; None for a tool that was removed."""
    by: str
    reason: str
    location: Location

    def covers(self, tool: ToolDiffRecord) -> bool:
        """Whether it speaks of exactly this change."""
        return (self.tool, self.before, self.after) == (
            tool["tool_id"],
            tool["baseline_fingerprint"],
            tool["candidate_fingerprint"],
        )


def is_acknowledgements_shape(value: Json) -> bool:
    """Whether a document is a list of acknowledgements."""
    return isinstance(value, Mapping) and "acknowledgements" in value and "version" not in value


def load_acknowledgements(workspace: Workspace, file: str) -> tuple[Acknowledgement, ...]:
    """Every acknowledgement of a file: `acknowledgements: [{tool, from, to, by, reason}]`.

    Raises:
        ConfigurationError: the file is absent, or anything in it is wrong.
    """
    found: list[Acknowledgement] = []
    problems: list[Finding] = []
    for document in parse_documents(workspace.read_bytes(file), file):
        wrong = find_schema_errors(document, _SCHEMA, rule="wrong-acknowledgement")
        problems += (_with_null_told(each) for each in wrong)
        if not wrong:
            found += _read(document)
    if problems:
        raise ConfigurationError(findings=sort_findings(problems))
    return tuple(found)


def read_acknowledgements(settings: Settings, workspace: Workspace) -> tuple[Acknowledgement, ...]:
    """Those of the file that the settings name, if they name one.

    Raises:
        ConfigurationError: as `load_acknowledgements`.
    """
    path = settings.contracts.acknowledgements
    return load_acknowledgements(workspace, path) if path else ()


def unused(acknowledgements: Iterable[Acknowledgement], tools: Iterable[ToolDiffRecord]) -> tuple[Finding, ...]:
    """A note for every acknowledgement of a tool that changed, but not in this way: it needs a new one."""
    changed = {tool["tool_id"]: tool for tool in tools if tool["changes"]}
    return tuple(
        Finding(
            rule="stale-acknowledgement",
            severity=Severity.WARNING,
            message=f"The acknowledgement of {entry.tool} is for other fingerprints than this change has.",
            location=entry.location,
            subject=entry.tool,
            hint="Review the change and write a new acknowledgement with its fingerprints.",
        )
        for entry in acknowledgements
        if entry.tool in changed and not entry.covers(changed[entry.tool])
    )


def _read(document: LocatedDocument) -> Iterable[Acknowledgement]:
    for index, entry in enumerate(document.value["acknowledgements"]):
        yield Acknowledgement(
            tool=entry["tool"],
            before=entry["from"],
            after=entry["to"],
            by=entry["by"],
            reason=entry["reason"],
            location=document.location(("acknowledgements", index)),
        )


def _with_null_told(finding: Finding) -> Finding:
    """What stands in the place of a fingerprint that does not exist."""
    for key, meaning in (("from", "a new tool"), ("to", "a removed tool")):
        if finding.message.startswith(f'"{key}" is missing') or f".{key}`" in finding.message:
            return replace(finding, hint=f"Write the fingerprint from the report, or `{key}: null` for {meaning}.")
    return finding
