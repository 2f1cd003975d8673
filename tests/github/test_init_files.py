"""What `abs-gate init` writes is a working start: it validates, lints clean, and gates a pull request of its own."""

import subprocess
import sys

import pytest

FILES = {
    "abs-gate.yaml",
    "sessions/refund.abs.yaml",
    "contracts/issue_refund.yaml",
    ".github/workflows/abs-gate.yml",
}


def abs_gate(directory, *arguments):
    command = [sys.executable, "-m", "abs_gate", *arguments]
    return subprocess.run(command, cwd=directory, capture_output=True, text=True, timeout=60, check=False)


@pytest.fixture
def project(tmp_path):
    done = abs_gate(tmp_path, "init")
    assert done.returncode == 0, done.stderr
    return tmp_path


def test_every_file_is_written(project):
    assert {path.relative_to(project).as_posix() for path in project.rglob("*") if path.is_file()} == FILES


def test_nothing_is_written_over(project):
    (project / "abs-gate.yaml").write_text("mine")
    assert abs_gate(project, "init").returncode == 0
    assert (project / "abs-gate.yaml").read_text() == "mine"


def test_it_validates_without_a_warning(project):
    done = abs_gate(project, "validate")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "warning" not in done.stdout + done.stderr


def test_its_contract_has_no_findings(project):
    done = abs_gate(project, "lint", "contracts")
    assert done.returncode == 0, done.stdout
    assert "warning" not in done.stdout


def test_its_contract_is_guarded(project):
    (project / "new").mkdir()
    contract = (project / "contracts" / "issue_refund.yaml").read_text()
    broken = contract.replace("[order_id, action_id]", "[order_id, action_id, reason]")
    assert broken != contract
    (project / "new" / "issue_refund.yaml").write_text(broken)
    done = abs_gate(project, "diff", "contracts", "new", "--fail-on", "breaking")
    assert done.returncode == 1, done.stdout + done.stderr
    assert "optional_to_required" in done.stdout
