"""Results that are read back, and outcomes of runs made elsewhere."""

from __future__ import annotations

import copy
import json
from pathlib import Path

import pytest

from abs_gate.errors import ConfigurationError
from abs_gate.gate.imported import import_outcomes, looks_like_outcomes
from abs_gate.gate.load import load_result
from abs_gate.gate.verdict import decide
from abs_gate.settings.model import SessionPolicy, Settings

from .play import metadata, play, rate

AIRLINE = json.loads((Path(__file__).parent / "data" / "taubench-airline.json").read_text())


def document(*rows: str):
    return decide(
        contracts=None,
        verification=[],
        sessions=[play(list(rows or ("PPF",)), early_stop=False, **rate("60%"))],
        settings=Settings(),
        metadata=metadata(),
    )


def test_a_result_survives_being_written_and_read():
    written = document("PFP", "PPP")
    assert load_result(json.dumps(written)) == written
    assert load_result(json.dumps(written).encode()) == written


def refused(text) -> str:
    with pytest.raises(ConfigurationError) as problem:
        load_result(text, name="shard-1/result.json")
    assert str(problem.value).startswith("shard-1/result.json")
    return str(problem.value)


def test_half_written_results_are_refused():
    text = json.dumps(document(), indent=1)
    for cut in range(0, len(text) - 1, 97):
        assert "not complete JSON" in refused(text[:cut])


@pytest.mark.parametrize("text", ["[]", "{}", "null", '"x"', b"\xff\xfe\x00", "[" * 100_000, '{"schema_version": NaN}'])
def test_what_is_no_result_is_refused(text):
    refused(text)


def test_other_versions_are_refused():
    assert "schema_version 2" in refused(json.dumps({**document(), "schema_version": 2}))


def test_faults_of_shape_are_told_in_words():
    broken = copy.deepcopy(document())
    del broken["verdict"]
    broken["sessions"][0]["trials"]["run"] = "3"
    message = refused(json.dumps(broken))
    assert "verdict" in message
    assert "run" in message


def test_counts_that_contradict_each_other_are_refused():
    for edit in (
        lambda session: session["trials"].update(passed=3),
        lambda session: session["trials"].update(saved=5),
        lambda session: session["trials"].update(planned=2),
        lambda session: session["trials"].update(unverified=-1, run=2),
        lambda session: session["row_counts"][0].update(rows=7),
    ):
        broken = copy.deepcopy(document())
        edit(broken["sessions"][0])
        assert "Refund" in refused(json.dumps(broken))


def test_a_benchmark_is_shown_with_its_published_figures():
    assert looks_like_outcomes(AIRLINE)
    result = import_outcomes(AIRLINE, name="airline", metadata=metadata())
    (session,) = result["sessions"]
    assert session["pass_hat_k"] == pytest.approx({"1": 0.42, "2": 41 / 150, "3": 0.22, "4": 0.2})
    assert session["pass_at_k"] == pytest.approx({"1": 0.42, "2": 17 / 30, "3": 0.66, "4": 0.72})
    assert session["pass_hat_k_error"] == pytest.approx({"1": 0.0522, "2": 0.0555, "3": 0.0565, "4": 0.0571}, abs=5e-5)
    assert session["effective_trials"] == pytest.approx(90.3, abs=0.05)
    assert session["trials"]["passed"] == 84
    assert session["clustered_interval"] == pytest.approx([0.315, 0.525], abs=5e-4)
    assert (result["verdict"], len(session["cases"])) == ("failed", 50)
    assert load_result(json.dumps(result)) == result
    lenient = SessionPolicy(**rate("40%"))
    assert import_outcomes(AIRLINE, name="airline", metadata=metadata(), policy=lenient)["verdict"] == "passed"


@pytest.mark.parametrize(
    "value",
    [
        {"a": [True, False], "b": [True, True]},
        {"a": [1, 0], "b": [1.0, 0.9999999]},
        {"rewards": {"a": [1, 0], "b": [1, 1]}},
        [
            {"task_id": "a", "reward": 1},
            {"task_id": "b", "reward": 1},
            {"task_id": "a", "reward": 0},
            {"task_id": "b", "reward": 1},
        ],
    ],
)
def test_forms_of_outcomes(value):
    (session,) = import_outcomes(value, name="runs", metadata=metadata())["sessions"]
    assert session["pass_hat_k"] == {"1": 0.75, "2": 0.5}


def test_null_is_unverified_and_rows_may_be_uneven():
    result = import_outcomes({"a": [True, None], "b": [True]}, name="runs", metadata=metadata())
    assert result["verdict"] == "unverified"
    (session,) = result["sessions"]
    assert session["trials"]["unverified"] == 1
    assert session["pass_hat_k"] == {"1": 1.0}


@pytest.mark.parametrize(
    "value", [{"a": [2]}, {"a": ["yes"]}, {"a": [-1]}, {"a": [[1]]}, {"a": []}, {}, [], [1], "x", None]
)
def test_what_is_no_outcome_is_refused(value):
    with pytest.raises(ConfigurationError, match="runs"):
        import_outcomes(value, name="runs", metadata=metadata())


def test_a_result_does_not_look_like_outcomes():
    assert not looks_like_outcomes(document())
