"""The rules of sessions as a user meets them: many small sessions, one run of the command, one agent behind HTTP."""

import json

import pytest

from .agents import LoopbackAgent
from .gate import sessions


def call(*calls):
    """A message with calls: (name, arguments as data or as text)."""
    return {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {
                "id": f"c{number}",
                "type": "function",
                "function": {"name": name, "arguments": given if isinstance(given, str) else json.dumps(given)},
            }
            for number, (name, given) in enumerate(calls)
        ],
    }


def text(content, **more):
    return {"role": "assistant", "content": content, **more}


def calls(target, more=""):
    return f"  - {{actor: assistant, action: calls, target: {target}{more}}}\n"


INFORMS = "  - {actor: assistant, action: informs}\n"
FREE = ", evaluations: [{type: tool_call, ordered: false}]"
BARE = calls("t", ", with_only: {}") + INFORMS
ONE = calls("t", ", with: {n: 1}") + INFORMS
TWO = calls("a") + calls("b") + INFORMS
ENDS = [text("done")]
HANDS_OFF = "  - {actor: assistant, action: hands_off, target: Human Agent}\n"
SHOWS = "  - {actor: assistant, action: shows, content: {slots: [1]}}\n"


def informs(*evaluations):
    return f"  - {{actor: assistant, action: informs, evaluations: [{', '.join(evaluations)}]}}\n"


def within(limit):
    return f"{{type: within, match: {{action: informs}}, after: {{action: calls, target: a}}, max_steps: {limit}}}"


