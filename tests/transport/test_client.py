import gzip
import json
import re
import socket
import threading
import time
import zlib
from email.utils import formatdate

import pytest

from abs_gate.errors import AgentUnavailable, ConfigurationError
from abs_gate.transport import StaticCredentials, Transport
from abs_gate.wire.base import HttpRequest

from .servers import ScriptedServer, http


@pytest.fixture
def transport():
    with Transport() as opened:
        yield opened


def post(url, body=None, **headers):
    return HttpRequest(method="POST", url=url, headers=headers, body={"a": 1} if body is None else body)


def test_one_connection_serves_all_requests_of_a_thread(transport):
    with ScriptedServer(lambda request, sock: http(b'{"ok":true}')) as server:
        for _ in range(20):
            assert json.loads(transport.send(post(server.url)).body) == {"ok": True}
        assert server.accepted == 1
        assert len(server.requests) == 20


def test_each_worker_thread_has_its_own_connection(transport):
    with ScriptedServer(lambda request, sock: http()) as server:
        barrier = threading.Barrier(4)

        def work():
            barrier.wait()
            for _ in range(10):
                transport.send(post(server.url))

        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(server.requests) == 40
        assert server.accepted == 4


def test_an_idle_connection_is_not_trusted_again(transport, monkeypatch):
    monkeypatch.setattr("abs_gate.transport.lane.IDLE_LIMIT_S", 0.05)
    with ScriptedServer(lambda request, sock: http()) as server:
        transport.send(post(server.url))
        time.sleep(0.1)
        transport.send(post(server.url))
        assert server.accepted == 2


def test_any_status_is_a_response_and_headers_are_lower_cased(transport):
    with ScriptedServer(lambda request, sock: http(b"no", "418 Teapot", "text/plain", X_Odd="1")) as server:
        response = transport.send(post(server.url))
    assert (response.status, response.body, response.headers["x-odd"]) == (418, b"no", "1")


def test_json_and_raw_bodies_are_sent_as_such(transport):
    with ScriptedServer(lambda request, sock: http()) as server:
        transport.send(post(server.url, {"text": "ü \ud800", "n": 1}))
        transport.send(post(server.url, b"a=1", **{"Content-Type": "application/x-www-form-urlencoded"}))
        first, second = server.requests
    assert json.loads(first.body) == {"text": "ü \ud800", "n": 1}
    assert first.headers["content-type"] == "application/json"
    assert (second.body, second.headers["content-type"]) == (b"a=1", "application/x-www-form-urlencoded")


# Time


def test_a_server_that_never_answers_is_given_up_in_time(transport):
    with ScriptedServer(lambda request, sock: time.sleep(30)) as server:
        started = time.monotonic()
        with pytest.raises(AgentUnavailable, match=r"did not finish its answer within 0\.3 s \(nothing came\)"):
            transport.send(post(server.url), timeout_s=0.3)
        assert time.monotonic() - started < 2
        assert len(server.requests) == 1


def drip(data, pause):
    def answer(request, sock):
        for byte in data:
            sock.sendall(bytes([byte]))
            time.sleep(pause)

    return answer


def test_a_body_that_drips_meets_the_deadline(transport):
    head = b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n"

    def answer(request, sock):
        sock.sendall(head)
        drip(b"x" * 1000, 0.05)(request, sock)

    with ScriptedServer(answer) as server:
        started = time.monotonic()
        with pytest.raises(AgentUnavailable, match=r"within 0\.5 s"):
            transport.send(post(server.url), timeout_s=0.5)
        assert 0.4 < time.monotonic() - started < 2
        assert len(server.requests) == 1


def test_headers_that_drip_meet_the_deadline(transport):
    with ScriptedServer(drip(b"HTTP/1.1 200 OK\r\nX-Long: " + b"a" * 1000, 0.05)) as server:
        started = time.monotonic()
        with pytest.raises(AgentUnavailable, match=r"within 0\.5 s"):
            transport.send(post(server.url), timeout_s=0.5)
        assert time.monotonic() - started < 2


def test_a_body_that_would_end_with_the_connection_is_not_taken_for_whole_when_cut_by_the_deadline(transport):
    def answer(request, sock):
        sock.sendall(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n{}")
        time.sleep(30)

    with ScriptedServer(answer) as server, pytest.raises(AgentUnavailable, match="it began to answer"):
        transport.send(post(server.url), timeout_s=0.4)


def test_an_endless_event_stream_ends_with_the_deadline(transport):
    def answer(request, sock):
        sock.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n")
        while True:
            sock.sendall(b"a\r\ndata: {}\n\n\r\n")
            time.sleep(0.02)

    with ScriptedServer(answer) as server, pytest.raises(AgentUnavailable, match=r"within 0\.5 s"):
        transport.send(post(server.url), timeout_s=0.5)


def chunked(*parts):
    return b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in parts)


