"""A probe that would write is refused before anything runs."""

import pytest

from abs_gate.verification.probe_rules import probe_fault


@pytest.mark.parametrize(
    "query",
    [
        "DELETE FROM refunds",
        "insert into refunds values (1)",
        "UPDATE refunds SET a = 1",
        "DROP TABLE refunds",
        "PRAGMA writable_schema = 1",
        "ATTACH 'x' AS y",
        "SELECT 1; DELETE FROM refunds",
        "/* SELECT */ DELETE FROM refunds",
        "-- SELECT\nDELETE FROM refunds",
        "WITH x AS (SELECT 1) DELETE FROM refunds",
        "WITH x AS (SELECT 1) INSERT INTO refunds SELECT * FROM x",
        "WITH x AS (SELECT 1) UPDATE refunds SET a = 1",
        "REPLACE INTO refunds VALUES (1)",
        "VACUUM",
        "",
        "  -- nothing",
    ],
)
def test_statements_that_write_are_refused(query):
    assert probe_fault("sqlite", {"file": "x", "query": query}) is not None


@pytest.mark.parametrize(
    "query",
    [
        "SELECT * FROM refunds",
        "select replace(a, 'x', 'y') from refunds;",
        "SELECT 'DELETE FROM x; DROP' AS a",
        'SELECT "update" FROM refunds',
        "WITH x AS (SELECT 1) SELECT * FROM x",
        "VALUES (1)",
        "SELECT last_update FROM refunds",
    ],
)
def test_queries_are_allowed(query):
    assert probe_fault("sqlite", {"file": "x", "query": query}) is None


def test_http_probes_only_get():
    assert probe_fault("http", {"url": "http://x", "method": "POST"})[0] == "method"
    assert probe_fault("http", {"url": "http://x", "method": "get"}) is None
    assert probe_fault("http", {"url": "http://x"}) is None


def test_mcp_probes_name_one_server():
    assert probe_fault("mcp", {"tool": "x"}) is not None
    assert probe_fault("mcp", {"tool": "x", "url": "http://x", "command": "y"}) is not None
    assert probe_fault("mcp", {"tool": "x", "url": "http://x"}) is None
