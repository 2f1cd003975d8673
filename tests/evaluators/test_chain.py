"""Evaluators of a whole trace."""

from __future__ import annotations

import pytest

from abs_gate.documents.variables import Scope
from abs_gate.evaluators import evaluate

from .make import behavior, calls, context, evaluation, result, run, says, session, trace, user

YES, NO, UNKNOWN = "passed", "failed", "unverified"
ALIASES = {"Order MCP": ("get_order",)}
STEPS = [
    user("Where is my order?"),
    says("Your number?", action="asks"),
    user("12345"),
    calls("get_order", {"id": "12345"}),
    result("get_order", {"status": "shipped"}),
    says("On its way.", action="informs"),
]
ASKS = {"actor": "assistant", "action": "asks"}
CALLS_ORDER = {"actor": "assistant", "action": "calls", "target": "Order MCP"}
INFORMS = {"actor": "assistant", "action": "informs"}


@pytest.mark.parametrize(
    ("order", "outcome"),
    [
        ([ASKS, CALLS_ORDER, INFORMS], YES),
        ([ASKS, INFORMS], YES),
        ([INFORMS, ASKS], NO),
        ([CALLS_ORDER, CALLS_ORDER], NO),
        ([{"actor": "user"}, {"actor": "user"}, INFORMS], YES),
        ([{"actor": "user"}] * 3, NO),
        ([{"actor": "tool", "action": "responds", "target": "Order MCP"}], YES),
        ([{"action": "responds", "target": "get_order"}], YES),
    ],
)
def test_sequence(order, outcome):
    assert run(evaluation("sequence", order=order), *STEPS, aliases=ALIASES).outcome == outcome


@pytest.mark.parametrize(
    ("match", "happens"),
    [
        (CALLS_ORDER, True),
        ({"action": "calls", "target": "get_order"}, True),
        ({"action": "calls", "target": "refund"}, False),
        ({"actor": "assistant", "action": "hands_off"}, False),
        ({"actor": "assistant", "action": "greets"}, False),
        ({"target": "get_order"}, True),
        ({"actor": "system"}, False),
    ],
)
def test_eventually_and_never(match, happens):
    assert (run(evaluation("eventually", match=match), *STEPS, aliases=ALIASES).outcome == YES) is happens
    assert (run(evaluation("never", match=match), *STEPS, aliases=ALIASES).outcome == NO) is happens


def test_never_looks_at_calls_that_nothing_expected():
    rule = evaluation("never", match={"action": "calls", "target": "refund"})
    assert run(rule, user("x"), calls("refund", expected=False)).outcome == NO


@pytest.mark.parametrize(
    ("name", "target", "happens"),
    [
        ("transfer_to_human_agent", None, True),
        ("transfer_to_human_agent", "Human Agent", True),
        ("transfer_to_billing", "Human Agent", False),
        ("escalate", None, True),
        ("get_order", None, False),
    ],
)
def test_never_hands_off_looks_at_handoff_calls_and_says_so(name, target, happens):
    match = {"actor": "assistant", "action": "hands_off", **({"target": target} if target else {})}
    found = run(evaluation("never", match=match), calls(name), handoff_tools=frozenset({"escalate"}))
    assert found.outcome == (NO if happens else YES)
    if not happens:
        assert "tool calls" in found.reason


def test_a_matched_call_bears_its_own_verb_and_still_counts_as_a_call():
    step = calls("book", action="submits", verbs=("submits",))
    for action in ("submits", "calls"):
        assert run(evaluation("eventually", match={"action": action}), step).outcome == YES
    assert run(evaluation("eventually", match={"action": "stores"}), step).outcome == NO


