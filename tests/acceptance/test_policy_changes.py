"""What a pull request does to its own policy, and reviews that no longer fit: told in every report."""

import json

import pytest

from tests.acceptance.runner import checkout, run_action
from tests.github.fake_api import FakeGitHub

ALLOW = {"allow-commands": "true"}


@pytest.fixture
def github():
    with FakeGitHub() as fake:
        yield fake


def result_of(step):
    return json.loads((step.workspace / step.outputs["result-file"]).read_text())


def test_inputs_of_the_workflow_do_not_count_as_a_weaker_policy(tmp_path, github):
    place = checkout(tmp_path, "good")
    step = run_action(
        place, tmp_path, api_url=github.url, inputs=ALLOW | {"trials": "1", "min-pass-rate": "50%", "fail-on": "none"}
    )
    assert step.code == 0, step.log
    assert result_of(step)["metadata"]["weakened"] == []
    assert "weaker" not in step.log


def test_a_weaker_file_is_told_whatever_the_inputs_say(tmp_path, github):
    place = checkout(tmp_path, "good")
    config = place.workspace / "abs-gate.yaml"
    config.write_text(config.read_text().replace("trials: ", "trials: 1 # was "))
    step = run_action(place, tmp_path, api_url=github.url, inputs=ALLOW | {"trials": "9"})
    assert step.code == 0, step.log
    told = result_of(step)["metadata"]["weakened"]
    assert told
    assert all("trials lowered from 3 to 1" in text for text in told)
    assert "weaker" in step.summary


def test_a_review_of_another_change_is_told(tmp_path, github):
    place = checkout(tmp_path, "bad")
    reviews = place.workspace / "acknowledgements.yaml"
    entry = "{tool: billing.issue_refund, from: 'sha256:%s', to: null, by: '@lead', reason: seen}" % ("0" * 64)
    reviews.write_text(f"acknowledgements:\n  - {entry}\n")
    config = place.workspace / "abs-gate.yaml"
    config.write_text(config.read_text().replace("contracts:", "contracts:\n  acknowledgements: acknowledgements.yaml"))
    step = run_action(place, tmp_path, api_url=github.url, inputs=ALLOW)
    assert step.code == 1, step.log
    [notice] = result_of(step)["metadata"]["notices"]
    assert notice.startswith("acknowledgements.yaml:2:")
    assert "for other fingerprints" in notice
    assert "for other fingerprints" in step.log
    assert "for other fingerprints" in step.summary
