import json
from pathlib import Path

import pytest

from abs_gate.errors import ConfigurationError
from abs_gate.github.event import (
    is_github_workflow,
    load_payload,
    read_event,
    refuse_untrusted,
)

EVENTS = Path(__file__).parent / "events"
HEAD = "ec26c3e57ca3a959ca5aad62de7213c562f8c821"
BASE = "f95f852bd8fca8fcc58a9a2d6c842781e32a215e"
ENVIRON = {
    "GITHUB_ACTIONS": "true",
    "GITHUB_REPOSITORY": "Codertocat/Hello-World",
    "GITHUB_SHA": "1" * 40,
    "GITHUB_REF": "refs/pull/2/merge",
    "GITHUB_RUN_ID": "9007199254740993",
    "GITHUB_RUN_ATTEMPT": "3",
    "GITHUB_WORKSPACE": "/github/workspace",
    "GITHUB_ACTOR": "octocat",
}


def event_of(name, file=None, **environ):
    payload = json.loads((EVENTS / file).read_bytes()) if file else None
    return read_event({**ENVIRON, "GITHUB_EVENT_NAME": name, **environ}, payload)


@pytest.mark.parametrize(
    ("file", "fork"),
    [
        ("pull_request.opened.json", False),
        ("pull_request.reopened.json", False),
        ("pull_request.synchronize.json", False),
        ("pull_request.closed.json", False),
        ("pull_request.opened.fork.json", True),
        ("pull_request.synchronize.fork.json", True),
        ("pull_request.synchronize.fork-deleted.json", True),
        ("pull_request.opened.dependabot.json", False),
    ],
)
def test_pull_requests(file, fork):
    event = event_of("pull_request", file)
    assert (event.pr_number, event.head_sha, event.base_sha, event.base_ref) == (2, HEAD, BASE, "master")
    assert event.is_fork is fork
    assert event.commit == HEAD
    assert event.labels == {"bug"}
    assert event.untrusted == ""
    assert event.before is None


def test_run_identity_and_addresses():
    event = event_of("pull_request", "pull_request.opened.json", GITHUB_SERVER_URL="https://ghe.example/")
    assert (event.run_id, event.run_attempt) == (9007199254740993, 3)
    assert event.clone_url == "https://ghe.example/Codertocat/Hello-World"
    assert event.run_url == "https://ghe.example/Codertocat/Hello-World/actions/runs/9007199254740993"
    assert event.api_url == "https://api.github.com"
    assert event.workspace == "/github/workspace"


def test_draft():
    payload = json.loads((EVENTS / "pull_request.opened.json").read_bytes())
    payload["pull_request"]["draft"] = True
    event = read_event({**ENVIRON, "GITHUB_EVENT_NAME": "pull_request"}, payload)
    assert event.is_draft


def test_merge_group_has_no_pull_request():
    event = event_of("merge_group", "merge_group.checks_requested.json")
    assert event.pr_number is None
    assert event.base_sha == "380387fbc80638b734a49e1be1c4dfec1c01b33c"
    assert event.head_sha == "2ffea6db159f6b6c47a24e778fb9ef40cf6b1c7d"
    assert event.default_branch == "main"
    assert event.commit == "1" * 40


@pytest.mark.parametrize("file", ["push.json", "push.new_branch.json"])
def test_push(file):
    event = event_of("push", file, GITHUB_REF="refs/tags/simple-tag")
    assert event.before == "0" * 40
    assert event.pr_number is None
    assert event.default_branch == "master"


@pytest.mark.parametrize(
    ("name", "file", "branch"),
    [("schedule", "schedule.json", "master"), ("workflow_dispatch", "workflow_dispatch.json", "main")],
)
def test_events_without_a_change(name, file, branch):
    event = event_of(name, file)
    assert (event.pr_number, event.base_sha, event.before) == (None, None, None)
    assert event.default_branch == branch
    assert event.untrusted == ""