SSE_HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
LAST_EVENTS = [
    (b"data: {}\n\n", b"data: [DONE]\n\n"),
    (b"data: {}\r\n\r\ndata: [DO", b"NE]\r\n\r\n"),
    (b"event: message_stop\n", b'data: {"type":"message_stop"}\n\n'),
    (b"event: response.completed\ndata: {" + b" " * 5000, b"}\n", b"\n"),
]


@pytest.mark.parametrize("parts", LAST_EVENTS, ids=range(len(LAST_EVENTS)))
def test_a_stream_is_not_waited_for_after_its_last_event(transport, parts):
    def answer(request, sock):
        sock.sendall(SSE_HEAD)
        for part in parts:
            sock.sendall(chunked(part))
            time.sleep(0.02)
        time.sleep(30)

    with ScriptedServer(answer) as server:
        started = time.monotonic()
        response = transport.send(post(server.url), timeout_s=20)
        assert time.monotonic() - started < 3
        assert response.body == b"".join(parts)
        assert len(server.requests) == 1


def test_a_stream_that_ends_as_it_should_keeps_its_connection(transport):
    whole = SSE_HEAD + chunked(b"data: {}\n\n", b"data: [DONE]\n\n", b"")
    with ScriptedServer(lambda request, sock: whole) as server:
        for _ in range(3):
            assert transport.send(post(server.url)).body == b"data: {}\n\ndata: [DONE]\n\n"
        assert server.accepted == 1


def test_the_words_of_a_last_event_inside_a_text_end_nothing(transport):
    inner = b'data: {"content": "data: [DONE]\\n\\nevent: message_stop"}\n\n'

    def answer(request, sock):
        sock.sendall(SSE_HEAD + chunked(inner))
        time.sleep(0.8)
        return chunked(b"data: more\n\n", b"")

    with ScriptedServer(answer) as server:
        assert transport.send(post(server.url)).body == inner + b"data: more\n\n"


def test_the_session_deadline_is_told_apart_from_the_request_timeout(transport):
    with ScriptedServer(lambda request, sock: time.sleep(30)) as server:
        with pytest.raises(AgentUnavailable, match="session's time ran out"):
            transport.send(post(server.url), timeout_s=60, deadline_s=0.3)
        with pytest.raises(AgentUnavailable, match="session's time ran out"):
            transport.send(post(server.url), timeout_s=60, deadline_s=0)


def test_the_connection_after_one_that_timed_out_works(transport):
    answers = iter([None, http(b'{"ok":1}')])

    def answer(request, sock):
        reply = next(answers)
        if reply is None:
            time.sleep(1)
        return reply

    with ScriptedServer(answer) as server:
        with pytest.raises(AgentUnavailable):
            transport.send(post(server.url), timeout_s=0.2)
        assert transport.send(post(server.url), timeout_s=5).body == b'{"ok":1}'


# Cut and malformed answers: said in words, and never asked again


@pytest.mark.parametrize(
    "sent",
    [
        b"",
        b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab",
    ],
)
def test_a_cut_connection_is_an_error_and_not_repeated(transport, sent):
    def answer(request, sock):
        if sent:
            sock.sendall(sent)

    with ScriptedServer(answer) as server:
        with pytest.raises(AgentUnavailable, match="closed the connection before its answer was complete"):
            transport.send(post(server.url), retries=3)
        assert len(server.requests) == 1


@pytest.mark.parametrize(
    "sent",
    [
        b"garbage garbage\r\n\r\n",
        b"\x16\x03\x01\x00\xff" * 20,
        b"HTTP/1.1 abc OK\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nxx",
        b"HTTP/1.1 200 OK\r\n" + b"X: " + b"a" * 70000 + b"\r\n\r\n",
        b"HTTP/1.1 200 OK\r\n" + b"X: a\r\n" * 500 + b"\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 4\r\n\r\nnope",
    ],
)
def test_what_is_not_http_is_an_error_in_words(transport, sent):
    def answer(request, sock):
        sock.sendall(sent)

    with ScriptedServer(answer) as server:
        with pytest.raises(AgentUnavailable) as caught:
            transport.send(post(server.url), retries=2)
        assert server.url in str(caught.value)
        assert len(server.requests) == 1


