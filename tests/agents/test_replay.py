import json
from types import MappingProxyType

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from abs_gate.agents import build_agent
from abs_gate.agents.exchanges import canonical_hash, request_to_json, turn_from_json, turn_to_json
from abs_gate.conversation import AgentRequest, AgentTurn, Message, Role, ToolCall, ToolOffer, ToolResult, Usage
from abs_gate.errors import AgentUnavailable, ConfigurationError
from abs_gate.settings.model import AgentSettings, AuthSettings, Secret
from abs_gate.sources.redaction import Redactor
from abs_gate.transport import Transport
from abs_gate.wire.recorded import load_traces
from tests.transport.servers import ScriptedServer, http


def says(*texts, **fields):
    return AgentRequest(messages=tuple(Message(role=Role.USER, text=text) for text in texts), **fields)


def open_agent(settings, transport, **fields):
    return build_agent(
        settings,
        transport,
        **{"allow_commands": True, "redactor": Redactor(["hunter22"]), "files_trusted": True, **fields},
    )


@pytest.fixture
def transport():
    with Transport() as opened:
        yield opened


def counting_server():
    count = 0

    def answer(request, sock):
        nonlocal count
        count += 1
        asked = json.loads(request.body)["messages"][-1]["content"]
        if asked == "break":
            return http(status="500 Oops")
        return http(
            json.dumps(
                {
                    "choices": [{"message": {"role": "assistant", "content": f"{count}: {asked} hunter22"}}],
                    "usage": {"prompt_tokens": 3, "completion_tokens": 4},
                    "model": "m",
                }
            )
        )

    return ScriptedServer(answer)


def test_a_recorded_conversation_is_replayed_without_the_agent(transport, tmp_path):
    with counting_server() as server:
        auth = AuthSettings(type="bearer", token=Secret("hunter22", "flag"))
        live = AgentSettings(url=server.url, auth=auth, record=str(tmp_path / "rec"), retries=0)
        with open_agent(live, transport) as agent:
            for key in ("one", "two"):
                with agent.connect(key) as connection:
                    first = connection.reply(says("a", turn_key=key))
                    assert first.messages[0].text.endswith("a hunter22")
                    connection.reply(says("a"))
                    connection.reply(replace(says("a"), messages=(*says("a").messages, *first.messages)))
                    with pytest.raises(AgentUnavailable, match="500"):
                        connection.reply(says("break"))
    recorded = "".join(path.read_text() for path in (tmp_path / "rec").iterdir())
    assert "hunter22" not in recorded
    assert "Authorization" not in recorded

    with open_agent(AgentSettings(format="replay", replay=str(tmp_path / "rec")), transport) as agent:
        with agent.connect("two") as connection:
            first = connection.reply(says("a", turn_key="other", deadline_s=5.0))
            assert first == AgentTurn(
                messages=(Message(role=Role.ASSISTANT, text="5: a ***"),),
                usage=Usage(input_tokens=3, output_tokens=4),
                model="m",
            )
            assert connection.reply(says("a")).messages[0].text == "6: a ***"
            followed = connection.reply(replace(says("a"), messages=(*says("a").messages, *first.messages)))
            assert followed.messages[0].text.startswith("7: ")
            with pytest.raises(AgentUnavailable, match="500"):
                connection.reply(says("break"))
            with pytest.raises(AgentUnavailable, match='no recording of this turn of two: the last message was "a"'):
                connection.reply(says("a"))
        with agent.connect("one") as connection:
            assert connection.reply(says("a")).messages[0].text == "1: a ***"


def test_what_was_not_recorded_is_named(transport, tmp_path):
    agent = open_agent(AgentSettings(format="replay", replay=str(tmp_path)), transport)
    with (
        agent.connect("sessions/refund.abs.yaml#3/2") as connection,
        pytest.raises(AgentUnavailable, match=r"no recording of sessions/refund\.abs\.yaml#3/2"),
    ):
        connection.reply(says("hi"))


def test_recording_again_replaces_the_conversation(transport, tmp_path):
    with (
        counting_server() as server,
        open_agent(AgentSettings(url=server.url, record=str(tmp_path)), transport) as agent,
    ):
        for _ in range(2):
            with agent.connect("one") as connection:
                connection.reply(says("a"))
    with (
        open_agent(AgentSettings(format="replay", replay=str(tmp_path)), transport) as agent,
        agent.connect("one") as connection,
    ):
        assert connection.reply(says("a")).messages[0].text == "2: a ***"
        with pytest.raises(AgentUnavailable):
            connection.reply(says("a"))


