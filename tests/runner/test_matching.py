"""Which observed step an expected behavior takes, and why one did not match."""

from __future__ import annotations

import pytest

from abs_gate.documents.variables import Scope
from abs_gate.evaluators.judged import JudgePanel
from abs_gate.outcomes import Outcome

from .scripted import outcomes, play

USER = "  - {actor: user, action: says, content: go}\n"


def turn(expected: str, *replies: dict, evaluations: str = "", **options):
    """One turn: a message, what is expected of the answer."""
    result, _ = play(f"behaviors:\n{USER}{expected}\n{evaluations}", replies, **options)
    return result


def call(name: str, number: int = 1, **arguments) -> dict:
    return {"name": name, "arguments": arguments, "id": f"call_{number}"}


def calls(*names: str) -> dict:
    return {"calls": [call(name, number) for number, name in enumerate(names)]}


DONE = {"text": "done"}


class TestArguments:
    @pytest.mark.parametrize(
        ("declared", "observed", "matches"),
        [
            ("with: {n: 1}", {"n": 1.0, "more": 2}, True),
            ("with: {n: 1}", {"n": True}, False),
            ("with: {n: true}", {"n": 1}, False),
            ('with: {n: "1"}', {"n": 1}, False),
            ("with: {n: null}", {"n": None}, True),
            ("with: {n: null}", {}, False),
            ("with: {a: {b: [1, {c: x}]}}", {"a": {"b": [1, {"c": "x"}]}}, True),
            ("with: {a: {b: 1}}", {"a": {"b": 1, "c": 2}}, False),
            ("with: {a: [1, 2]}", {"a": [2, 1]}, False),
            ("with_only: {a: 1, b: 2}", {"b": 2, "a": 1}, True),
            ("with_only: {a: 1}", {"a": 1, "b": 2}, False),
            ("with_only: {a: 1, b: 2}", {"a": 1}, False),
            ("with_only: {}", {}, True),
            ("with_only: {}", {"a": 1}, False),
            ("target: t", {"anything": 1}, True),
        ],
    )
    def test_with_and_with_only(self, declared, observed, matches):
        fields = declared if declared.startswith("target") else f"target: t, {declared}"
        result = turn(f"  - {{actor: assistant, action: calls, {fields}}}", {"calls": [call("t", **observed)]}, DONE)
        assert result.behaviors[1].outcome is (Outcome.PASSED if matches else Outcome.FAILED)

    @pytest.mark.parametrize("raw", ["not json", "[1]", '"text"', "{broken"])
    def test_arguments_that_are_no_object_never_match(self, raw):
        expected = "  - {actor: assistant, action: calls, target: t, with: {a: 1}}"
        result = turn(expected, {"calls": [{"name": "t", "raw": raw}]}, DONE)
        assert result.behaviors[1].outcome is Outcome.FAILED
        assert "not a JSON object" in result.behaviors[1].reason

    def test_empty_arguments_are_no_arguments(self):
        expected = "  - {actor: assistant, action: calls, target: t, with_only: {}}"
        result = turn(expected, {"calls": [{"name": "t", "raw": ""}]}, DONE)
        assert result.behaviors[1].outcome is Outcome.PASSED

    @pytest.mark.parametrize(
        ("declared", "observed", "reason"),
        [
            ("with: {a: 1, b: 2}", {"a": 1}, "expected a call of t with a 1, b 2; observed t with b (missing) instead"),
            ("with: {n: 1}", {"n": "1"}, 'observed t with n "1" (a string, expected a number) instead'),
            ("with_only: {}", {"x": 5}, "expected a call of t without arguments; observed t with x 5 (not declared)"),
            ("with: {a: {b: {c: 1}}}", {"a": {"b": {"c": 2}}}, "(differs at a.b.c)"),
            ("with: {a: [1, 2]}", {"a": [1, 3]}, "(differs at a[1])"),
        ],
    )
    def test_the_reason_names_the_key_and_how_it_differs(self, declared, observed, reason):
        expected = f"  - {{actor: assistant, action: calls, target: t, {declared}}}"
        result = turn(expected, {"calls": [call("t", **observed)]}, DONE)
        assert reason in result.behaviors[1].reason

    def test_the_closest_of_several_calls_is_shown(self):
        expected = "  - {actor: assistant, action: calls, target: t, with: {a: 1, b: 2}}"
        result = turn(expected, {"calls": [call("t", 1, a=9, b=9), call("t", 2, a=1, b=9)]}, DONE)
        assert "observed t with b 9 (differs) instead" in result.behaviors[1].reason

    def test_reasons_stay_short(self):
        expected = "  - {actor: assistant, action: calls, target: t, with: {a: 1}}"
        result = turn(expected, {"calls": [call("t", a="x" * 100_000)]}, DONE)
        assert len(result.behaviors[1].reason) < 400