@pytest.mark.parametrize(
    ("bounds", "outcome"),
    [
        ({"min": 1}, YES),
        ({"min": 2}, YES),
        ({"min": 3}, NO),
        ({"max": 1}, NO),
        ({"max": 2}, YES),
        ({"min": 2, "max": 2}, YES),
        ({}, YES),
    ],
)
def test_count(bounds, outcome):
    rule = evaluation("count", match={"actor": "user"}, **bounds)
    found = run(rule, *STEPS)
    assert found.outcome == outcome
    assert "observed 2" in found.reason


@pytest.mark.parametrize(
    ("steps", "limit", "outcome"),
    [
        ("a x m", 2, YES),
        ("a x m", 1, NO),
        ("m a", 5, NO),
        ("a x x x a m", 1, YES),
        ("x m", 1, NO),
    ],
)
def test_within_any_occurrence_of_after_may_serve(steps, limit, outcome):
    rule = evaluation("within", after={"target": "a"}, match={"target": "m"}, max_steps=limit)
    assert run(rule, *[calls(name) for name in steps.split()]).outcome == outcome


class TestBrokenOff:
    """What can no longer change is decided; the rest could not be verified."""

    @pytest.mark.parametrize(
        ("rule", "outcome"),
        [
            (evaluation("eventually", match={"actor": "user"}), YES),
            (evaluation("eventually", match={"action": "greets"}), UNKNOWN),
            (evaluation("never", match={"actor": "user"}), NO),
            (evaluation("never", match={"action": "greets"}), UNKNOWN),
            (evaluation("count", match={"actor": "user"}, max=1), NO),
            (evaluation("count", match={"actor": "user"}, max=2), UNKNOWN),
            (evaluation("count", match={"actor": "user"}, min=2), YES),
            (evaluation("count", match={"actor": "user"}, min=3), UNKNOWN),
            (evaluation("sequence", order=[ASKS, INFORMS]), YES),
            (evaluation("sequence", order=[INFORMS, ASKS]), UNKNOWN),
            (evaluation("within", after=ASKS, match=INFORMS, max_steps=1), UNKNOWN),
            (evaluation("tool_call", target="get_order"), YES),
            (evaluation("tool_call", target="refund"), UNKNOWN),
            (evaluation("f1", ground_truth="On its way."), UNKNOWN),
            (evaluation("variable_consistency", variable="x"), UNKNOWN),
        ],
    )
    def test_each(self, rule, outcome):
        assert run(rule, *STEPS, complete=False).outcome == outcome

    def test_inside_compositions(self):
        happened = evaluation("eventually", match={"actor": "user"})
        open_ = evaluation("never", match={"action": "greets"})
        assert run(evaluation("any_of", open_, happened), *STEPS, complete=False).outcome == YES
        assert run(evaluation("all_of", open_, happened), *STEPS, complete=False).outcome == UNKNOWN


class TestExpected:
    SESSION = session(behavior("user", "says"), behavior("assistant", "asks", id="ask", optional=True))

    def check(self, *, matched: bool, **fields):
        observed = trace(*STEPS)
        given = context(STEPS, session=self.SESSION, matched={1: observed.steps[1]} if matched else {})
        return evaluate(evaluation("expected", behavior="ask", **fields), given)

    def test_it_matched_or_not(self):
        assert self.check(matched=True).outcome == YES
        missed = self.check(matched=False, reason="must ask first")
        assert missed.outcome == NO and missed.reason.startswith("must ask first")

    def test_after(self):
        assert self.check(matched=True, after={"actor": "user"}).outcome == YES
        assert self.check(matched=True, after=CALLS_ORDER).outcome == NO
        assert self.check(matched=True, after={"action": "greets"}).outcome == NO


class TestToolCallOfTheSession:
    @pytest.mark.parametrize(
        ("fields", "outcome"),
        [
            ({"target": "Order MCP"}, YES),
            ({"target": "Order MCP", "with_": {"id": "12345"}}, YES),
            ({"target": "Order MCP", "with_": {"id": "1"}}, NO),
            ({"target": "refund"}, NO),
            ({}, UNKNOWN),
        ],
    )
    def test_some_call_must_satisfy_it(self, fields, outcome):
        assert run(evaluation("tool_call", **fields), *STEPS, aliases=ALIASES).outcome == outcome


