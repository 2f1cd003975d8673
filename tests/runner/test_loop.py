"""The conversation: what is sent when, which results calls get, when it ends."""

from __future__ import annotations

import pytest

from abs_gate.conversation import Role
from abs_gate.outcomes import Outcome
from abs_gate.trace import StepKind

from .scripted import outcomes, play

ORDER = """
behaviors:
  - {actor: user, action: says, content: "Where is order 12345?"}
  - {actor: assistant, action: calls, target: get_order, with: {orderId: "12345"}}
  - {actor: tool, action: responds, target: get_order, content: {status: shipped}}
  - {actor: assistant, action: informs}
"""
CALL = {"calls": [{"name": "get_order", "arguments": {"orderId": "12345"}}]}


def test_a_call_is_answered_and_the_conversation_goes_on():
    result, requests = play(ORDER, [CALL, {"text": "It has shipped."}])
    assert result.outcome is Outcome.PASSED
    assert [message.role for message in requests[1].messages] == [Role.USER, Role.ASSISTANT, Role.TOOL]
    (answer,) = requests[1].messages[2].results
    assert (answer.call_id, answer.name, answer.content, answer.is_error) == (
        "call_1",
        "get_order",
        {"status": "shipped"},
        False,
    )
    assert [step.kind for step in result.trace.steps] == [
        StepKind.SENT,
        StepKind.CALL,
        StepKind.RESULT,
        StepKind.TEXT,
    ]
    assert (result.agent_calls, result.usage.input_tokens, result.model) == (2, 2, "scripted")


def test_a_wrong_argument_fails_and_says_which_key_differed():
    wrong = {"calls": [{"name": "get_order", "arguments": {"orderId": "54321"}}]}
    result, _ = play(ORDER, [wrong, {"text": "It has shipped."}])
    assert result.outcome is Outcome.FAILED
    assert outcomes(result) == ["passed", "failed", "passed", "passed"]
    assert result.behaviors[1].reason == (
        'expected a call of get_order with orderId "12345"; observed get_order with orderId "54321" (differs) instead'
    )
    assert result.unexpected_calls == ("get_order",)


def test_every_call_of_a_message_gets_its_own_result_in_one_request():
    session = """
behaviors:
  - {actor: user, action: says, content: go}
  - {actor: assistant, action: calls, target: a}
  - {actor: assistant, action: calls, target: b}
  - {actor: tool, action: responds, target: b, content: from b}
  - {actor: tool, action: responds, target: a, content: first a}
  - {actor: tool, action: responds, target: a, content: second a}
  - {actor: assistant, action: informs}
"""
    calls = [{"name": "a", "id": "x"}, {"name": "b", "id": "y"}, {"name": "a", "id": "z"}]
    result, requests = play(session, [{"calls": calls}, {"text": "done"}])
    assert result.outcome is Outcome.PASSED
    assert len(requests) == 2
    assert [(r.call_id, r.content) for r in requests[1].messages[-1].results] == [
        ("x", "first a"),
        ("y", "from b"),
        ("z", "second a"),
    ]


def test_undeclared_calls_get_the_contract_example_or_hear_that_the_tool_is_missing():
    session = "behaviors:\n  - {actor: user, action: says, content: go}\n  - {actor: assistant, action: informs}\n"
    calls = [{"name": "known", "id": "1"}, {"name": "other", "id": "2"}]
    result, requests = play(session, [{"calls": calls}, {"text": "ok"}], example_results={"known": {"n": 1}})
    first, second = requests[1].messages[-1].results
    assert (first.content, first.is_error) == ({"n": 1}, False)
    assert second.is_error and "not available in this session" in second.content
    assert result.outcome is Outcome.PASSED
    assert result.unexpected_calls == ("known", "other")
    assert any("other was called" in warning for warning in result.warnings)


def test_calls_chain_until_the_agent_answers_in_text():
    session = """
behaviors:
  - {actor: user, action: says, content: go}
  - {actor: assistant, action: calls, target: a}
  - {actor: tool, action: responds, target: a, content: "1"}
  - {actor: assistant, action: calls, target: b}
  - {actor: tool, action: responds, target: b, content: "2"}
  - {actor: assistant, action: informs}
"""
    result, requests = play(session, [{"calls": [{"name": "a"}]}, {"calls": [{"name": "b"}]}, {"text": "3"}])
    assert result.outcome is Outcome.PASSED
    assert len(requests) == 3


def test_an_agent_that_never_stops_calling_tools_fails():
    session = (
        "behaviors:\n  - {actor: user, action: says, content: go}\n  - {actor: assistant, action: calls, target: a}\n"
    )
    result, requests = play(session, lambda request: {"calls": [{"name": "a"}]}, max_rounds=3)
    assert result.outcome is Outcome.FAILED
    assert len(requests) == 4
    assert "called tools 3 times in a row" in result.reason
    assert outcomes(result) == ["failed", "passed"]


def test_an_agent_that_runs_its_own_tools_is_sent_no_result():
    reply = {"messages": [CALL, {"result": '{"status": "shipped", "eta": "x"}'}, {"text": "It has shipped."}]}
    result, requests = play(ORDER, [reply])
    assert result.outcome is Outcome.PASSED
    assert len(requests) == 1
    assert result.trace.steps[2].content == {"status": "shipped", "eta": "x"}
    assert not result.trace.steps[2].supplied


def test_a_reported_result_must_have_the_declared_structure():
    reply = {"messages": [CALL, {"result": '{"status": 7}'}, {"text": "It has shipped."}]}
    result, _ = play(ORDER, [reply])
    assert outcomes(result) == ["passed", "passed", "failed", "passed"]
    assert "status (number, expected string)" in result.behaviors[2].reason


