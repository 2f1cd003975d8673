"""The one verdict over contracts, verification and sessions."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from abs_gate.errors import ConfigurationError
from abs_gate.gate.acknowledgements import Acknowledgement, load_acknowledgements, unused
from abs_gate.gate.contract_policy import apply_contract_policy
from abs_gate.gate.load import load_result
from abs_gate.gate.verdict import decide
from abs_gate.settings.model import ContractsSettings, SessionsSettings, Settings
from abs_gate.vcs.worktree import WorkTree

from .play import metadata, place, play, rate

OLD, NEW = "sha256:" + "a" * 64, "sha256:" + "b" * 64


def change(classification: str = "breaking", kind: str = "optional_to_required", path: str = "input.reason"):
    return {
        "path": path,
        "kind": kind,
        "classification": classification,
        "affects": ["model_arguments"],
        "message": "reason was optional and is required now",
        "before": None,
        "after": None,
        "proof": "convention",
        "file": "contracts/refund.yaml",
        "line": 14,
        "notes": [],
    }


def tool(*changes, cleared: str = ""):
    record = {
        "tool_id": "billing.issue_refund",
        "baseline": 3,
        "candidate": 4,
        "baseline_fingerprint": OLD,
        "candidate_fingerprint": NEW,
        "classification": changes[0]["classification"] if changes else "unchanged",
        "changes": list(changes),
    }
    return record | ({"cleared": cleared} if cleared else {})


def contracts(*tools, lint=(), **more):
    return {
        "base": "commit 1a2b3c4",
        "tools": list(tools),
        "lint": list(lint),
        "toolset_fingerprint": NEW,
        "fingerprints": {"billing.issue_refund@4": NEW},
        **more,
    }


def lint(severity: str = "error"):
    return {
        "rule": "one-word-description",
        "severity": severity,
        "message": "The description is one word.",
        "subject": "issue_refund",
        "hint": "",
        "file": "contracts/refund.yaml",
        "line": 3,
        "column": 1,
        "fingerprint": "f",
    }


def case(outcome: str, name: str = "missing reason"):
    return {
        "id": name,
        "tool_id": "billing.issue_refund",
        "kind": "input",
        "name": name,
        "outcome": outcome,
        "reason": "" if outcome == "passed" else "the provider accepted it",
        "checks": [],
        "file": None,
        "line": None,
        "duration_ms": 1,
    }


def run(*, sessions=(), verification=(), contracts=None, settings=None, **more):
    document = decide(
        contracts=contracts,
        verification=verification,
        sessions=sessions,
        settings=settings or Settings(),
        metadata=metadata(),
        **more,
    )
    assert load_result(__import__("json").dumps(document)) == document
    return document


def test_all_passed():
    document = run(sessions=[play(["PPP"])], verification=[case("passed")], contracts=contracts(tool()))
    assert (document["verdict"], document["exit_code"]) == ("passed", 0)
    assert document["reasons"] == [
        "1 session passed (3 of 3 trials); 1 verification case passed; 1 tool compared with commit 1a2b3c4: 0 changes."
    ]


@pytest.mark.parametrize(
    ("parts", "verdict", "exit_code"),
    [
        ({"sessions": ["F"]}, "failed", 1),
        ({"sessions": ["U"]}, "unverified", 3),
        ({"sessions": ["U", "F", "P"]}, "failed", 1),
        ({"verification": [case("failed")]}, "failed", 1),
        ({"verification": [case("unverified")]}, "unverified", 3),
        ({"verification": [case("skipped")]}, "unverified", 3),
        ({"contracts": contracts(tool(change()))}, "failed", 1),
        ({"contracts": contracts(tool(change("safety_breaking")))}, "failed", 1),
        ({"contracts": contracts(tool(change("behavior_sensitive")))}, "failed", 1),
        ({"contracts": contracts(tool(change("compatible")))}, "passed", 0),
        ({"contracts": contracts(tool(change(), cleared="a new version with a migration"))}, "passed", 0),
        ({"contracts": contracts(error="the base could not be read")}, "unverified", 3),
        ({"contracts": contracts(tool(change()), error="one version could not be read")}, "failed", 1),
        ({"contracts": contracts(lint=[lint()])}, "failed", 1),
        ({"contracts": contracts(lint=[lint("warning")])}, "passed", 0),
        ({}, "unverified", 3),
        ({"contracts": {**contracts(), "fingerprints": {}}}, "unverified", 3),
    ],
)
def test_verdicts_and_exit_codes(parts, verdict, exit_code):
    sessions = [play([row]) for row in parts.get("sessions", ())]
    document = run(**{**parts, "sessions": sessions})
    assert (document["verdict"], document["exit_code"]) == (verdict, exit_code)
    assert document["reasons"]


def test_reasons_come_most_important_first():
    document = run(
        sessions=[play(["U"]), play(["PF"], early_stop=False), play(["F"], critical=True)],
        verification=[case("unverified"), case("failed", "duplicate key")],
        contracts=contracts(
            tool(change("behavior_sensitive"), change(), change("safety_breaking", "approval_removed")), lint=[lint()]
        ),
    )
    starts = [
        "billing.issue_refund: safety-breaking change",
        "billing.issue_refund: breaking change",
        "billing.issue_refund: duplicate key",
        'Critical session "Refund" failed',
        'Session "Refund" failed',
        "Needs review: billing.issue_refund: behavior-sensitive",
        "contracts/refund.yaml:3: The description is one word. (one-word-description)",
        "billing.issue_refund: missing reason",
        'Session "Refund" could not be verified',
    ]
    assert len(document["reasons"]) == len(starts)
    for reason, start in zip(document["reasons"], starts, strict=True):
        assert reason.startswith(start)


def test_layers_that_are_configured_and_find_nothing_are_not_green():
    settings = Settings(sessions=SessionsSettings(paths=("sessions/",)), contracts=ContractsSettings(paths=("c/",)))
    document = run(sessions=[play(["P"])], settings=settings)
    assert document["verdict"] == "unverified"
    assert "names contracts" in document["reasons"][0]
    document = run(contracts=contracts(tool()), settings=settings)
    assert "names sessions" in document["reasons"][0]


def test_quarantined_sessions_do_not_gate_and_stay_visible():
    held = {**play(["F"]), "quarantined": True, "quarantine_note": "Quarantined by @team, until 2027-01-31"}
    document = run(sessions=[play(["P"]), held])
    assert document["verdict"] == "passed"
    assert document["reasons"][1].startswith('Not gating: session "Refund" is failed. Quarantined by @team')
    alone = run(sessions=[held])
    assert alone["verdict"] == "unverified"
    assert "Every session is quarantined" in alone["reasons"][0]


def test_a_weaker_policy_is_a_notice_or_blocks():
    sessions = [play(["P"])]
    noted = run(sessions=sessions, weakened=["pass_rate lowered"])
    assert noted["verdict"] == "passed"
    assert noted["reasons"][1] == "Notice: this change makes the policy weaker: pass_rate lowered"
    blocked = run(sessions=sessions, weakened=["pass_rate lowered"], threshold_policy="block")
    assert (blocked["verdict"], blocked["reasons"]) == (
        "failed",
        ["This change makes the policy weaker: pass_rate lowered"],
    )


def test_a_cancelled_run_is_neither_green_nor_failed():
    document = run(sessions=[play(["P"])], cancelled=15)
    assert (document["verdict"], document["exit_code"]) == ("cancelled", 143)


def action(settings: ContractsSettings, record, **more) -> str:
    applied = apply_contract_policy(contracts(record), settings, **more)
    return applied["tools"][0]["changes"][0]["action"]


def test_actions_by_classification_and_rule():
    settings = ContractsSettings(
        rules={"tool_added": "ignore", "optional_to_required": "review", "default_changed": "block"}
    )
    assert action(settings, tool(change("compatible", "tool_added"))) == "ignore"
    assert action(settings, tool(change("breaking", "optional_to_required"))) == "review"
    assert action(settings, tool(change("breaking", "type_changed"))) == "block"
    assert action(settings, tool(change("behavior_sensitive", "default_changed"))) == "block"
    assert action(settings, tool(change("behavior_sensitive", "description_changed"))) == "review"
    assert action(settings, tool(change("compatible", "type_widened"))) == "note"
    assert action(ContractsSettings(block=frozenset()), tool(change())) == "note"


def acknowledgement(before=OLD, after=NEW, name="billing.issue_refund") -> Acknowledgement:
    return Acknowledgement(tool=name, before=before, after=after, by="@api", reason="reviewed", location=place())


def test_an_acknowledgement_clears_a_review_of_exactly_this_change():
    sensitive = tool(change("behavior_sensitive"))
    settings = ContractsSettings()
    assert action(settings, sensitive, acknowledgements=[acknowledgement()]) == "acknowledged"
    for other in (acknowledgement(before=NEW), acknowledgement(after=OLD), acknowledgement(name="other")):
        assert action(settings, sensitive, acknowledgements=[other]) == "review"
    assert action(settings, sensitive, review_label=True) == "acknowledged"
    assert action(settings, tool(change()), acknowledgements=[acknowledgement()], review_label=True) == "block"


def test_a_stale_acknowledgement_is_told():
    (note,) = unused([acknowledgement(after=OLD), acknowledgement(name="other")], [tool(change("behavior_sensitive"))])
    assert "billing.issue_refund" in note.message


def test_acknowledgements_are_read_strictly(tmp_path):
    file = tmp_path / "acks.yaml"
    file.write_text(
        f"acknowledgements:\n  - {{tool: billing.issue_refund, from: '{OLD}', to: '{NEW}', by: '@api', reason: ok}}\n"
        f"  - {{tool: new_tool, from: null, to: '{NEW}', by: '@api', reason: ok}}\n"
    )
    first, second = load_acknowledgements(WorkTree(tmp_path), "acks.yaml")
    assert first.covers(tool())
    assert first.location.line == 2
    assert second.before is None
    file.write_text(f"acknowledgements:\n  - {{tool: x, from: 'sha256:abc', to: '{NEW}', by: ''}}\n")
    with pytest.raises(ConfigurationError) as refused:
        load_acknowledgements(WorkTree(tmp_path), "acks.yaml")
    assert len(refused.value.findings) >= 3
    assert all(finding.location.line == 2 for finding in refused.value.findings)


outcomes = st.lists(st.sampled_from("PFU"), max_size=4)


@given(outcomes, st.lists(st.sampled_from(["passed", "failed", "unverified", "skipped"]), max_size=4))
def test_the_verdict_is_that_of_its_worst_part(rows, cases):
    document = run(
        sessions=[play([row], **rate("100%")) for row in rows],
        verification=[case(outcome, str(index)) for index, outcome in enumerate(cases)],
    )
    bad = "F" in rows or "failed" in cases
    unknown = "U" in rows or "unverified" in cases or not (rows or set(cases) - {"skipped"})
    assert document["verdict"] == ("failed" if bad else "unverified" if unknown else "passed")


@pytest.mark.parametrize(
    ("severity", "rules", "verdict"),
    [
        ("error", {"one-word-description": "note"}, "passed"),
        ("error", {"one-word-description": "ignore"}, "passed"),
        ("info", {"one-word-description": "block"}, "failed"),
        ("info", {"one-word-description": "review"}, "failed"),
        ("error", {"another": "ignore"}, "failed"),
    ],
)
def test_a_lint_rule_named_in_the_policy_decides_over_the_severity(severity, rules, verdict):
    settings = Settings(contracts=ContractsSettings(rules=rules))
    document = run(settings=settings, contracts=contracts(lint=[lint(severity)]))
    assert document["verdict"] == verdict


def test_the_review_label_clears_a_lint_finding_that_needs_review():
    settings = ContractsSettings(rules={"one-word-description": "review"}, review_label="ok")
    (finding,) = apply_contract_policy(contracts(lint=[lint()]), settings, review_label=True)["lint"]
    assert finding["action"] == "acknowledged"
