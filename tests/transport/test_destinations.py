import ipaddress

import pytest

from abs_gate.errors import ConfigurationError
from abs_gate.settings.model import Secret
from abs_gate.transport.destinations import check_url, is_loopback, origin_of, refused_address, shown_url
from abs_gate.transport.failures import explain
from abs_gate.transport.gateway import host_gateway_candidates
from abs_gate.transport.permissions import may_send_secret, require_may_send
from abs_gate.transport.retries import parse_retry_after, wait_before


@pytest.mark.parametrize(
    "url",
    [
        "http://169.254.169.254/",
        "http://169.254.170.2/v2/credentials",
        "http://2852039166/",
        "http://0xa9fea9fe/",
        "http://0251.0376.0251.0376/",
        "http://169.254.43518/",
        "http://[fe80::1]/",
        "http://[fe80::1%25eth0]/",
        "http://[febf::1]/",
        "http://[::ffff:169.254.169.254]/",
        "http://[64:ff9b::a9fe:a9fe]/",
        "http://[2002:a9fe:a9fe::]/",
        "http://[fd00:ec2::254]/",
        "http://100.100.100.200/",
        "http://metadata.google.internal/computeMetadata/v1/",
        "http://METADATA.google.internal./",
        "http://metadata/",
        "ftp://example.com/",
        "file:///etc/passwd",
        "javascript:alert(1)",
        "example.com/chat",
        "http:///path",
        "http://",
        "",
        "http://user@example.com/",
        "http://user:pw@example.com/",
        "http://:pw@example.com/",
        "http://example.com:99999/",
        "http://example.com:0/",
        "http://example.com:abc/",
        "http://exam ple.com/",
        "http://example.com\\@evil.test/",
        "http://example.com/\r\nX: 1",
        "http://[::1/",
    ],
)
def test_addresses_that_may_not_be_asked(url):
    with pytest.raises(ConfigurationError) as caught:
        check_url(url)
    assert "pw" not in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1:8080/chat",
        "http://localhost/",
        "https://api.example.com/v1/chat/completions?x=1",
        "http://[::1]:8080/",
        "http://10.0.0.5/",
        "http://192.168.1.1/",
        "HTTPS://EXAMPLE.com",
        "http://host.docker.internal:3000/",
        "http://bücher.example/",
        "http://169.253.1.1/",
    ],
)
def test_addresses_that_may_be_asked(url):
    assert check_url(url).hostname


def test_origins_know_default_ports_and_ignore_case():
    assert origin_of(check_url("https://Example.com/a")) == origin_of(check_url("https://example.com.:443/b"))
    assert origin_of(check_url("http://example.com")) != origin_of(check_url("https://example.com"))
    assert origin_of(check_url("http://example.com")) != origin_of(check_url("http://example.com:81"))


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("https://user:pw@example.com:8443/chat?api_key=abc#x", "https://example.com:8443/chat?..."),
        ("http://[::1]:80/x", "http://[::1]:80/x"),
        ("http://a.test/\r\n::error::x", "http://a.test/::error::x"),
        ("http://[bad", "The address"),
        ("http://a.test/" + "x" * 500, ("http://a.test/" + "x" * 500)[:200]),
    ],
)
def test_addresses_are_shown_without_credentials_and_bounded(url, shown):
    assert shown_url(url) == shown


@pytest.mark.parametrize(
    ("host", "answer"), [("localhost", True), ("127.1.2.3", True), ("::1", True), ("0.0.0.0", True)]
)
def test_loopback_hosts(host, answer):
    assert is_loopback(host) is answer
    assert not is_loopback("example.com")
    assert not is_loopback("10.0.0.1")


def test_ordinary_addresses_are_not_refused():
    for address in ("127.0.0.1", "10.1.2.3", "8.8.8.8", "::1", "2001:db8::1", "::ffff:10.0.0.1"):
        assert not refused_address(ipaddress.ip_address(address))


@pytest.mark.parametrize("origin", ["flag", "input", "environment", "base"])
def test_secrets_go_to_addresses_that_the_workflow_or_the_base_branch_named(origin):
    assert may_send_secret(origin, files_trusted=False)
    require_may_send([Secret("s3cret", "input")], "https://a.test", origin, files_trusted=False, setting="agent-url")


def test_secrets_do_not_go_to_an_address_from_a_file_of_the_pull_request():
    assert not may_send_secret("file", files_trusted=False)
    with pytest.raises(ConfigurationError) as caught:
        require_may_send(
            [None, Secret("s3cret", "input agent-token")],
            "https://evil.test/x",
            "file",
            files_trusted=False,
            setting="agent-url",
        )
    text = str(caught.value)
    assert "input agent-token" in text
    assert "https://evil.test/x" in text
    assert "agent-url" in text
    assert "s3cret" not in text


def test_without_a_secret_or_with_trusted_files_any_address_will_do():
    require_may_send([None], "https://a.test", "file", files_trusted=False, setting="agent-url")
    require_may_send([Secret("s3cret", "flag")], "https://a.test", "file", files_trusted=True, setting="agent-url")


def test_unknown_ways_of_naming_an_address_are_not_trusted():
    assert not may_send_secret("", files_trusted=False)
    assert not may_send_secret("row", files_trusted=False)


ROUTES = """Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask
eth0\t00000000\t010011AC\t0003\t0\t0\t0\t00000000
eth0\t000011AC\t00000000\t0001\t0\t0\t0\t0000FFFF
bad line
eth1\t00000000\tZZZZ\t0003
"""


def test_the_gateway_is_read_from_the_default_route():
    assert host_gateway_candidates(ROUTES)[-1] == "172.17.0.1"


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("5", 5.0),
        (" 0 ", 0.0),
        ("1.5", 1.5),
        ("", None),
        ("-3", None),
        ("soon", None),
        ("nan", None),
        ("inf", None),
        ("Thu, 01 Jan 1970 00:01:40 GMT", 90.0),
        ("Thu, 01 Jan 1970 00:00:01 GMT", 0.0),
        ("Thu, 99 Jan 1970 00:00:01 GMT", None),
        ("9" * 400, float("9" * 20)),
    ],
)
def test_retry_after(value, seconds):
    assert parse_retry_after(value, now=10.0) == seconds


def test_backoff_grows_and_is_bounded():
    assert [wait_before(attempt, {}) for attempt in (1, 2, 3, 9)] == [0.5, 1.0, 2.0, 8.0]


def test_a_refused_localhost_inside_a_container_is_explained(monkeypatch):
    refused = ConnectionRefusedError(111, "Connection refused")
    monkeypatch.setattr("abs_gate.transport.failures.inside_container", lambda: True)
    assert "host.docker.internal" in explain(refused, "http://localhost:8080/chat").hint
    assert "host.docker.internal" not in explain(refused, "http://agent:8080/chat").hint
    monkeypatch.setattr("abs_gate.transport.failures.inside_container", lambda: False)
    assert explain(refused, "http://localhost:8080/chat").hint == "Is the agent running, and is the port right?"
