import base64
import json
import threading
import time
from urllib.parse import parse_qs

import pytest

from abs_gate.agents import build_agent
from abs_gate.conversation import AgentRequest, Message, Role, ToolCall, ToolResult
from abs_gate.errors import AgentUnavailable, ConfigurationError
from abs_gate.settings.model import AgentSettings, AuthSettings, Secret
from abs_gate.sources.redaction import Redactor
from abs_gate.transport import Transport
from tests.transport.servers import ScriptedServer, http

ANSWER = http('{"content": "hello"}')
SECRET = Secret("hunter22-secret", "env:AGENT_TOKEN")


@pytest.fixture
def transport():
    with Transport(redactor=Redactor([SECRET.value])) as opened:
        yield opened


HI = Message(role=Role.USER, text="hi")


def ask(settings, transport, messages=(HI,), **fields):
    agent = build_agent(settings, transport, allow_commands=True, redactor=transport.redactor)
    with agent, agent.connect("a") as connection:
        return connection.reply(AgentRequest(messages=tuple(messages), **fields))


def always(answer):
    return ScriptedServer(lambda request, sock: answer)


# What is sent


@pytest.mark.parametrize(
    ("auth", "header", "value"),
    [
        (AuthSettings(type="api_key", token=SECRET), "x-api-key", "hunter22-secret"),
        (AuthSettings(type="api_key", token=SECRET, header="X-Custom"), "x-custom", "hunter22-secret"),
        (AuthSettings(type="bearer", token=SECRET), "authorization", "Bearer hunter22-secret"),
        (AuthSettings(type="bearer", token=Secret("Bearer abc")), "authorization", "Bearer abc"),
        (AuthSettings(type="header", token=SECRET, header="X-Mine"), "x-mine", "hunter22-secret"),
        (AuthSettings(), "authorization", None),
    ],
)
def test_each_way_to_authenticate(transport, auth, header, value):
    with always(ANSWER) as server:
        ask(AgentSettings(url=server.url, auth=auth), transport)
        assert server.requests[0].headers.get(header) == value


def test_headers_model_and_key_are_sent(transport):
    with always(ANSWER) as server:
        settings = AgentSettings(
            url=f"{server.url}/chat?v=1", model="m1", headers={"X-Plain": "a"}, header_secrets={"X-Secret": SECRET}
        )
        ask(settings, transport, turn_key="case-1/turn-1")
        request = server.requests[0]
    assert request.path == "/chat?v=1"
    assert request.headers["x-plain"] == "a"
    assert request.headers["x-secret"] == SECRET.value
    assert request.headers["idempotency-key"] == "case-1/turn-1"
    assert json.loads(request.body)["model"] == "m1"


def test_the_model_is_left_out_when_not_set(transport):
    with always(ANSWER) as server:
        ask(AgentSettings(url=server.url), transport)
        assert json.loads(server.requests[0].body) == {"messages": [{"role": "user", "content": "hi"}]}


def test_secrets_do_not_go_where_only_a_file_of_the_pull_request_points(transport):
    settings = AgentSettings(
        url="http://127.0.0.1:1/", auth=AuthSettings(type="bearer", token=SECRET), url_origin="file"
    )
    for fields in ({"files_trusted": False, "allow_commands": True}, {"allow_commands": False}):
        with pytest.raises(ConfigurationError, match="env:AGENT_TOKEN is not sent to"):
            build_agent(settings, transport, redactor=Redactor(), **fields)


# What comes back


LOOK = {"id": "c1", "type": "function", "function": {"name": "look", "arguments": '{"b": 1, "a": 2}'}}
THIS_TURN = (
    Message(role=Role.USER, text="hi"),
    Message(role=Role.ASSISTANT, calls=(ToolCall(id="gate_call_1", name="look", arguments={"a": 2, "b": 1}),)),
    Message(role=Role.TOOL, results=(ToolResult(call_id="gate_call_1", name="look", content="seen"),)),
)


