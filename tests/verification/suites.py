"""Runs suites in this process, with everything real."""

import os
from collections.abc import Mapping
from pathlib import Path

from abs_gate.app.loading import Faults
from abs_gate.app.verification import Plan, load_suites, run_plan
from abs_gate.documents.variables import Scope
from abs_gate.drivers.bench import Surroundings, open_bench
from abs_gate.gate.result import VerificationRecord
from abs_gate.sources.redaction import Redactor
from abs_gate.transport import Transport
from abs_gate.vcs.worktree import WorkTree

ROOT = Path(__file__).resolve().parents[2]


def load(root: Path, path: str, *, allow_commands: bool = True, variables: Mapping[str, str] = {}) -> Plan:
    """Load suites. Raises ConfigurationError with every fault."""
    faults = Faults()
    plan = load_suites(
        WorkTree(root),
        [path],
        contracts=None,
        scope=Scope(variables=variables),
        faults=faults,
        allow_commands=allow_commands,
    )
    faults.raise_any()
    return plan


def verify(root: Path, path: str, **variables: str) -> list[VerificationRecord]:
    """Run suites and give their records."""
    plan = load(root, path, variables=variables)
    with Transport() as transport:
        around = Surroundings(
            root=WorkTree(root).root,
            transport=transport,
            redactor=Redactor(),
            environ=os.environ,
            scope=Scope(variables=variables),
            secrets_allowed=True,
        )
        return list(run_plan(plan, lambda planned: open_bench(planned, around), lambda _: None))


def at_fault(records: list[VerificationRecord]) -> dict[str, set[str]]:
    """Case to the names of its checks that failed."""
    return {
        record["name"]: {check["name"] for check in record["checks"] if check["outcome"] == "failed"}
        for record in records
        if record["outcome"] not in ("passed", "skipped")
    }