class TestComposition:
    A, B = evaluation("contains", value="a"), evaluation("contains", value="b")
    OFF = evaluation("contains", value="zzz", when="1 == 2")
    OPEN = evaluation("llm_judge", criteria="x")

    @pytest.mark.parametrize(
        ("kind", "children", "outcome"),
        [
            ("all_of", "AA", YES),
            ("all_of", "AB", NO),
            ("any_of", "AB", YES),
            ("any_of", "BB", NO),
            ("none_of", "BB", YES),
            ("none_of", "AB", NO),
            ("all_of", "AO", UNKNOWN),
            ("all_of", "BO", NO),
            ("any_of", "AO", YES),
            ("any_of", "BO", UNKNOWN),
            ("none_of", "AO", NO),
            ("none_of", "BO", UNKNOWN),
            ("all_of", "A-", YES),
            ("any_of", "B-", NO),
            ("all_of", "--", "skipped"),
        ],
    )
    def test_each_sees_the_step(self, kind, children, outcome):
        parts = {"A": self.A, "B": self.B, "-": self.OFF, "O": self.OPEN}
        rule = evaluation(kind, *(parts[letter] for letter in children))
        assert evaluate(rule, context([says("a")], at=0)).outcome == outcome

    def test_nesting(self):
        rule = evaluation("all_of", evaluation("any_of", self.B, evaluation("none_of", self.B)), self.A)
        assert evaluate(rule, context([says("a")], at=0)).outcome == YES
        assert evaluate(rule, context([says("b")], at=0)).outcome == NO

    @pytest.mark.parametrize(
        ("kind", "children", "threshold", "outcome"),
        [
            ("all_of", "AAB", 0.6, YES),
            ("all_of", "AAB", 0.7, NO),
            ("any_of", "ABB", 0.5, NO),
            ("none_of", "BBA", 0.6, YES),
            ("none_of", "BBA", 0.7, NO),
            ("all_of", "AAAO", 0.7, YES),
            ("all_of", "BBBO", 0.5, NO),
            ("all_of", "AO", 0.7, UNKNOWN),
        ],
    )
    def test_a_threshold_is_about_the_average(self, kind, children, threshold, outcome):
        parts = {"A": self.A, "B": self.B, "O": self.OPEN}
        rule = evaluation(kind, *(parts[letter] for letter in children), threshold=threshold)
        assert evaluate(rule, context([says("a")], at=0)).outcome == outcome

    def test_session_evaluators_inside(self):
        rule = evaluation("any_of", evaluation("never", match=ASKS), evaluation("eventually", match=INFORMS))
        assert run(rule, *STEPS).outcome == YES

    def test_step_evaluators_at_session_level_look_at_the_last_text(self):
        silent = [user("hi"), calls("get_order", {})]
        rule = evaluation("all_of", evaluation("exact_match", value="On its way."))
        assert run(rule, *STEPS).outcome == YES
        assert run(rule, *STEPS, says("something else")).outcome == NO
        assert run(rule, *silent).outcome == UNKNOWN


