"""The release checklist: met only where the result shows it."""

from __future__ import annotations

import json
from fractions import Fraction

import pytest

from abs_gate.gate.evidence import collect_evidence, is_complete, release_manifest
from abs_gate.gate.verdict import decide
from abs_gate.settings.model import CanarySettings, EvidenceSettings, Settings

from .play import metadata, play, session
from .test_verdict import NEW, OLD, case, change, contracts, lint, tool

CANARY = CanarySettings(owner="@payments", thresholds={"retry_rate": Fraction(1, 50)})
KINDS = ("selection", "no_call", "missing_facts", "denied_authority", "recovery")


def checklist(*, settings=None, sessions=(), verification=(), compared=None, **recorded):
    settings = settings or Settings()
    document = decide(
        contracts=compared,
        verification=verification,
        sessions=sessions,
        settings=settings,
        metadata={**metadata(), **recorded},
    )
    document["evidence"] = collect_evidence(document, settings)
    json.dumps(document["evidence"])
    return {entry["id"]: entry for entry in document["evidence"]}, document


def kind(record, name: str):
    return {**record, "kind": name}


def test_a_release_with_everything():
    settings = Settings(canary=CANARY, evidence=EvidenceSettings(golden=dict.fromkeys(KINDS, ("Refund",))))
    items, document = checklist(
        settings=settings,
        sessions=[play(["PPP"])],
        verification=[kind(case("passed", "a"), "provider"), kind(case("passed", "b"), "adapter")],
        compared=contracts(tool(change(), cleared="version 4 replaces 3, owner @billing")),
        model="gpt-x",
        toolset_fingerprint=NEW,
        policy_fingerprint="sha256:p",
    )
    assert len(items) == 10
    assert {name: entry["state"] for name, entry in items.items()} == dict.fromkeys(items, "met")
    assert is_complete(document)
    assert items["fingerprint"]["pointers"] == [f"billing.issue_refund: {OLD} -> {NEW}"]
    assert "owner @billing" in items["migration"]["pointers"][0]
    manifest = release_manifest(document)
    assert manifest["tools"] == {"billing.issue_refund@4": NEW}
    assert (manifest["model"], manifest["policy_fingerprint"]) == ("gpt-x", "sha256:p")


def test_a_run_with_nothing_of_contracts():
    items, document = checklist(sessions=[play(["P"])])
    for name in ("fingerprint", "dialect", "diff", "migration", "provider", "adapter", "pinned"):
        assert items[name]["state"] == "not applicable", name
    for name in ("golden", "trace", "canary"):
        assert items[name]["state"] == "not met", name
    assert not is_complete(document)


OF_ANOTHER_TOOL = {**kind(case("passed"), "provider"), "tool_id": "other"}


@pytest.mark.parametrize(
    ("name", "state", "parts"),
    [
        ("migration", "not met", {"compared": contracts(tool(change()))}),
        ("pinned", "not met", {"compared": contracts(tool(change()))}),
        ("migration", "not applicable", {"compared": contracts(tool(change("compatible")))}),
        ("pinned", "met", {"compared": contracts(tool(change("compatible")))}),
        ("fingerprint", "not met", {"compared": {**contracts(tool()), "base": None}}),
        ("diff", "not met", {"compared": contracts(tool(), error="no base")}),
        ("dialect", "not met", {"compared": contracts(lint=[{**lint(), "rule": "schema-invalid"}])}),
        ("dialect", "met", {"compared": contracts(lint=[lint()])}),
        ("provider", "not met", {"compared": contracts()}),
        ("provider", "not met", {"compared": contracts(), "verification": [kind(case("failed"), "provider")]}),
        ("provider", "not met", {"compared": contracts(), "verification": [kind(case("unverified"), "provider")]}),
        ("provider", "not met", {"compared": contracts(), "verification": [OF_ANOTHER_TOOL]}),
        ("adapter", "not met", {"compared": contracts(), "verification": [kind(case("passed"), "provider")]}),
        ("trace", "not met", {"sessions": [play(["P"])], "model": "m", "policy_fingerprint": "p"}),
        ("canary", "not met", {"settings": Settings(canary=CanarySettings(owner="@x"))}),
        ("canary", "met", {"settings": Settings(canary=CANARY)}),
    ],
)  # fmt: skip
def test_single_items(name, state, parts):
    items, _ = checklist(**parts)
    assert items[name]["state"] == state
    assert items[name]["reason"]


def test_golden_cases_are_seen_in_behaviors_or_named():
    items, _ = checklist(sessions=[play(["P"])])
    golden = items["golden"]
    # The session has an expected call and a rule against calls: two kinds can be seen, three cannot.
    assert golden["pointers"] == ["selection: Refund", "no call: Refund"]
    assert "missing facts, denied authority, recovery" in golden["reason"]
    named = Settings(evidence=EvidenceSettings(golden=dict.fromkeys(KINDS, ("sessions/*.abs.yaml",))))
    assert checklist(settings=named, sessions=[play(["P"])])[0]["golden"]["state"] == "met"
    failed = checklist(settings=named, sessions=[play(["P"]), play(["F"], of=session("Other"))])[0]["golden"]
    assert failed["state"] == "not met"
    assert any('"Other" is failed' in pointer for pointer in failed["pointers"])


def test_pointers_are_bounded():
    many = contracts(tool(*[change(path=f"input.f{i}") for i in range(50)]))
    pointers = checklist(compared=many)[0]["diff"]["pointers"]
    assert len(pointers) == 21
    assert pointers[-1] == "and 30 more"
