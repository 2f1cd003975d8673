"""The stand-in provider answers exactly as it is told, and ends."""

import json
import socket
import time
import urllib.error
import urllib.request
from http.client import IncompleteRead, RemoteDisconnected

import pytest

from abs_gate.drivers.stand_in import StandInServer
from abs_gate.verification.model import ProviderAnswer
from abs_gate.verification.script import Ledger, always, answers_in_turn


@pytest.fixture
def server():
    opened = StandInServer()
    yield opened
    opened.close()


def send(server, body=None, **headers):
    request = urllib.request.Request(
        f"{server.url}/refunds", data=json.dumps(body or {}).encode(), headers=headers, method="POST"
    )
    with urllib.request.urlopen(request, timeout=5) as response:
        return response.status, response.read().decode()


def test_answers_statuses_and_headers(server):
    server.play(always(ProviderAnswer(status=201, headers={"X-A": "b"}, body={"a": 1})))
    assert send(server) == (201, '{"a": 1}')
    server.play(always(ProviderAnswer(status=500, body="<h1>")))
    with pytest.raises(urllib.error.HTTPError) as caught:
        send(server)
    assert caught.value.read() == b"<h1>"
    caught.value.close()


def test_delays_cuts_and_halves(server):
    server.play(always(ProviderAnswer(delay=0.3)))
    began = time.monotonic()
    send(server)
    assert time.monotonic() - began >= 0.3
    server.play(always(ProviderAnswer(cut="before")))
    with pytest.raises((RemoteDisconnected, ConnectionError)):
        send(server)
    server.play(always(ProviderAnswer(body={"long": "x" * 100}, cut="half")))
    with pytest.raises(IncompleteRead):
        send(server)


def test_answers_in_turn_and_the_last_again(server):
    server.play(answers_in_turn([{"body": 1}, {"body": 2}]))
    assert [send(server)[1] for _ in range(3)] == ["1", "2", "2"]


def test_a_ledger_keeps_its_promise(server):
    success = {"body": {"id": "{{receipt}}"}}
    ledger = Ledger(success, duplicate={"status": 200, "body": {"again": "{{receipt}}"}}, key_at={"body": "/key"})
    server.play(ledger)
    assert send(server, {"key": "a"})[1] == '{"id": "rcpt-1"}'
    assert send(server, {"key": "a"})[1] == '{"again": "rcpt-1"}'
    assert send(server, {"key": "b"})[1] == '{"id": "rcpt-2"}'
    assert send(server, {})[1] == '{"id": "rcpt-3"}'
    assert ledger.effects == 3
    by_header = Ledger(success, key_at={"header": "X-Key"})
    server.play(by_header)
    send(server, **{"X-Key": "a"})
    send(server, **{"X-Key": "a"})
    assert by_header.effects == 1


def test_closing_ends_answers_that_wait_and_frees_the_port(server):
    server.play(always(ProviderAnswer(delay=30)))
    host, port = server.url.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=5) as waiting:
        waiting.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        time.sleep(0.1)
        began = time.monotonic()
        server.close()
        assert time.monotonic() - began < 3
    with socket.socket() as again:
        again.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        again.bind((host, int(port)))