@pytest.mark.parametrize(
    ("answered", "kept"),
    [
        (
            [
                {"role": "user", "content": "hi"},
                {"role": "assistant", "content": None, "tool_calls": [LOOK]},
                {"role": "tool", "tool_call_id": "c1", "content": "seen"},
                {"role": "assistant", "content": "I looked."},
            ],
            ["I looked."],
        ),
        ([{"role": "assistant", "content": "I looked."}], ["I looked."]),
        ([{"role": "assistant", "tool_calls": [LOOK]}], ["look"]),
        (
            [{"role": "assistant", "tool_calls": [LOOK]}, {"role": "tool", "tool_call_id": "c1", "content": "other"}],
            ["look", "other"],
        ),
        (
            [
                {"role": "assistant", "tool_calls": [LOOK]},
                {"role": "tool", "tool_call_id": "c1", "content": "seen"},
                {"role": "assistant", "tool_calls": [LOOK]},
            ],
            ["look"],
        ),
    ],
)
def test_an_answer_that_repeats_the_conversation_is_taken_from_where_it_goes_on(transport, answered, kept):
    with always(http(json.dumps({"messages": answered}))) as server:
        messages = ask(AgentSettings(url=server.url), transport, THIS_TURN).messages
    told = [m.text or "".join(c.name for c in m.calls) or m.results[0].content for m in messages]
    assert told == kept


def test_an_agent_that_gives_every_call_the_same_id_loses_none(transport):
    body = {"role": "assistant", "tool_calls": [{**LOOK, "id": "call_1"}]}
    earlier = (
        Message(role=Role.USER, text="hi"),
        Message(role=Role.ASSISTANT, calls=(ToolCall(id="call_1", name="look", arguments={"a": 2, "b": 1}),)),
        Message(role=Role.TOOL, results=(ToolResult(call_id="call_1", name="look", content="seen"),)),
    )
    with always(http(json.dumps(body))) as server:
        for sent in (earlier, (*earlier, Message(role=Role.USER, text="again"))):
            (message,) = ask(AgentSettings(url=server.url), transport, sent).messages
            assert [call.id for call in message.calls] == ["call_1"]


def test_calls_without_ids_get_ids_that_differ_over_the_conversation(transport):
    body = {
        "messages": [
            {"role": "assistant", "tool_calls": [{"function": {"name": "a"}}, {"function": {"name": "b"}}]},
            {"role": "tool", "name": "b", "content": "of b"},
            {"role": "tool", "name": "a", "content": "of a"},
        ]
    }
    earlier = Message(role=Role.ASSISTANT, calls=(ToolCall(id="gate_call_1", name="a", arguments={}),))
    with always(http(json.dumps(body))) as server:
        turn = ask(AgentSettings(url=server.url), transport, (earlier, Message(role=Role.USER, text="x")))
    called, of_b, of_a = turn.messages
    assert [call.id for call in called.calls] == ["gate_call_2", "gate_call_3"]
    assert (of_b.results[0].call_id, of_a.results[0].call_id) == ("gate_call_3", "gate_call_2")


@pytest.mark.parametrize(
    ("answer", "reason", "hint"),
    [
        (http("no", "401 Unauthorized", "text/plain"), "answered 401 Unauthorized: no", "token"),
        (http('{"detail":"Not Found"}', "404 Not Found"), "answered 404", "path"),
        (
            http("<html><head><title>Bad Gateway</title></head></html>", "502 Bad", "text/html"),
            "502 Bad Gateway: Bad Gateway",
            "log",
        ),
        (http("{}", "599 Odd"), "answered 599", "log"),
        (http("", "503 Busy", Retry_After="0"), "answered 503", "concurrency"),
        (http("<!doctype html><body>Sign in</body>", content_type="text/html"), "HTML page (Sign in)", "address"),
        (http("", content_type="text/plain"), "it is empty", "log"),
        (http(b"\x00\xff\xfe garbage \x1b[31m"), "not JSON", "agent.format"),
        (http('{"content": '), "not JSON", "agent.format"),
        (http('{"choices": []}'), "no choices", "log"),
        (http("[" * 100_000), "nested deeper", ""),
        (http('{"content": NaN}'), "NaN", ""),
        (http('{"status": "queued"}'), "keys status", "agent.format"),
        (http("42"), "it is 42", ""),
        (http('{"error": {"message": "quota", "code": "rate"}}'), "reports an error: quota (rate)", ""),
    ],
)
def test_answers_that_are_none_are_said_in_words(transport, answer, reason, hint):
    with always(answer) as server, pytest.raises(AgentUnavailable) as caught:
        ask(AgentSettings(url=server.url), transport)
    assert reason in caught.value.message
    assert hint in caught.value.hint
    assert len(str(caught.value)) < 600
    assert str(caught.value).isprintable()


