"""Shards add up to exactly what one machine would have decided."""

from __future__ import annotations

import copy

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from abs_gate.errors import CannotVerify
from abs_gate.gate.keeping import Keeper
from abs_gate.gate.load import load_result
from abs_gate.gate.merge import merge_results
from abs_gate.gate.plan import plan_session, shard_of
from abs_gate.gate.tally import SessionTally
from abs_gate.gate.trial_note import note_trial
from abs_gate.gate.verdict import decide
from abs_gate.settings.model import SessionPolicy, SessionsSettings, Settings

from .play import OUTCOMES, case_of, metadata, play, rate, session, trial
from .test_verdict import case as verified
from .test_verdict import change, contracts, run, tool


def run_shard(rows, number: int, count: int, *, early_stop: bool = True, **policy):
    """What a machine does that runs one shard."""
    of, trials = session(), len(rows[0])
    cases = [case_of(of, index) for index in range(len(rows))]
    own = [(case, row) for case, row in zip(cases, rows, strict=True) if shard_of(case.id, count) == number]
    chosen = SessionsSettings(trials=trials, policy=(SessionPolicy(**policy),))
    plan = plan_session(of, chosen, cases=len(own), cases_total=len(rows), today="2026-01-01")
    tally = SessionTally(plan, Keeper(), early_stop=early_stop)
    for case, row in own:
        for index, word in enumerate(row):
            if tally.wants(case.id):
                tally.add(note_trial(case, index, trial(OUTCOMES[word])))
    return decide(
        contracts=None,
        verification=[],
        sessions=[tally.record()],
        settings=Settings(sessions=chosen),
        metadata={**metadata(), "shard": f"{number}/{count}", "agent_calls": 3},
    )


def shards_of(rows, count: int, **policy):
    return [(f"shard-{i}", run_shard(rows, i, count, **policy)) for i in range(1, count + 1)]


words = st.lists(st.text("PFU", min_size=3, max_size=3), min_size=2, max_size=8)


@settings(max_examples=120)
@given(words, st.integers(1, 4), st.sampled_from(["50%", "80%", "100%"]), st.booleans())
def test_merging_equals_one_machine(rows, count, threshold, critical):
    policy = {"critical": critical, **rate(threshold)}
    merged = merge_results(shards_of(rows, count, early_stop=False, **policy))
    (record,) = merged["sessions"]
    whole = play(rows, early_stop=False, **policy)
    for key in ("outcome", "reason", "trials", "pass_rate", "interval", "clustered_interval", "coverage",
                "pass_hat_k", "pass_at_k", "required", "row_counts", "lowest_row", "behaviors", "cases"):  # fmt: skip
        assert record[key] == whole[key], key


@settings(max_examples=120)
@given(
    st.lists(st.text("PF", min_size=3, max_size=3), min_size=2, max_size=8),
    st.integers(1, 4),
    st.sampled_from(["50%", "80%", "100%"]),
)
def test_shards_that_stop_early_still_decide_the_same(rows, count, threshold):
    (record,) = merge_results(shards_of(rows, count, **rate(threshold)))["sessions"]
    assert record["outcome"] == play(rows, early_stop=False, **rate(threshold))["outcome"]
    trials = record["trials"]
    assert trials["run"] + trials["saved"] == trials["planned"] == len(rows) * 3


def test_the_merged_document_is_whole():
    merged = merge_results(list(reversed(shards_of(["PPP", "PPP", "PPF", "PPP"], 3, **rate("90%")))))
    assert merged["metadata"]["shard"] is None
    assert merged["metadata"]["agent_calls"] == 9
    assert merged["verdict"] == "passed"
    assert load_result(__import__("json").dumps(merged)) == merged
    assert [case["row"] for case in merged["sessions"][0]["cases"]] == [0, 1, 2, 3]


def test_a_shard_in_which_no_case_falls_is_no_fault():
    documents = shards_of(["PPP", "PPP"], 8)
    empty = [document for _, document in documents if not document["sessions"][0]["trials"]["planned"]]
    assert empty
    assert {document["verdict"] for document in empty} == {"passed"}
    assert empty[0]["reasons"] == ["No case of a session falls into this shard."]
    assert merge_results(documents)["verdict"] == "passed"


def refused(shards) -> str:
    with pytest.raises(CannotVerify) as problem:
        merge_results(shards)
    assert problem.value.exit_code == 3
    return str(problem.value)