class TestCursor:
    TWO = "  - {actor: assistant, action: calls, target: a}\n  - {actor: assistant, action: calls, target: b}"

    def test_other_steps_may_lie_between(self):
        result = turn(self.TWO, calls("x", "a", "y", "b"), DONE)
        assert outcomes(result) == ["passed"] * 3
        assert result.unexpected_calls == ("x", "y")

    def test_order_matters(self):
        result = turn(self.TWO, calls("b", "a"), DONE)
        assert outcomes(result) == ["passed", "passed", "failed"]
        assert "observed b earlier than the session has it" in result.behaviors[2].reason

    def test_one_call_does_not_serve_two_behaviors(self):
        twice = "  - {actor: assistant, action: calls, target: a}\n" * 2
        result = turn(twice, calls("a"), DONE)
        assert outcomes(result) == ["passed", "passed", "failed"]
        assert "already taken by behavior 2" in result.behaviors[2].reason

    def test_a_miss_leaves_the_cursor_where_it_was(self):
        expected = (
            "  - {actor: assistant, action: calls, target: zzz}\n  - {actor: assistant, action: calls, target: a}"
        )
        result = turn(expected, calls("a"), DONE)
        assert outcomes(result) == ["passed", "failed", "passed"]

    def test_an_optional_behavior_consumes_nothing(self):
        expected = (
            "  - {actor: assistant, action: calls, target: a, optional: true}\n"
            "  - {actor: assistant, action: calls, target: a}"
        )
        assert outcomes(turn(expected, calls("a"), DONE)) == ["passed"] * 3

    def test_an_optional_behavior_that_does_not_happen_is_skipped(self):
        expected = (
            "  - {actor: assistant, action: calls, target: a, optional: true}\n  - {actor: assistant, action: informs}"
        )
        assert outcomes(turn(expected, DONE)) == ["passed", "skipped", "passed"]

    def test_steps_of_an_earlier_turn_do_not_count(self):
        session = f"behaviors:\n{USER}{USER}  - {{actor: assistant, action: calls, target: a}}"
        result, _ = play(session, [calls("a"), DONE, {"text": "no call now"}])
        assert result.behaviors[2].outcome is Outcome.FAILED


class TestNames:
    ORDER = '  - {actor: assistant, action: calls, target: "Order MCP"}'

    def test_aliases(self):
        aliases = {"Order MCP": ("get_order", "mcp__orders__get")}
        assert turn(self.ORDER, calls("mcp__orders__get"), DONE, aliases=aliases).outcome is Outcome.PASSED
        assert turn(self.ORDER, calls("Order MCP"), DONE, aliases=aliases).outcome is Outcome.PASSED
        assert turn(self.ORDER, calls("get_orders"), DONE, aliases=aliases).outcome is Outcome.FAILED

    def test_names_are_exact(self):
        assert turn("  - {actor: assistant, action: calls, target: Get}", calls("get"), DONE).outcome is Outcome.FAILED

    def test_an_unknown_target_is_explained(self):
        result = turn(self.ORDER, calls("get_order"), DONE)
        assert "get_order" in result.behaviors[1].reason and "`targets`" in result.behaviors[1].reason

    @pytest.mark.parametrize("verb", ["calls", "submits", "retrieves", "stores", "updates"])
    def test_every_verb_of_execution_is_a_call(self, verb):
        expected = f"  - {{actor: assistant, action: {verb}, target: t}}"
        assert turn(expected, calls("t"), DONE).outcome is Outcome.PASSED
        assert turn(expected, {"text": "t"}).outcome is Outcome.FAILED


