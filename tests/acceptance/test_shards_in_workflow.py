"""The matrix of shards in a workflow, and the job that merges them: one comment, one verdict."""

import json

import pytest

from tests.acceptance.processes import gate
from tests.acceptance.runner import TOKEN, checkout, pull_request_event, read_outputs, run_action
from tests.github.fake_api import FakeGitHub


@pytest.fixture
def github():
    with FakeGitHub() as fake:
        yield fake
        assert fake.complaints == []


def merge(place, tmp_path, api_url, *results):
    commands = tmp_path / "merge-commands"
    commands.mkdir(exist_ok=True)
    (commands / "event.json").write_text(json.dumps(pull_request_event(place)))
    (commands / "output").write_text("")
    (commands / "summary").write_text("")
    done = gate(
        "merge",
        *results,
        "-o",
        "merged",
        cwd=place.workspace,
        CI="true",
        GITHUB_ACTIONS="true",
        GITHUB_API_URL=api_url,
        GITHUB_SERVER_URL="https://github.com",
        GITHUB_REPOSITORY="octocat/hello",
        GITHUB_EVENT_NAME="pull_request",
        GITHUB_EVENT_PATH=str(commands / "event.json"),
        GITHUB_WORKSPACE=str(place.workspace),
        GITHUB_OUTPUT=str(commands / "output"),
        GITHUB_STEP_SUMMARY=str(commands / "summary"),
        GITHUB_SHA=place.merge_sha,
        GITHUB_REF="refs/pull/2/merge",
        GITHUB_RUN_ID="100",
        GITHUB_RUN_ATTEMPT="1",
        ABS_GATE_GITHUB_TOKEN=TOKEN,
    )
    return done, read_outputs((commands / "output").read_text()), (commands / "summary").read_text()


@pytest.mark.parametrize(("pull_request", "code", "verdict"), [("good", 0, "passed"), ("bad", 1, "failed")])
def test_shards_say_nothing_and_their_merge_says_it_once(tmp_path, github, pull_request, code, verdict):
    place = checkout(tmp_path, pull_request)
    results = []
    for number in (1, 2, 3):
        inputs = {"allow-commands": "true", "shard": f"{number}/3", "report-dir": f"shard-{number}"}
        step = run_action(place, tmp_path, api_url=github.url, inputs=inputs, run_id=number)
        results.append(step.outputs["result-file"])
    assert github.comments == {}
    done, outputs, summary = merge(place, tmp_path, github.url, *results)
    assert done.returncode == code, done.stdout + done.stderr
    [comment] = github.comments.values()
    assert f'"verdict":"{verdict}"' in comment["body"].replace(": ", ":")
    assert "18 agent calls" in comment["body"]
    assert outputs["verdict"] == verdict
    assert "18 agent calls" in summary
    again, _, _ = merge(place, tmp_path, github.url, *results)
    assert again.returncode == code
    assert len(github.comments) == 1
    missing, _, _ = merge(place, tmp_path, github.url, *results[:2])
    assert missing.returncode == 3
