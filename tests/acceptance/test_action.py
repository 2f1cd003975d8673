"""The action as the runner starts it, on a real pull request with a real agent and a fake of GitHub's API."""

import json
import re

import pytest
from junitparser import JUnitXml

from tests.acceptance.runner import checkout, pull_request_event, run_action
from tests.github.fake_api import FakeGitHub

ALLOW = {"allow-commands": "true"}


@pytest.fixture
def github():
    with FakeGitHub() as fake:
        yield fake
        assert fake.complaints == []


def test_the_good_pull_request_passes(tmp_path, github):
    place = checkout(tmp_path, "good")
    step = run_action(place, tmp_path, api_url=github.url, inputs=ALLOW)
    assert step.code == 0, step.log
    assert step.outputs["verdict"] == "passed"
    assert step.outputs["exit-code"] == "0"
    assert step.outputs["pass-rate"] == "1.0000"
    assert step.outputs["sessions-passed"] == "3"
    assert step.outputs["breaking-changes"] == "0"
    assert "abs-gate: ready to merge" in step.summary
    [comment] = github.comments.values()
    assert "abs-gate: ready to merge" in comment["body"]
    assert "::error" not in step.log


def test_the_bad_pull_request_is_blocked_and_says_why(tmp_path, github):
    place = checkout(tmp_path, "bad")
    step = run_action(place, tmp_path, api_url=github.url, inputs=ALLOW)
    assert step.code == 1, step.log
    assert step.outputs["verdict"] == "failed"
    assert step.outputs["breaking-changes"] == "2"
    assert step.outputs["sessions-failed"] == "1"
    [comment] = github.comments.values()
    body = comment["body"]
    for told in (
        "abs-gate: not ready to merge",
        "assistant calls issue_refund",
        "policy.approval",
        "input.reason",
        "sessions/refund.abs.yaml:15",
        "has been issued",
    ):
        assert told in body, told
    result = json.loads((place.workspace / step.outputs["result-file"]).read_text())
    [refund] = [tool for tool in result["contracts"]["tools"] if tool["tool_id"] == "billing.issue_refund"]
    [required] = [change for change in refund["changes"] if change["kind"] == "optional_to_required"]
    assert required["proof"] == "witness"
    assert "reason" not in required["witness"]
    assert set(required["witness"]) == {"order_id", "amount_cents", "action_id"}
    assert refund["classification"] == "safety_breaking"
    assert re.search(r"^::error .*file=sessions/refund\.abs\.yaml,line=15::", step.log, re.MULTILINE)
    assert re.search(r"^::error .*file=contracts/refund\.yaml,line=\d+::", step.log, re.MULTILINE)
    suites = JUnitXml.fromfile(str(place.workspace / step.outputs["junit-file"]))
    failed = [case.name for suite in suites for case in suite if case.result and case.is_failure]
    assert any("issue_refund" in name for name in failed)
    assert suites.failures == len(failed)


def test_a_rerun_updates_the_same_comment(tmp_path, github):
    place = checkout(tmp_path, "bad")
    run_action(place, tmp_path, api_url=github.url, inputs=ALLOW, run_id=100)
    run_action(place, tmp_path, api_url=github.url, inputs=ALLOW, run_id=101)
    assert len(github.comments) == 1


def test_without_permission_the_verdict_stands_and_is_told_elsewhere(tmp_path, github):
    github.controls.read_only = True
    place = checkout(tmp_path, "bad")
    step = run_action(place, tmp_path, api_url=github.url, inputs=ALLOW)
    assert step.code == 1
    assert github.comments == {}
    assert "pull-requests: write" in step.log
    assert "abs-gate: not ready to merge" in step.summary
    assert "::error" in step.log


def test_github_being_down_changes_no_verdict(tmp_path):
    place = checkout(tmp_path, "good")
    step = run_action(place, tmp_path, api_url="http://127.0.0.1:9", inputs=ALLOW)
    assert step.code == 0, step.log
    assert "was not posted" in step.log


def test_commands_of_the_repository_do_not_run_unless_allowed(tmp_path, github):
    place = checkout(tmp_path, "good")
    step = run_action(place, tmp_path, api_url=github.url)
    assert step.code == 2, step.log
    assert "allow-commands" in step.log
    assert "Traceback" not in step.log


def test_pull_request_target_is_refused(tmp_path, github):
    place = checkout(tmp_path, "good")
    step = run_action(place, tmp_path, api_url=github.url, inputs=ALLOW, event="pull_request_target")
    assert step.code == 2
    assert "pull_request_target" in step.log
    assert github.comments == {}


def test_a_base_that_cannot_be_read_is_not_verified(tmp_path, github):
    place = checkout(tmp_path, "good")
    (place.origin / ".git").rename(place.origin / "gone")
    step = run_action(place, tmp_path, api_url=github.url, inputs=ALLOW)
    assert step.code == 3, step.log
    assert step.outputs["verdict"] == "unverified"
    assert "fetch-depth" in step.log


def test_a_fork_with_a_deleted_repository_still_gets_its_verdict(tmp_path, github):
    github.controls.read_only = True
    place = checkout(tmp_path, "good")
    event = pull_request_event(place)
    event["pull_request"]["head"]["repo"] = None
    step = run_action(place, tmp_path, api_url=github.url, inputs=ALLOW, payload=event)
    assert step.code == 0, step.log


def test_the_gate_leaves_the_work_tree_as_it_was(tmp_path, github):
    from tests.acceptance.runner import git

    place = checkout(tmp_path, "bad")
    head = git(place.workspace, "rev-parse", "HEAD")
    run_action(place, tmp_path, api_url=github.url, inputs=ALLOW)
    assert git(place.workspace, "rev-parse", "HEAD") == head
    changed = git(place.workspace, "status", "--porcelain").splitlines()
    assert all(line.startswith("?? abs-gate-report") or "__pycache__" in line for line in changed), changed


def test_a_threshold_lowered_in_the_same_change_is_told(tmp_path, github):
    place = checkout(tmp_path, "good")
    config = place.workspace / "abs-gate.yaml"
    config.write_text(config.read_text().replace("pass_rate: 0.9", "pass_rate: 0.1"))
    step = run_action(place, tmp_path, api_url=github.url, inputs=ALLOW)
    assert step.code == 0, step.log
    [comment] = github.comments.values()
    assert "weaker" in comment["body"]
    assert "weaker" in step.log
