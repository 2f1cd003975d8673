"""`abs-gate sessions` against an agent of every protocol: the same session, the same verdict."""

import json
import textwrap

import pytest

from . import agents
from .agents import LoopbackAgent
from .gate import sessions

SESSION = """\
session: where is my order
abs_version: "0.2"
behaviors:
  - {actor: user, action: asks, content: "Where is order 12345?"}
  - {actor: assistant, action: calls, target: get_order, with_only: {orderId: "12345"}}
  - {actor: tool, action: responds, target: get_order, content: {orderId: "12345", status: shipped}}
  - {actor: assistant, action: informs, evaluations: [{type: contains, value: "12345 is SHIPPED"}]}
evaluations:
  - {type: count, match: {action: calls}, min: 1, max: 1}
"""
OTHER_ORDER = SESSION.replace('with_only: {orderId: "12345"}', 'with_only: {orderId: "54321"}').replace(
    "session: where is my order", "session: another order"
)


@pytest.fixture
def place(tmp_path):
    (tmp_path / "s.abs.yaml").write_text(SESSION)
    (tmp_path / "other.abs.yaml").write_text(OTHER_ORDER)
    return tmp_path


def play_both(place, *arguments):
    """The session that the agent satisfies, and the one it does not."""
    done = sessions(place, "s.abs.yaml", "other.abs.yaml", *arguments)
    assert done.code == 1, done.out + done.err
    outcomes = {session["name"]: session["outcome"] for session in done.result["sessions"]}
    assert outcomes == {"where is my order": "passed", "another order": "failed"}, done.reasons
    assert 'orderId "12345"' in done.reasons and '"54321"' in done.reasons
    return done


@pytest.mark.parametrize(
    ("agent", "arguments"),
    [
        ("openai", []),
        ("openai_stream", ["--agent-format", "openai"]),
        ("bare_messages", ["--agent-format", "openai"]),
        ("responses", ["--agent-format", "responses"]),
        ("claude", ["--agent-format", "claude", "--agent-model", "shop-1"]),
        ("gemini", ["--agent-format", "gemini", "--agent-model", "shop-1"]),
        ("messages", ["--agent-format", "messages"]),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_tools_go_both_ways_in_every_format(place, agent, arguments):
    with LoopbackAgent(getattr(agents, agent)) as shop:
        done = play_both(place, "--agent", shop.url, *arguments)
    assert done.result["metadata"]["agent_calls"] == (2 if agent == "bare_messages" else 4)


def test_a_bare_text_is_an_answer(tmp_path):
    (tmp_path / "s.abs.yaml").write_text(
        SESSION.replace("  - {actor: assistant, action: calls", "  - {optional: true, actor: assistant, action: calls")
        .replace("  - {actor: tool", "  - {optional: true, actor: tool")
        .replace("min: 1, max: 1", "max: 0")
    )
    with LoopbackAgent(agents.bare_message) as shop:
        done = sessions(tmp_path, "s.abs.yaml", "--agent", shop.url)
    assert done.code == 0, done.out


CONFIGURATION = """\
version: 1
agent: {{format: {format}, command: {command}}}
"""


def test_a_command(place):
    (place / "shop.py").write_text(
        textwrap.dedent(
            """\
            import json, sys
            for line in sys.stdin:
                last = json.loads(line)["messages"][-1]
                if last["role"] == "tool":
                    found = json.loads(last["content"])
                    print(json.dumps(f"Your order {found['orderId']} is {found['status']}."), flush=True)
                else:
                    function = {"name": "get_order", "arguments": json.dumps({"orderId": "12345"})}
                    call = {"id": "c1", "type": "function", "function": function}
                    print(json.dumps({"role": "assistant", "tool_calls": [call]}), flush=True)
            """
        )
    )
    (place / "abs-gate.yaml").write_text(CONFIGURATION.format(format="command", command="python3 shop.py"))
    play_both(place, "--config", "abs-gate.yaml")


def test_a_python_function(place):
    (place / "shop.py").write_text(
        textwrap.dedent(
            """\
            import json
            def answer(messages, tools):
                last = messages[-1]
                if last["role"] == "tool":
                    found = json.loads(last["content"])
                    return f"Your order {found['orderId']} is {found['status']}."
                function = {"name": "get_order", "arguments": json.dumps({"orderId": "12345"})}
                return {"role": "assistant", "tool_calls": [{"id": "c", "type": "function", "function": function}]}
            """
        )
    )
    (place / "abs-gate.yaml").write_text(CONFIGURATION.format(format="python", command="shop:answer"))
    play_both(place, "--config", "abs-gate.yaml")


def untimed(part):
    """A record without how long it took."""
    if isinstance(part, dict):
        return {key: untimed(value) for key, value in part.items() if key != "duration_ms"}
    return [untimed(each) for each in part] if isinstance(part, list) else part


def test_what_was_recorded_replays_to_the_same_verdict_without_the_agent_and_without_secrets(place):
    secret = "tok-4f9a8b7c6d5e"
    with LoopbackAgent(agents.openai) as shop:
        url = shop.url
        recorded = sessions(place, "s.abs.yaml", "--agent", url, "--agent-token", secret, "--record", "tape")
        asked = len(shop.requests)
    assert recorded.code == 0
    tapes = [path for path in (place / "tape").rglob("*") if path.is_file()]
    assert tapes and not any(secret in path.read_text() for path in tapes)
    replayed = [sessions(place, "s.abs.yaml", "--replay", "tape") for _ in range(2)]
    assert [done.code for done in replayed] == [0, 0]
    assert untimed(replayed[0].session) == untimed(replayed[1].session)
    assert replayed[0].session["behaviors"] == recorded.session["behaviors"]
    assert asked == 2
    changed = (place / "s.abs.yaml").read_text().replace("Where is", "What about")
    (place / "s.abs.yaml").write_text(changed)
    unknown = sessions(place, "s.abs.yaml", "--replay", "tape")
    assert unknown.code == 3 and "recording" in unknown.reasons


def test_recorded_conversations_are_judged_without_an_agent(place):
    def line(order):
        function = {"name": "get_order", "arguments": json.dumps({"orderId": order})}
        call = {"id": "c1", "type": "function", "function": function}
        said = [
            {"role": "user", "content": "Where is order 12345?"},
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "c1", "content": json.dumps({"orderId": order, "status": "shipped"})},
            {"role": "assistant", "content": "Order 12345 is shipped."},
        ]
        return json.dumps({"messages": said})

    (place / "good.jsonl").write_text(line("12345") + "\n")
    (place / "mixed.jsonl").write_text(f"{line('12345')}\n{line('54321')}\n")
    good = sessions(place, "s.abs.yaml", "--traces", "good.jsonl")
    assert good.code == 0, good.out + good.err
    mixed = sessions(place, "s.abs.yaml", "--traces", "mixed.jsonl")
    assert mixed.code == 1 and mixed.session["trials"]["passed"] == 1 and mixed.session["trials"]["failed"] == 1
    none = sessions(place, "s.abs.yaml", "--traces", "absent.jsonl", format=None)
    assert none.code == 2 and "absent.jsonl" in none.err
