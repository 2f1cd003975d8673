"""Suites: every fault has its place, all come at once, and near words are named."""

import pytest

from abs_gate.errors import ConfigurationError
from tests.verification.suites import load

TOOLS = """tool_id: billing.refund
model_surface:
  name: refund
  description: Refund an order.
  input_schema:
    type: object
    properties: {order: {type: string, minLength: 3}}
    required: [order]
policy: {effect: irreversible_external_write}
"""
GOOD = """verification: refunds
contracts: [tools.yaml]
variables: {base: 'http://127.0.0.1:1'}
tools:
  billing.refund:
    driver: {http: {url: '{{base}}/refunds'}}
    valid: {order: ORD-1}
    probe: ledger
    state: empty
probes: {ledger: {http: {url: '{{base}}/ledger'}}}
states: {empty: {setup: [{http: {url: '{{base}}/reset'}}]}}
cases:
  - {name: works, tool: billing.refund, expect: {effects: {ledger: none}}}
"""


def faults(tmp_path, text, tools=TOOLS, **options):
    (tmp_path / "tools.yaml").write_text(tools, "utf-8")
    (tmp_path / "suite.yaml").write_text(text, "utf-8")
    with pytest.raises(ConfigurationError) as caught:
        load(tmp_path, "suite.yaml", **options)
    return [str(finding) for finding in caught.value.findings]


def test_a_good_suite_loads_and_its_tool_may_be_named_as_the_model_sees_it(tmp_path):
    (tmp_path / "tools.yaml").write_text(TOOLS, "utf-8")
    (tmp_path / "suite.yaml").write_text(GOOD.replace("billing.refund", "refund"), "utf-8")
    plan = load(tmp_path, "suite.yaml")
    assert plan.suites[0].contracts["refund"].tool_id == "billing.refund"


@pytest.mark.parametrize(
    ("old", "new", "place", "words"),
    [
        ("valid:", "valdi:", "suite.yaml:7:5", 'Did you mean "valid"?'),
        ("probe: ledger", "probe: leger", "suite.yaml:8:12", 'Did you mean "ledger"?'),
        ("state: empty", "state: emty", "suite.yaml:9:12", 'Did you mean "empty"?'),
        ("tool: billing.refund", "tool: billing.refnd", "suite.yaml:13:25", 'Did you mean "billing.refund"?'),
        ("{ledger: none}", "{legder: none}", "suite.yaml:13:60", 'Did you mean "ledger"?'),
        ("{{base}}/refunds", "{{bas}}/refunds", "suite.yaml:6:26", 'Did you mean "base"?'),
        ("'{{base}}/ledger'", "'{{base}}/ledger', method: POST", "suite.yaml:10:", "would write"),
        ("{order: ORD-1}", "{order: X}", "suite.yaml:5:3", "against its own contract"),
        ("[tools.yaml]", "[tols.yaml]", "", "There is no contract file"),
        ("{http: {url: '{{base}}/refunds'}}", "{mcp: {tool: x}}", "suite.yaml:6:", "either a `command` or a `url`"),
        ("valid: {order: ORD-1}", "vary: {}", "suite.yaml:5:3", "no valid call"),
    ],
)
def test_faults_have_places_and_advice(tmp_path, old, new, place, words):
    assert old in GOOD
    found = faults(tmp_path, GOOD.replace(old, new, 1))
    assert any(fault.startswith(place) and words in fault for fault in found), found


def test_all_faults_of_a_file_come_at_once(tmp_path):
    text = (
        GOOD.replace("probe: ledger", "probe: a")
        .replace("state: empty", "state: b")
        .replace("{{base}}/reset", "{{bse}}/reset")
    )
    assert len(faults(tmp_path, text)) >= 3


def test_a_tool_without_a_contract_is_a_fault(tmp_path):
    found = faults(tmp_path, GOOD.replace("billing.refund", "billing.refnd"))
    assert found[0].startswith("suite.yaml:5:3: There is no contract of the tool")
    assert 'Did you mean "billing.refund"?' in found[0]


