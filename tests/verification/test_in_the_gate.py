"""Verification as a layer of the gate: `verify:` in abs-gate.yaml, beside contracts, in every report."""

import json
import shutil

import pytest

from abs_gate.cli.main import run_cli
from tests.verification.suites import ROOT

CONFIGURATION = """
version: 1
contracts: {paths: [contracts/], base: contracts, fail_on_lint: none}
verify: {paths: [adapter.yaml]}
"""


@pytest.fixture
def gate(tmp_path, monkeypatch, capsys):
    shutil.copytree(ROOT / "examples" / "billing", tmp_path / "billing")
    place = tmp_path / "billing"
    monkeypatch.chdir(place)

    def run(*arguments, configuration=CONFIGURATION):
        (place / "abs-gate.yaml").write_text(configuration, "utf-8")
        code = run_cli(["run", "-q", "--format", "json", *arguments])
        printed = capsys.readouterr()
        return code, json.loads(printed.out) if printed.out else printed.err

    run.place = place
    return run


def test_a_sound_adapter_passes_the_gate(gate):
    code, document = gate()
    assert (code, document["verdict"]) == (0, "passed")
    assert len(document["verification"]) > 15
    assert {record["outcome"] for record in document["verification"]} == {"passed"}
    assert "verification cases passed" in document["reasons"][0]


def test_a_faulty_one_fails_it_with_the_reason(gate):
    code, document = gate("--var", "fault=strict")
    assert (code, document["verdict"]) == (1, "failed")
    assert "a field added by the provider changes nothing" in document["reasons"][0]


def test_the_contracts_of_the_run_are_those_of_a_suite_that_names_none(gate):
    suite = gate.place / "adapter.yaml"
    suite.write_text(suite.read_text("utf-8").replace("contracts: [contracts/tool.yaml]\n", ""), "utf-8")
    assert gate()[0] == 0


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("paths: [adapter.yaml]", "path: [adapter.yaml]", 'Did you mean "paths"?'),
        ("paths: [adapter.yaml]", "paths: adapter.yaml", "verify.paths"),
        ("paths: [adapter.yaml]", "paths: [absent.yaml]", "absent.yaml"),
        ("paths: [adapter.yaml]", "paths: [contracts/tool.yaml]", "no verification suite"),
        ("paths: [adapter.yaml]", "paths: [../]", ".."),
    ],
)
def test_what_is_wrong_stops_the_run(gate, old, new, words):
    code, errors = gate(configuration=CONFIGURATION.replace(old, new))
    assert code == 2
    assert words in str(errors)


def test_validate_checks_suites(gate, capsys):
    assert run_cli(["validate", "."]) == 0
    assert "verification suites" in capsys.readouterr().out
    suite = gate.place / "provider.yaml"
    suite.write_text(suite.read_text("utf-8").replace("vary:", "vray:"), "utf-8")
    assert run_cli(["validate", "."]) == 2
    assert 'Did you mean "vary"?' in capsys.readouterr().err


OWN_CASES = "\ncases:\n  - {name: refuses nothing, expect: {error: true}}\n  - {}\n"


def forgotten(place):
    """A second tool with cases of its own, which no suite describes."""
    text = (place / "contracts" / "tool.yaml").read_text("utf-8")
    text = text.split("\ncases:")[0].replace("billing.issue_refund", "billing.forgotten")
    (place / "contracts" / "forgotten.yaml").write_text(text.replace("name: issue_refund", "name: forgotten"))
    return place / "contracts" / "forgotten.yaml"


@pytest.mark.parametrize("suites", ["verify: {paths: [adapter.yaml]}", ""])
def test_cases_of_a_tool_that_no_suite_describes_are_unverified(gate, capsys, suites):
    suite = gate.place / "adapter.yaml"
    suite.write_text(suite.read_text("utf-8").replace("contracts: [contracts/tool.yaml]\n", ""), "utf-8")
    (gate.place / "contracts" / "tool.yaml").rename(gate.place / "tool.yaml")
    text = (gate.place / "tool.yaml").read_text("utf-8").split("\ncases:")[0]
    (gate.place / "contracts" / "tool.yaml").write_text(text + "\n", "utf-8")
    other = forgotten(gate.place)
    configuration = CONFIGURATION.replace("verify: {paths: [adapter.yaml]}", suites)
    assert gate(configuration=configuration)[0] == 0, "a contract without cases needs nothing"

    other.write_text(other.read_text("utf-8") + OWN_CASES, "utf-8")
    code, document = gate(configuration=configuration)
    assert (code, document["verdict"]) == (3, "unverified")
    unrun = [record for record in document["verification"] if record["tool_id"] == "billing.forgotten"]
    assert [(record["name"], record["outcome"]) for record in unrun] == [
        ("refuses nothing", "unverified"),
        ("case 2", "unverified"),
    ]
    assert "verify.paths" in unrun[0]["reason"]
    assert unrun[0]["file"] == "contracts/forgotten.yaml"

    (gate.place / "provider.yaml").unlink()
    assert run_cli(["validate"]) == 0
    assert "No suite describes the tool billing.forgotten" in capsys.readouterr().err


def test_cases_are_found_in_lists_and_of_the_newest_version(gate):
    import yaml

    path = gate.place / "contracts" / "tool.yaml"
    tool = yaml.safe_load(path.read_text("utf-8"))
    newer = {**tool, "tool_version": 5, "cases": [{"name": "newest", "expect": {"error": True}, "arguments": {}}]}
    path.write_text(json.dumps([{**tool, "cases": [{"name": "old"}]}, newer]), "utf-8")
    names = [record["name"] for record in gate()[1]["verification"]]
    assert "newest" in names
    assert "old" not in names
