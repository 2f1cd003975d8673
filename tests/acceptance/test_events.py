"""Every event that starts a workflow: compared with the right base, told in the right place, ended as it should."""

import json

import pytest

from tests.acceptance.processes import CountingAgent
from tests.acceptance.repositories import BROKEN_CONTRACT, FILES, SESSION, checkout_of
from tests.acceptance.runner import pull_request_event, run_action
from tests.github.fake_api import FakeGitHub

REPOSITORY = {"full_name": "octocat/hello", "default_branch": "main", "owner": {"login": "octocat"}}
BREAK = {"contracts/orders.yaml": BROKEN_CONTRACT}


@pytest.fixture
def github():
    with FakeGitHub() as fake:
        yield fake
        assert fake.complaints == []


@pytest.fixture(scope="module")
def agent():
    with CountingAgent() as agent:
        yield agent


def base_of(step):
    return json.loads((step.workspace / step.outputs["result-file"]).read_text())["metadata"]["base"]


def test_a_pull_request_of_the_same_repository_in_every_action(tmp_path, github, agent):
    place = checkout_of(tmp_path, FILES, BREAK)
    for number, (action, draft) in enumerate([("opened", True), ("reopened", False)]):
        event = pull_request_event(place, draft=draft) | {"action": action}
        inputs = {"agent-url": agent.url}
        step = run_action(place, tmp_path, api_url=github.url, inputs=inputs, payload=event, run_id=100 + number)
        assert step.code == 1, step.log
        assert base_of(step) == f"commit {place.base_sha[:7]} (base of pull request #2)"
        assert step.outputs["breaking-changes"] == "1"
        assert len(github.comments) == 1
    assert f"base commit `{place.base_sha[:7]}` (base of pull request `#2`)" in github.bodies()[0]


def test_a_fork_gets_its_verdict_without_a_comment(tmp_path, github, agent):
    github.controls.read_only = True
    place = checkout_of(tmp_path, FILES, BREAK)
    event = pull_request_event(place)
    event["pull_request"]["head"]["repo"] = REPOSITORY | {"full_name": "stranger/hello"}
    step = run_action(place, tmp_path, api_url=github.url, inputs={"agent-url": agent.url}, payload=event)
    assert step.code == 1, step.log
    assert step.log.count("::notice title=abs-gate::The pull request comment was not posted") == 1
    assert "not ready to merge" in step.summary
    assert github.comments == {}


def test_a_merge_group_has_its_own_base_and_no_pull_request(tmp_path, github, agent):
    place = checkout_of(tmp_path, FILES, BREAK)
    event = {
        "action": "checks_requested",
        "merge_group": {"head_sha": place.merge_sha, "base_sha": place.base_sha, "base_ref": "refs/heads/main"},
        "repository": REPOSITORY,
    }
    inputs = {"agent-url": agent.url}
    step = run_action(place, tmp_path, api_url=github.url, inputs=inputs, payload=event, event="merge_group")
    assert step.code == 1, step.log
    assert base_of(step) == f"commit {place.base_sha[:7]} (base of the merge group)"
    assert github.comments == {}


@pytest.mark.parametrize(
    ("ref", "before", "at", "base"),
    [
        ("refs/heads/main", "{base}", "merge", "commit {base:.7} (commit before the push)"),
        ("refs/heads/pr", "0" * 40, "head", "commit {base:.7} (main)"),
        ("refs/heads/main", "0" * 40, "head", "commit {base:.7} (previous commit)"),
    ],
)
def test_a_push_is_compared_with_what_was_there(tmp_path, github, agent, ref, before, at, base):
    place = checkout_of(tmp_path, FILES, BREAK, at=at)
    github.commits["main"] = place.base_sha
    github.merge_bases[place.base_sha, place.head_sha] = place.base_sha
    event = {"before": before.format(base=place.base_sha), "repository": REPOSITORY, "ref": ref}
    sha = place.merge_sha if at == "merge" else place.head_sha
    environ = {"GITHUB_REF": ref, "GITHUB_SHA": sha, "GITHUB_HEAD_REF": "", "GITHUB_BASE_REF": ""}
    inputs = {"agent-url": agent.url}
    step = run_action(place, tmp_path, api_url=github.url, inputs=inputs, payload=event, event="push", environ=environ)
    assert step.code == 1, step.log
    assert base_of(step) == base.format(base=place.base_sha)
    assert step.outputs["breaking-changes"] == "1"


@pytest.mark.parametrize("event", ["workflow_dispatch", "schedule"])
def test_without_a_change_the_default_branch_is_the_base(tmp_path, github, agent, event):
    place = checkout_of(tmp_path, FILES, BREAK, at="head")
    github.commits["main"] = place.base_sha
    github.merge_bases[place.base_sha, place.head_sha] = place.base_sha
    environ = {"GITHUB_REF": "refs/heads/pr", "GITHUB_SHA": place.head_sha}
    payload = {"repository": REPOSITORY}
    step = run_action(
        place,
        tmp_path,
        api_url=github.url,
        inputs={"agent-url": agent.url},
        payload=payload,
        event=event,
        environ=environ,
    )
    assert step.code == 1, step.log
    assert base_of(step) == f"commit {place.base_sha[:7]} (main)"
    assert github.comments == {}


