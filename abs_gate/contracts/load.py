"""Loads tool contracts of every supported shape into one model."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import msgspec
from msgspec.structs import replace

from abs_gate.contracts.fingerprint import fingerprint_set, fingerprint_tool
from abs_gate.contracts.formats import anthropic, gemini, mcp, native, openai
from abs_gate.contracts.formats.entry import Entry
from abs_gate.contracts.formats.shape import find_tools, is_contract_shape, server_instructions
from abs_gate.contracts.model import ContractSet, SourceFormat, ToolContract
from abs_gate.contracts.places import PartPath
from abs_gate.contracts.reading import KnownTools, Reading
from abs_gate.errors import ConfigurationError
from abs_gate.findings import Finding, Json, Severity, sort_findings
from abs_gate.sources.located import LocatedDocument
from abs_gate.sources.workspace import Workspace

__all__ = ["is_contract_shape", "load_contracts"]

FORMATS: Mapping[SourceFormat, Callable[[Entry], ToolContract | None]] = {
    SourceFormat.NATIVE: native.read,
    SourceFormat.MCP: mcp.read,
    SourceFormat.OPENAI: openai.read,
    SourceFormat.ANTHROPIC: anthropic.read,
    SourceFormat.GEMINI: gemini.read,
}
_SUFFIXES = (".json", ".yaml", ".yml")
_OTHER_SUFFIXES = (".abs.yaml", ".abs.yml")
_COMPANIONS = ("cases", "acknowledgements", "verification")
"""Documents that may lie beside contracts: verification cases and reviews."""


def load_contracts(workspace: Workspace, paths: Sequence[str], *, known: KnownTools | None = None) -> ContractSet:
    """Load every tool contract in the given files and directories.

    A named file must hold contracts. In a directory, schemas that a contract refers to, verification cases,
    acknowledgements and sessions are passed over; anything else that is no contract is a fault. Loads that are given
    the same `known` tools, which start empty, read what is written alike once.

    Raises:
        ConfigurationError: with all faults of all files.
    """
    reading = Reading(workspace, {} if known is None else known)
    tools: list[ToolContract] = []
    strangers: list[tuple[LocatedDocument, bool]] = []
    instructions: list[str] = []
    for file, is_named in _files(reading, paths):
        for document in reading.documents(file):
            if not is_contract_shape(document.value):
                strangers.append((document, is_named))
                continue
            tools += _read_document(reading, document)
            text = server_instructions(document.value)
            instructions += [text] if text else []
    for document, is_named in strangers:
        _judge_stranger(reading, document, is_named=is_named)
    if reading.faults:
        raise ConfigurationError(findings=sort_findings(reading.faults))
    text = "\n\n".join(instructions) if instructions else None
    return ContractSet(
        tools=tuple(tools),
        fingerprint=fingerprint_set(tools, text),
        instructions=text,
        findings=sort_findings(reading.oddities),
    )


def _files(reading: Reading, paths: Sequence[str]) -> list[tuple[str, bool]]:
    """List the files to read, each once, with whether it was named itself."""
    files: dict[str, bool] = {}
    for path in paths:
        if reading.workspace.is_directory(path):
            for file in reading.workspace.list_files(path):
                if file.lower().endswith(_SUFFIXES) and not file.lower().endswith(_OTHER_SUFFIXES):
                    files.setdefault(file, False)
        elif reading.workspace.is_file(path):
            files[path] = True
        else:
            reading.faults.append(
                Finding(
                    rule="contract-missing",
                    severity=Severity.ERROR,
                    message=f"There is no contract file or directory `{path}`.",
                    subject=path,
                    hint="Correct the path; it is relative to the workspace.",
                )
            )
    return list(files.items())


def _read_document(reading: Reading, document: LocatedDocument) -> list[ToolContract]:
    tools: list[ToolContract] = []
    for path, value, form in find_tools(document.value):
        if form is None or not isinstance(value, Mapping):
            if path or value:
                reading.fault(
                    document,
                    path,
                    "contract-unknown-shape",
                    "This entry is no tool in any known shape.",
                    "Known shapes: native (`tool_id`), MCP (`inputSchema`), OpenAI (`function`), Anthropic "
                    "(`input_schema`), Gemini (`parameters`).",
                )
            continue
        tool = _read_tool(reading, document, path, value, form)
        tools += [tool] if tool else []
    return tools


def _read_tool(
    reading: Reading, document: LocatedDocument, path: PartPath, value: Mapping[str, Json], form: SourceFormat
) -> ToolContract | None:
    try:
        written = _written(form, value)
        twin = reading.known.get(written) if written else None
        if twin is not None:
            return replace(twin, places=twin.places.moved(document, path))
        findings = reading.findings
        tool = FORMATS[form](Entry(reading=reading, document=document, path=path, value=value))
        tool = replace(tool, fingerprint=fingerprint_tool(tool)) if tool else None
        if tool and written and findings == reading.findings:
            reading.known[written] = tool
        return tool
    except RecursionError:
        reading.fault(
            document,
            path,
            "contract-too-deep",
            "This tool is nested too deeply to be read.",
            "Flatten its schema: models cannot follow such nesting either.",
        )
        return None


def _written(form: SourceFormat, value: Mapping[str, Json]) -> tuple[SourceFormat, bytes] | None:
    """Return all that decides what a tool is, None where other files may have a say."""
    if form is SourceFormat.NATIVE:
        return None
    try:
        return form, msgspec.json.encode(value)
    except (TypeError, ValueError):
        return None


def _judge_stranger(reading: Reading, document: LocatedDocument, *, is_named: bool) -> None:
    value = document.value
    if document.file in reading.referenced or (value is None and not is_named):
        return
    if isinstance(value, Mapping) and any(key in value for key in _COMPANIONS):
        return
    if isinstance(value, Mapping) and "jsonrpc" in value:
        reading.fault(
            document,
            (),
            "contract-unknown-shape",
            "This JSON-RPC message holds no tool list.",
            "Save a `tools/list` result.",
        )
        return
    if not is_named and isinstance(value, Mapping) and ("$schema" in value or "properties" in value):
        reading.oddity(
            document,
            (),
            "schema-unused",
            "No contract refers to this schema, so nothing checks it.",
            "Refer to it with `input_schema_ref`, or move it out of the contract directory.",
        )
        return
    reading.fault(
        document,
        (),
        "contract-unknown-shape",
        "This document is no tool contract in any known shape.",
        "Write a native artifact (`tool_id: ...`), save a `tools/list` result, or move it elsewhere.",
    )
