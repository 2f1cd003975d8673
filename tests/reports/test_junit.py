"""JUnit XML: what readers count, and that they can read it."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET

import junitparser
import pytest

from abs_gate.reports import ReportOptions
from abs_gate.reports.junit import render

from .samples import SAMPLES, behavior, case, document, session, trial

ALLOWED = {
    "testsuites": {"name", "time", "tests", "failures", "errors"},
    "testsuite": {"name", "tests", "failures", "errors", "time", "skipped", "timestamp", "file"},
    "testcase": {"name", "time", "classname", "file", "line"},
    "failure": {"type", "message"},
    "error": {"type", "message"},
    "skipped": {"type", "message"},
    "property": {"name", "value"},
    "properties": set(),
    "system-out": set(),
}


def read(sample: str) -> junitparser.JUnitXml:
    return junitparser.JUnitXml.fromstring(render(SAMPLES[sample](), ReportOptions()).encode())


@pytest.mark.parametrize("sample", SAMPLES)
def test_it_parses_and_its_own_counts_are_right(sample: str) -> None:
    root = ET.fromstring(render(SAMPLES[sample](), ReportOptions()).encode())
    for element, children in ((root, root.findall("testsuite")), *((s, [s]) for s in root.findall("testsuite"))):
        cases = [one for suite in children for one in suite.findall("testcase")]
        assert int(element.get("tests", "-1")) == len(cases)
        assert int(element.get("failures", "-1")) == sum(one.find("failure") is not None for one in cases)
        assert int(element.get("errors", "-1")) == sum(one.find("error") is not None for one in cases)
    for element in root.iter():
        assert set(element.attrib) <= ALLOWED[element.tag], element.tag
    for one in root.iter("testcase"):
        assert len(one.findall("failure") + one.findall("error") + one.findall("skipped")) <= 1


@pytest.mark.parametrize("sample", SAMPLES)
def test_every_behavior_and_evaluation_is_a_case(sample: str) -> None:
    record = SAMPLES[sample]()
    suites = list(read(sample))[: len(record["sessions"])]
    for suite, made in zip(suites, record["sessions"], strict=True):
        expected = len(made["behaviors"]) + len(made["evaluations"])
        assert suite.tests in (expected, expected + 1)


def test_failures_errors_and_skips_equal_the_result() -> None:
    record = SAMPLES["failed"]()
    suites = {suite.name: suite for suite in read("failed")}
    refund = suites["Refund a damaged order"]
    parts = [*record["sessions"][2]["behaviors"], *record["sessions"][2]["evaluations"]]
    assert (refund.tests, refund.failures) == (len(parts), sum(part["outcome"] == "failed" for part in parts))
    assert suites["Tone with an angry customer"].errors == 1
    outcomes = [one["outcome"] for one in record["verification"]]
    checks = suites["verification"]
    assert (checks.tests, checks.failures, checks.errors, checks.skipped) == (
        len(outcomes),
        outcomes.count("failed"),
        outcomes.count("unverified"),
        outcomes.count("skipped"),
    )


def test_what_does_not_gate_is_no_failure() -> None:
    suites = {suite.name: suite for suite in read("failed")}
    assert (suites["Look up an order"].failures, suites["Look up an order"].skipped) == (0, 0)
    assert (suites["Loyalty points"].failures, suites["Loyalty points"].skipped) == (0, 1)
    [tolerated] = suites["Look up an order"]
    assert "within the session's threshold" in tolerated.system_out


def test_blocking_and_unreviewed_changes_and_gating_lint_are_failures() -> None:
    contracts = next(suite for suite in read("failed") if suite.name == "contracts")
    failed = {one.name for one in contracts if one.result and isinstance(one.result[0], junitparser.Failure)}
    assert failed == {
        "billing.issue_refund: policy.approval approval_weakened",
        "billing.issue_refund: input.reason optional_to_required",
        "billing.issue_refund: errors.PROVIDER_TIMEOUT retryability_changed",
        "billing.issue_refund: no-idempotency-key",
    }


@pytest.mark.parametrize("sample", [name for name in SAMPLES if name != "passed"])
def test_it_is_never_green_when_the_gate_is_not(sample: str) -> None:
    root = read(sample)
    assert root.failures + root.errors > 0


def test_it_is_green_when_the_gate_passed() -> None:
    root = read("passed")
    assert (root.failures, root.errors, root.skipped) == (0, 0, 0)


def test_a_session_that_fails_as_a_whole_has_a_case_that_says_why() -> None:
    failing = session(
        "S",
        [case([trial("failed", reason="an unexpected call")])],
        reason="pass^3 is 40 %, and 80 % is required.",
        behaviors=[behavior(0, "user says", 1)],
    )
    made = document(verdict="failed", exit_code=1, sessions=[failing])
    [suite] = junitparser.JUnitXml.fromstring(render(made, ReportOptions()).encode())
    assert suite.failures == 1
    decision = next(one for one in suite if one.name == "session decision")
    assert decision.result[0].message == "pass^3 is 40 %, and 80 % is required."


def test_cases_name_file_line_time_and_reason() -> None:
    root = ET.fromstring(render(SAMPLES["failed"](), ReportOptions()).encode())
    element = next(one for one in root.iter("testcase") if "issue_refund" in str(one.get("name")))
    assert element.get("classname") == element.get("file") == "sessions/refund.abs.yaml"
    assert element.get("line") == "32"
    assert float(str(element.get("time"))) > 0
    failure = element.find("failure")
    assert failure is not None
    assert str(failure.get("message")).startswith("passed 2 of 5 (40 %): argument")
    assert 'observed: issue_refund with {"order_id": "ORD-1002"' in str(failure.text)
    suite = next(one for one in root if one.get("name") == "Refund a damaged order")
    total = sum(float(str(one.get("time"))) for one in suite.findall("testcase"))
    assert abs(total - float(str(suite.get("time")))) < 0.01


def test_hostile_text_is_legal_xml_and_stays_text() -> None:
    xml = render(SAMPLES["hostile"](), ReportOptions())
    assert "]]>" not in xml
    assert not re.search("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]", xml)
    assert "<script" not in xml
    assert "<!--" not in xml
    root = ET.fromstring(xml.encode())
    assert {element.tag for element in root.iter()} <= set(ALLOWED)


def test_the_declared_encoding_is_the_one_written() -> None:
    assert render(SAMPLES["passed"](), ReportOptions()).startswith(
        '<?xml version="1.0" encoding="UTF-8"?>\n<testsuites'
    )