class TestConsistency:
    def check(self, behaviors, steps, *, matched=(), closest=(), variables=None, **fields):
        observed = trace(*steps)
        scope = Scope(variables=variables or {"orderId": "12345"})
        made = session(*behaviors)
        return evaluate(
            evaluation("variable_consistency", variable="orderId"),
            context(
                steps,
                session=made,
                matched={b: observed.steps[s] for b, s in matched},
                closest={b: observed.steps[s] for b, s in closest},
                scopes=dict.fromkeys(range(len(behaviors)), scope),
                **fields,
            ),
        )

    ASK = behavior("user", "says", content="12345", capture={"orderId": "12345"})
    CALL = behavior("assistant", "calls", target="t", with_={"order": {"id": "{{orderId}}"}})
    TELL = behavior("assistant", "informs", content="Your order {{orderId}} is on the way")

    def test_the_same_everywhere(self):
        steps = [user("12345"), calls("t", {"order": {"id": "12345"}}), says("Your order 12345 is on the way.")]
        found = self.check([self.ASK, self.CALL, self.TELL], steps, matched=[(0, 0), (1, 1), (2, 2)])
        assert found.outcome == YES and "3 places" in found.reason

    def test_a_swapped_argument_is_caught_though_the_call_did_not_match(self):
        steps = [user("12345"), calls("t", {"order": {"id": "54321"}})]
        found = self.check([self.ASK, self.CALL], steps, matched=[(0, 0)], closest=[(1, 1)])
        assert found.outcome == NO
        assert '"54321"' in found.reason and "order.id" in found.reason

    @pytest.mark.parametrize(
        ("text", "outcome"),
        [
            ("Your order 12345 is on the way!", YES),
            ("your  order 54321 is on the way", NO),
            ("YOUR ORDER 12345 IS ON THE WAY", YES),
            ("Good news: it has left our warehouse.", YES),
        ],
    )
    def test_what_the_agent_said(self, text, outcome):
        steps = [user("12345"), says(text)]
        found = self.check([self.ASK, self.TELL], steps, matched=[(0, 0), (1, 1)])
        assert found.outcome == outcome

    @pytest.mark.parametrize(
        ("template", "text", "outcome"),
        [
            ("Order {{orderId}}", "Order 12345 has shipped", YES),
            ("Order {{orderId}}", "Order 54321, which you asked for", NO),
            ("{{orderId}}", "It is 12345.", YES),
            ("{{orderId}}", "It is 123456.", NO),
            ("Order #{{orderId}}: {{other}}", "Order #54321: whatever", NO),
        ],
    )
    def test_templates_of_several_forms(self, template, text, outcome):
        tell = behavior("assistant", "informs", content=template)
        found = self.check([self.ASK, tell], [user("12345"), says(text)], matched=[(0, 0), (1, 1)])
        assert found.outcome == outcome

    def test_the_payload_of_a_tool(self):
        gives = behavior("tool", "responds", target="t", content={"order": {"id": "{{orderId}}"}})
        steps = [user("12345"), result("t", {"order": {"id": "999"}})]
        assert self.check([self.ASK, gives], steps, matched=[(0, 0), (1, 1)]).outcome == NO

    def test_a_missing_argument_is_not_the_same(self):
        found = self.check([self.ASK, self.CALL], [user("12345"), calls("t")], matched=[(0, 0)], closest=[(1, 1)])
        assert found.outcome == NO and "missing" in found.reason

    def test_an_argument_around_the_value(self):
        call = behavior("assistant", "calls", target="t", with_={"q": "id:{{orderId}}"})
        good, bad = calls("t", {"q": "id:12345"}), calls("t", {"q": "id:99999"})
        assert self.check([self.ASK, call], [user("12345"), good], matched=[(0, 0), (1, 1)]).outcome == YES
        assert self.check([self.ASK, call], [user("12345"), bad], matched=[(0, 0)], closest=[(1, 1)]).outcome == NO

    def test_captured_twice_with_different_values(self):
        again = behavior("user", "says", content="777", capture={"orderId": "777"})
        assert self.check([self.ASK, again], [user("12345"), user("777")], matched=[(0, 0), (1, 1)]).outcome == NO

    def test_never_used(self):
        assert self.check([self.CALL], [user("x")]).outcome == "skipped"
        assert self.check([self.CALL], [user("x")], complete=False).outcome == UNKNOWN

    def test_hostile_texts_do_not_hang(self):
        steps = [user("12345"), says("Your order " + "a" * 500_000)]
        assert self.check([self.ASK, self.TELL], steps, matched=[(0, 0), (1, 1)]).outcome in (YES, NO)
