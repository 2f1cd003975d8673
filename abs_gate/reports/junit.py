"""JUnit XML: what CI systems read. A suite for each session, for the contracts and for verification.

A test case is a Behavior or a session-level evaluation, a contract change or lint finding, a verification
case. `failure` means it failed and gates, `error` that it could not be verified, `skipped` that it was not
taken or does not gate; the reason is always given. When the verdict is not `passed` and no case shows why,
a last suite says so: a reader that only counts can never be green when the gate is not.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Callable, Iterator

from junit_xml import TestCase, TestSuite

from abs_gate.gate.lint_policy import lint_gates
from abs_gate.gate.result import BehaviorRecord, ContractsRecord, ResultDocument, SessionRecord
from abs_gate.reports.advice import affected_text, fix_of, notes_of, plain, witness_title
from abs_gate.reports.failures import Example, Part, behaviors_of, find_example
from abs_gate.reports.figures import interval_text, rate_of
from abs_gate.reports.headline import headline, title
from abs_gate.reports.options import ReportOptions
from abs_gate.reports.schema_text import difference_of, json_text
from abs_gate.reports.selection import action_of, does_gate, sort_changes, sort_lint
from abs_gate.reports.session_words import baseline_text, pass_hat_k_text, quarantine_text
from abs_gate.reports.transcript_text import step_text
from abs_gate.reports.untrusted import block, cut, one_line

_MAX_OUTPUT = 20_000
_MAX_MESSAGE = 1_000


def render(document: ResultDocument, _options: ReportOptions) -> str:
    """The XML document as text, UTF-8 declared."""
    suites = [_session_suite(session) for session in document["sessions"]]
    if document["contracts"] is not None:
        suites.append(_contract_suite(document["contracts"]))
    if document["verification"]:
        suites.append(_verification_suite(document))
    if document["verdict"] != "passed" and not any(
        case.is_failure() or case.is_error() for suite in suites for case in suite.test_cases
    ):
        suites.append(_verdict_suite(document))
    return _to_xml(suites, document)


def _to_xml(suites: list[TestSuite], document: ResultDocument) -> str:
    root = ET.Element("testsuites", {"name": "abs-gate"})
    totals = {"tests": 0, "failures": 0, "errors": 0}
    seconds = 0.0
    for suite in suites:
        suite.timestamp = document["metadata"]["started"].removesuffix("Z")
        element: ET.Element = suite.build_xml_doc()
        for name in totals:
            totals[name] += int(element.get(name, "0"))
        seconds += float(element.get("time", "0"))
        element.set("time", f"{float(element.get('time', '0')):.3f}")
        element.attrib.pop("disabled", None)  # not of the schema that Jenkins checks against
        for case in element.iter("testcase"):
            case.set("time", f"{float(case.get('time', '0')):.3f}")
        root.append(element)
    for name, number in totals.items():
        root.set(name, str(number))
    root.set("time", f"{seconds:.3f}")
    ET.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(root, encoding="unicode") + "\n"


def _case(
    name: str, *, classname: str, file: str | None, line: int | None, seconds: float = 0.0, output: str = ""
) -> TestCase:
    return TestCase(
        name=one_line(name, 300) or "(no name)",
        classname=one_line(classname, 300),
        elapsed_sec=seconds or None,
        file=one_line(file, 300) if file else None,
        line=line,
        stdout=cut(output, _MAX_OUTPUT) or None,
    )


def _end(add: Callable[..., None], message: str, output: str = "") -> None:
    """Add a failure, error or skip with a reason that is never empty."""
    add(
        message=one_line(message, _MAX_MESSAGE) or "no reason was recorded",
        output=cut(output, _MAX_OUTPUT),
    )


def _session_suite(session: SessionRecord) -> TestSuite:
    cases = [_behavior_case(session, behavior, part) for behavior, part in behaviors_of(session)]
    if does_gate(session) and not any(case.is_failure() or case.is_error() for case in cases):
        decision = _case("session decision", classname=session["path"], file=session["path"], line=session["line"])
        _end(
            decision.add_failure_info if session["outcome"] == "failed" else decision.add_error_info,
            session["reason"] or f"required {session['required']}",
        )
        cases.append(decision)
    trials = session["trials"]
    properties = {
        "outcome": session["outcome"],
        "passed": rate_of(trials["passed"], trials["passed"] + trials["failed"]),
        "interval": interval_text(session["interval"]),
        "required": session["required"],
        "unverified": str(trials["unverified"]),
    }
    told = {
        "pass^k": pass_hat_k_text(session),
        "baseline": baseline_text(session),
        "quarantine": quarantine_text(session),
    }
    properties |= {name: text for name, text in told.items() if text}
    suite = TestSuite(
        one_line(session["name"], 300),
        cases,
        file=one_line(session["path"], 300),
        properties={name: one_line(value, 300) for name, value in properties.items()},
    )
    _share_time(session, suite)
    return suite


def _share_time(session: SessionRecord, suite: TestSuite) -> None:
    """A session's time is known, a behavior's is not: its cases share it, so that sums stay true."""
    total = sum(trial["duration_ms"] for case in session["cases"] for trial in case["trials"]) / 1000
    for case in suite.test_cases:
        case.elapsed_sec = total / len(suite.test_cases)


def _behavior_case(session: SessionRecord, behavior: BehaviorRecord, part: Part) -> TestCase:
    number = behavior["index"] + 1
    name = f"{part} {number}: {behavior['label']}"
    example = find_example(session, behavior, part)
    detail = _behavior_detail(behavior, example)
    verified = behavior["passed"] + behavior["failed"]
    reason = behavior["reasons"][0] if behavior["reasons"] else session["reason"]
    counted = f"passed {rate_of(behavior['passed'], verified)}" if verified else "never verified"
    did_not_pass = behavior["failed"] or behavior["unverified"]
    tolerated = did_not_pass and not does_gate(session)
    case = _case(
        name,
        classname=behavior["file"],
        file=behavior["file"],
        line=behavior["line"],
        output=detail if not did_not_pass or tolerated else "",
    )
    if session["quarantined"] and did_not_pass:
        _end(case.add_skipped_info, f"quarantined, {session.get('quarantine_note', '')}: {reason}")
    elif tolerated:
        case.stdout = cut(f"{counted}, within the session's threshold: {reason}\n{detail}", _MAX_OUTPUT)
    elif behavior["failed"]:
        _end(case.add_failure_info, f"{counted}: {reason}", detail)
    elif behavior["unverified"] or behavior["outcome"] == "unverified":
        _end(case.add_error_info, f"could not be verified: {reason}", detail)
    elif behavior["outcome"] in ("skipped", "inconclusive"):
        _end(case.add_skipped_info, f"{behavior['outcome']}: {reason}" if reason else behavior["outcome"])
    return case


def _behavior_detail(behavior: BehaviorRecord, example: Example | None) -> str:
    """Reasons, expected beside observed and the transcript of one trial, for the body of the element."""
    lines = [one_line(reason, _MAX_MESSAGE) for reason in behavior["reasons"]]
    if example:
        lines += [f"check: {one_line(example.check)}"] if example.check else []
        lines += [f"{word}: {block(text)}" for word, text in example.sides.items()]
        lines.append(f"seen in {example.place}")
        lines += [f"{step['index'] + 1}. {step_text(step)}" for step in example.trial["transcript"] or ()]
    return "\n".join(lines)


def _contract_suite(contracts: ContractsRecord) -> TestSuite:
    cases = [*_change_cases(contracts), *_lint_cases(contracts)]
    if error := contracts.get("error"):
        case = _case("comparison with the base", classname="contracts", file=None, line=None)
        _end(case.add_error_info, error)
        cases.append(case)
    properties = {"base": one_line(contracts["base"] or "none", 300)}
    return TestSuite("contracts", cases, properties=properties)


def _change_cases(contracts: ContractsRecord) -> Iterator[TestCase]:
    for tool in contracts["tools"]:
        if not tool["changes"]:
            yield _case(f"{tool['tool_id']}: unchanged", classname=tool["tool_id"], file=None, line=None)
        for change in sort_changes(tool["changes"]):
            action = action_of(change)
            lines = [change["message"], *difference_of(change)]
            if affected := affected_text(change, plain):
                lines.append(f"affects {affected}")
            if "witness" in change:
                lines.append(f"{witness_title(change)} {json_text(change['witness'], 2000)}")
            lines += [*notes_of(change), fix_of(change)]
            detail = "\n".join(one_line(line, 2500) for line in lines if line)
            case = _case(
                f"{tool['tool_id']}: {change['path']} {change['kind']}",
                classname=change["file"] or tool["tool_id"],
                file=change["file"],
                line=change["line"],
                output="" if action in ("block", "review") else detail,
            )
            if action in ("block", "review"):
                word = change["classification"] if action == "block" else "needs review"
                _end(case.add_failure_info, f"{word}: {change['message'] or change['kind']}", detail)
            yield case


def _lint_cases(contracts: ContractsRecord) -> Iterator[TestCase]:
    for finding in sort_lint(contracts["lint"]):
        gates = lint_gates(contracts, finding)
        text = f"{finding['severity']}: {finding['message']} {finding['hint']}"
        case = _case(
            f"{finding['subject'] or 'contracts'}: {finding['rule']}",
            classname=finding["file"] or finding["subject"] or "contracts",
            file=finding["file"],
            line=finding["line"],
            output="" if gates else one_line(text, _MAX_MESSAGE),
        )
        if gates:
            _end(case.add_failure_info, finding["message"], one_line(text, _MAX_MESSAGE))
        yield case


def _verification_suite(document: ResultDocument) -> TestSuite:
    cases = []
    for record in document["verification"]:
        detail = "\n".join(
            f"{check['outcome']}: {one_line(check['name'], 200)}: {one_line(check['reason'], _MAX_MESSAGE)}"
            for check in record["checks"]
        )
        case = _case(
            f"{record['tool_id']}: {record['kind']}: {record['name']}",
            classname=record["file"] or record["tool_id"],
            file=record["file"],
            line=record["line"],
            seconds=record["duration_ms"] / 1000,
            output=detail if record["outcome"] == "passed" else "",
        )
        if record["outcome"] == "failed":
            _end(case.add_failure_info, record["reason"], detail)
        elif record["outcome"] == "unverified":
            _end(case.add_error_info, record["reason"], detail)
        elif record["outcome"] in ("skipped", "inconclusive"):
            _end(case.add_skipped_info, record["reason"] or record["outcome"], detail)
        cases.append(case)
    return TestSuite("verification", cases)


def _verdict_suite(document: ResultDocument) -> TestSuite:
    case = _case("verdict", classname="abs-gate", file=None, line=None)
    reasons = "\n".join(one_line(reason, _MAX_MESSAGE) for reason in document["reasons"])
    message = document["reasons"][0] if document["reasons"] else headline(document)
    add = case.add_failure_info if document["verdict"] == "failed" else case.add_error_info
    _end(add, f"{title(document['verdict'])}: {message}", reasons)
    return TestSuite("gate", [case])
