import http.client
import json
from urllib.parse import urlsplit

import pytest

from abs_gate.errors import AgentUnavailable
from abs_gate.github.client import GitHubClient
from abs_gate.wire.base import HttpResponse

from .fake_api import TOKEN, FakeGitHub


class PlainSender:
    """The standard library's client, for tests that are not about the transport."""

    def send(self, request, *, timeout_s, retries):
        assert retries == 0
        url = urlsplit(request.url)
        connection = http.client.HTTPConnection(url.hostname, url.port, timeout=timeout_s)
        headers = dict(request.headers)
        data = None
        if request.body is not None:
            data = json.dumps(request.body).encode()
            headers["Content-Type"] = "application/json"
        try:
            connection.request(request.method, request.url.partition(url.netloc)[2], body=data, headers=headers)
            answer = connection.getresponse()
            found = {name.lower(): value for name, value in answer.getheaders()}
            return HttpResponse(status=answer.status, headers=found, body=answer.read())
        except OSError as error:
            raise AgentUnavailable(f"connection refused: {error}") from error
        finally:
            connection.close()


@pytest.fixture
def github():
    """A fake GitHub that must not have had anything to complain about."""
    with FakeGitHub() as fake:
        yield fake
    assert fake.complaints == []


@pytest.fixture
def waits():
    """What the client waited, in seconds, without the wait."""
    return []


@pytest.fixture
def client(github, waits):
    return GitHubClient(PlainSender(), token=TOKEN, api_url=github.url, sleep=waits.append)
