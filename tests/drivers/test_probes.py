"""Probes read, and cannot write."""

import sqlite3

import pytest

from abs_gate.drivers.probes import FileProbe, HttpProbe, SqliteProbe
from abs_gate.errors import CannotVerify
from abs_gate.transport import Transport
from tests.drivers.servers import serving


@pytest.fixture
def database(tmp_path):
    file = tmp_path / "shop.db"
    with sqlite3.connect(file) as connection:
        connection.execute("CREATE TABLE refunds (id INTEGER, note TEXT, data BLOB)")
        connection.execute("INSERT INTO refunds VALUES (1, 'a', x'00ff')")
    connection.close()
    return file


def test_sqlite_rows_are_objects(database):
    assert SqliteProbe(database, "SELECT * FROM refunds").read() == [{"id": 1, "note": "a", "data": "00ff"}]
    assert SqliteProbe(database, "SELECT count(*) AS n, upper(note) AS u FROM refunds").read() == [{"n": 1, "u": "A"}]


@pytest.mark.parametrize(
    "query",
    [
        "DELETE FROM refunds",
        "INSERT INTO refunds VALUES (2, 'b', NULL)",
        "CREATE TABLE x (a)",
        "PRAGMA user_version = 3",
        "ATTACH ':memory:' AS y",
        "WITH x AS (SELECT 1) DELETE FROM refunds",
        "SELECT * FROM absent",
    ],
)
def test_sqlite_never_writes_even_when_asked_to(database, query):
    before = database.read_bytes()
    with pytest.raises(CannotVerify):
        SqliteProbe(database, query).read()
    assert database.read_bytes() == before


def test_a_database_that_is_not_there_is_not_made(tmp_path):
    assert SqliteProbe(tmp_path / "absent.db", "SELECT 1").read() == []
    assert not list(tmp_path.iterdir())


def test_files(tmp_path):
    file = tmp_path / "x"
    assert FileProbe(file, "lines", "").read() == []
    assert FileProbe(file, "hash", "").read() is None
    file.write_text('{"a": {"b": [1]}}\nplain\n\n')
    assert FileProbe(file, "lines", "").read() == [{"a": {"b": [1]}}, "plain"]
    assert FileProbe(file, "text", "").read().startswith('{"a"')
    first = FileProbe(file, "hash", "").read()
    file.write_text('{"a": {"b": [1]}}')
    assert FileProbe(file, "hash", "").read() != first
    assert FileProbe(file, "json", "/a/b").read() == [1]
    file.write_text("{")
    with pytest.raises(CannotVerify, match="no JSON"):
        FileProbe(file, "json", "").read()


def test_http():
    with (
        Transport() as transport,
        serving(lambda asked: (200 if asked.path == "/ok" else 500, {"a": [1]})) as (url, asked),
    ):
        assert HttpProbe({"url": f"{url}/ok", "at": "/a"}, transport, {"X": "y"}).read() == [1]
        assert (asked[0].method, asked[0].headers["x"]) == ("GET", "y")
        with pytest.raises(CannotVerify, match="status 500"):
            HttpProbe({"url": f"{url}/bad"}, transport, {}).read()
        with pytest.raises(CannotVerify, match="no answer"):
            HttpProbe({"url": "http://127.0.0.1:9/"}, transport, {}).read()