class TestHandoffs:
    TO_HUMAN = '  - {actor: assistant, action: hands_off, target: "Human Agent"}'

    @pytest.mark.parametrize(
        "name",
        ["transfer_to_human_agent", "transferToHumanAgent", "transfer-to-human-agent", "handoff_to_human_agent"],
    )
    def test_usual_spellings(self, name):
        assert turn(self.TO_HUMAN, calls(name), DONE).outcome is Outcome.PASSED

    def test_the_recipient_as_an_argument(self):
        right = {"calls": [call("transfer_to_agent", agent_name="human_agent")]}
        wrong = {"calls": [call("transfer_to_agent", agent_name="billing")]}
        assert turn(self.TO_HUMAN, right, DONE).outcome is Outcome.PASSED
        assert turn(self.TO_HUMAN, wrong, DONE).outcome is Outcome.FAILED

    @pytest.mark.parametrize("name", ["transfer_to_billing", "transfer_money", "human_agent"])
    def test_other_names_are_no_handoff_to_a_human(self, name):
        assert turn(self.TO_HUMAN, calls(name), DONE).outcome is Outcome.FAILED

    def test_aliases_and_configured_tools(self):
        assert (
            turn(self.TO_HUMAN, calls("escalate"), DONE, aliases={"Human Agent": ("escalate",)}).outcome
            is Outcome.PASSED
        )
        assert (
            turn(self.TO_HUMAN, calls("escalate"), DONE, handoff_tools=frozenset({"escalate"})).outcome
            is Outcome.PASSED
        )

    def test_a_text_alone_proves_nothing_and_the_reason_says_what_to_add(self):
        result = turn(self.TO_HUMAN, {"text": "I am transferring you to a human agent."})
        assert result.behaviors[1].outcome is Outcome.FAILED
        assert "matches_when" in result.behaviors[1].reason and "hand-off tool" in result.behaviors[1].reason

    def test_a_text_matches_through_matches_when(self):
        expected = self.TO_HUMAN[:-1] + ", matches_when: {type: contains, value: transferring you}}"
        assert turn(expected, {"text": "I am Transferring you."}).outcome is Outcome.PASSED
        assert turn(expected, {"text": "I cannot help."}).outcome is Outcome.FAILED


class FixedJudge:
    def __init__(self, answer: str) -> None:
        self.answer = answer
        self.prompts: list[str] = []

    def ask(self, prompt: str) -> str:
        self.prompts.append(prompt)
        return self.answer


class TestMatchesWhen:
    def test_contains_ignores_case(self):
        expected = "  - {actor: assistant, action: asks, matches_when: {type: contains, value: ORDER number}}"
        assert turn(expected, {"text": "Your order NUMBER, please?"}).outcome is Outcome.PASSED
        assert turn(expected, {"text": "Hello"}).outcome is Outcome.FAILED

    def test_an_empty_value_matches_nothing_by_itself(self):
        expected = '  - {actor: assistant, action: asks, matches_when: {type: contains, value: "{{word}}"}}'
        result = turn(expected, {"text": "anything"}, scope=Scope(variables={"word": ""}))
        assert result.behaviors[1].outcome is Outcome.UNVERIFIED

    def test_regex_is_searched(self):
        expected = "  - {actor: assistant, action: asks, matches_when: {type: regex, pattern: 'R-\\d+'}}"
        assert turn(expected, {"text": "See R-5512."}).outcome is Outcome.PASSED
        assert turn(expected, {"text": "See R-x."}).outcome is Outcome.FAILED

    def test_the_first_text_that_meets_it_is_taken(self):
        expected = "  - {actor: assistant, action: asks, matches_when: {type: contains, value: two}}"
        reply = {"messages": [{"text": "one"}, {"text": "two"}, {"text": "two again"}]}
        assert turn(expected, reply).behaviors[1].step == 2

    def test_a_judge_decides(self):
        expected = "  - {actor: assistant, action: asks, matches_when: {type: llm_judge, criteria: asks for the id}}"
        for answer, outcome in (("Score: 0.9", "passed"), ("Score: 0.1", "failed"), ("no idea", "unverified")):
            judge = FixedJudge(answer)
            result = turn(expected, {"text": "Your id?"}, judges=JudgePanel({"j": judge}))
            assert result.behaviors[1].outcome == outcome
            assert "asks for the id" in judge.prompts[0]

    def test_without_a_judge_it_is_unverified(self):
        expected = "  - {actor: assistant, action: asks, matches_when: {type: llm_judge, criteria: c}}"
        result = turn(expected, {"text": "Your id?"})
        assert result.outcome is Outcome.UNVERIFIED
        assert "no judge is configured" in result.reason

    def test_a_slow_pattern_is_unverified(self, monkeypatch):
        monkeypatch.setattr("abs_gate.sources.patterns.TIMEOUT_S", 0.05)
        expected = (
            "  - {actor: assistant, action: asks, matches_when: {type: regex, pattern: '^(?=(a+)+$)x|^((a|a)*)*\\1b$'}}"
        )
        result = turn(expected, {"text": "a" * 40 + "!"})
        assert result.behaviors[1].outcome is Outcome.UNVERIFIED


