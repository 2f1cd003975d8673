import pytest

from abs_gate.github.client import GitHubClient, _graphql_url
from abs_gate.github.errors import Forbidden, NotFound, RateLimited, Rejected, Unreachable

from .fake_api import TOKEN

THREAD = "/repos/octo/repo/issues/2/comments"


def test_secondary_limit_without_retry_after_waits_a_minute_and_repeats(github, client, waits):
    github.controls.secondary = 1
    client.request("POST", THREAD, body={"body": "x"})
    assert waits == [60.0]
    assert len(github.comments) == 1


def test_secondary_limit_with_retry_after_waits_that_long(github, client, waits):
    github.controls.secondary_after = 7
    client.request("POST", THREAD, body={"body": "x"})
    assert waits == [7.0]


def test_secondary_limit_that_stays_gives_up_within_the_bound(github, client, waits):
    github.controls.secondary = 99
    with pytest.raises(RateLimited, match="secondary rate limit"):
        client.request("POST", THREAD, body={"body": "x"})
    assert sum(waits) <= 120


def test_primary_limit_waits_for_its_reset(github, client, waits):
    github.controls.primary = 1
    client.get(THREAD)
    assert len(waits) == 1
    assert 28 <= waits[0] <= 32


def test_primary_limit_far_away_is_not_waited_for(github, transport, waits):
    github.controls.primary = 1
    client = GitHubClient(transport, token=TOKEN, api_url=github.url, sleep=waits.append, now=lambda: 0.0)
    with pytest.raises(RateLimited):
        client.get(THREAD)
    assert waits == []


@pytest.mark.parametrize("statuses", [[500], [502, 503, 504]])
def test_server_errors_are_repeated_for_reads(github, client, waits, statuses):
    github.controls.fail = list(statuses)
    assert client.get(THREAD).json() == []
    assert waits == [1.0, 2.0, 4.0][: len(statuses)]


def test_server_error_on_a_post_is_not_repeated(github, client, waits):
    github.controls.fail = [502]
    with pytest.raises(Unreachable, match="502"):
        client.request("POST", THREAD, body={"body": "x"})
    assert waits == []
    assert github.calls("POST") == 1


def test_server_errors_that_stay_end(github, client):
    github.controls.fail = [503] * 99
    with pytest.raises(Unreachable, match="503"):
        client.get(THREAD)
    assert github.calls("GET") == 5


def test_unreachable_address_is_repeated_then_said(transport, waits):
    client = GitHubClient(transport, token=TOKEN, api_url="http://127.0.0.1:9", sleep=waits.append)
    with pytest.raises(Unreachable, match="could not be reached"):
        client.get("/x")
    assert len(waits) == 4


def test_wrong_token_is_forbidden_and_not_shown(github, transport):
    client = GitHubClient(transport, token="ghs_other-secret", api_url=github.url)
    with pytest.raises(Forbidden, match="Bad credentials") as caught:
        client.get(THREAD)
    assert "ghs_other" not in str(caught.value)


def test_missing_permission_is_named_from_the_header(github, client):
    github.controls.read_only = True
    with pytest.raises(Forbidden) as caught:
        client.request("POST", THREAD, body={"body": "x"})
    assert caught.value.permissions == "issues: write or pull-requests: write"


def test_not_found(github, client):
    with pytest.raises(NotFound):
        client.get("/repos/octo/repo/issues/comments/1")


def test_rejected_says_why(github, client):
    with pytest.raises(Rejected, match="Body is too long"):
        client.request("POST", THREAD, body={"body": "x" * 70_000})


def test_every_page_is_read(github, client):
    for number in range(250):
        github.add_comment(str(number))
    assert [item["body"] for item in client.pages(THREAD)] == [str(number) for number in range(250)]
    assert github.calls("GET") == 3


def test_enterprise_prefix(github, transport, waits):
    client = GitHubClient(transport, token=TOKEN, api_url=f"{github.url}/api/v3/", sleep=waits.append)
    github.add_comment("x")
    assert [item["body"] for item in client.pages(THREAD)] == ["x"]
    assert client.viewer() == "github-actions[bot]"


@pytest.mark.parametrize(
    ("api", "graphql"),
    [
        ("https://api.github.com", "https://api.github.com/graphql"),
        ("https://ghe.example/api/v3", "https://ghe.example/api/graphql"),
    ],
)
def test_graphql_address(api, graphql):
    assert _graphql_url(api) == graphql


def test_token_is_not_in_the_clients_repr(client):
    assert TOKEN not in repr(client)
    assert TOKEN not in repr(vars(client).keys())