def test_a_secret_that_the_agent_echoes_in_an_error_is_removed(transport):
    with (
        always(http(f"bad token {SECRET.value}", "403 Forbidden", "text/plain")) as server,
        pytest.raises(AgentUnavailable) as caught,
    ):
        ask(AgentSettings(url=server.url, auth=AuthSettings(type="bearer", token=SECRET)), transport)
    assert SECRET.value not in str(caught.value)
    assert "***" in str(caught.value)
    assert caught.value.__cause__ is None


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        (AgentSettings(), "no agent to talk to"),
        (AgentSettings(url="http://x/", format="telepathy"), "no agent format telepathy"),
        (AgentSettings(url="http://x/", auth=AuthSettings(type="bearer")), "needs a token"),
        (AgentSettings(url="http://x/", auth=AuthSettings(type="header", token=SECRET)), "header's name"),
        (AgentSettings(url="http://x/", auth=AuthSettings(type="oauth2")), "token_url"),
        (AgentSettings(url="http://x/", auth=AuthSettings(type="oauth2", token_url="http://t/")), "refresh token"),
        (AgentSettings(format="command"), "needs agent.command"),
        (AgentSettings(format="python"), "needs agent.command"),
        (AgentSettings(format="replay"), "directory of recordings"),
    ],
)
def test_settings_that_build_no_agent(transport, settings, reason):
    with pytest.raises(ConfigurationError, match=reason):
        build_agent(settings, transport, allow_commands=True, redactor=Redactor())


# OAuth 2


class TokenServer(ScriptedServer):
    """Hands out numbered tokens; takes the ones told to for an agent."""

    def __init__(self, *, expires_in=3600, basic=True, refresh_works=True):
        self.issued = 0
        self.valid = set()
        self.grants = []
        self.expires_in = expires_in
        self.basic = basic
        self.refresh_works = refresh_works
        super().__init__(self._reply)

    def _reply(self, request, sock):
        if request.path == "/token":
            return self._issue(request)
        token = request.headers.get("authorization", "").removeprefix("Bearer ")
        return ANSWER if token in self.valid else http('{"error":"expired"}', "401 Unauthorized")

    def _issue(self, request):
        fields = {name: values[0] for name, values in parse_qs(request.body.decode()).items()}
        authorization = request.headers.get("authorization", "")
        if authorization.startswith("Basic "):
            if not self.basic:
                return http('{"error":"invalid_client"}', "401 Unauthorized")
            fields["basic"] = base64.b64decode(authorization[6:]).decode()
        self.grants.append(fields)
        if fields["grant_type"] == "refresh_token" and not self.refresh_works:
            return http('{"error":"invalid_grant","error_description":"used up"}', "400 Bad Request")
        time.sleep(0.05)
        self.issued += 1
        token = f"access-{self.issued}"
        self.valid.add(token)
        answer = {"access_token": token, "token_type": "Bearer", "expires_in": self.expires_in}
        if fields["grant_type"] == "refresh_token":
            answer["refresh_token"] = f"refresh-{self.issued}"
        return http(json.dumps(answer))


def oauth(server, **fields):
    return AgentSettings(url=server.url, auth=AuthSettings(type="oauth2", token_url=f"{server.url}/token", **fields))


CLIENT = {"client_id": "me & co", "client_secret": Secret("pa:ss/word")}


def test_client_credentials_are_exchanged_once_and_used(transport):
    with TokenServer() as server:
        settings = oauth(server, **CLIENT, scope="a b")
        agent = build_agent(settings, transport, allow_commands=True, redactor=Redactor())
        with agent.connect("a") as connection:
            for _ in range(3):
                connection.reply(AgentRequest(messages=()))
    assert server.grants == [{"grant_type": "client_credentials", "scope": "a b", "basic": "me+%26+co:pa%3Ass%2Fword"}]


