import pytest

from abs_gate.github.client import GitHubClient
from abs_gate.transport import Transport

from .fake_api import TOKEN, FakeGitHub


@pytest.fixture
def github():
    """A fake GitHub that must not have had anything to complain about."""
    with FakeGitHub() as fake:
        yield fake
    assert fake.complaints == []


@pytest.fixture
def transport():
    with Transport() as made:
        yield made


@pytest.fixture
def waits():
    """What the client waited, in seconds, without the wait."""
    return []


@pytest.fixture
def client(github, transport, waits):
    return GitHubClient(transport, token=TOKEN, api_url=github.url, sleep=waits.append)
