"""Agents that hang, drip, cut or answer rubbish: never a pass, never a traceback, always in bounded time."""

import json
import time

import pytest

from tests.transport.servers import ScriptedServer, http

from .gate import sessions

SESSION = """\
session: s
abs_version: "0.2"
behaviors:
  - {actor: user, action: says, content: hi}
  - {actor: assistant, action: responds}
evaluations:
  - {type: never, match: {action: calls}}
"""


def completion(**message):
    return {"choices": [{"message": {"role": "assistant", **message}}]}


def hang(request, sock):
    time.sleep(20)


def drip(request, sock):
    sock.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 9000\r\n\r\n")
    for _ in range(400):
        sock.sendall(b" ")
        time.sleep(0.05)


def drip_headers(request, sock):
    sock.sendall(b"HTTP/1.1 200 OK\r\n")
    for number in range(400):
        sock.sendall(b"X-%d: y\r\n" % number)
        time.sleep(0.05)


def drip_stream(request, sock):
    sock.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n")
    for _ in range(400):
        sock.sendall(b": still thinking\n\n")
        time.sleep(0.05)


def cut(request, sock):
    sock.sendall(b'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 900\r\n\r\n{"choices": [{"mess')


def close(request, sock):
    return None


def huge(request, sock):
    sock.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n")
    block = b"x" * 1_000_000
    for _ in range(50):
        sock.sendall(b"%x\r\n%s\r\n" % (len(block), block))
    sock.sendall(b"0\r\n\r\n")


def answering(*arguments, **more):
    return lambda request, sock: http(*arguments, **more)


def stream(text):
    return answering(text, content_type="text/event-stream")


HOSTILE = {
    "hangs": hang,
    "drips": drip,
    "drips headers": drip_headers,
    "drips a stream": drip_stream,
    "cuts its answer": cut,
    "hangs up": close,
    "50 MB": huge,
    "HTML": answering("<html><title>Sign in</title></html>", content_type="text/html"),
    "status 500": answering('{"error": {"message": "boom"}}', "500 Internal Server Error"),
    "status 401": answering('{"error": "no"}', "401 Unauthorized"),
    "redirects elsewhere": answering("", "302 Found", location="http://127.0.0.2:9/"),
    "not HTTP": lambda request, sock: b"SSH-2.0-OpenSSH_9.6\r\n\r\n",
    "empty": answering(b""),
    "half JSON": answering('{"choices": [{"message"'),
    "no choices": answering('{"choices": []}'),
    "an error that says 200": answering('{"error": {"message": "overloaded"}}'),
    "a number": answering("42"),
    "deep JSON": answering("[" * 200_000),
    "bad UTF-8": answering(b"\xff\xfe\x00\x01"),
    "a garbage stream": stream("data: {]\n\ndata: nonsense\n\n"),
    "an empty stream": stream(""),
    "a stream with an error": stream('data: {"error": {"message": "quota"}}\n\n'),
}


@pytest.fixture(scope="module")
def hostile(tmp_path_factory):
    """One run against all of them at once, each a session of its own: none may disturb another."""
    place = tmp_path_factory.mktemp("hostile")
    for number, name in enumerate(HOSTILE):
        text = SESSION.replace("session: s", f"session: {name}").replace("content: hi", f'content: "{name}"')
        (place / f"{number}.abs.yaml").write_text(text)

    def answer(request, sock):
        return HOSTILE[json.loads(request.body)["messages"][-1]["content"]](request, sock)

    with ScriptedServer(answer) as server:
        limits = ("--timeout", "1", "--session-timeout", "3", "--concurrency", "32", "--pass-rate", "1")
        began = time.monotonic()
        done = sessions(place, ".", "--agent", server.url, *limits)
        took = time.monotonic() - began
    assert done.code == 3, done.out + done.err
    assert took < 15
    return {session["name"]: session for session in done.result["sessions"]}


