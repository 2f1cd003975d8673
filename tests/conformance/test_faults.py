"""One test for each fault seen in abslang 0.6.0 that must not be shared."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from abs_gate.agents import build_agent
from abs_gate.conversation import AgentRequest, Message, Role, ToolOffer
from abs_gate.documents.load import LoadOptions, load_sessions
from abs_gate.errors import ConfigurationError
from abs_gate.evaluators import evaluator_shapes
from abs_gate.settings.model import AgentSettings, AuthSettings, Secret
from abs_gate.sources.redaction import Redactor
from abs_gate.transport import Transport
from abs_gate.vcs.worktree import WorkTree
from abs_gate.wire import CODECS
from abs_gate.wire.base import WireOptions

from .agent import ScriptedAgentServer
from .harness import Played, Variant, play, sent

HEAD = 'session: s\nabs_version: "0.2"\nbehaviors:\n'
USER = "  - {actor: user, action: says, content: go}\n"


@pytest.fixture(scope="module")
def server() -> Iterator[ScriptedAgentServer]:
    with ScriptedAgentServer() as started:
        yield started


@pytest.fixture
def run(server: ScriptedAgentServer):
    with Transport() as transport:

        def run(session: str, *agent: dict[str, Any], **fields: Any) -> Played:
            return play(Variant("faults", "", {"session": session, "agent": agent, **fields}), server, transport)

        yield run


def behaviors_of(played: Played) -> list[str]:
    return [str(behavior.outcome) for behavior in played.results[0].behaviors]


def test_dashes_in_a_text_do_not_split_the_file(run):
    played = run(
        f"{HEAD}  - actor: user\n    action: says\n    content: |\n      a\n      ---\n      b\n", {"text": "ok"}
    )
    assert sent(played.requests) == [["a\n---\nb\n"]]


def test_unmatched_behaviors_fail_a_session_without_evaluations(run):
    played = run(f"{HEAD}{USER}  - {{actor: assistant, action: calls, target: t}}\n", {"text": "no"})
    assert played.results[0].outcome == "failed"


def test_an_agent_that_errors_does_not_pass(run):
    played = run(f"{HEAD}{USER}", {"status": 500, "body": {"error": "boom"}})
    assert played.results[0].outcome == "unverified"


def test_directories_run(tmp_path):
    (tmp_path / "sub").mkdir()
    for name in ("a.abs.yaml", "sub/b.abs.yml", "sub/notes.yaml"):
        (tmp_path / name).write_text(f"{HEAD}{USER}")
    options = LoadOptions(evaluators=evaluator_shapes())
    loaded = load_sessions(WorkTree(tmp_path), ["."], options)
    assert [session.file for session in loaded.sessions] == ["a.abs.yaml", "sub/b.abs.yml"]


def test_fragments_keep_id_and_with_only(run):
    fragment = "    - {id: c, actor: assistant, action: calls, target: t, with_only: {a: 1}}\n"
    session = HEAD.replace("behaviors:", f"fragments:\n  f:\n{fragment}behaviors:") + USER + "  - include: f\n"
    played = run(session, {"calls": [{"name": "t", "arguments": {"a": 1, "b": 2}}]}, {"text": "ok"})
    (result,) = played.results
    assert (result.behaviors[1].id, result.behaviors[1].outcome) == ("c", "failed")


@pytest.mark.parametrize(
    ("schema", "text"),
    [
        ("{type: array}", '{"a": 1}'),
        ("{minLength: 100}", "short"),
        ("{pattern: '^x'}", "abc"),
        ("{properties: {a: {minimum: 5}}, required: [a]}", '{"a": 1}'),
        ("{not: {required: [a]}}", '{"a": 1}'),
    ],
)
def test_schema_checks_more_than_four_keywords(run, schema, text):
    rule = f"evaluations: [{{type: schema, schema: {schema}}}]"
    played = run(f"{HEAD}{USER}  - {{actor: assistant, action: informs, {rule}}}\n", {"text": text})
    assert behaviors_of(played) == ["passed", "failed"]


def test_calls_after_a_tool_result_are_seen(run):
    calls = "".join(f"  - {{actor: assistant, action: calls, target: {name}}}\n" for name in "ab")
    played = run(f"{HEAD}{USER}{calls}", {"calls": [{"name": "a"}]}, {"calls": [{"name": "b"}]}, {"text": "ok"})
    assert behaviors_of(played) == ["passed"] * 3


def test_each_pending_call_gets_its_own_result(run):
    results = "".join(f"  - {{actor: tool, action: responds, target: {n}, content: from {n}}}\n" for n in "ab")
    agent = ({"calls": [{"name": "b", "id": "1"}, {"name": "a", "id": "2"}]}, {"text": "ok"})
    played = run(f"{HEAD}{USER}{results}", *agent)
    answers = {m["tool_call_id"]: m["content"] for m in played.requests[1]["messages"] if m["role"] == "tool"}
    assert answers == {"1": "from b", "2": "from a"}


def test_text_beside_calls_is_kept(run):
    played = run(f"{HEAD}{USER}", {"text": "One moment.", "calls": [{"name": "a"}]}, {"text": "ok"})
    steps = [(step.kind, step.content) for step in played.results[0].trace.steps]
    assert ("text", "One moment.") in steps
    assert played.requests[1]["messages"][1]["content"] == "One moment."


@pytest.mark.parametrize("name", ["claude", "gemini", "responses", "openai"])
def test_every_format_carries_tools(name):
    offer = ToolOffer(name="get_order", description="d", input_schema={"type": "object", "properties": {}})
    request = AgentRequest(messages=(Message(role=Role.USER, text="hi"),), tools=(offer,))
    body = CODECS[name].encode(request, "http://127.0.0.1:1/v1", WireOptions(model="m")).body
    assert "get_order" in json.dumps(body)


def test_a_placeholder_without_a_value_is_never_sent(run):
    played = run(f"{HEAD}  - {{actor: user, action: says, content: 'Order {{{{id}}}}'}}\n", {"text": "ok"})
    assert "id" in played.error and not played.requests


def test_when_is_not_executed(run, tmp_path):
    mark = tmp_path / "executed"
    note = f"__import__('pathlib').Path({str(mark)!r}).touch()"
    session = (
        HEAD.replace("behaviors:", "dataset: {id: d, path: r.json}\nbehaviors:")
        + f"{USER}evaluations:\n  - {{type: never, match: {{actor: user}}, when: \"{{{{d.note}}}} == 'x'\"}}\n"
    )
    played = run(session, {"text": "ok"}, files={"r.json": json.dumps([{"note": note}])})
    assert played.results[0].evaluations[0].outcome == "skipped"
    assert not mark.exists()


@pytest.mark.parametrize(
    ("kind", "text", "outcome"),
    [
        ("any_of", "yes", "passed"),
        ("any_of", "no", "failed"),
        ("none_of", "yes", "failed"),
        ("none_of", "no", "passed"),
    ],
)
def test_compositions_under_a_behavior_see_its_step(run, kind, text, outcome):
    rule = f"evaluations: [{{type: {kind}, evaluations: [{{type: contains, value: 'yes'}}]}}]"
    played = run(f"{HEAD}{USER}  - {{actor: assistant, action: informs, {rule}}}\n", {"text": text})
    assert behaviors_of(played) == ["passed", outcome]


def test_evaluations_of_user_steps_run(run):
    rule = "evaluations: [{type: contains, value: stop}]"
    played = run(f"{HEAD}  - {{actor: user, action: says, content: go, {rule}}}\n", {"text": "ok"})
    assert behaviors_of(played) == ["failed"]


def test_a_tool_call_evaluation_does_not_look_at_other_turns(run):
    rule = "evaluations: [{type: tool_call, with: {n: 2}}]"
    session = f"{HEAD}{USER}  - {{actor: assistant, action: calls, target: t}}\n{USER}"
    session += f"  - {{actor: assistant, action: calls, target: t, {rule}}}\n"
    call = {"name": "t", "arguments": {"n": 1}}
    two = {"name": "t", "arguments": {"n": 2}}
    played = run(session, {"calls": [two]}, {"text": "a"}, {"calls": [call]}, {"text": "b"})
    assert behaviors_of(played) == ["passed", "passed", "passed", "failed"]


def test_null_content_does_not_match_informs(run):
    played = run(f"{HEAD}{USER}  - {{actor: assistant, action: informs}}\n", {"text": None})
    assert behaviors_of(played) == ["passed", "failed"]


def test_a_text_does_not_match_hands_off(run):
    played = run(f"{HEAD}{USER}  - {{actor: assistant, action: hands_off, target: Human}}\n", {"text": "bye"})
    assert behaviors_of(played) == ["passed", "failed"]


def test_ordered_false_is_honoured(run):
    session = f"{HEAD}{USER}  - {{actor: assistant, action: calls, target: a}}\n"
    session += "  - {actor: assistant, action: calls, target: b, evaluations: [{type: tool_call, ordered: false}]}\n"
    played = run(session, {"calls": [{"name": "b", "id": "1"}, {"name": "a", "id": "2"}]}, {"text": "ok"})
    assert played.results[0].outcome == "passed"


def test_evaluations_of_tool_payloads_run(run):
    rule = "evaluations: [{type: contains, value: shipped}]"
    session = f"{HEAD}{USER}  - {{actor: assistant, action: calls, target: t}}\n"
    session += f"  - {{actor: tool, action: responds, target: t, content: {{status: lost}}, {rule}}}\n"
    played = run(session, {"calls": [{"name": "t"}]}, {"text": "ok"})
    assert behaviors_of(played) == ["passed", "passed", "failed"]


def test_oauth2_is_renewed_for_real(server):
    server.script([{"text": "ok"}])
    auth = AuthSettings(
        type="oauth2",
        token_url=server.url.replace("/v1/chat/completions", "/token"),
        client_id="gate",
        client_secret=Secret("s"),
    )
    settings = AgentSettings(url=server.url, auth=auth, timeout=5, retries=0)
    with Transport() as transport, build_agent(settings, transport, allow_commands=True, redactor=Redactor()) as agent:
        for _ in range(2):
            agent.connect("k").reply(AgentRequest(messages=(Message(role=Role.USER, text="hi"),)))
    assert [headers["authorization"] for headers in server.headers] == ["Bearer granted-1"] * 2


def test_no_made_up_tool_is_offered(run, server):
    run(f"{HEAD}{USER}", {"text": "ok"})
    assert "tools" not in server.requests[0]


def test_connections_are_kept(run, server):
    run(f"{HEAD}{USER * 5}", {"text": "ok"})
    assert len(server.requests) == 5
    assert server.connections == 1


def test_no_sessions_is_an_error(tmp_path):
    with pytest.raises(ConfigurationError):
        load_sessions(WorkTree(tmp_path), ["."], LoadOptions(evaluators=evaluator_shapes()))


def test_an_agent_may_use_the_same_call_id_in_every_reply(run):
    calls = "".join(f"  - {{actor: assistant, action: calls, target: {name}}}\n" for name in "ab")
    agent = ({"calls": [{"name": "a", "id": "call_1"}]}, {"calls": [{"name": "b", "id": "call_1"}]}, {"text": "ok"})
    assert behaviors_of(run(f"{HEAD}{USER}{calls}", *agent)) == ["passed"] * 3


def test_settings_of_the_agent_do_not_leak_into_the_conversation(server):
    server.script([{"text": "ok"}])
    auth = AuthSettings(type="bearer", token=Secret("s3cret-token-value"))
    settings = AgentSettings(url=server.url, auth=auth, retries=0, timeout=5)
    with (
        Transport() as transport,
        build_agent(settings, transport, allow_commands=True, redactor=Redactor(["s3cret-token-value"])) as agent,
        agent.connect("k") as connection,
    ):
        connection.reply(AgentRequest(messages=(Message(role=Role.USER, text="hi"),)))
    assert "s3cret" not in json.dumps(server.requests)
    assert server.headers[0]["authorization"] == "Bearer s3cret-token-value"
