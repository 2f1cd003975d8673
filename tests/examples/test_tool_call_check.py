"""The recorded run: fifteen checks, nine pass and six fail, one verdict each."""

import json
import shutil
import subprocess
import sys

from tests.verification.suites import ROOT, verify

EXPECTED = {
    "c1 get_order": "",
    "c2 issue_refund": "",
    "c3 issue_refund": "",
    "c4 issue_refund": "",
    "c5 issue_refund": "",
    "c6 issue_refund": "amount_cents",
    "c7 issue_refund": "goodwill",
    "c8 issue_refund": "order_id",
    "c3 retries c2, key rf-1001-a": "",
    "c5 retries c4, no key": "wrote twice",
    "ORD-1001 said 1 refund, ledger 1": "",
    "ORD-1002 said 1 refund, ledger 2": "duplicate",
    "ORD-1003 said 1 refund, ledger 0": "claimed, not done",
    "ORD-1004 said 0 refunds, ledger 0": "",
    "c1 get_order changed nothing": "",
}


def test_verdict_for_verdict():
    records = verify(ROOT, "examples/tool-call-check")
    assert [record["name"] for record in records] == list(EXPECTED)
    for record in records:
        reason = EXPECTED[record["name"]]
        assert record["outcome"] == ("failed" if reason else "passed"), record
        assert reason in record["reason"]
    c7 = next(record for record in records if record["name"].startswith("c7"))
    assert "note" in c7["reason"]
    assert all(record["line"] for record in records)


def test_command_line_exits_1_and_leaves_nothing(tmp_path):
    place = ROOT / "examples" / "tool-call-check"
    before = sorted(path.name for path in place.rglob("*"))
    done = subprocess.run(
        [sys.executable, "-m", "abs_gate", "verify", str(place), "--format", "json", "-q"],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        timeout=60,
    )
    assert done.returncode == 1, done.stderr
    document = json.loads(done.stdout)
    assert document["verdict"] == "failed"
    outcomes = [record["outcome"] for record in document["verification"]]
    assert (outcomes.count("passed"), outcomes.count("failed")) == (9, 6)
    assert sorted(path.name for path in place.rglob("*")) == before
    assert not list(tmp_path.iterdir())


def test_a_tool_that_deduplicates_without_a_key_changes_the_verdicts(tmp_path):
    """The checks look at what is done, not at the file: with another tool they come out otherwise."""
    shutil.copytree(ROOT / "examples" / "tool-call-check", tmp_path / "x")
    shop = tmp_path / "x" / "shop.py"
    text = shop.read_text("utf-8")
    mended = text.replace('key = arguments.get("idempotency_key")', 'key = arguments.get("idempotency_key") or "only"')
    assert mended != text
    shop.write_text(mended, "utf-8")
    outcomes = {record["name"]: record["outcome"] for record in verify(tmp_path, "x")}
    assert outcomes["c5 retries c4, no key"] == "passed"
    assert outcomes["ORD-1002 said 1 refund, ledger 1"] == "passed"


def test_the_optional_key_is_reported_as_the_design_fault_it_is(tmp_path):
    shutil.copytree(ROOT / "examples" / "tool-call-check", tmp_path / "x")
    suite = tmp_path / "x" / "check.yaml"
    text = suite.read_text("utf-8")
    call = "{order_id: ORD-1001, amount_cents: 5, reason: late}"
    both = text.replace("    derive: []\n\nprobes", f"    derive: [retry]\n    valid: {call}\n\nprobes")
    suite.write_text(both[: both.index("# One recorded run")], "utf-8")
    (record,) = verify(tmp_path, "x")
    assert (record["name"], record["outcome"]) == ("not safe to retry", "failed")
    wrong = [check for check in record["checks"] if check["outcome"] == "failed"]
    assert [check["name"] for check in wrong] == ["no key: the same write twice"]
    assert "idempotency_key is optional" in wrong[0]["reason"]


def test_a_required_key_that_was_not_sent_is_called_required(tmp_path):
    shutil.copytree(ROOT / "examples" / "tool-call-check", tmp_path / "x")
    contract = tmp_path / "x" / "contracts" / "tools.yaml"
    text = contract.read_text("utf-8")
    contract.write_text(
        text.replace("[order_id, amount_cents, reason]", "[order_id, amount_cents, reason, idempotency_key]")
    )
    c5 = next(each for each in verify(tmp_path, "x") if each["name"].startswith("c5 retries"))
    assert "idempotency_key is required, and was not sent" in c5["reason"]