def test_a_variable_may_only_use_those_before_it(tmp_path):
    text = GOOD.replace("{base:", "{first: '{{base}}', base:")
    assert any("No value for the variable `base`" in fault for fault in faults(tmp_path, text))


def test_commands_are_refused_where_they_are_not_allowed(tmp_path):
    text = GOOD.replace("{http: {url: '{{base}}/refunds'}}", "{command: {run: python tool.py}}")
    text += "start: [{command: python service.py}]\n"
    found = faults(tmp_path, text, allow_commands=False)
    assert len(found) == 2
    assert all("allow-commands" in fault and fault.startswith("suite.yaml:") for fault in found)


@pytest.mark.parametrize("text", ["", "a: 1", "[]", "verification: 3", "verification: x\ntools: 3", "verification:"])
def test_what_is_no_suite_is_refused(tmp_path, text):
    assert faults(tmp_path, text)


def test_cases_of_a_contract_are_checked_and_run_with_the_suite(tmp_path):
    (tmp_path / "suite.yaml").write_text(GOOD, "utf-8")
    (tmp_path / "tools.yaml").write_text(TOOLS + "cases: [{name: also}]\n", "utf-8")
    assert [case.name for case in load(tmp_path, "suite.yaml").suites[0].cases] == ["works", "also"]
    found = faults(tmp_path, GOOD, TOOLS + "cases: [{nme: also}]\n")
    assert any('Did you mean "name"?' in fault and fault.startswith("tools.yaml:") for fault in found)


def test_a_directory_without_suites_is_refused(tmp_path):
    (tmp_path / "tools.yaml").write_text(TOOLS, "utf-8")
    with pytest.raises(ConfigurationError, match="no verification suite"):
        load(tmp_path, ".")


def test_variables_of_cases_in_a_contract_are_checked_too(tmp_path):
    found = faults(tmp_path, GOOD, TOOLS + "cases: [{name: also, arguments: {order: '{{bsae}}'}, state: emty}]\n")
    assert any('Did you mean "base"?' in fault and fault.startswith("tools.yaml:") for fault in found)
    assert any('Did you mean "empty"?' in fault and fault.startswith("tools.yaml:") for fault in found)


def test_the_shipped_schemas_are_schemas():
    import json
    from importlib import resources

    from jsonschema import Draft202012Validator

    for name in ("suite", "session_effects"):
        text = resources.files("abs_gate.verification").joinpath(f"{name}.schema.json").read_text("utf-8")
        Draft202012Validator.check_schema(json.loads(text))


def test_what_the_schema_refuses_hides_nothing_else(tmp_path):
    text = GOOD.replace("probe: ledger", "probe: leger").replace("state: empty", "state: emty")
    text = text.replace("{http: {url: '{{base}}/ledger'}}", "{file: {path: x, as: linse}}")
    text = text.replace("'{{base}}/refunds'", "'{{bas}}/refunds'").replace(
        "tool: billing.refund", "tool: billing.refnd"
    )
    found = "\n".join(faults(tmp_path, text))
    for words in ("linse", '"ledger"', '"empty"', '"billing.refund"', '"base"'):
        assert words in found, found


@pytest.mark.parametrize("odd", ["null", "3", "x", "[]", "[x]", "{}", "{x: y}", "[[]]", "[{}]", "{x: {}}", "{x: []}"])
@pytest.mark.parametrize("key", ["tools", "probes", "states", "cases", "adapter", "run", "variables", "start"])
def test_any_shape_is_refused_in_words_or_read(tmp_path, key, odd):
    lines = [line for line in GOOD.splitlines() if not line.startswith(" ") and not line.startswith(f"{key}:")]
    text = "\n".join([line for line in lines if not line.endswith(":")] + [f"{key}: {odd}", ""])
    (tmp_path / "tools.yaml").write_text(TOOLS, "utf-8")
    (tmp_path / "suite.yaml").write_text(text, "utf-8")
    try:
        load(tmp_path, "suite.yaml")
    except ConfigurationError as refused:
        assert all(finding.location for finding in refused.findings) and "suite.yaml" in str(refused)
