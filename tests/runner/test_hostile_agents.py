"""Whatever an agent says: a result comes out, and never a pass for what did not happen."""

from __future__ import annotations

import json
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from abs_gate.outcomes import Outcome

from .scripted import play

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)
raw = st.text(max_size=20) | json_values.map(json.dumps)
call = st.fixed_dictionaries({"name": st.sampled_from(["a", "b", ""]) | st.text(max_size=5), "raw": raw})
message = st.fixed_dictionaries({"text": st.none() | st.text(max_size=30), "calls": st.lists(call, max_size=3)})
result = st.fixed_dictionaries({"result": json_values, "id": st.text(max_size=3), "name": st.sampled_from(["a", "b"])})
reply = st.fixed_dictionaries({"messages": st.lists(message | result, max_size=4)})

SESSION = """
behaviors:
  - {id: u, actor: user, action: says, content: go, capture: {x: "1"}}
  - {id: o, actor: assistant, action: asks, optional: true, matches_when: {type: regex, pattern: "[a-m]"}}
  - {actor: user, action: says, content: "more {{x}}", requires: o}
  - {actor: assistant, action: calls, target: a, with: {k: 1}}
  - {actor: tool, action: responds, target: a, content: {r: 1}, evaluations: [{type: schema, schema: {type: object}}]}
  - {actor: assistant, action: calls, target: b, with_only: {}, evaluations: [{type: tool_call, ordered: false}]}
  - {actor: assistant, action: shows, content: {k: x}, evaluations: [{type: f1, ground_truth: self}]}
  - {actor: assistant, action: hands_off, target: Human, optional: true}
evaluations:
  - {type: sequence, order: [{actor: user}, {action: calls}]}
  - {type: variable_consistency, variable: x}
  - {type: none_of, evaluations: [{type: eventually, match: {target: b}}]}
"""


@settings(max_examples=150, deadline=None)
@given(replies=st.lists(reply, min_size=1, max_size=3))
def test_any_reply_gives_a_result(replies):
    count = iter(range(1000))
    trial, _ = play(SESSION, lambda request: replies[next(count) % len(replies)], max_rounds=3)
    assert trial.outcome in (Outcome.PASSED, Outcome.FAILED, Outcome.UNVERIFIED)
    assert len(trial.behaviors) == 8
    taken = [b.step for b in trial.behaviors if b.step is not None and b.index not in (1, 7)]
    assert len(set(taken)) == len(taken)
    for behavior in trial.behaviors:
        assert behavior.outcome is Outcome.PASSED or behavior.reason
        if behavior.outcome is Outcome.PASSED:
            assert behavior.step is not None
    json.dumps([step.content for step in trial.trace.steps], default=str).encode()


@settings(max_examples=60, deadline=None)
@given(replies=st.lists(reply, min_size=1, max_size=3), extra=st.sampled_from(["contains", "never"]))
def test_one_more_evaluation_never_makes_a_failure_pass(replies, extra):
    more = {
        "contains": SESSION.replace("capture:", "evaluations: [{type: contains, value: zzz}], capture:"),
        "never": SESSION + "  - {type: never, match: {actor: user}}\n",
    }[extra]

    def outcome(session):
        count = iter(range(1000))
        return play(session, lambda request: replies[next(count) % len(replies)], max_rounds=3)[0].outcome

    assert outcome(more) is Outcome.FAILED


@pytest.mark.parametrize(
    "payload", ["[" * 50_000, '{"a":' * 5_000, "[" * 900 + "]" * 900, '"\\ud800"', "1e999", "9" * 9000]
)
def test_payloads_that_break_parsers(payload):
    session = """
behaviors:
  - {actor: user, action: says, content: go}
  - {actor: assistant, action: calls, target: t, with: {a: 1}}
  - {actor: tool, action: responds, target: t, content: {a: 1}}
  - actor: assistant
    action: shows
    content: {a: 1}
    evaluations: [{type: schema, schema: {type: object}}, {type: exact_match, value: [1]}]
"""
    messages = [{"calls": [{"name": "t", "raw": "{}"}]}, {"result": payload}, {"text": payload}]
    trial, _ = play(session, [{"messages": messages}])
    assert trial.outcome is Outcome.FAILED
    json.dumps([step.content for step in trial.trace.steps]).encode()


def test_floods_of_calls_take_a_moment():
    session = "behaviors:\n  - {actor: user, action: says, content: go}\n"
    session += "  - {actor: assistant, action: calls, target: t, with: {n: -1}}\n" * 20
    calls = [{"name": "t", "id": str(i), "arguments": {"n": i}} for i in range(3_000)]
    started = time.monotonic()
    options = {"unexpected_calls": "fail", "write_tools": frozenset({"t"})}
    trial, _ = play(session, [{"calls": calls}, {"text": "ok"}], **options)
    assert trial.outcome is Outcome.FAILED
    assert time.monotonic() - started < 10
