import json

import pytest

from abs_gate.github.errors import GitHubError
from abs_gate.github.event import read_event
from abs_gate.github.pull_requests import find_pull_request

from .test_event import ENVIRON, EVENTS

HEAD = "3484a3fb816e0859fd6e1cea078d76385ff50625"


@pytest.fixture
def event():
    payload = json.loads((EVENTS / "workflow_run.completed.json").read_bytes())
    run = payload["workflow_run"]
    run["pull_requests"] = []
    run["head_branch"] = "fix/refunds"
    run["head_repository"] = {"full_name": "mallory/octo-repo", "owner": {"login": "mallory"}}
    return read_event({**ENVIRON, "GITHUB_EVENT_NAME": "workflow_run"}, payload)


def pull(number, sha=HEAD, owner="mallory", branch="fix/refunds"):
    return {"number": number, "head": {"sha": sha, "ref": branch, "user": {"login": owner}}}


def test_the_forks_pull_request_is_found_by_branch_and_commit(github, client, event):
    github.pulls = [pull(4, sha="0" * 40), pull(5, owner="someone"), pull(7), pull(8, branch="other")]
    assert find_pull_request(client, event) == 7
    assert event.commit == HEAD


def test_a_commit_that_is_no_longer_the_head_is_not_reported_on(github, client, event):
    github.pulls = [pull(4, sha="0" * 40)]
    assert find_pull_request(client, event) is None


def test_what_the_event_names_is_not_asked_for(github, client):
    payload = json.loads((EVENTS / "workflow_run.completed.json").read_bytes())
    event = read_event({**ENVIRON, "GITHUB_EVENT_NAME": "workflow_run"}, payload)
    assert find_pull_request(client, event) == 2
    assert github.log == []


@pytest.mark.parametrize("name", ["push", "schedule"])
def test_other_events_have_none(github, client, name):
    assert find_pull_request(client, read_event({**ENVIRON, "GITHUB_EVENT_NAME": name}, {})) is None
    assert github.log == []


def test_no_permission_is_an_error(github, client, event):
    github.controls.no_repository = True
    with pytest.raises(GitHubError):
        find_pull_request(client, event)