PAYLOAD = (
    "  - {actor: tool, action: responds, target: a, content: {s: 1}, "
    "evaluations: [{type: schema, schema: {required: [KEY]}}]}\n"
)
CASES = {
    # name: (behaviors after the user's message, evaluations of the session, replies, outcome)
    "no arguments, an empty object": (BARE, "", [call(("t", {})), *ENDS], "passed"),
    "no arguments, an empty text": (BARE, "", [call(("t", "")), *ENDS], "passed"),
    "no arguments, but one": (BARE, "", [call(("t", {"a": 1})), *ENDS], "failed"),
    "one and one point nought": (ONE, "", [call(("t", '{"n": 1.0}')), *ENDS], "passed"),
    "one and a text": (ONE, "", [call(("t", '{"n": "1"}')), *ENDS], "failed"),
    "one and true": (ONE, "", [call(("t", '{"n": true}')), *ENDS], "failed"),
    "arguments that are no JSON": (ONE, "", [call(("t", '{"n": 1')), *ENDS], "failed"),
    "the order declared": (TWO, "", [call(("a", {})), call(("b", {})), *ENDS], "passed"),
    "another order": (TWO, "", [call(("b", {})), call(("a", {})), *ENDS], "failed"),
    "another order, freed": (calls("a") + calls("b", FREE), "", [call(("b", {}), ("a", {})), *ENDS], "passed"),
    "freed, but one call for two": (calls("a") + calls("a", FREE), "", [call(("a", {})), *ENDS], "failed"),
    "freed, and only one way to pair": (
        calls("a") + calls("a", ", with: {k: 1}" + FREE),
        "",
        [call(("a", {"k": 1}), ("a", {"k": 2})), *ENDS],
        "passed",
    ),
    "within two steps": (calls("a") + INFORMS, within(2), [call(("a", {})), *ENDS], "passed"),
    "within one step": (calls("a") + INFORMS, within(1), [call(("a", {})), *ENDS], "failed"),
    "a hand-off by its call": (HANDS_OFF, "", [call(("transfer_to_human_agent", {})), *ENDS], "passed"),
    "a hand-off in words": (HANDS_OFF, "", [text("I transfer you to the Human Agent.")], "failed"),
    "never a hand-off, but one": (
        INFORMS,
        "{type: never, match: {action: hands_off}}",
        [call(("transfer_to_billing", {})), *ENDS],
        "failed",
    ),
    "a payload as it must be": (calls("a") + PAYLOAD.replace("KEY", "s"), "", [call(("a", {})), *ENDS], "passed"),
    "a payload without a key": (calls("a") + PAYLOAD.replace("KEY", "z"), "", [call(("a", {})), *ENDS], "failed"),
    "a refusal": (INFORMS, "", [text(None, refusal="I may not.")], "passed"),
    "no text": (INFORMS, "", [text(None)], "failed"),
    "a blank text": (INFORMS, "", [text(" \n")], "failed"),
    "a text in parts": (
        informs("{type: exact_match, value: ab}"),
        "",
        [text([{"type": "text", "text": "a"}, {"type": "text", "text": "b"}])],
        "passed",
    ),
    "a call in the old form": (
        calls("a") + INFORMS,
        "",
        [text(None, function_call={"name": "a", "arguments": "{}"}), *ENDS],
        "passed",
    ),
    "a number in a text": (informs("{type: contains, value: 47.5}"), "", [text("47.50 EUR")], "passed"),
    "another number in a text": (informs("{type: contains, value: 47.5}"), "", [text("48.50 EUR")], "failed"),
    "text beside a call": (
        "  - {actor: assistant, action: says}\n" + calls("a") + INFORMS,
        "",
        [{**call(("a", {})), "content": "Let me look."}, *ENDS],
        "passed",
    ),
    "the shape shown": (SHOWS, "", [text('{"slots": ["a"], "more": 1}')], "passed"),
    "another shape shown": (SHOWS, "", [text('{"slots": "a"}')], "failed"),
    "a verb of execution in a selector": (
        "  - {actor: assistant, action: submits, target: a}\n" + INFORMS,
        "{type: sequence, order: [{action: submits, target: a}, {action: informs}]}",
        [call(("a", {})), *ENDS],
        "passed",
    ),
    "a forbidden call beside the right one": (
        calls("a") + INFORMS,
        "{type: never, match: {action: calls, target: b}}",
        [call(("a", {}), ("b", {})), *ENDS],
        "failed",
    ),
    "an optional behavior does not take the text away": (
        "  - {actor: assistant, action: asks, optional: true, matches_when: {type: contains, value: '?'}}\n" + INFORMS,
        "",
        [text("Really?")],
        "passed",
    ),
}
SWAPPED = """\
session: another order number
abs_version: "0.2"
behaviors:
  - {actor: user, action: says, content: another order number, capture: {order: "12345"}}
  - {actor: assistant, action: calls, target: a}
  - {actor: assistant, action: informs, content: "Order {{order}} is on its way."}
evaluations:
  - {type: variable_consistency, variable: order}
"""


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory):
    place = tmp_path_factory.mktemp("sessions")
    replies = {name: case[2] for name, case in CASES.items()}
    replies["another order number"] = [call(("a", {})), text("Order 54321 is on its way.")]
    (place / "swapped.abs.yaml").write_text(SWAPPED)
    for number, (name, (behaviors, evaluations, _, _)) in enumerate(CASES.items()):
        user = f'  - {{actor: user, action: says, content: "{name}"}}\n'
        whole = f"evaluations:\n  - {evaluations}\n" if evaluations else ""
        document = f'session: "{name}"\nabs_version: "0.2"\nbehaviors:\n{user}{behaviors}{whole}'
        (place / f"{number:02}.abs.yaml").write_text(document)

    def answer(path, headers, body):
        script = replies[body["messages"][0]["content"]]
        done = sum(message["role"] == "assistant" for message in body["messages"])
        return {"choices": [{"message": script[min(done, len(script) - 1)]}]}

    with LoopbackAgent(answer) as agent:
        run = sessions(place, ".", "--agent", agent.url, "--concurrency", "16")
    assert run.code == 1, run.err
    return {session["name"]: session for session in run.result["sessions"]}


@pytest.mark.parametrize("name", CASES)
def test_outcome(outcomes, name):
    session = outcomes[name]
    assert session["outcome"] == CASES[name][3], session


def test_an_order_number_that_was_swapped_in_the_answer(outcomes):
    session = outcomes["another order number"]
    assert session["outcome"] == "failed"
    assert [behavior["passed"] for behavior in session["behaviors"]] == [1, 1, 1]
    (check,) = session["evaluations"]
    assert "12345" in str(check["reasons"]) and "54321" in str(check["reasons"])
