"""Diff, lint, rules and evidence for a person, and SARIF for tools."""

from __future__ import annotations

import json

import pytest

from abs_gate.contracts.records import MAX_TEXT
from abs_gate.contracts.rules import all_rules, rule
from abs_gate.reports import ReportOptions
from abs_gate.reports.contracts_text import render_diff, render_diff_markdown, render_lint
from abs_gate.reports.evidence_text import render_evidence, render_evidence_markdown
from abs_gate.reports.rules_text import render_rule, render_rules
from abs_gate.reports.sarif import render, render_changes_sarif, render_findings_sarif

from .samples import SAMPLES, change, document, finding, tool_diff


def required_reason(**more: object) -> dict[str, object]:
    return change(
        "input.reason",
        "optional_to_required",
        "breaking",
        message="`reason` was optional and is required now.",
        before="optional",
        after="required",
        proof="witness",
        witness={"order_id": "ORD-1"},
        **more,
    )


def test_diff_says_what_broke_for_whom_with_which_call_and_what_to_do() -> None:
    text = render_diff([tool_diff("billing.issue_refund", "breaking", [required_reason()])], ReportOptions())
    order = [
        "billing.issue_refund (3 to 4): breaking",
        "input.reason  optional_to_required  [breaking]",
        "is required now",
        "contracts/refund.yaml:14",
        '"optional" -> "required"',
        "the arguments models generate; saved, queued and paused calls",
        "A call that worked before and is refused now:",
        '{"order_id": "ORD-1"}',
        "If the product needs the value",
        "1 tool compared: 1 breaking.",
    ]
    places = [text.find(part) for part in order]
    assert -1 not in places, order[places.index(-1)]
    assert places == sorted(places)


def test_a_witness_of_null_is_shown() -> None:
    tools = [tool_diff("t", "breaking", [change("input", "type_changed", "breaking", proof="witness", witness=None)])]
    assert "refused now:\n      null" in render_diff(tools, ReportOptions())
    assert "```json\nnull\n```" in render_diff_markdown(tools)


def test_an_output_witness_is_a_result_not_a_call() -> None:
    made = change("output.receipt", "type_changed", "breaking", proof="witness", witness={"receipt": 1})
    assert "A result the tool may return now and the old contract forbade:" in render_diff(
        [tool_diff("t", "breaking", [made])], ReportOptions()
    )


def test_what_is_not_proven_is_said_to_be() -> None:
    made = change("input.x", "pattern_changed", "breaking", proof="not proven")
    assert "not proven either way" in render_diff([tool_diff("t", "breaking", [made])], ReportOptions())


def test_advice_fits_tools_without_versions_and_removed_tools() -> None:
    bare = tool_diff("search", "breaking", [required_reason()], baseline=None, candidate=None)
    text = " ".join(render_diff([bare], ReportOptions()).split())
    assert "a tool list has no versions" in text
    assert "tool_version" not in text
    gone = tool_diff(
        "search",
        "breaking",
        [change("tool", "tool_removed", "breaking", file=None, line=None)],
        candidate=None,
        candidate_fingerprint=None,
    )
    text = render_diff([gone], ReportOptions())
    assert "search (removed): breaking" in text
    assert "Keep it until its retirement date" in text


def test_what_clears_a_review_is_said_once_for_all_tools() -> None:
    changed = [
        tool_diff(
            f"t{n}",
            "behavior_sensitive",
            [change("discovery.description", "description_changed", "behavior_sensitive")],
        )
        for n in range(3)
    ]
    for text in (render_diff(changed, ReportOptions()), render_diff_markdown(changed)):
        assert text.count("To clear what needs review") == 1
        assert "To clear what blocks" not in text


def test_cleared_and_compatible_changes_ask_for_nothing() -> None:
    cleared = tool_diff("t", "breaking", [required_reason(action="cleared")], cleared="version 4 replaces 3")
    text = render_diff([cleared], ReportOptions())
    assert "does not block: version 4 replaces 3" in text
    assert "to do" not in text
    assert "To clear" not in text


def test_nothing_changed_is_said_in_words() -> None:
    assert render_diff([], ReportOptions()) == "No tools on either side.\n"
    same = tool_diff("t", "unchanged", [])
    assert render_diff([same], ReportOptions()) == "1 tool compared: 1 unchanged.\n"


def test_lint_is_located_and_counted() -> None:
    findings = [
        finding("no-example", "warning", "No example.", line=9),
        finding("no-idempotency-key", "error", "No key.", hint="Name one.", line=20),
    ]
    text = render_lint(findings, ReportOptions(), tools=2)
    lines = text.splitlines()
    assert lines[0] == "contracts/refund.yaml:20:1: error no-idempotency-key: billing.issue_refund: No key."
    assert lines[1].strip() == "to do: Name one."
    assert lines[-1] == "2 tools read: 1 error, 1 warning."
    assert render_lint([], ReportOptions(), tools=1) == "1 tool read: nothing to report.\n"


def test_every_rule_can_be_listed_and_explained() -> None:
    listed = render_rules(all_rules())
    for each in all_rules():
        assert f"  {each.id} (" in listed
        text = render_rule(each)
        assert each.fix.split()[0] in text
        assert "What to do: " in text
        assert max(len(line) for line in text.splitlines()) <= 100
    assert "before  " in render_rule(rule("optional_to_required"))


def test_rule_texts_are_safe_as_markdown_and_html_outside_of_backticks() -> None:
    for each in all_rules():
        outside = "".join(each.fix.split("`")[::2])
        assert each.fix.count("`") % 2 == 0, each.id
        assert not set("<>&*_[]@|#") & set(outside), each.id


