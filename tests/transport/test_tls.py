"""Over TLS: certificates are verified, and deadlines cut what drips."""

import contextlib
import shutil
import socket
import ssl
import subprocess
import threading
import time

import pytest

from abs_gate.errors import AgentUnavailable
from abs_gate.transport import Transport
from abs_gate.wire.base import HttpRequest

from .servers import http


@pytest.fixture(scope="module")
def certificate(tmp_path_factory):
    openssl = shutil.which("openssl")
    if openssl is None:
        pytest.skip("openssl is not installed, so there is no certificate to test with")
    place = tmp_path_factory.mktemp("tls")
    subprocess.run(
        [
            openssl,
            "req",
            "-x509",
            "-newkey",
            "rsa:2048",
            "-nodes",
            "-days",
            "2",
            "-subj",
            "/CN=127.0.0.1",
            "-addext",
            "subjectAltName=IP:127.0.0.1",
            "-keyout",
            "key.pem",
            "-out",
            "cert.pem",
        ],
        cwd=place,
        check=True,
        capture_output=True,
    )
    return place


@pytest.fixture
def serve(certificate):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate / "cert.pem", certificate / "key.pem")
    listeners = []

    def start(answer):
        listener = socket.create_server(("127.0.0.1", 0))
        listeners.append(listener)

        def accept():
            with contextlib.suppress(OSError):
                while True:
                    plain, _ = listener.accept()
                    threading.Thread(target=talk, args=(plain,), daemon=True).start()

        def talk(plain):
            with contextlib.suppress(OSError, ssl.SSLError), context.wrap_socket(plain, server_side=True) as sock:
                while sock.recv(65536):
                    answer(sock)

        threading.Thread(target=accept, daemon=True).start()
        return f"https://127.0.0.1:{listener.getsockname()[1]}/"

    yield start
    for listener in listeners:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()


def get(url):
    return HttpRequest(method="GET", url=url)


def test_an_unknown_certificate_is_refused_with_what_to_do(serve):
    url = serve(lambda sock: sock.sendall(http()))
    with Transport() as transport, pytest.raises(AgentUnavailable) as caught:
        transport.send(get(url), timeout_s=5)
    assert "certificate of 127.0.0.1 could not be verified" in caught.value.message
    assert "REQUESTS_CA_BUNDLE" in caught.value.hint


def test_a_certificate_of_the_environment_is_trusted(serve, certificate, monkeypatch):
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(certificate / "cert.pem"))
    url = serve(lambda sock: sock.sendall(http(b'{"ok":1}')))
    with Transport() as transport:
        for _ in range(3):
            assert transport.send(get(url), timeout_s=5).body == b'{"ok":1}'


@pytest.mark.parametrize(
    "sent", [b"HTTP/1.1 200 OK\r\nContent-Length: 9999\r\n\r\n" + b"x" * 999, b"HTTP/1.1 200 OK\r\nX: " + b"a" * 999]
)
def test_what_drips_over_tls_meets_the_deadline(serve, certificate, monkeypatch, sent):
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(certificate / "cert.pem"))

    def drip(sock):
        for byte in sent:
            sock.sendall(bytes([byte]))
            time.sleep(0.02)

    url = serve(drip)
    with Transport() as transport:
        started = time.monotonic()
        with pytest.raises(AgentUnavailable, match=r"did not finish its answer within 0\.6 s"):
            transport.send(get(url), timeout_s=0.6)
        assert time.monotonic() - started < 2
