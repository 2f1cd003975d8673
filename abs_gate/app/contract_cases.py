"""Verification cases that stand in tool contracts: read for the suite that describes the tool, never left out."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from abs_gate.contracts.formats.shape import find_tools
from abs_gate.contracts.model import ContractSet, ToolContract
from abs_gate.contracts.places import locate
from abs_gate.contracts.versions import newest_tools
from abs_gate.findings import Finding, Severity
from abs_gate.gate.result import VerificationRecord
from abs_gate.sources.located import parse_documents
from abs_gate.sources.workspace import Workspace
from abs_gate.verification.read_suite import read_contract_case
from abs_gate.verification.suite import CaseSpec, Suite

_HINT = "Describe the tool under `tools:` of a suite, and name the suite under `verify.paths`."


def read_contract_cases(workspace: Workspace, name: str, contract: ToolContract, suite: Suite) -> list[CaseSpec]:
    """The cases of a contract, to be run with the suite that describes the tool as `name`.

    Raises:
        ConfigurationError: one is no case.
    """
    if not contract.cases:
        return []
    file = contract.location.file
    for document in parse_documents(workspace.read_bytes(file), file):
        for path, value, _ in find_tools(document.value):
            if isinstance(value, Mapping) and locate(document, path) == contract.location:
                return [
                    read_contract_case(case, name, document, (*path, "cases", index), suite)
                    for index, case in enumerate(value.get("cases") or ())
                ]
    return []


def find_unrun(contracts: ContractSet, described: Collection[str]) -> tuple[ToolContract, ...]:
    """The newest contracts with cases whose tool is described by no suite. `described` are tool ids."""
    newest = newest_tools(contracts).values()
    return tuple(contract for contract in newest if contract.cases and contract.tool_id not in described)


def unrun_records(contracts: Collection[ToolContract]) -> Iterator[VerificationRecord]:
    """Every case of these contracts as unverified: no suite says how the tool is called."""
    for contract in contracts:
        reason = f"No suite describes the tool {contract.tool_id}, so this case of its contract was not run. {_HINT}"
        for index, case in enumerate(contract.cases, start=1):
            name = case.get("name") if isinstance(case, Mapping) else None
            shown = name if isinstance(name, str) and name else f"case {index}"
            yield {
                "id": f"contract/{contract.tool_id}/case/{index}/{shown}",
                "tool_id": contract.tool_id,
                "kind": "case",
                "name": shown,
                "outcome": "unverified",
                "reason": reason,
                "checks": [{"name": "run", "outcome": "unverified", "reason": reason}],
                "file": contract.location.file,
                "line": contract.location.line,
                "duration_ms": 0,
            }


def unrun_warnings(contracts: Collection[ToolContract]) -> tuple[Finding, ...]:
    """A warning for each of these contracts: a run will not be able to verify its cases."""
    return tuple(
        Finding(
            rule="cases-not-run",
            severity=Severity.WARNING,
            message=f"No suite describes the tool {contract.tool_id}, so the cases of its contract stay unverified.",
            subject=contract.tool_id,
            hint=_HINT,
            location=contract.location,
        )
        for contract in contracts
    )
