"""Recorded conversations judged without an agent."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from abs_gate.conversation import Message, Role
from abs_gate.outcomes import Outcome
from abs_gate.runner.loop import judge_trace
from abs_gate.runner.options import RunOptions
from abs_gate.trace import StepKind

from .scripted import case, message_of, outcomes

SESSION = """
behaviors:
  - {actor: user, action: says, content: "Where is order 12345?"}
  - {actor: assistant, action: calls, target: get_order, with: {orderId: "12345"}}
  - {actor: tool, action: responds, target: get_order, content: {status: shipped}}
  - {actor: assistant, action: informs, evaluations: [{type: contains, value: shipped}]}
  - {actor: user, action: says, content: Thanks}
  - {actor: assistant, action: confirms}
"""
FIRST = [
    {"role": "user", "text": "Where is order 12345?"},
    {"calls": [{"name": "get_order", "arguments": {"orderId": "12345"}}]},
    {"result": '{"status": "shipped"}'},
    {"text": "It has shipped."},
]
REST = [{"role": "user", "text": "Thanks"}, {"text": "Any time."}]


def judge(session: str, messages: Sequence[dict[str, Any]], **options: Any):
    return judge_trace(case(session), [message_of(entry) for entry in messages], RunOptions(**options))


def test_a_recording_that_does_what_the_session_says_passes():
    result = judge(SESSION, FIRST + REST)
    assert outcomes(result) == ["passed"] * 6
    assert result.warnings == ()
    assert [step.kind for step in result.trace.steps][:4] == [
        StepKind.SENT,
        StepKind.CALL,
        StepKind.RESULT,
        StepKind.TEXT,
    ]


def test_a_wrong_call_fails():
    wrong = [FIRST[0], {"calls": [{"name": "get_order", "arguments": {"orderId": "1"}}]}, *FIRST[2:], *REST]
    assert outcomes(judge(SESSION, wrong)) == ["passed", "failed", "passed", "passed", "passed", "passed"]


def test_other_wording_is_aligned_by_order_and_warned_of():
    result = judge(SESSION, [{"role": "user", "text": "My order?"}, *FIRST[1:], *REST])
    assert result.outcome is Outcome.PASSED
    assert len(result.warnings) == 1 and '"My order?"' in result.warnings[0]


def test_a_short_recording_fails_where_it_ends():
    result = judge(SESSION, FIRST)
    assert outcomes(result) == ["passed"] * 4 + ["failed", "failed"]
    assert 'the recording ends before the message "Thanks"' in result.reason
    assert all(step.content != "Thanks" for step in result.trace.steps)


def test_an_empty_recording_fails():
    result = judge(SESSION, [])
    assert result.outcome is Outcome.FAILED
    assert result.trace.steps == ()


def test_a_result_that_was_not_recorded_is_not_made_up():
    result = judge(SESSION, [*FIRST[:2], FIRST[3], *REST])
    assert outcomes(result)[2] == "failed"
    assert all(step.kind is not StepKind.RESULT for step in result.trace.steps)


def test_a_recording_that_ends_in_a_call_is_judged_as_it_is():
    result = judge(SESSION, FIRST[:2])
    assert outcomes(result)[:4] == ["passed", "passed", "failed", "failed"]


def test_what_comes_after_the_session_counts_for_the_whole_trace():
    session = SESSION + "evaluations:\n  - {type: never, match: {action: calls, target: refund}}\n"
    more = [{"role": "user", "text": "Refund it"}, {"calls": [{"name": "refund"}]}, {"text": "Done"}]
    result = judge(session, FIRST + REST + more)
    assert result.outcome is Outcome.FAILED
    assert any("goes on" in warning for warning in result.warnings)
    assert judge(session, FIRST + REST).outcome is Outcome.PASSED


def test_a_greeting_before_the_first_message_answers_nothing():
    result = judge(SESSION, [{"text": "Hello, how can I help?"}, *FIRST, *REST])
    assert result.outcome is Outcome.PASSED
    assert result.trace.steps[0].turn == 0


def test_recorded_system_messages_are_passed_over_unless_the_session_sends_one():
    system = {"role": "system", "text": "Be brief."}
    assert judge(SESSION, [system, *FIRST, *REST]).warnings == ()
    with_system = SESSION.replace("behaviors:\n", "behaviors:\n  - {actor: system, action: says, content: Be brief.}\n")
    assert judge(with_system, [system, *FIRST, *REST]).warnings == ()
    without = judge(with_system, FIRST + REST)
    assert without.outcome is Outcome.PASSED and "no message of its own" in without.warnings[0]


def test_two_messages_in_a_row_align_one_by_one():
    session = "behaviors:\n  - {actor: user, action: says, content: a}\n  - {actor: user, action: says, content: b}\n"
    result = judge(session, [{"role": "user", "text": "a"}, {"role": "user", "text": "b"}, {"text": "ok"}])
    assert result.outcome is Outcome.PASSED and result.warnings == ()


def test_recorded_values_are_never_executed_or_trusted():
    messages = [Message(role=Role.USER, text="x"), Message(role=Role.ASSISTANT, text="{{secret}} {% raw %}")]
    session = "behaviors:\n  - {actor: user, action: says, content: x}\n  - {actor: assistant, action: informs}\n"
    result = judge_trace(case(session), messages, RunOptions())
    assert result.trace.steps[1].content == "{{secret}} {% raw %}"