# Size


def test_an_answer_over_the_cap_is_refused_without_being_read_whole():
    sent = 0

    def answer(request, sock):
        nonlocal sent
        sock.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 52428800\r\n\r\n")
        for _ in range(800):
            sock.sendall(b"x" * 65536)
            sent += 65536

    with (
        Transport() as transport,
        ScriptedServer(answer) as server,
        pytest.raises(AgentUnavailable, match="larger than 8,388,608 bytes"),
    ):
        transport.send(post(server.url))
    assert sent < 30_000_000


def test_a_gzip_bomb_is_stopped_at_the_cap():
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    bomb = b"".join(packer.compress(b"\0" * 1_000_000) for _ in range(300)) + packer.flush()
    with Transport(max_body_bytes=1_000_000) as transport:
        with ScriptedServer(lambda request, sock: http(bomb, Content_Encoding="gzip")) as server:
            started = time.monotonic()
            with pytest.raises(AgentUnavailable, match="larger than 1,000,000 bytes"):
                transport.send(post(server.url))
            assert time.monotonic() - started < 3
        twice = gzip.compress(bomb)
        with (
            ScriptedServer(lambda request, sock: http(twice, Content_Encoding="gzip, gzip")) as server,
            pytest.raises(AgentUnavailable, match="compressed several times"),
        ):
            transport.send(post(server.url))


def test_a_compressed_answer_is_read(transport):
    with ScriptedServer(lambda request, sock: http(gzip.compress(b'{"z":1}'), Content_Encoding="gzip")) as server:
        assert transport.send(post(server.url)).body == b'{"z":1}'


# Repeats


def test_429_and_503_are_repeated_with_one_idempotency_key(transport):
    answers = iter(
        [http(status="429 Too Many", Retry_After="0"), http(status="503 Busy", Retry_After="0"), http(b'{"ok":1}')]
    )
    with ScriptedServer(lambda request, sock: next(answers)) as server:
        assert transport.send(post(server.url), idempotency_key="row-1/turn-2").body == b'{"ok":1}'
        assert [request.headers["idempotency-key"] for request in server.requests] == ["row-1/turn-2"] * 3
        assert len({request.body for request in server.requests}) == 1


def test_the_last_answer_is_given_when_the_attempts_are_used_up(transport):
    with ScriptedServer(lambda request, sock: http(status="503 Busy", Retry_After="0")) as server:
        assert transport.send(post(server.url), retries=1).status == 503
        assert len(server.requests) == 2


@pytest.mark.parametrize("status", ["400 Bad", "401 No", "404 None", "500 Oops", "502 Bad", "504 Late"])
def test_other_statuses_are_not_repeated(transport, status):
    with ScriptedServer(lambda request, sock: http(status=status)) as server:
        assert transport.send(post(server.url)).status == int(status[:3])
        assert len(server.requests) == 1


def test_a_refused_connection_is_tried_again_until_someone_listens(transport):
    with socket.create_server(("127.0.0.1", 0)) as reserved:
        port = reserved.getsockname()[1]
    started = []

    def start():
        server = socket.create_server(("127.0.0.1", port))
        started.append(server)
        sock, _ = server.accept()
        sock.recv(65536)
        sock.sendall(http(b'{"late":1}'))
        sock.close()

    timer = threading.Timer(0.3, start)
    timer.start()
    assert transport.send(post(f"http://127.0.0.1:{port}")).body == b'{"late":1}'
    timer.join()
    started[0].close()


def test_a_connection_refused_for_good_says_so(transport):
    with socket.create_server(("127.0.0.1", 0)) as reserved:
        port = reserved.getsockname()[1]
    with pytest.raises(
        AgentUnavailable,
        match=re.escape(f"Nothing listens at http://127.0.0.1:{port}/x?...: the connection was refused"),
    ):
        transport.send(post(f"http://127.0.0.1:{port}/x?key=secret"), retries=0)


def test_retry_after_is_waited_for_as_seconds_and_as_a_date(transport):
    for wanted in (lambda: "1", lambda: formatdate(time.time() + 2, usegmt=True)):
        value = wanted()
        answers = iter([http(status="429 Too Many", Retry_After=value), http(b'{"ok":1}')])
        with ScriptedServer(lambda request, sock, answers=answers: next(answers)) as server:
            started = time.monotonic()
            assert transport.send(post(server.url)).status == 200
            assert 0.9 < time.monotonic() - started < 2.5