def test_text_beside_calls_is_a_step_of_its_own_and_comes_first():
    result, _ = play(ORDER, [{"text": "One moment.", **CALL}, {"text": "It has shipped."}])
    kinds = [step.kind for step in result.trace.steps]
    assert kinds == [StepKind.SENT, StepKind.TEXT, StepKind.CALL, StepKind.RESULT, StepKind.TEXT]
    assert result.outcome is Outcome.PASSED


@pytest.mark.parametrize("empty", [None, "", "  \n"])
def test_an_empty_reply_is_no_text(empty):
    session = "behaviors:\n  - {actor: user, action: says, content: hi}\n  - {actor: assistant, action: informs}\n"
    result, _ = play(session, [{"text": empty}])
    assert outcomes(result) == ["passed", "failed"]
    assert "neither text nor call" in result.behaviors[1].reason


def test_what_is_sent():
    session = """
behaviors:
  - {actor: system, action: says, content: "Be brief."}
  - {actor: user, action: selects, target: "Appointment Options"}
  - {actor: assistant, action: informs}
  - {actor: human, action: approves, content: {amount: 5, ok: true}}
  - {actor: assistant, action: informs}
  - {actor: user, action: submits, target: Form, with: {name: Ann}}
"""
    _, requests = play(session, [{"text": "1"}, {"text": "2"}, {"text": "3"}])
    sent = [(m.role, m.text) for m in requests[-1].messages if m.role is not Role.ASSISTANT]
    assert sent == [
        (Role.SYSTEM, "Be brief."),
        (Role.USER, "[selects: Appointment Options]"),
        (Role.USER, '{"amount": 5, "ok": true}'),
        (Role.USER, '[submits: Form] {"name": "Ann"}'),
    ]


def test_consecutive_messages_get_a_request_each():
    session = "behaviors:\n  - {actor: user, action: says, content: a}\n  - {actor: user, action: says, content: b}\n"
    result, requests = play(session, [{"text": "1"}, {"text": "2"}])
    assert [[m.text for m in request.messages] for request in requests] == [["a"], ["a", "1", "b"]]
    assert [step.turn for step in result.trace.steps] == [1, 1, 2, 2]


def test_a_session_may_begin_with_the_assistant():
    session = """
behaviors:
  - {actor: assistant, action: greets, evaluations: [{type: contains, value: hello}]}
  - {actor: user, action: says, content: hi}
  - {actor: assistant, action: informs}
"""
    result, requests = play(session, [{"text": "Hello!"}, {"text": "Yes?"}])
    assert requests[0].messages == ()
    assert result.outcome is Outcome.PASSED
    assert [step.turn for step in result.trace.steps] == [0, 1, 1]


def test_every_request_has_a_key_of_its_own():
    _, requests = play(ORDER, [CALL, {"text": "ok"}], trial_key="t7")
    keys = [request.turn_key for request in requests]
    assert len(set(keys)) == 2 and all(key.startswith("t7-") for key in keys)


def test_an_agent_that_cannot_be_reached_is_unverified():
    result, _ = play(ORDER, [{"unavailable": "connection refused"}])
    assert result.outcome is Outcome.UNVERIFIED
    assert outcomes(result) == ["unverified"] * 4
    assert "connection refused" in result.reason


def test_what_was_proven_failed_before_the_agent_went_away_stays_failed():
    session = """
behaviors:
  - {actor: user, action: says, content: hi}
  - {actor: assistant, action: calls, target: a}
  - {actor: user, action: says, content: more}
  - {actor: assistant, action: informs}
evaluations:
  - {type: never, match: {action: hands_off}}
  - {type: eventually, match: {actor: user}}
"""
    result, _ = play(session, [{"text": "no"}, {"unavailable": "gone"}])
    assert outcomes(result) == ["passed", "failed", "unverified", "unverified"]
    assert [e.outcome for e in result.evaluations] == [Outcome.UNVERIFIED, Outcome.PASSED]
    assert result.outcome is Outcome.FAILED


def test_the_part_of_a_turn_that_was_seen_counts():
    result, _ = play(ORDER, [CALL, {"unavailable": "gone"}])
    assert outcomes(result) == ["unverified", "passed", "passed", "unverified"]


def test_a_session_has_a_time_limit():
    now = iter(range(0, 1000, 100))
    session = "behaviors:\n" + "  - {actor: user, action: says, content: hi}\n" * 5
    result, requests = play(session, lambda r: {"text": "ok"}, clock=lambda: next(now), session_timeout_s=250)
    assert result.outcome is Outcome.UNVERIFIED
    assert "longer than 250 s" in result.reason
    assert 0 < len(requests) < 5
    assert all(request.deadline_s <= 250 for request in requests)


def test_a_truncated_reply_is_marked_and_warned_of():
    session = "behaviors:\n  - {actor: user, action: says, content: hi}\n  - {actor: assistant, action: informs}\n"
    result, _ = play(session, [{"text": "It is", "truncated": True}])
    assert result.trace.steps[1].truncated
    assert any("cut short" in warning for warning in result.warnings)


def test_a_result_without_content_or_example_is_unverified():
    session = """
behaviors:
  - {actor: user, action: says, content: q}
  - {actor: assistant, action: calls, target: kb}
  - {actor: tool, action: responds, target: kb}
  - {actor: assistant, action: informs}
"""
    result, _ = play(session, [{"calls": [{"name": "kb"}]}, {"text": "a"}])
    assert outcomes(result) == ["passed", "passed", "unverified", "passed"]
    result, _ = play(session, [{"calls": [{"name": "kb"}]}, {"text": "a"}], example_results={"kb": "facts"})
    assert result.outcome is Outcome.PASSED