class TestContent:
    def test_declared_text_is_intent(self):
        expected = '  - {actor: assistant, action: informs, content: "Your order is on the way"}'
        assert turn(expected, {"text": "anything at all"}).outcome is Outcome.PASSED

    @pytest.mark.parametrize(
        ("text", "matches"),
        [
            ('{"slots": ["x"], "n": 1, "more": true}', True),
            ('{"slots": "x", "n": 1}', False),
            ('{"n": 1}', False),
            ("The slots are x", False),
            ("[1]", False),
            ('{"slots": [], "n": 2.5}', True),
            ('{"slots": [], "n": true}', False),
        ],
    )
    def test_a_declared_object_is_compared_by_keys_and_types(self, text, matches):
        expected = "  - {actor: assistant, action: shows, content: {slots: [a], n: 3}}"
        assert turn(expected, {"text": text}).outcome is (Outcome.PASSED if matches else Outcome.FAILED)


class TestUnordered:
    FREE = (
        "  - {actor: assistant, action: calls, target: a}\n"
        "  - {actor: assistant, action: calls, target: b, evaluations: [{type: tool_call, ordered: false}]}"
    )

    @pytest.mark.parametrize("order", [("a", "b"), ("b", "a"), ("x", "b", "y", "a")])
    def test_either_order(self, order):
        assert turn(self.FREE, calls(*order), DONE).outcome is Outcome.PASSED

    def test_every_call_must_occur(self):
        result = turn(self.FREE, calls("b"), DONE)
        assert outcomes(result) == ["passed", "failed", "failed"]
        assert "assistant calls a" in result.behaviors[2].evaluations[0].reason

    def test_results_between_calls_do_not_end_the_run(self):
        expected = (
            "  - {actor: assistant, action: calls, target: a}\n"
            "  - {actor: tool, action: responds, target: a, content: x}\n"
            "  - {actor: assistant, action: calls, target: b, evaluations: [{type: tool_call, ordered: false}]}\n"
            "  - {actor: tool, action: responds, target: b, content: y}\n"
            "  - {actor: assistant, action: informs}"
        )
        assert turn(expected, calls("b", "a"), DONE).outcome is Outcome.PASSED

    def test_the_matching_is_not_greedy(self):
        expected = (
            "  - {actor: assistant, action: calls, target: t}\n"
            "  - {actor: assistant, action: calls, target: t, with: {k: 1},"
            " evaluations: [{type: tool_call, ordered: false}]}"
        )
        reply = {"calls": [call("t", 1, k=1), call("t", 2, k=2)]}
        assert turn(expected, reply, DONE).outcome is Outcome.PASSED

    def test_what_follows_comes_after_the_whole_run(self):
        expected = self.FREE + "\n  - {actor: assistant, action: calls, target: c}"
        assert outcomes(turn(expected, calls("b", "a", "c"), DONE)) == ["passed"] * 4
        assert outcomes(turn(expected, calls("b", "c", "a"), DONE)) == ["passed", "passed", "passed", "failed"]

    def test_calls_after_the_run_keep_their_order(self):
        expected = (
            "  - {actor: assistant, action: calls, target: a, evaluations: [{type: tool_call, ordered: false}]}\n"
            "  - {actor: assistant, action: calls, target: b}"
        )
        assert turn(expected, calls("b", "a"), DONE).outcome is Outcome.FAILED


