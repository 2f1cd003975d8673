"""What a report shows of a trial: bounded, expected beside observed."""

from __future__ import annotations

import json

from abs_gate.outcomes import Outcome
from abs_gate.runner.transcript import MAX_CONTENT, MAX_MISMATCHES, MAX_STEPS, find_mismatches, transcribe

from .scripted import play

SESSION = """
behaviors:
  - {actor: user, action: says, content: go}
  - {actor: assistant, action: calls, target: t, with: {a: 1}}
  - {actor: assistant, action: informs, evaluations: [{type: contains, value: zzz}, {type: Fluency}]}
evaluations:
  - {type: never, match: {actor: user}}
"""


def test_mismatches_name_what_was_expected_and_observed():
    result, _ = play(
        SESSION, [{"calls": [{"name": "t", "arguments": {"a": 2}}]}, {"text": "ok"}], unexpected_calls="fail"
    )
    found = find_mismatches(result)
    assert [(m.where, m.outcome) for m in found] == [
        ("behavior 2", Outcome.FAILED),
        ("evaluation 1 of behavior 3", Outcome.FAILED),
        ("evaluation 2 of behavior 3", Outcome.UNVERIFIED),
        ("session evaluation 1", Outcome.FAILED),
        ("the whole session", Outcome.FAILED),
    ]
    assert (found[0].expected, found[0].observed) == ("a call of t with a 1", "t with a 2 (differs)")
    assert found[0].line == result.behaviors[1].location.line


def test_nothing_to_show_for_a_passed_trial():
    result, _ = play("behaviors:\n  - {actor: user, action: says, content: go}\n", [{"text": "ok"}])
    assert find_mismatches(result) == ()
    assert [(s.kind, s.content) for s in transcribe(result.trace)] == [("sent", "go"), ("text", "ok")]


def test_everything_is_bounded():
    calls = [{"name": "t" * 5000, "id": str(i), "arguments": {"x": "y" * 50_000}} for i in range(500)]
    session = "behaviors:\n  - {actor: user, action: says, content: go}\n"
    session += "  - {actor: assistant, action: calls, target: other}\n" * 100
    result, _ = play(session, [{"calls": calls}, {"text": "z" * 100_000}])
    steps = transcribe(result.trace)
    assert len(steps) == MAX_STEPS
    assert steps[0].content == "go" and steps[-1].kind == "text"
    assert any("left out" in note for step in steps for note in step.notes)
    assert all(len(json.dumps(step.content)) <= MAX_CONTENT + 10 for step in steps)
    assert all(len(json.dumps(step.arguments)) <= MAX_CONTENT * 1.2 for step in steps)
    assert len(find_mismatches(result)) == MAX_MISMATCHES
    assert all(len(m.reason) < 1100 for m in find_mismatches(result))


def test_unreadable_arguments_are_shown_as_they_came():
    session = "behaviors:\n  - {actor: user, action: says, content: go}\n"
    result, _ = play(session, [{"calls": [{"name": "t", "raw": "{broken"}]}, {"text": "ok"}])
    call = transcribe(result.trace)[1]
    assert call.arguments == "{broken"
    assert "arguments are not a JSON object" in call.notes