def test_a_wait_beyond_the_bound_or_the_deadline_is_not_waited_for(transport):
    with ScriptedServer(lambda request, sock: http(status="429 Too Many", Retry_After="3600")) as server:
        started = time.monotonic()
        assert transport.send(post(server.url)).status == 429
        assert len(server.requests) == 1
    with ScriptedServer(lambda request, sock: http(status="429 Too Many", Retry_After="5")) as server:
        assert transport.send(post(server.url), deadline_s=2).status == 429
        assert time.monotonic() - started < 2


def test_closing_the_transport_ends_a_wait():
    transport = Transport()
    with ScriptedServer(lambda request, sock: http(status="429 Too Many", Retry_After="30")) as server:
        threading.Timer(0.2, transport.close).start()
        started = time.monotonic()
        with pytest.raises(AgentUnavailable, match="cancelled"):
            transport.send(post(server.url))
        assert time.monotonic() - started < 5


def test_an_idempotency_key_that_no_header_could_hold_is_hashed(transport):
    with ScriptedServer(lambda request, sock: http()) as server:
        transport.send(post(server.url), idempotency_key="ünsafe\r\nX-Evil: 1")
        assert len(server.requests[0].headers["idempotency-key"]) == 64
        assert "x-evil" not in server.requests[0].headers


# Redirects


def redirecting(status, location):
    def answer(request, sock):
        if request.path == "/final":
            return http(json.dumps({"method": request.method, "length": request.length}))
        return http(b"", status, Location=location)

    return answer


@pytest.mark.parametrize(
    ("status", "method", "length"),
    [("307 T", "POST", 7), ("308 P", "POST", 7), ("301 M", "GET", 0), ("302 F", "GET", 0), ("303 S", "GET", 0)],
)
def test_redirects_within_the_origin_are_followed_without_credentials(transport, status, method, length):
    with ScriptedServer(redirecting(status, "/final")) as server:
        response = transport.send(
            post(server.url, **{"Authorization": "Bearer in-request", "X-Plain": "kept"}),
            credentials=StaticCredentials({"X-Custom-Key": "top"}),
            idempotency_key="k1",
        )
        first, second = server.requests
    assert json.loads(response.body) == {"method": method, "length": length}
    assert first.headers["x-custom-key"] == "top"
    assert first.headers["authorization"] == "Bearer in-request"
    assert "x-custom-key" not in second.headers
    assert "authorization" not in second.headers
    assert second.headers["x-plain"] == "kept"
    assert second.headers["idempotency-key"] == "k1"


def test_redirects_to_another_origin_are_not_followed(transport):
    with ScriptedServer(lambda request, sock: http()) as other:
        with (
            ScriptedServer(redirecting("307 T", f"{other.url}/final")) as server,
            pytest.raises(AgentUnavailable, match="redirects to another origin"),
        ):
            transport.send(post(server.url))
        assert other.accepted == 0


@pytest.mark.parametrize(
    "location",
    [
        "http://169.254.169.254/latest/meta-data/",
        "file:///etc/passwd",
        "http://user:pass@127.0.0.1/",
        "//metadata.google.internal/x",
        "http://[::ffff:169.254.169.254]/",
        "gopher://127.0.0.1/",
    ],
)
def test_redirects_to_refused_places_are_errors(transport, location):
    with ScriptedServer(redirecting("307 T", location)) as server, pytest.raises(AgentUnavailable) as caught:
        transport.send(post(server.url))
    assert "pass@" not in str(caught.value)


def test_a_redirect_loop_ends(transport):
    with ScriptedServer(redirecting("307 T", "/again")) as server:
        with pytest.raises(AgentUnavailable, match="redirects more than 5 times"):
            transport.send(post(server.url))
        assert len(server.requests) == 6


def test_a_redirect_status_without_a_location_is_just_a_response(transport):
    with ScriptedServer(lambda request, sock: http(b"", "304 Not Modified")) as server:
        assert transport.send(post(server.url)).status == 304


# State, proxies, addresses


def test_cookies_of_one_answer_are_not_sent_with_the_next_request(transport):
    with ScriptedServer(lambda request, sock: http(Set_Cookie="session=of-another-trial")) as server:
        transport.send(post(server.url))
        transport.send(post(server.url))
        assert all("cookie" not in request.headers for request in server.requests)


def test_a_netrc_file_does_not_replace_the_credentials(transport, tmp_path, monkeypatch):
    netrc = tmp_path / "netrc"
    netrc.write_text("machine 127.0.0.1 login a password b\n")
    netrc.chmod(0o600)
    monkeypatch.setenv("NETRC", str(netrc))
    with ScriptedServer(lambda request, sock: http()) as server:
        transport.send(post(server.url), credentials=StaticCredentials({"Authorization": "Bearer mine"}))
        assert server.requests[0].headers["authorization"] == "Bearer mine"


