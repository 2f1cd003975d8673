"""Which lint findings hold the verdict back: a rule named in the policy decides over the severity."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from abs_gate.gate.result import ContractsRecord, FindingRecord

_RANK = {"error": 3, "warning": 2, "info": 1}
_LIMIT = {**_RANK, "none": 4}


def lint_gates(contracts: ContractsRecord, finding: FindingRecord) -> bool:
    """Whether a lint finding holds the verdict back."""
    action = finding.get("action")
    if action is not None:
        return action in ("block", "review")
    return _RANK[finding["severity"]] >= _LIMIT[contracts.get("fail_on_lint", "error")]
