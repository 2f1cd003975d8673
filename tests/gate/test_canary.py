"""Comparing execution records, and what is done with the candidate."""

from __future__ import annotations

import contextlib
import json
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from abs_gate.errors import ConfigurationError
from abs_gate.gate.canary.compare import compare_canary
from abs_gate.gate.canary.read import read_execution_records
from abs_gate.gate.canary.records import CallRecord, RunRecord
from abs_gate.settings.model import CanarySettings


def runs(n: int, bad: int, side: str = "r", **marks) -> list[RunRecord]:
    """`n` runs of one call each, `bad` of them with the marks."""
    good = CallRecord(tool="refund", missing_arguments=False, valid=True, verified=True, approval="granted")
    spoiled = CallRecord(**{"tool": "refund", "missing_arguments": False, "valid": True, "verified": True,
                            "approval": "granted", **marks})  # fmt: skip
    return [RunRecord(id=f"{side}{i}", calls=(spoiled if i < bad else good,)) for i in range(n)]


def settings(**thresholds: str) -> CanarySettings:
    return CanarySettings(owner="@payments", min_records=50, thresholds={k: Fraction(v) for k, v in thresholds.items()})


def compare(before, after, **thresholds):
    return compare_canary(before, after, settings(**thresholds))


def metric(document, name: str):
    return next(record for record in document["metrics"] if record["name"] == name)


@pytest.mark.parametrize(
    ("name", "marks"),
    [
        ("missing_argument_rate", {"missing_arguments": True}),
        ("validation_failure_rate", {"valid": False}),
        ("error_code_distribution", {"error": "PROVIDER_TIMEOUT"}),
        ("retry_rate", {"retry": True}),
        ("approved_action_rate", {"approval": "denied"}),
        ("verified_outcome_rate", {"verified": False}),
    ],
)
def test_each_metric_rolls_back_holds_and_continues(name, marks):
    base = runs(2000, 20, **marks)
    worse = compare(base, runs(2000, 160, **marks), **{name: "2/100"})
    assert (worse["verdict"], worse["exit_code"], worse["owner"]) == ("roll back", 1, "@payments")
    assert metric(worse, name)["verdict"] == "roll back"
    same = compare(base, runs(2000, 20, **marks), **{name: "2/100"})
    assert (same["verdict"], same["exit_code"]) == ("continue", 0)
    few = compare(runs(60, 1, **marks), runs(60, 1, **marks), **{name: "2/100"})
    assert (few["verdict"], few["exit_code"]) == ("hold", 3)
    assert "not shown yet" in few["reasons"][0]


def test_tool_selection_by_expectation_and_without():
    def side(n: int, right: int, *, expecting: bool = True):
        return [
            RunRecord(
                id=str(i),
                calls=(CallRecord(tool="refund" if i < right else "cancel"),) if i % 2 or i < right else (),
                has_expectation=expecting,
                expected_tool="refund" if expecting else None,
            )
            for i in range(n)
        ]

    worse = compare(side(500, 490), side(500, 400), tool_selection_rate="1/20")
    assert metric(worse, "tool_selection_rate")["candidate"] == [400, 500]
    assert worse["verdict"] == "roll back"
    shifted = compare(side(500, 490, expecting=False), side(500, 100, expecting=False), tool_selection_rate="1/20")
    assert metric(shifted, "tool_selection_rate")["words"] == "runs that chose a tool"
    assert shifted["verdict"] == "roll back"
    # More calls than before is a shift as well.
    assert (
        compare(side(500, 100, expecting=False), side(500, 490, expecting=False), tool_selection_rate="1/20")["verdict"]
        == "roll back"
    )


def test_no_call_can_be_what_was_expected():
    quiet = [RunRecord(id=str(i), has_expectation=True, expected_tool=None) for i in range(100)]
    eager = [
        RunRecord(id=str(i), has_expectation=True, expected_tool=None, calls=(CallRecord(tool="refund"),))
        for i in range(100)
    ]
    assert metric(compare(quiet, eager, tool_selection_rate="1/20"), "tool_selection_rate")["candidate"] == [0, 100]


def test_user_corrections():
    def side(corrected: int):
        return [RunRecord(id=str(i), user_corrected=i < corrected) for i in range(1000)]

    assert compare(side(10), side(100), user_correction_rate="3/100")["verdict"] == "roll back"
    assert compare(side(10), side(10), user_correction_rate="3/100")["verdict"] == "continue"


