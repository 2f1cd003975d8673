"""The release checklist and manifest, from outside."""

import json
import shutil
import sys

import pytest

from tests.acceptance.processes import gate
from tests.acceptance.runner import DEMO, free_port

ITEMS = ["fingerprint", "dialect", "diff", "migration", "provider", "adapter", "golden", "trace", "canary", "pinned"]


@pytest.fixture
def demo(tmp_path):
    """The embedded example, with its agent at a free port, compared with itself."""
    place = tmp_path / "project"
    shutil.copytree(DEMO / "base", place, ignore=shutil.ignore_patterns("__pycache__"))
    config = place / "abs-gate.yaml"
    text = config.read_text().replace("8765", str(free_port()))
    config.write_text(text.replace("python agent.py", f'\\"{sys.executable}\\" agent.py'))
    shutil.copytree(place / "contracts", place / "old")
    return place


def run(place):
    return gate("run", "--base", "old", "--report-dir", "reports", cwd=place)


def state(document):
    return {entry["id"]: entry["state"] for entry in document["items"]}


def test_the_checklist_is_written_beside_the_reports_and_shown_again(demo):
    assert run(demo).returncode == 0
    written = json.loads((demo / "reports" / "evidence.json").read_text())
    assert [entry["id"] for entry in written["items"]] == ITEMS
    assert {entry["state"] for entry in written["items"]} <= {"met", "not met", "not applicable"}
    assert all(entry["reason"] for entry in written["items"])
    assert state(written)["fingerprint"] == "met"
    assert state(written)["migration"] == "not applicable"
    assert state(written)["canary"] == "not met"
    manifest = written["manifest"]
    result = json.loads((demo / "reports" / "result.json").read_text())
    assert manifest["tools"] == result["contracts"]["fingerprints"]
    assert all(value.startswith("sha256:") for value in manifest["tools"].values())
    assert manifest["policy_fingerprint"].startswith("sha256:")
    assert manifest["session_hashes"] == result["metadata"]["session_hashes"] != {}
    assert manifest["verdict"] == "passed"

    shown = gate("evidence", "reports/result.json", "--format", "json", cwd=demo)
    assert json.loads(shown.stdout) == written
    assert shown.returncode == (0 if written["complete"] else 1) == 1
    text = gate("evidence", "reports/result.json", cwd=demo)
    assert "not met" in text.stdout
    assert "canonical fingerprint" in text.stdout
    page = gate("evidence", "reports/result.json", "--format", "markdown", "-o", "evidence.md", cwd=demo)
    assert page.stdout == ""
    assert "| ❌ not met |" in (demo / "evidence.md").read_text()


def test_a_named_canary_and_golden_cases_become_met(demo):
    assert run(demo).returncode == 0
    before = state(json.loads((demo / "reports" / "evidence.json").read_text()))
    result = json.loads((demo / "reports" / "result.json").read_text())
    names = [session["name"] for session in result["sessions"]]
    golden = "".join(
        f"    {kind}: [{json.dumps(names[0])}]\n"
        for kind in ("selection", "no_call", "missing_facts", "denied_authority", "recovery")
    )
    config = demo / "abs-gate.yaml"
    canary = 'canary: {owner: "@payments", thresholds: {retry_rate: 3%}}\n'
    config.write_text(config.read_text() + f"\n{canary}evidence:\n  golden:\n{golden}")
    done = run(demo)
    assert done.returncode == 0, done.stderr
    after = state(json.loads((demo / "reports" / "evidence.json").read_text()))
    assert (before["canary"], after["canary"]) == ("not met", "met")
    assert (before["golden"], after["golden"]) == ("not met", "met")


def test_a_breaking_change_shows_in_the_checklist(demo):
    shutil.copytree(DEMO / "bad", demo, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__", "*.py"))
    assert run(demo).returncode == 1
    written = json.loads((demo / "reports" / "evidence.json").read_text())
    assert state(written)["migration"] == "not met"
    assert state(written)["pinned"] == "not met"
    [migration] = [entry for entry in written["items"] if entry["id"] == "migration"]
    assert any("contracts/refund.yaml" in pointer for pointer in migration["pointers"])
    assert not written["complete"]


def test_without_a_sound_result_there_is_no_checklist(tmp_path):
    (tmp_path / "half.json").write_text('{"schema_version": 1, "verdict": "passed"')
    done = gate("evidence", "half.json", cwd=tmp_path)
    assert done.returncode == 2
    assert "not complete JSON" in done.stderr
    assert gate("evidence", "absent.json", cwd=tmp_path).returncode == 2