def test_a_followed_run_of_a_fork_is_refused_and_a_stale_comment_is_not_touched(tmp_path, github, agent):
    place = checkout_of(tmp_path, FILES, {})
    run = {
        "id": 9,
        "head_sha": place.head_sha,
        "head_branch": "pr",
        "head_repository": REPOSITORY | {"full_name": "stranger/hello", "owner": {"login": "stranger"}},
        "repository": REPOSITORY,
        "pull_requests": [],
    }
    payload = {"action": "completed", "workflow_run": run, "repository": REPOSITORY}
    before = agent.calls
    inputs = {"agent-url": agent.url}
    step = run_action(place, tmp_path, api_url=github.url, inputs=inputs, payload=payload, event="workflow_run")
    assert step.code == 2
    assert "fork" in step.log
    assert step.outputs == {"verdict": "", "exit-code": "2"}
    assert agent.calls == before
    assert github.log == []


def test_wrong_files_are_told_everywhere_and_an_old_verdict_does_not_stand(tmp_path, github, agent):
    place = checkout_of(tmp_path, FILES, {})
    inputs = {"agent-url": agent.url}
    run_action(place, tmp_path, api_url=github.url, inputs=inputs)
    assert "ready to merge" in github.bodies()[0]
    (place.workspace / "abs-gate.yaml").write_text("version: 1\nsesions: {paths: [sessions/]}\n")
    step = run_action(place, tmp_path, api_url=github.url, inputs=inputs, run_id=101)
    assert step.code == 2
    assert step.outputs == {"verdict": "", "exit-code": "2"}
    assert "::error title=abs-gate%3A wrong configuration,file=abs-gate.yaml,line=2::Unknown key" in step.log
    [body] = github.bodies()
    for text in (step.summary, body):
        assert "## ⚠️ abs-gate: wrong configuration" in text
        assert 'Did you mean `"sessions"?`' in text or 'Did you mean `"sessions"`?' in text
    assert "ready to merge" not in body
    (place.workspace / "abs-gate.yaml").write_text(FILES["abs-gate.yaml"])
    step = run_action(place, tmp_path, api_url=github.url, inputs=inputs, run_id=102)
    assert step.code == 0
    assert "✅ abs-gate: ready to merge" in github.bodies()[0]


@pytest.mark.parametrize("debug", ["", "1"])
def test_wrong_inputs_make_no_comment(tmp_path, github, debug):
    place = checkout_of(tmp_path, FILES, {})
    inputs, environ = {"trials": "x", "min-pass-rate": "101%"}, {"RUNNER_DEBUG": debug}
    step = run_action(place, tmp_path, api_url=github.url, inputs=inputs, environ=environ)
    assert step.code == 2
    assert step.log.count("::error title=abs-gate%3A wrong configuration::input ") == 2
    assert ("Traceback" in step.log) == bool(debug)
    assert github.comments == {}


def test_paths_count_from_the_repository_in_annotations_and_from_the_workspace_in_outputs(tmp_path, github, agent):
    inside = {f"services/grüße/{name}": text for name, text in FILES.items()}
    change = {
        "services/grüße/contracts/orders.yaml": BROKEN_CONTRACT.replace("\n", "\r\n"),
        "services/grüße/sessions/order.abs.yaml": SESSION.replace("on the way", "lost").replace("\n", "\r\n"),
    }
    place = checkout_of(tmp_path, inside, change)
    inputs = {"agent-url": agent.url, "working-directory": "services/grüße", "config": "abs-gate.yaml"}
    step = run_action(place, tmp_path, api_url=github.url, inputs=inputs)
    assert step.code == 1, step.log
    assert ",file=services/grüße/sessions/order.abs.yaml,line=5::" in step.log
    assert ",file=services/grüße/contracts/orders.yaml,line=10::" in step.log
    assert step.outputs["report-dir"] == "services/grüße/abs-gate-report"
    assert (place.workspace / step.outputs["junit-file"]).is_file()
    assert base_of(step).startswith(f"commit {place.base_sha[:7]}")
    assert step.outputs["breaking-changes"] == "1"


def test_files_that_the_runner_names_and_are_not_there_change_no_verdict(tmp_path, github, agent):
    place = checkout_of(tmp_path, FILES, BREAK)
    environ = {"GITHUB_OUTPUT": "/nowhere/output", "GITHUB_STEP_SUMMARY": str(tmp_path), "RUNNER_TEMP": "/nowhere"}
    step = run_action(place, tmp_path, api_url=github.url, inputs={"agent-url": agent.url}, environ=environ)
    assert step.code == 1, step.log
    assert step.log.count("could not be written") == 2
    assert len(github.comments) == 1


@pytest.mark.parametrize(
    ("content", "code"), [(b"\xff\xfe{}", 2), (b'{"pull_request": {"head": 5, "number": "2"}}', 0)]
)
def test_event_files_of_other_shapes(tmp_path, github, agent, content, code):
    place = checkout_of(tmp_path, FILES, {})
    (tmp_path / "event").write_bytes(content)
    environ = {"GITHUB_EVENT_PATH": str(tmp_path / "event")}
    step = run_action(place, tmp_path, api_url=github.url, inputs={"agent-url": agent.url}, environ=environ)
    assert step.code == code, step.log
    assert "Traceback" not in step.log