def test_what_no_record_says_cannot_be_continued():
    document = compare(runs(500, 0), runs(500, 0), user_correction_rate="1/100")
    assert document["verdict"] == "hold"
    assert "No record says anything" in document["reasons"][0]


def test_too_few_runs_hold_but_proof_rolls_back():
    document = compare(runs(20, 0), runs(20, 0), retry_rate="1")
    assert document["verdict"] == "hold"
    assert document["reasons"] == [
        "The baseline has 20 runs, and 50 are needed.",
        "The candidate has 20 runs, and 50 are needed.",
    ]
    assert compare(runs(20, 0), runs(20, 20, retry=True), retry_rate="1/10")["verdict"] == "roll back"


def test_a_new_error_code_is_seen_beside_frequent_ones():
    before = runs(1000, 100, error="NOT_FOUND")
    after = runs(1000, 60, error="TIMEOUT")
    document = compare(before, after, error_code_distribution="2/100")
    shares = {record["words"]: record["verdict"] for record in document["metrics"] if record["threshold"] is not None}
    assert shares == {"calls that ended in NOT_FOUND": "continue", "calls that ended in TIMEOUT": "roll back"}


def test_metrics_without_a_threshold_are_shown_and_not_judged():
    document = compare(runs(500, 0), runs(500, 500, retry=True), missing_argument_rate="5/100")
    assert metric(document, "retry_rate")["verdict"] == "not judged"
    assert metric(document, "retry_rate")["difference"] == 1.0
    assert document["verdict"] == "continue"


def test_nothing_is_decided_without_thresholds():
    for none in (None, CanarySettings(owner="@x")):
        with pytest.raises(ConfigurationError, match="no rollback threshold"):
            compare_canary(runs(1, 0), runs(1, 0), none)


@given(st.integers(0, 300), st.integers(0, 300))
def test_a_candidate_that_is_better_is_never_rolled_back(before, after):
    document = compare(runs(300, before, retry=True), runs(300, after, retry=True), retry_rate="1/50")
    if after <= before:
        assert document["verdict"] != "roll back"
    if after - before >= 60:
        assert document["verdict"] == "roll back"


LINES = """\
{"run": "r-1", "contract": "sha256:a", "expected_tool": "refund", "user_corrected": false, "calls": [{"tool": "refund", "missing_arguments": ["reason"], "valid": false, "error": "TIMEOUT", "retry": false, "approval": "granted", "verified": true}]}

{"run": "r-2", "expected_tool": null, "calls": []}
{"run": "r-3", "calls": [{"tool": "refund", "missing_arguments": []}]}
"""  # noqa: E501


def test_our_own_records():
    first, second, third = read_execution_records(LINES, "a.jsonl")
    assert first == RunRecord(
        id="r-1",
        contract="sha256:a",
        has_expectation=True,
        expected_tool="refund",
        user_corrected=False,
        calls=(
            CallRecord(
                tool="refund", missing_arguments=True, valid=False, error="TIMEOUT", approval="granted", verified=True
            ),
        ),
    )
    assert (second.has_expectation, second.expected_tool, second.calls) == (True, None, ())
    assert (third.has_expectation, third.calls[0].missing_arguments) == (False, False)


@pytest.mark.parametrize(
    ("line", "what"),
    [
        ('{"run": "a", "calls": {}}', "`calls` must be a list"),
        ('{"run": "", "calls": []}', "`run` must be a text"),
        ('{"run": "a", "calls": [{"tool": 1}]}', "`tool` must be a text"),
        ('{"run": "a", "calls": [{"tool": "x", "valid": "yes"}]}', "`valid` must be true or false"),
        ('{"run": "a", "calls": [{"tool": "x", "approval": "maybe"}]}', "granted or denied"),
        ('{"run": "a", "calls": [], "user_correctd": true}', "no key"),
        ('{"run": "r-0", "calls": []}', "twice"),
        ("[1]", "object"),
        ("{", "not JSON"),
        ("[" * 9999, "not JSON"),
    ],
)
def test_wrong_records_are_told_with_their_line(line, what):
    with pytest.raises(ConfigurationError) as refused:
        read_execution_records('{"run": "r-0", "calls": []}\n' + line + "\n", "a.jsonl")
    assert str(refused.value.findings[0].location) == "a.jsonl:2"
    assert what in str(refused.value)