def test_pull_request_target_is_refused_unless_allowed():
    event = event_of("pull_request_target", "pull_request.opened.fork.json")
    assert event.is_fork
    with pytest.raises(ConfigurationError, match=r"pull_request_target.*secrets") as caught:
        refuse_untrusted(event, allowed=False)
    assert "ABS_GATE_ALLOW_UNTRUSTED_EVENT" in caught.value.hint
    refuse_untrusted(event, allowed=True)


def test_pull_request_target_is_refused_for_branches_of_the_repository_too():
    assert event_of("pull_request_target", "pull_request.opened.json").untrusted


def test_workflow_run_of_the_repository_itself_is_trusted():
    event = event_of("workflow_run", "workflow_run.completed.json")
    assert not event.is_fork
    assert event.untrusted == ""
    assert event.pr_number == 2


@pytest.mark.parametrize("head", [{"full_name": "mallory/octo-repo"}, None])
def test_workflow_run_of_a_fork_is_refused(head):
    payload = json.loads((EVENTS / "workflow_run.completed.json").read_bytes())
    payload["workflow_run"]["head_repository"] = head
    payload["workflow_run"]["pull_requests"] = []
    event = read_event({**ENVIRON, "GITHUB_EVENT_NAME": "workflow_run"}, payload)
    assert event.pr_number is None
    with pytest.raises(ConfigurationError, match="fork"):
        refuse_untrusted(event, allowed=False)


@pytest.mark.parametrize(("on_pull", "refused"), [(True, True), (False, False)])
def test_issue_comment(on_pull, refused):
    issue = {"number": 7, **({"pull_request": {"url": "x"}} if on_pull else {})}
    event = read_event({**ENVIRON, "GITHUB_EVENT_NAME": "issue_comment"}, {"action": "created", "issue": issue})
    assert bool(event.untrusted) is refused
    assert event.pr_number == (7 if on_pull else None)


@pytest.mark.parametrize(
    "payload",
    [
        None,
        [],
        "text",
        {},
        {"pull_request": None},
        {"pull_request": {"number": "2", "head": None, "base": [], "labels": [None, {"name": 3}], "user": None}},
        {"number": True},
        {"number": 2.5, "pull_request": {"head": {"repo": {"full_name": None}}}},
        {"repository": {"default_branch": 7}, "workflow_run": {"pull_requests": [None]}},
    ],
)
@pytest.mark.parametrize("name", ["pull_request", "push", "workflow_run", "merge_group", "issue_comment", ""])
def test_payloads_of_any_shape_are_read(name, payload):
    event = read_event({"GITHUB_EVENT_NAME": name}, payload)
    assert event.pr_number is None or isinstance(event.pr_number, int)
    assert event.labels == frozenset()


def test_numbers_in_the_environment_that_are_none():
    event = event_of("push", GITHUB_RUN_ID="٣", GITHUB_RUN_ATTEMPT="9" * 400)
    assert (event.run_id, event.run_attempt) == (0, 1)


def test_repository_falls_back_to_the_payload():
    payload = json.loads((EVENTS / "schedule.json").read_bytes())
    assert read_event({}, payload).repository == "Codertocat/Hello-World"


def test_load_payload(tmp_path):
    file = tmp_path / "event.json"
    file.write_text('{"action": "opened"}')
    assert load_payload({"GITHUB_EVENT_PATH": str(file)}) == {"action": "opened"}
    assert load_payload({}) is None
    assert load_payload({"GITHUB_EVENT_PATH": str(tmp_path / "absent")}) is None


@pytest.mark.parametrize("text", ["{", "[" * 100_000, "\xff"])
def test_event_file_that_is_not_json_is_a_configuration_error(tmp_path, text):
    file = tmp_path / "event.json"
    file.write_text(text, encoding="latin-1")
    with pytest.raises(ConfigurationError, match="GITHUB_EVENT_PATH"):
        load_payload({"GITHUB_EVENT_PATH": str(file)})


def test_is_github_workflow():
    assert is_github_workflow({"GITHUB_ACTIONS": "true", "GITHUB_REPOSITORY": "o/r"})
    assert not is_github_workflow({"GITHUB_REPOSITORY": "o/r"})
    assert not is_github_workflow({"CI": "true"})