@pytest.mark.parametrize("name", HOSTILE)
def test_what_cannot_be_read_is_unverified(hostile, name):
    session = hostile[name]
    assert session["outcome"] == "unverified" and session["trials"]["unverified"] == 1
    first, second = session["behaviors"]
    assert first["unverified"] == 1 and first["reasons"], "the reason stands where it happened"
    assert second["unverified"] == 1


@pytest.mark.parametrize(
    "message",
    [
        {"content": "\u001b[31mred\u0000\u202e ]]> <script>alert(1)</script> `x` @everyone ::error::no"},
        {"content": "x" * 2_000_000},
        {"content": "\ud800"},
        {"tool_calls": [{"id": "c", "type": "function", "function": {"name": "t", "arguments": "{" * 100_000}}]},
        {"tool_calls": [{"id": None, "function": {"name": None}}, "x", 5]},
        {"content": [{"type": "image_url"}, {"type": "text", "text": "hi"}, None]},
    ],
    ids=["control characters", "2 MB", "half a character", "arguments", "bad calls", "odd parts"],
)
def test_what_is_odd_is_shown_safely(tmp_path, message):
    (tmp_path / "s.abs.yaml").write_text(SESSION)
    with ScriptedServer(answering(json.dumps(completion(**message)))) as server:
        for form in ("json", "text"):
            done = sessions(tmp_path, ".", "--agent", server.url, "--transcripts", "all", format=form)
            assert done.code in (0, 1, 3), done.err
            assert len(done.out) < 500_000 and "\x1b[31m" not in done.out
            if form == "json":
                json.loads(done.out)


def test_busy_agents_are_asked_again_and_broken_ones_are_not(tmp_path):
    (tmp_path / "s.abs.yaml").write_text(SESSION)
    answers = iter([http("", "429 Too Many Requests", Retry_After="0"), http(json.dumps(completion(content="hi")))])
    with ScriptedServer(lambda request, sock: next(answers)) as server:
        assert sessions(tmp_path, ".", "--agent", server.url).code == 0
    assert len({request.headers["idempotency-key"] for request in server.requests}) == 1
    with ScriptedServer(answering("", "500 Internal Server Error")) as server:
        assert sessions(tmp_path, ".", "--agent", server.url).code == 3
    assert len(server.requests) == 1


def test_an_agent_that_never_stops_calling_fails(tmp_path):
    (tmp_path / "s.abs.yaml").write_text(SESSION.split("evaluations:")[0])
    call = {"id": "c", "type": "function", "function": {"name": "again", "arguments": "{}"}}
    with ScriptedServer(answering(json.dumps(completion(tool_calls=[call])))) as server:
        done = sessions(tmp_path, ".", "--agent", server.url)
    assert done.code == 1 and "16 times" in done.reasons
    assert len(server.requests) == 17


CALLS = """\
session: s
abs_version: "0.2"
behaviors:
  - {actor: user, action: says, content: refund it}
  - {actor: assistant, action: calls, target: issue_refunds}
  - {actor: tool, action: responds, target: issue_refunds, content: {ok: true}}
  - {actor: assistant, action: informs}
"""


def test_an_agent_that_breaks_off_after_a_call_nobody_expected_tells_of_the_call(tmp_path):
    """The call is the cause: the tool was not available, and the agent did not survive that."""
    (tmp_path / "s.abs.yaml").write_text(CALLS)
    call = {"id": "c1", "type": "function", "function": {"name": "issue_refund", "arguments": "{}"}}

    def breaks_off(request, sock):
        if b'"role":"tool"' not in request.body.replace(b" ", b""):
            return http(json.dumps(completion(tool_calls=[call])))
        return None

    with ScriptedServer(breaks_off) as server:
        done = sessions(tmp_path, ".", "--agent", server.url, "-q", format=None)
    assert done.code == 3
    first, _, _ = done.out.partition("; then the agent gave no answer")
    assert "a call of issue_refunds" in " ".join(first.split()) and "observed issue_refund" in " ".join(first.split())