def test_an_empty_file_is_refused():
    for text in ("", "\n \n", "[]"):
        with pytest.raises(ConfigurationError):
            read_execution_records(text, "a.jsonl")


DEFINITIONS = json.dumps(
    [{"type": "function", "function": {"name": "refund", "parameters": {
        "type": "object", "required": ["order", "reason"],
        "properties": {"order": {"type": "string"}, "reason": {"type": "string"}, "cents": {"type": "integer"}}}}}]
)  # fmt: skip


def chat(trace: str, **attributes):
    return {
        "trace_id": trace,
        "attributes": {"gen_ai.operation.name": "chat", "gen_ai.tool.definitions": DEFINITIONS, **attributes},
    }


def executed(trace: str, arguments: dict, start: int = 0, **attributes):
    return {
        "trace_id": trace,
        "start_time": start,
        "attributes": {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": "refund",
            "gen_ai.tool.call.arguments": json.dumps(arguments),
            **attributes,
        },
    }


SPANS = [
    executed("t1", {"order": "A", "reason": "late"}, 30, **{"abs_gate.verified": True}),
    executed("t1", {"order": "A", "reason": "late"}, 20, **{"error.type": "TIMEOUT", "abs_gate.approval": "granted"}),
    chat(
        "t1", **{"abs_gate.contract": "sha256:a", "abs_gate.expected_tool": "refund", "abs_gate.user_corrected": True}
    ),
    chat("t2"),
    executed("t2", {"order": "A", "reason": ""}),
    {**executed("t3", {"order": 5}), "status": {"code": "ERROR"}},
    chat("t3"),
]


def as_otlp(spans):
    def pairs(attributes):
        kinds = {bool: "boolValue", int: "intValue", str: "stringValue"}
        return [{"key": key, "value": {kinds[type(value)]: value}} for key, value in attributes.items()]

    flat = [
        {
            "traceId": s["trace_id"],
            "startTimeUnixNano": str(s.get("start_time", 0)),
            "status": s.get("status", {}),
            "attributes": pairs(s["attributes"]),
        }
        for s in spans
    ]
    return {"resourceSpans": [{"scopeSpans": [{"spans": flat}]}]}


@pytest.mark.parametrize(
    "text",
    [
        json.dumps(SPANS),
        "\n".join(json.dumps(span) for span in SPANS),
        json.dumps(as_otlp(SPANS)),
        json.dumps(as_otlp(SPANS), indent=1),
    ],
    ids=["list", "lines", "otlp", "otlp pretty"],
)
def test_spans_in_every_envelope(text):
    first, second, third = read_execution_records(text, "spans.json")
    assert (first.contract, first.expected_tool, first.user_corrected) == ("sha256:a", "refund", True)
    assert first.calls == (
        CallRecord(tool="refund", missing_arguments=False, valid=True, error="TIMEOUT", approval="granted"),
        CallRecord(tool="refund", missing_arguments=False, valid=True, retry=True, verified=True),
    )
    assert (second.calls[0].missing_arguments, second.calls[0].valid) == (True, True)
    assert (third.calls[0].missing_arguments, third.calls[0].valid, third.calls[0].error) == (True, False, "ERROR")


def test_calls_are_taken_from_model_outputs_where_no_tool_span_is():
    output = json.dumps(
        [{"role": "assistant", "parts": [{"type": "tool_call", "name": "refund", "arguments": {"order": "A"}}]}]
    )
    (run,) = read_execution_records(json.dumps([chat("t", **{"gen_ai.output.messages": output})]), "s.json")
    assert run.calls == (CallRecord(tool="refund", missing_arguments=True, valid=False),)


scalars = st.none() | st.booleans() | st.integers() | st.text(max_size=8)
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
names = st.sampled_from(
    [
        "gen_ai.operation.name",
        "gen_ai.tool.name",
        "gen_ai.tool.definitions",
        "gen_ai.output.messages",
        "gen_ai.tool.call.arguments",
        "error.type",
        "abs_gate.verified",
    ]
)


@given(st.lists(st.dictionaries(names, values | st.just("execute_tool"), min_size=1), min_size=1, max_size=4))
def test_hostile_spans_are_read_or_refused(spans):
    with contextlib.suppress(ConfigurationError):
        read_execution_records(json.dumps([{"attributes": span} for span in spans]), "s.json")
