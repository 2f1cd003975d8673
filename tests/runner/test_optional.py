"""Optional behaviors, `requires`, and messages that answer several of them at once (ABS specification, section 7)."""

from __future__ import annotations

import pytest

from abs_gate.conversation import Role
from abs_gate.outcomes import Outcome

from .scripted import outcomes, play

MISSING_DATA = """
behaviors:
  - {id: asks, actor: user, action: says, content: "Where is my order?"}
  - id: ask_id
    actor: assistant
    action: asks
    optional: true
    matches_when: {type: contains, value: order id}
  - {id: gives_id, actor: user, action: says, content: "12345", requires: ask_id}
  - id: ask_email
    actor: assistant
    action: asks
    optional: true
    matches_when: {type: contains, value: email}
  - {id: gives_email, actor: user, action: says, content: "a@b.c", requires: ask_email}
  - {id: answer, actor: assistant, action: informs}
evaluations:
  - {type: expected, behavior: ask_id, when: "{{hasId}} == false", reason: should ask for the id}
  - {type: never, match: {actor: assistant, action: asks}, when: "{{hasId}} == true && {{hasEmail}} == true"}
  - {type: expected, behavior: ask_email, when: "{{hasEmail}} == false"}
"""
ANSWER = {"text": "It has shipped."}


def sent(requests) -> list[list[str]]:
    """The messages each request added."""
    texts = [[m.text for m in request.messages if m.role is Role.USER] for request in requests]
    return [now[len(before) :] for before, now in zip([[], *texts], texts, strict=False)]


def test_nothing_is_missing():
    result, requests = play(MISSING_DATA, [ANSWER], row={"hasId": True, "hasEmail": True})
    assert outcomes(result) == ["passed", "skipped", "skipped", "skipped", "skipped", "passed"]
    assert [e.outcome for e in result.evaluations] == ["skipped", "passed", "skipped"]
    assert result.outcome is Outcome.PASSED
    assert len(requests) == 1


def test_both_are_asked_for_in_one_reply_and_answered_in_one_request():
    replies = [{"text": "Your order id and email, please."}, ANSWER]
    result, requests = play(MISSING_DATA, replies, row={"hasId": False, "hasEmail": False})
    assert sent(requests) == [["Where is my order?"], ["12345", "a@b.c"]]
    assert outcomes(result) == ["passed"] * 6
    assert result.outcome is Outcome.PASSED


def test_they_are_asked_for_one_after_the_other():
    replies = [{"text": "Your order id?"}, {"text": "And your email?"}, ANSWER]
    result, requests = play(MISSING_DATA, replies, row={"hasId": False, "hasEmail": False})
    assert sent(requests) == [["Where is my order?"], ["12345"], ["a@b.c"]]
    assert outcomes(result) == ["passed"] * 6


def test_only_the_second_is_asked_for():
    result, requests = play(MISSING_DATA, [{"text": "Your email?"}, ANSWER], row={"hasId": True, "hasEmail": False})
    assert sent(requests) == [["Where is my order?"], ["a@b.c"]]
    assert outcomes(result) == ["passed", "skipped", "skipped", "passed", "passed", "passed"]
    assert result.outcome is Outcome.PASSED


def test_an_expected_question_that_was_not_asked_fails_with_the_author_s_reason():
    result, _ = play(MISSING_DATA, [ANSWER], row={"hasId": False, "hasEmail": True})
    assert result.outcome is Outcome.FAILED
    assert "should ask for the id" in result.reason


def test_a_question_that_must_not_be_asked_fails():
    replies = [{"text": "Your order id?"}, ANSWER]
    result, _ = play(MISSING_DATA, replies, row={"hasId": True, "hasEmail": True})
    assert result.outcome is Outcome.FAILED
    assert "must not" in result.reason


def test_a_required_behavior_ends_the_window():
    session = """
behaviors:
  - {actor: user, action: says, content: q}
  - {id: a, actor: assistant, action: asks, optional: true, matches_when: {type: contains, value: aa}}
  - {actor: user, action: says, content: for a, requires: a}
  - {actor: assistant, action: confirms}
  - {id: b, actor: assistant, action: asks, optional: true, matches_when: {type: contains, value: bb}}
  - {actor: user, action: says, content: for b, requires: b}
  - {actor: assistant, action: informs}
"""
    result, requests = play(session, [{"text": "aa bb"}, {"text": "right"}])
    assert sent(requests) == [["q"], ["for a"]]
    assert outcomes(result) == ["passed", "passed", "passed", "passed", "skipped", "skipped", "failed"]