def test_the_proxy_of_the_environment_is_used_unless_no_proxy_says_otherwise(monkeypatch):
    with ScriptedServer(lambda request, sock: http(b'{"via":"proxy"}')) as proxy:
        monkeypatch.setenv("http_proxy", proxy.url)
        monkeypatch.delenv("no_proxy", raising=False)
        monkeypatch.delenv("NO_PROXY", raising=False)
        with Transport() as transport:
            assert transport.send(post("http://agent.test/chat")).body == b'{"via":"proxy"}'
        assert proxy.requests[0].path == "http://agent.test/chat"
        with ScriptedServer(lambda request, sock: http(b'{"via":"direct"}')) as server, Transport() as transport:
            monkeypatch.setenv("no_proxy", "127.0.0.1")
            assert transport.send(post(server.url)).body == b'{"via":"direct"}'


def test_a_name_without_an_address_is_said_so(transport):
    with pytest.raises(AgentUnavailable, match=r"host name no-such-host\.invalid was not found"):
        transport.send(post("http://no-such-host.invalid/"), retries=0)


def test_a_name_that_resolves_to_a_link_local_address_is_refused(transport, monkeypatch):
    found = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("169.254.169.254", 80))]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *args, **kwargs: found)
    with pytest.raises(AgentUnavailable, match="link-local or cloud-metadata"):
        transport.send(post("http://innocent.example/"))


def test_every_address_of_a_name_is_tried(transport, monkeypatch):
    with ScriptedServer(lambda request, sock: http(b'{"ok":1}')) as server:
        found = [
            (socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.2", server.port)),
            (socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", server.port)),
        ]
        real = socket.getaddrinfo

        def resolve(host, *args, **kwargs):
            return found if host == "two.example" else real(host, *args, **kwargs)

        monkeypatch.setattr(socket, "getaddrinfo", resolve)
        assert transport.send(post(f"http://two.example:{server.port}/")).body == b'{"ok":1}'
        assert server.requests[0].headers["host"] == f"two.example:{server.port}"


def test_speaking_tls_to_a_plain_port_is_said_so(transport):
    def answer(listener):
        sock, _ = listener.accept()
        sock.recv(65536)
        sock.sendall(http(b"", "400 Bad Request"))
        sock.close()

    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=answer, args=(listener,))
        thread.start()
        with pytest.raises(AgentUnavailable, match="No TLS connection"):
            transport.send(post(f"https://127.0.0.1:{listener.getsockname()[1]}/"), timeout_s=3, retries=0)
        thread.join()


def test_a_tls_handshake_that_hangs_is_given_up_in_time(transport):
    with socket.create_server(("127.0.0.1", 0)) as listener:
        started = time.monotonic()
        with pytest.raises(AgentUnavailable, match="nothing came"):
            transport.send(post(f"https://127.0.0.1:{listener.getsockname()[1]}/"), timeout_s=0.3, retries=0)
        assert time.monotonic() - started < 2


def test_an_address_that_may_not_be_asked_is_a_configuration_error(transport):
    with pytest.raises(ConfigurationError, match="link-local"):
        transport.send(post("http://169.254.169.254/latest"))


def test_the_containers_host_is_tried_when_asked_for(monkeypatch):
    with ScriptedServer(lambda request, sock: http(b'{"ok":1}')) as server:
        with socket.create_server(("127.0.0.1", 0)):
            pass
        monkeypatch.setattr("abs_gate.transport.lane.host_gateway_candidates", lambda: ("127.0.0.3", "127.0.0.1"))
        monkeypatch.setattr("abs_gate.transport.lane.is_loopback", lambda host: True)
        with Transport(try_host_gateway=True) as transport:
            for _ in range(2):
                assert transport.send(post(f"http://127.0.0.2:{server.port}/x"), retries=0).body == b'{"ok":1}'
        assert server.requests[0].headers["host"] == f"127.0.0.2:{server.port}"
        assert server.accepted == 1


def test_headers_that_cannot_be_sent_are_an_error_in_words(transport):
    with ScriptedServer(lambda request, sock: http()) as server:
        for value in ("line\r\nbreak", "snow\N{SNOWMAN}man"):
            with pytest.raises(AgentUnavailable):
                transport.send(post(server.url, **{"X-Bad": value}))
        assert server.requests == []