def test_evidence_counts_states_and_treats_the_unknown_as_not_met() -> None:
    made = document(
        evidence=[
            {"item": "A", "state": "met", "reason": "It was compared.", "pointers": ["sha256:11"]},
            {"item": "B", "state": "not applicable", "pointers": []},
            {"item": "C", "state": "surely fine", "pointers": None},
        ]
    )
    text = render_evidence(made)
    assert "met             A\n                It was compared.\n                sha256:11" in text
    assert text.endswith("1 met, 1 not applicable, 1 not met.\n")
    assert "| ❌ not met | `C` |" in render_evidence_markdown(made)
    assert render_evidence(document()) == "No release evidence was recorded.\n"


@pytest.mark.parametrize("sample", SAMPLES)
def test_sarif_refers_to_its_own_rules_and_to_files_of_the_workspace(sample: str) -> None:
    log = json.loads(render(SAMPLES[sample](), ReportOptions()))
    assert log["version"] == "2.1.0"
    [run] = log["runs"]
    ids = [each["id"] for each in run["tool"]["driver"]["rules"]]
    assert len(ids) == len(set(ids))
    for result in run["results"]:
        assert ids[result["ruleIndex"]] == result["ruleId"]
        assert result["level"] in ("error", "warning", "note")
        assert result["message"]["text"]
        for place in result.get("locations", []):
            uri = place["physicalLocation"]["artifactLocation"]["uri"]
            assert not uri.startswith("/")
            assert ":" not in uri.split("/")[0]
            assert ".." not in uri.split("/")


def test_sarif_levels_follow_the_action_and_accepted_changes_are_suppressed() -> None:
    contracts = SAMPLES["failed"]()["contracts"]
    assert contracts is not None
    results = json.loads(render_changes_sarif(contracts["tools"]))["runs"][0]["results"]
    levels = {result["ruleId"]: result["level"] for result in results}
    assert levels["optional_to_required"] == "error"
    assert levels["retryability_changed"] == "warning"
    suppressed = {result["ruleId"] for result in results if "suppressions" in result}
    assert suppressed == {"description_changed", "tool_removed"}
    by_id = {result["ruleId"]: result for result in results}
    assert by_id["optional_to_required"]["locations"][0]["physicalLocation"]["region"] == {"startLine": 14}


def test_sarif_of_lint_alone_keeps_fingerprints_and_columns() -> None:
    [result] = json.loads(render_findings_sarif([finding("no-example", "info", "No [example](x)", column=7)]))["runs"][
        0
    ]["results"]
    assert result["level"] == "note"
    assert result["partialFingerprints"] == {"absGateFinding/v1": "0123456789abcdef"}
    assert result["locations"][0]["physicalLocation"]["region"] == {"startLine": 3, "startColumn": 7}
    assert "\\[example\\]" in result["message"]["text"]


def both(made: dict[str, object]) -> str:
    tools = [tool_diff("t", "behavior_sensitive", [made])]
    return render_diff(tools, ReportOptions()) + render_diff_markdown(tools)


def test_words_that_changed_are_shown_once() -> None:
    message = "The text changed: [-old-] [+new+]."
    shown = both(
        change("input.q", "property_description_changed", "compatible", message=message, before="an old", after="a new")
    )
    assert shown.count("[+new+]") == 2 and '"an old"' not in shown


def test_what_a_long_list_gained_is_seen() -> None:
    before = [f"a_rather_long_value_{number}" for number in range(20)]
    shown = both(
        change("input.q", "enum_value_added", "compatible", message="m", before=before, after=[*before, "drop_all"])
    )
    assert shown.count('added "drop_all"') == 2 and "a_rather_long_value_3" not in shown


def test_the_json_of_a_large_value_is_not_quoted_again() -> None:
    text = f'{{"type": "object", "x": "{"y" * MAX_TEXT}'[: MAX_TEXT - 1] + "…"
    assert 'removed {"type": "object"' in both(
        change("input.q", "property_removed", "breaking", message="m", before=text)
    )


def test_long_names_do_not_share_a_sarif_fingerprint() -> None:
    made = [change(f"input.{'x' * 1_000}.{name}", "type_changed", "breaking", message="m") for name in "ab"]
    results = json.loads(render_changes_sarif([tool_diff("t", "breaking", made)]))["runs"][0]["results"]
    assert len({result["partialFingerprints"]["absGateChange/v1"] for result in results}) == 2


def test_a_note_that_says_what_to_do_is_shown_once() -> None:
    fix = rule("strict_mode_drift").fix
    shown = both(change("input", "strict_mode_drift", "breaking", message="m", notes=[fix, "Another note."]))
    assert shown.count("One of three.") == 2 and shown.count("Another note.") == 2


def test_what_was_cleared_is_counted() -> None:
    tool = {**tool_diff("t", "breaking", [change("input", "type_changed", "breaking")]), "cleared": "Version 2."}
    assert "1 tool compared: 1 breaking. 1 of them cleared by version and migration." in render_diff(
        [tool], ReportOptions()
    )


def test_lint_that_policy_ignores_is_not_shown_and_what_it_blocks_comes_first() -> None:
    made = [
        {**finding("a-rule", "error", "One."), "action": "note"},
        {**finding("b-rule", "info", "Two."), "action": "block"},
        {**finding("c-rule", "error", "Three."), "action": "ignore"},
    ]
    text = render_lint(made, ReportOptions(), tools=3)
    assert text.index("b-rule") < text.index("a-rule") and "c-rule" not in text