def test_what_is_not_one_whole_run_is_refused():
    shards = shards_of(["PPP"] * 6, 3)
    assert "Of 3 shards, 2 is missing" in refused([shards[0], shards[2]])
    assert "Shard 1/3 is there twice: shard-1 and again" in refused([*shards, ("again", shards[0][1])])
    assert "runs of different size" in refused([shards[0], *shards_of(["PPP"] * 6, 2)[1:]])
    assert "no result to merge" in refused([])
    whole = copy.deepcopy(shards[0][1])
    whole["metadata"]["shard"] = None
    assert "is not the result of a shard" in refused([("whole", whole)])

    def changed(edit):
        document = copy.deepcopy(shards[1][1])
        edit(document)
        return refused([shards[0], ("other", document), shards[2]])

    assert "policy fingerprint differs" in changed(lambda d: d["metadata"].update(policy_fingerprint="sha256:x"))
    assert "commit differs" in changed(lambda d: d["metadata"].update(commit="1a2b"))
    assert "in 2 of 3 shards only" in changed(lambda d: d.update(sessions=[]))
    assert "different policies" in changed(lambda d: d["sessions"][0]["policy"].update(pass_rate="1/2"))
    assert "do not add up" in changed(lambda d: d["sessions"][0]["trials"].update(planned=99))
    for shard, value in ((shards[0][1], "1"), (shards[1][1], "2")):
        shard["metadata"]["session_hashes"] = {"sessions/refund.abs.yaml": value}
    assert "different versions of the session sessions/refund.abs.yaml" in refused(shards)
    for shard, value in ((shards[0][1], "1"), (shards[1][1], "2")):
        shard["metadata"]["session_hashes"] = {}
        shard["metadata"]["dataset_hashes"] = {"sessions/refund.abs.yaml": value}
    assert "different versions of the data set of sessions/refund.abs.yaml" in refused(shards)


def test_models_are_those_of_all_shards_and_evidence_is_the_least_of_them():
    shards = shards_of(["PPP"] * 6, 3)
    for (_, shard), model, state in zip(shards, ("b, a", None, "a"), ("met", "not met", "not applicable"), strict=True):
        shard["metadata"]["model"] = model
        shard["evidence"] = [{"id": "canary", "item": "A canary.", "state": state, "reason": "", "pointers": []}]
    merged = merge_results(shards)
    assert merged["metadata"]["model"] == "b, a"
    assert [entry["state"] for entry in merged["evidence"]] == ["not met"]


def test_a_cancelled_shard_is_not_green():
    shards = shards_of(["PPP"] * 6, 2, early_stop=False)
    record = shards[0][1]["sessions"][0]
    record["trials"].update(run=record["trials"]["run"] - 1, passed=record["trials"]["passed"] - 1)
    record["row_counts"] = [{"passed": 3, "failed": 0, "unverified": 0, "rows": record["trials"]["run"] // 3}]
    record["stop_reason"] = "the run was cancelled"
    merged = merge_results(shards)
    assert merged["verdict"] == "unverified"
    assert "did not run: the run was cancelled" in merged["reasons"][0]


def with_layers(*shards):
    """Shards that every one compared contracts and verified: (contracts, verification) each."""
    documents = shards_of(["PPP"] * 6, len(shards))
    for (_, document), (of_contracts, records) in zip(documents, shards, strict=True):
        document.update(contracts=of_contracts, verification=records)
    return documents


def test_a_verification_case_that_every_shard_ran_is_shown_once():
    records = [verified("passed", "a"), verified("passed", "b"), verified("skipped", "b")]
    merged = merge_results(with_layers(*[(contracts(), copy.deepcopy(records)) for _ in range(3)]))
    assert merged["verdict"] == "passed"
    assert merged["verification"] == records, "two cases that share an id stay two"
    assert merged["contracts"] == contracts()


@pytest.mark.parametrize(
    ("outcomes", "verdict"),
    [
        (("passed", "failed"), "failed"),
        (("failed", "unverified"), "failed"),
        (("unverified", "passed"), "unverified"),
        (("skipped", "passed"), "passed"),
    ],
)
def test_the_worst_outcome_of_a_verification_case_decides(outcomes, verdict):
    for order in (outcomes, outcomes[::-1]):
        merged = merge_results(with_layers(*[(None, [verified("passed", "x"), verified(each, "y")]) for each in order]))
        assert merged["verdict"] == verdict
        assert [record["name"] for record in merged["verification"]] == ["x", "y"]


def test_contracts_are_decided_once():
    broken = run(contracts=contracts(tool(change())))["contracts"]
    merged = merge_results(with_layers((broken, []), (broken, [])))
    assert (merged["verdict"], len(merged["contracts"]["tools"])) == ("failed", 1)
    unread = contracts(error="the base could not be read")
    for order in ((broken, unread), (unread, broken)):
        merged = merge_results(with_layers(*[(each, []) for each in order]))
        assert merged["verdict"] == "failed", "an error in one shard does not hide what another found"
        assert merged["contracts"]["error"]
    assert merge_results(with_layers((contracts(), []), (unread, [])))["verdict"] == "unverified"


@pytest.mark.parametrize("other", [contracts(tool(change())), {**contracts(), "base": "commit 9"}])
def test_contracts_compared_with_different_bases_are_refused(other):
    with pytest.raises(CannotVerify, match="different bases"):
        merge_results(with_layers((contracts(), []), (other, [])))


def test_shards_that_were_cancelled_while_they_verified_are_refused():
    documents = with_layers((None, [verified("passed", "a")]), (None, [verified("passed", "a")]))
    for _, document in documents:
        document.update(sessions=[], verdict="cancelled")
    with pytest.raises(CannotVerify, match="was cancelled before its sessions began"):
        merge_results(documents)