def test_an_unconditional_message_is_not_part_of_the_batch():
    session = """
behaviors:
  - {actor: user, action: says, content: q}
  - {id: a, actor: assistant, action: asks, optional: true, matches_when: {type: contains, value: aa}}
  - {actor: user, action: says, content: for a, requires: a}
  - {actor: user, action: says, content: next}
  - {actor: assistant, action: informs}
"""
    _, requests = play(session, [{"text": "aa"}, {"text": "1"}, {"text": "2"}])
    assert sent(requests) == [["q"], ["for a"], ["next"]]
    _, requests = play(session, [{"text": "no"}, {"text": "2"}])
    assert sent(requests) == [["q"], ["next"]]


def test_requires_cascades():
    session = """
behaviors:
  - {actor: user, action: says, content: q}
  - {id: a, actor: assistant, action: asks, optional: true, matches_when: {type: contains, value: aa}}
  - {id: b, actor: user, action: says, content: for a, requires: a}
  - {id: c, actor: assistant, action: confirms, requires: b}
  - {id: d, actor: user, action: says, content: thanks, requires: c}
  - {actor: user, action: says, content: bye}
"""
    result, _ = play(session, [{"text": "no"}, {"text": "bye"}])
    assert outcomes(result) == ["passed", "skipped", "skipped", "skipped", "skipped", "passed"]
    result, requests = play(
        session, [{"text": "aa"}, {"text": "confirmed"}, {"text": "you're welcome"}, {"text": "bye"}]
    )
    assert outcomes(result) == ["passed"] * 6
    assert sent(requests) == [["q"], ["for a"], ["thanks"], ["bye"]]


@pytest.mark.parametrize("asked", [True, False])
def test_a_tool_result_may_depend_on_an_optional_call(asked):
    session = """
behaviors:
  - {actor: user, action: says, content: q}
  - {id: look, actor: assistant, action: calls, target: t, optional: true}
  - {actor: tool, action: responds, target: t, content: found, requires: look}
  - {actor: assistant, action: informs}
"""
    replies = [{"calls": [{"name": "t"}]}, ANSWER] if asked else [ANSWER]
    result, requests = play(session, replies)
    assert result.outcome is Outcome.PASSED
    assert outcomes(result)[1] == ("passed" if asked else "skipped")
    if asked:
        assert requests[1].messages[-1].results[0].content == "found"


def test_results_after_a_message_that_is_not_sent_are_still_due():
    session = """
behaviors:
  - {actor: user, action: says, content: q}
  - {id: ask, actor: assistant, action: asks, optional: true, matches_when: {type: contains, value: "?"}}
  - {actor: user, action: says, content: "7", requires: ask}
  - {actor: assistant, action: calls, target: t}
  - {actor: tool, action: responds, target: t, content: found}
  - {actor: assistant, action: informs}
"""
    direct, requests = play(session, [{"calls": [{"name": "t"}]}, ANSWER])
    assert direct.outcome is Outcome.PASSED
    assert requests[1].messages[-1].results[0].content == "found"
    asked, requests = play(session, [{"text": "which?"}, {"calls": [{"name": "t"}]}, ANSWER])
    assert outcomes(asked) == ["passed"] * 6
    assert requests[2].messages[-1].results[0].content == "found"


def test_several_optional_verbs_on_one_text_can_all_be_selected():
    session = """
behaviors:
  - {actor: user, action: says, content: q}
  - {actor: assistant, action: asks, optional: true, matches_when: {type: contains, value: "?"}}
  - {actor: assistant, action: informs}
evaluations:
  - {type: eventually, match: {actor: assistant, action: asks}}
  - {type: eventually, match: {actor: assistant, action: informs}}
"""
    result, _ = play(session, [{"text": "It is 5. More?"}])
    assert result.outcome is Outcome.PASSED


def test_an_undecided_optional_behavior_leaves_what_rests_on_it_unverified():
    session = """
behaviors:
  - {actor: user, action: says, content: q}
  - {id: a, actor: assistant, action: asks, optional: true, matches_when: {type: llm_judge, criteria: asks}}
  - {actor: user, action: says, content: for a, requires: a}
  - {actor: assistant, action: informs}
"""
    result, requests = play(session, [ANSWER])
    assert outcomes(result) == ["passed", "unverified", "unverified", "passed"]
    assert len(requests) == 1