def test_a_server_that_wants_the_client_in_the_body_gets_it_there(transport):
    with TokenServer(basic=False) as server:
        ask(oauth(server, **CLIENT), transport)
    assert server.grants == [
        {"grant_type": "client_credentials", "client_id": "me & co", "client_secret": "pa:ss/word"}
    ]


def test_a_refresh_token_is_used_and_rotated(transport):
    with TokenServer(expires_in=0.2) as server:
        settings = oauth(server, refresh_token=Secret("refresh-0"), client_id="me")
        agent = build_agent(settings, transport, allow_commands=True, redactor=Redactor())
        with agent.connect("a") as connection:
            connection.reply(AgentRequest(messages=()))
            time.sleep(0.25)
            connection.reply(AgentRequest(messages=()))
    assert [grant["refresh_token"] for grant in server.grants] == ["refresh-0", "refresh-1"]
    assert server.grants[0]["client_id"] == "me"


def test_a_used_up_refresh_token_falls_back_to_the_client(transport):
    with TokenServer(refresh_works=False) as server:
        ask(oauth(server, refresh_token=Secret("old"), **CLIENT), transport)
    assert [grant["grant_type"] for grant in server.grants] == ["refresh_token", "client_credentials"]


def test_a_token_is_renewed_before_it_expires(transport):
    with TokenServer(expires_in="0.3") as server:
        agent = build_agent(oauth(server, **CLIENT), transport, allow_commands=True, redactor=Redactor())
        with agent.connect("a") as connection:
            connection.reply(AgentRequest(messages=()))
            server.valid.clear()
            time.sleep(0.28)
            connection.reply(AgentRequest(messages=()))
    assert server.issued == 2
    assert sum(request.path != "/token" for request in server.requests) == 2


def test_a_refused_token_is_renewed_once(transport):
    with TokenServer() as server:
        agent = build_agent(oauth(server, **CLIENT), transport, allow_commands=True, redactor=Redactor())
        with agent.connect("a") as connection:
            connection.reply(AgentRequest(messages=()))
            server.valid.clear()
            connection.reply(AgentRequest(messages=(), turn_key="t2"))
        assert server.issued == 2
        keys = [
            request.headers["idempotency-key"] for request in server.requests if "idempotency-key" in request.headers
        ]
        assert keys == ["t2", "t2"]
        server.valid = {"never"}
        server._issue = lambda request: http('{"access_token":"wrong"}')
        before = len(server.requests)
        with pytest.raises(AgentUnavailable, match="401"), agent.connect("b") as connection:
            connection.reply(AgentRequest(messages=()))
        assert len(server.requests) - before == 3


def test_threads_that_need_a_token_wait_for_one_fetch(transport):
    with TokenServer() as server:
        agent = build_agent(oauth(server, **CLIENT), transport, allow_commands=True, redactor=Redactor())
        barrier = threading.Barrier(6)
        failures = []

        def work():
            barrier.wait()
            try:
                for _ in range(3):
                    with agent.connect("a") as connection:
                        connection.reply(AgentRequest(messages=()))
            except AgentUnavailable as error:
                failures.append(error)

        for round_number in (1, 2):
            threads = [threading.Thread(target=work) for _ in range(6)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            assert not failures
            assert server.issued == round_number
            server.valid.clear()


def test_a_token_that_cannot_be_had_is_said_in_words(transport):
    with (
        ScriptedServer(lambda request, sock: http('{"error":"invalid_scope"}', "400 Bad Request")) as server,
        pytest.raises(AgentUnavailable, match=r"No access token: .*/token answered 400: invalid_scope"),
    ):
        ask(oauth(server, **CLIENT), transport)
    with (
        ScriptedServer(lambda request, sock: http('{"token":"x"}')) as server,
        pytest.raises(AgentUnavailable, match="without an access_token"),
    ):
        ask(oauth(server, **CLIENT), transport)


def test_tokens_that_came_up_during_the_run_are_redacted(transport):
    with TokenServer() as server:
        ask(oauth(server, **CLIENT), transport)
    assert transport.redactor.redact("x access-1 y") == "x *** y"