class TestUnexpectedCalls:
    ONE = "  - {actor: assistant, action: calls, target: refund}"

    def test_shown_by_default_and_failed_on_request(self):
        assert turn(self.ONE, calls("refund", "other"), DONE).outcome is Outcome.PASSED
        result = turn(self.ONE, calls("refund", "other"), DONE, unexpected_calls="fail")
        assert result.outcome is Outcome.FAILED
        assert "other" in result.reason
        assert [step.expected for step in result.trace.steps if step.target] == [True, False, True, True]

    def test_a_repeated_write_is_named(self):
        options = {"unexpected_calls": "fail", "write_tools": frozenset({"refund"})}
        result = turn(self.ONE, {"calls": [call("refund", 1, id=1), call("refund", 2, id=1)]}, DONE, **options)
        assert "again with the same arguments" in result.reason

    def test_two_declared_calls_are_both_expected(self):
        options = {"unexpected_calls": "fail", "write_tools": frozenset({"refund"})}
        assert turn(f"{self.ONE}\n{self.ONE}", calls("refund", "refund"), DONE, **options).outcome is Outcome.PASSED


def test_other_actions_of_tools_are_not_observable():
    expected = """
  - {actor: tool, action: stores, target: x}
  - {actor: external, action: says}
  - {actor: assistant, action: informs}"""
    assert outcomes(turn(expected, DONE)) == ["passed", "skipped", "skipped", "passed"]


def test_a_capture_binds_only_when_its_behavior_matched():
    session = """
behaviors:
  - {actor: user, action: says, content: go}
  - actor: assistant
    action: asks
    optional: true
    capture: {mood: polite}
    matches_when: {type: contains, value: please}
  - {actor: assistant, action: informs}
  - {actor: user, action: says, content: "You were {{mood}}"}
  - {actor: assistant, action: informs}
"""
    result, requests = play(session, [{"text": "Yes please"}, DONE])
    assert requests[1].messages[-1].text == "You were polite"
    assert result.outcome is Outcome.PASSED
    result, requests = play(session, [{"text": "Yes"}])
    assert len(requests) == 1
    assert outcomes(result) == ["passed", "skipped", "passed", "unverified", "unverified"]
    assert "mood" in result.reason


def test_a_capture_of_a_call_reaches_the_result_it_gets():
    session = """
behaviors:
  - {actor: user, action: says, content: go}
  - {actor: assistant, action: calls, target: t, with: {id: "7"}, capture: {seen: "7"}}
  - {actor: tool, action: responds, target: t, content: {id: "{{seen}}"}}
  - {actor: assistant, action: informs}
"""
    _, requests = play(session, [{"calls": [call("t", id="7")]}, DONE])
    assert requests[1].messages[-1].results[0].content == {"id": "7"}


def test_a_capture_without_a_value_is_unverified_though_its_message_was_sent():
    session = """
behaviors:
  - {actor: user, action: says, content: go}
  - {actor: assistant, action: asks, optional: true, capture: {a: x}, matches_when: {type: contains, value: zzz}}
  - {actor: user, action: says, content: more, capture: {b: "{{a}}"}}
  - {actor: assistant, action: informs}
"""
    result, requests = play(session, [DONE, DONE])
    assert outcomes(result) == ["passed", "skipped", "unverified", "passed"]
    assert len(requests) == 2


def test_an_external_system_may_answer_a_call():
    session = """
behaviors:
  - {actor: user, action: says, content: go}
  - {actor: assistant, action: calls, target: t}
  - {actor: external, action: responds, target: t, content: x}
evaluations:
  - {type: eventually, match: {actor: external, action: responds, target: t}}
"""
    result, _ = play(session, [calls("t"), DONE])
    assert result.outcome is Outcome.PASSED
    reported = {"messages": [calls("t"), {"result": "x", "id": "call_0"}, DONE]}
    assert play(session, [reported])[0].outcome is Outcome.PASSED


def test_interaction_of_the_assistant_is_a_call_of_its_target_or_a_text():
    expected = "  - {actor: assistant, action: uploads, target: report}"
    assert turn(expected, calls("report"), DONE).behaviors[1].step == 1
    assert turn(expected, {"text": "Here it is."}).outcome is Outcome.PASSED