@pytest.mark.parametrize(
    "line",
    [
        "not json",
        '{"version": 2}',
        '{"version": 1, "reply": {}}',
        '{"version": 1, "reply": {"messages": [{"role": "martian"}]}}',
        '{"version": 1, "reply": {"messages": 5}}',
        "[]",
        "[" * 5000,
    ],
)
def test_a_damaged_recording_is_an_error_with_its_place(transport, tmp_path, line):
    with (
        counting_server() as server,
        open_agent(AgentSettings(url=server.url, record=str(tmp_path)), transport) as agent,
        agent.connect("one") as connection,
    ):
        connection.reply(says("a"))
    (path,) = tmp_path.iterdir()
    path.write_text(path.read_text() + line + "\n")
    with (
        open_agent(AgentSettings(format="replay", replay=str(tmp_path)), transport) as agent,
        agent.connect("one") as connection,
        pytest.raises(AgentUnavailable, match=":2: this recording is damaged"),
    ):
        connection.reply(says("a"))


def test_directories_outside_the_workspace_are_refused_when_files_are_not_trusted(transport, tmp_path):
    inside = tmp_path / "workspace"
    inside.mkdir()
    for settings in (
        AgentSettings(format="replay", replay="../elsewhere"),
        AgentSettings(url="http://127.0.0.1:1/", record=str(tmp_path / "elsewhere")),
    ):
        with pytest.raises(ConfigurationError, match="outside the workspace"):
            open_agent(settings, transport, files_trusted=False, root=str(inside))
    assert not (tmp_path / "elsewhere").exists()


def test_a_missing_directory_of_recordings_is_said_so(transport, tmp_path):
    with pytest.raises(ConfigurationError, match="no directory of recordings"):
        open_agent(AgentSettings(format="replay", replay=str(tmp_path / "none")), transport)


def test_the_hash_sees_the_conversation_and_tools_but_not_keys_and_native_data():
    base = says("a")
    tool = ToolOffer(name="t", description="d", input_schema={"type": "object", "required": ["a"]})
    same = (
        replace(base, turn_key="k", deadline_s=1.0),
        replace(base, messages=(Message(role=Role.USER, text="a", native={"claude": {"content": []}}),)),
    )
    other = (
        says("b"),
        says("a", "a"),
        replace(base, tools=(tool,)),
        replace(base, messages=(Message(role=Role.SYSTEM, text="a"),)),
    )
    key = canonical_hash(request_to_json(base))
    assert {canonical_hash(request_to_json(request)) for request in same} == {key}
    assert len({canonical_hash(request_to_json(request)) for request in (base, *other)}) == 5


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**9), 10**9)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=6,
)
objects = st.dictionaries(st.text(max_size=4), json_values, max_size=3)
calls = st.builds(
    ToolCall,
    id=st.text(max_size=5),
    name=st.text(max_size=5),
    arguments=objects | st.none(),
    raw_arguments=st.text(max_size=5),
)
results = st.builds(
    ToolResult, call_id=st.text(max_size=5), name=st.text(max_size=5), content=json_values, is_error=st.booleans()
)
messages = st.builds(
    Message,
    role=st.sampled_from(Role),
    text=st.none() | st.text(max_size=10),
    calls=st.lists(calls, max_size=2).map(tuple),
    results=st.lists(results, max_size=2).map(tuple),
    refusal=st.booleans(),
    truncated=st.booleans(),
    native=st.dictionaries(st.sampled_from(["claude", "gemini"]), objects, max_size=1).map(MappingProxyType),
)


@given(
    st.builds(
        AgentTurn,
        messages=st.lists(messages, max_size=3).map(tuple),
        usage=st.builds(Usage, input_tokens=st.integers(0, 99), output_tokens=st.integers(0, 99)),
        model=st.none() | st.text(min_size=1, max_size=5),
        warnings=st.lists(st.text(max_size=5), max_size=2).map(tuple),
    )
)
def test_turns_survive_being_written_and_read(turn):
    assert turn_from_json(json.loads(json.dumps(turn_to_json(turn)))) == turn


def test_a_recording_can_be_read_as_a_trace(transport, tmp_path):
    with (
        counting_server() as server,
        open_agent(AgentSettings(url=server.url, record=str(tmp_path)), transport) as agent,
        agent.connect("refund row 3") as connection,
    ):
        first = connection.reply(says("a"))
        second = Message(role=Role.USER, text="b")
        connection.reply(replace(says("a"), messages=(*says("a").messages, *first.messages, second)))
    (path,) = tmp_path.iterdir()
    (conversation,) = load_traces(path.read_bytes(), path.name)
    assert conversation.name == "refund row 3"
    assert [message.text for message in conversation.messages] == ["a", "1: a ***", "b", "2: b ***"]
