"""Every request the client makes, held against GitHub's own OpenAPI description by a validating proxy."""

import json
import socket
import subprocess
import time

import pytest

from abs_gate.github.checks import CheckRun, post_check_run
from abs_gate.github.client import GitHubClient
from abs_gate.github.comments import upsert_comment
from abs_gate.github.contents import HostedRepository
from abs_gate.github.errors import Rejected
from abs_gate.outcomes import Verdict
from abs_gate.reports.comment import render_marker

from .fake_api import TOKEN, FakeGitHub
from .npm_tools import node_modules

PATHS = (
    "/repos/{owner}/{repo}",
    "/repos/{owner}/{repo}/issues/{issue_number}/comments",
    "/repos/{owner}/{repo}/issues/comments/{comment_id}",
    "/repos/{owner}/{repo}/check-runs",
    "/repos/{owner}/{repo}/check-runs/{check_run_id}",
    "/repos/{owner}/{repo}/commits/{ref}",
    "/repos/{owner}/{repo}/compare/{basehead}",
    "/repos/{owner}/{repo}/contents/{path}",
    "/repos/{owner}/{repo}/pulls",
)


def slim(description):
    """The requests of the operations used, with everything they refer to; any response will do."""
    paths = {path: description["paths"][path] for path in PATHS}
    for operations in paths.values():
        for operation in operations.values():
            operation["responses"] = {"default": {"description": "whatever the fake says"}}
    kept, queue = {}, [paths]
    while queue:
        for reference in _references(queue.pop()):
            _, _, kind, name = reference.split("/", 3)
            name = name.replace("~1", "/")
            if name not in kept.setdefault(kind, {}):
                kept[kind][name] = description["components"][kind][name]
                queue.append(kept[kind][name])
    return {**{key: description[key] for key in ("openapi", "info", "servers")}, "paths": paths, "components": kept}


def _references(value):
    if isinstance(value, dict):
        if isinstance(value.get("$ref"), str):
            yield value["$ref"]
        for item in value.values():
            yield from _references(item)
    elif isinstance(value, list):
        for item in value:
            yield from _references(item)


@pytest.fixture(scope="module")
def fake():
    with FakeGitHub() as github:
        yield github
    assert github.complaints == []


@pytest.fixture(scope="module")
def proxy(fake, tmp_path_factory):
    modules = node_modules()
    place = tmp_path_factory.mktemp("openapi")
    described = json.loads((modules / "@octokit/openapi/generated/api.github.com.json").read_bytes())
    (place / "slim.json").write_text(json.dumps(slim(described)))
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    prism = ["node", str(modules / "@stoplight/prism-cli/dist/index.js"), "proxy", "--errors", "-h", "127.0.0.1"]
    options = ["-p", str(port), str(place / "slim.json"), fake.url]
    with (place / "log").open("wb") as log:
        process = subprocess.Popen([*prism, *options], stdout=log, stderr=log)
    try:
        _wait_for(port, process, place / "log")
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait(10)


def _wait_for(port, process, log):
    end = time.monotonic() + 60
    while time.monotonic() < end:
        assert process.poll() is None, log.read_text()
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.1)
    pytest.skip("the validating proxy did not start within 60 s")


@pytest.fixture
def client(proxy, transport):
    return GitHubClient(transport, token=TOKEN, api_url=proxy, sleep=lambda _: None)


def test_the_proxy_refuses_what_github_would(client):
    """Otherwise the other tests would prove nothing."""
    with pytest.raises(Rejected):
        client.request("POST", "/repos/octo/repo/issues/2/comments", body={"text": "no body"})


def test_comments(fake, client):
    fake.controls.viewer = None  # GraphQL is not part of the description
    for number in range(101):
        fake.add_comment(f"chatter {number}", author="octocat")
    for run in (1, 2):
        body = f"{render_marker('default', 'a' * 40, run, 1, 'failed')}\nrun {run}"
        delivery = upsert_comment(client, repository="octo/repo", number=2, render=lambda _, body=body: body)
        assert delivery.posted, delivery.notice
        fake.add_comment(f"{render_marker('default', 'a' * 40, 0, 1, 'failed')}\ndouble")
    assert upsert_comment(client, repository="octo/repo", number=2, render=lambda _: body).posted
    assert [text for text in fake.bodies() if "chatter" not in text] == [body]


def test_check_runs(fake, client):
    annotation = {
        "path": "contracts/refund.yaml",
        "start_line": 3,
        "end_line": 3,
        "annotation_level": "failure",
        "title": "refund: input.reason",
        "message": "A call that worked is refused now.",
    }
    check = CheckRun(
        name="abs-gate",
        head_sha="a" * 40,
        verdict=Verdict.UNVERIFIED,
        title="Could not be verified",
        summary="text",
        annotations=([annotation] * 50, [annotation] * 3),
        details_url="https://github.com/octo/repo/actions/runs/1",
    )
    delivery = post_check_run(client, "octo/repo", check)
    assert (delivery.posted, delivery.notice) == (True, "")
    assert len(fake.checks.popitem()[1]["annotations"]) == 53


def test_contents_commits_and_merge_bases(fake, client):
    sha = "a" * 40
    fake.commits = {"main": sha}
    fake.files[sha] = {"refund.yaml": b"tool_id: refund\n"}
    fake.merge_bases = {(sha, "b" * 40): sha}
    repository = HostedRepository(client, "octo/repo")
    assert repository.find_commit("main") == sha
    assert repository.find_commit("nowhere") is None
    assert repository.find_merge_base(sha, "b" * 40) == sha
    assert repository.look_up("refund.yaml", sha).content == b"tool_id: refund\n"
    assert repository.look_up("absent.yaml", sha) is None


def test_open_pull_requests(fake, client):
    fake.pulls = [{"number": 7, "head": {"sha": "a" * 40, "ref": "fix", "user": {"login": "mallory"}}}]
    query = {"state": "open", "head": "mallory:fix"}
    assert [pull["number"] for pull in client.pages("/repos/octo/repo/pulls", query=query)] == [7]
