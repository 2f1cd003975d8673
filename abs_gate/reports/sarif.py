"""SARIF 2.1.0 of contract changes and findings, for code scanning and editors.

Source: OASIS Static Analysis Results Interchange Format 2.1.0, and what GitHub's code scanning reads of it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from typing import Any
from urllib.parse import quote

from abs_gate import __version__
from abs_gate.contracts.rules import rule as find_rule
from abs_gate.gate.result import ChangeRecord, FindingRecord, ResultDocument, ToolDiffRecord
from abs_gate.reports.advice import affected_text, fix_of, plain, witness_title
from abs_gate.reports.annotations import repository_path
from abs_gate.reports.options import ReportOptions
from abs_gate.reports.schema_text import difference_of, json_text
from abs_gate.reports.selection import action_of, sort_changes, sort_lint, sort_tools
from abs_gate.reports.untrusted import block, one_line

_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_FINDING_LEVELS = {"error": "error", "warning": "warning", "info": "note"}
_ACTION_LEVELS = {"block": "error", "review": "warning"}
_ACCEPTED = ("cleared", "acknowledged")
_MAX_IDENTITY = 400
_MAX_RESULTS = 5000
"""GitHub shows at most this many results of one file."""


def render(document: ResultDocument, options: ReportOptions) -> str:
    """Contract changes and lint findings of a result."""
    contracts = document["contracts"]
    if contracts is None:
        return _log([])
    return _log([*_changes(contracts["tools"], options.directory), *_findings(contracts["lint"], options.directory)])


def render_changes_sarif(tools: Sequence[ToolDiffRecord]) -> str:
    """What `abs-gate diff --format sarif` prints."""
    return _log(list(_changes(tools)))


def render_findings_sarif(findings: Sequence[FindingRecord]) -> str:
    """What `abs-gate lint --format sarif` prints."""
    return _log(list(_findings(findings)))


def _log(results: list[dict[str, Any]]) -> str:
    results = results[:_MAX_RESULTS]
    ids = sorted({result["ruleId"] for result in results})
    for result in results:
        result["ruleIndex"] = ids.index(result["ruleId"])
    driver = {"name": "abs-gate", "version": __version__, "rules": [_rule(rule_id) for rule_id in ids]}
    run = {"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": results}
    log = {"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}
    return json.dumps(log, ensure_ascii=True, indent=2) + "\n"


def _rule(rule_id: str) -> dict[str, Any]:
    """A rule as the catalogue explains it; only its id where it is not of the catalogue."""
    try:
        rule = find_rule(rule_id)
    except KeyError:
        return {"id": rule_id}
    first, _, rest = rule.explanation.partition("\n\n")
    return {
        "id": rule.id,
        "shortDescription": {"text": " ".join(first.split())},
        "fullDescription": {"text": " ".join(f"{first} {rest}".split())},
        "help": {"text": rule.fix},
    }


def _changes(tools: Iterable[ToolDiffRecord], directory: str = "") -> Iterable[dict[str, Any]]:
    for tool in sort_tools(tools):
        for change in sort_changes(tool["changes"]):
            yield _change(tool, change, directory)


def _change(tool: ToolDiffRecord, change: ChangeRecord, directory: str) -> dict[str, Any]:
    action = action_of(change)
    lines = [f"{tool['tool_id']} {change['path']}: {change['message'] or change['kind']}"]
    lines += difference_of(change)
    if affected := affected_text(change, plain):
        lines.append(f"Affects {affected}.")
    if "witness" in change:
        lines.append(f"{witness_title(change)} {json_text(change['witness'], 1000)}")
    if fix := fix_of(change):
        lines.append(f"What to do: {fix}")
    fingerprints = {"absGateChange/v1": _identity(f"{tool['tool_id']}:{change['path']}:{change['kind']}")}
    result = _result(change["kind"], _ACTION_LEVELS.get(action, "note"), lines)
    result |= _locations(directory, change["file"], change["line"], None)
    result["partialFingerprints"] = fingerprints
    result["properties"] = {"classification": change["classification"], "action": action}
    if action in _ACCEPTED:
        reason = tool.get("cleared") or action
        result["suppressions"] = [{"kind": "external", "status": "accepted", "justification": one_line(reason, 400)}]
    return result


def _identity(text: str) -> str:
    """One line that is another for another text, however long."""
    if len(text) <= _MAX_IDENTITY:
        return one_line(text, 2 * _MAX_IDENTITY)
    return f"{one_line(text, _MAX_IDENTITY // 2)} {hashlib.sha256(text.encode('utf-8', 'replace')).hexdigest()[:16]}"


def _findings(findings: Iterable[FindingRecord], directory: str = "") -> Iterable[dict[str, Any]]:
    for finding in sort_lint(findings):
        subject = f"{finding['subject']}: " if finding["subject"] else ""
        lines = [f"{subject}{finding['message']}", *([f"What to do: {finding['hint']}"] if finding["hint"] else [])]
        level = _FINDING_LEVELS[finding["severity"]]
        result = _result(finding["rule"], level, lines)
        result |= _locations(directory, finding["file"], finding["line"], finding["column"])
        result["partialFingerprints"] = {"absGateFinding/v1": finding["fingerprint"]}
        yield result


def _result(rule_id: str, level: str, lines: Sequence[str]) -> dict[str, Any]:
    text = "\n".join(block(text, 1500) for text in lines)
    return {
        "ruleId": one_line(rule_id, 120) or "unknown",
        "level": level,
        "message": {"text": text.replace("[", "\\[").replace("]", "\\]")},
    }


def _locations(directory: str, file: str | None, line: int | None, column: int | None) -> dict[str, Any]:
    """The place, where it is one in the repository."""
    path = repository_path(file, directory)
    if path is None:
        return {}
    place: dict[str, Any] = {"artifactLocation": {"uri": quote(path), "uriBaseId": "%SRCROOT%"}}
    if line:
        place["region"] = {"startLine": line} | ({"startColumn": column} if column else {})
    return {"locations": [{"physicalLocation": place}]}
