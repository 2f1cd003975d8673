"""How matches and evaluations add up to a behavior, and behaviors to a trial."""

from __future__ import annotations

import pytest

from abs_gate.evaluators.judged import JudgePanel
from abs_gate.outcomes import Outcome

from .scripted import outcomes, play

USER = "  - {actor: user, action: says, content: go}\n"


class Judge:
    def __init__(self, answer: str) -> None:
        self.answer, self.asked = answer, 0

    def ask(self, prompt: str) -> str:
        self.asked += 1
        return self.answer


def informs(*evaluations: str, extra: str = "") -> str:
    return f"  - {{actor: assistant, action: informs{extra}, evaluations: [{', '.join(evaluations)}]}}\n"


GOOD = "{type: contains, value: ok}"
BAD = "{type: contains, value: zzz}"
OPEN = "{type: Fluency}"
OFF = "{type: contains, value: zzz, when: '1 == 2'}"


@pytest.mark.parametrize(
    ("evaluations", "behavior", "trial"),
    [
        ([GOOD], "passed", "passed"),
        ([GOOD, BAD], "failed", "failed"),
        ([GOOD, OPEN], "unverified", "unverified"),
        ([BAD, OPEN], "failed", "failed"),
        ([OFF], "passed", "passed"),
        ([OFF, OPEN], "unverified", "unverified"),
    ],
)
def test_the_worst_counts(evaluations, behavior, trial):
    result, _ = play(f"behaviors:\n{USER}{informs(*evaluations)}", [{"text": "ok"}])
    assert (result.behaviors[1].outcome, result.outcome) == (behavior, trial)


def test_evaluations_of_a_behavior_that_did_not_match_fail_those_of_a_skipped_one_do_not():
    rule = f"evaluations: [{{type: none_of, evaluations: [{BAD}]}}]"
    call = f"  - {{actor: assistant, action: calls, target: t, {rule}}}\n"
    required, _ = play(f"behaviors:\n{USER}{call}", [{"text": "ok"}])
    assert required.behaviors[1].evaluations[0].outcome is Outcome.FAILED
    optional, _ = play(f"behaviors:\n{USER}{call.replace('target', 'optional: true, target')}", [{"text": "ok"}])
    assert optional.behaviors[1].evaluations[0].outcome is Outcome.SKIPPED
    assert optional.outcome is Outcome.PASSED


class TestBlocking:
    SESSION = f"behaviors:\n{USER}" + informs("{type: contains, value: zzz, blocking: true}", GOOD)

    def test_it_stops_later_evaluations_but_not_those_before(self):
        session = f"behaviors:\n{USER}" + informs(GOOD, BAD[:-1] + ", blocking: true}", GOOD) + USER + informs(BAD)
        result, _ = play(session, [{"text": "ok"}, {"text": "ok"}])
        assert [e.outcome for e in result.behaviors[1].evaluations] == ["passed", "failed", "inconclusive"]
        assert outcomes(result) == ["passed", "failed", "passed", "inconclusive"]
        assert result.outcome is Outcome.FAILED
        assert "zzz" in result.reason and "behavior 2" in result.reason

    def test_judges_are_not_asked_any_more(self):
        judge = Judge("Score: 1")
        session = f"behaviors:\n{USER}" + informs(BAD[:-1] + ", blocking: true}", OPEN)
        play(session, [{"text": "ok"}], judges=JudgePanel({"j": judge}))
        assert judge.asked == 0

    def test_unverified_makes_later_ones_inconclusive_and_the_session_unverified(self):
        session = f"behaviors:\n{USER}" + informs("{type: Fluency, blocking: true}", GOOD)
        result, _ = play(session, [{"text": "ok"}])
        assert [e.outcome for e in result.behaviors[1].evaluations] == ["unverified", "inconclusive"]
        assert result.outcome is Outcome.UNVERIFIED

    @pytest.mark.parametrize("rule", [OFF[:-1] + ", blocking: true}", GOOD[:-1] + ", blocking: true}"])
    def test_one_that_passed_or_does_not_apply_blocks_nothing(self, rule):
        result, _ = play(f"behaviors:\n{USER}" + informs(rule, GOOD), [{"text": "ok"}])
        assert result.behaviors[1].evaluations[1].outcome is Outcome.PASSED

    def test_on_a_behavior_that_did_not_match(self):
        call = "  - {actor: assistant, action: calls, target: t, evaluations: [{type: tool_call, blocking: true}]}\n"
        result, _ = play(f"behaviors:\n{USER}{call}" + informs(GOOD), [{"text": "ok"}])
        assert outcomes(result) == ["passed", "failed", "inconclusive"]

    def test_evaluations_of_the_session_still_run(self):
        session = self.SESSION + "evaluations:\n  - {type: never, match: {actor: user}}\n"
        result, _ = play(session, [{"text": "ok"}])
        assert result.evaluations[0].outcome is Outcome.FAILED


def test_the_reason_is_the_first_thing_that_failed_not_what_is_unverified():
    session = f"behaviors:\n{USER}" + informs(OPEN) + USER + informs(BAD)
    result, _ = play(session, [{"text": "ok"}, {"text": "ok"}])
    assert result.outcome is Outcome.FAILED
    assert result.reason.startswith("behavior 4")


def test_failed_session_evaluations_fail_the_trial():
    session = f"behaviors:\n{USER}evaluations:\n  - {{type: eventually, match: {{action: calls}}}}\n"
    result, _ = play(session, [{"text": "ok"}])
    assert result.outcome is Outcome.FAILED
    assert outcomes(result) == ["passed"]


def test_steps_know_what_matched_them():
    session = f"behaviors:\n{USER}  - {{id: a, actor: assistant, action: submits, target: form}}\n" + informs(GOOD)
    result, _ = play(session, [{"calls": [{"name": "form"}]}, {"text": "ok"}])
    sent, call, reply, text = result.trace.steps
    assert (sent.behavior, call.behavior, call.behavior_id, call.action) == (0, 1, "a", "submits")
    assert (text.behavior, text.action, reply.supplied) == (2, "informs", True)
    assert [b.step for b in result.behaviors] == [0, 1, 3]


def test_scopes_follow_captures():
    session = """
behaviors:
  - {actor: user, action: says, content: "1", capture: {n: "1"}, evaluations: [{type: exact_match, value: "{{n}}"}]}
  - {actor: user, action: says, content: "2", capture: {n: "2"}, evaluations: [{type: exact_match, value: "{{n}}"}]}
evaluations:
  - {type: never, match: {actor: user}, when: "{{n}} != '2'"}
"""
    result, _ = play(session, [{"text": "a"}, {"text": "b"}])
    assert result.outcome is Outcome.PASSED
    assert result.evaluations[0].outcome is Outcome.SKIPPED


def test_why_a_conversation_ended_is_told_once():
    session = f"behaviors:\n{USER}{informs()}  - {{actor: assistant, action: calls, target: t}}\n{USER}{informs()}"
    result, _ = play(session, [{"unavailable": "nothing listens"}])
    reasons = [behavior.reason for behavior in result.behaviors]
    assert "nothing listens" in reasons[0] and "nothing listens" in result.reason
    assert set(reasons[1:]) == {"not reached: the conversation ended at behavior 1 (user says)"}
    assert not any(behavior.observed for behavior in result.behaviors)


def test_an_agent_that_should_have_begun_tells_why_it_did_not():
    result, _ = play(f"behaviors:\n{informs()}{USER}{informs()}", [{"unavailable": "nothing listens"}])
    assert ["nothing listens" in behavior.reason for behavior in result.behaviors] == [True, False, False]
