"""Data sets: formats, errors with their line, filters, pairing, and flat memory."""
# ruff: noqa: E501 - an expected message is one line

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from abs_gate.documents.datasets import iterate_cases
from abs_gate.documents.load import load_sessions
from abs_gate.documents.model import Case, Session
from abs_gate.documents.rows import read_rows
from abs_gate.errors import ConfigurationError

from .memory_workspace import OPTIONS, MemoryWorkspace, behaviors

TEXT = behaviors("- {actor: user, action: says, content: '{{cases.q}}'}", dataset="{id: cases, path: rows.jsonl}")


def session_at(file: str = "t/s.abs.yaml", text: str = TEXT) -> Session:
    (session,) = load_sessions(MemoryWorkspace({file: text}), [file], OPTIONS).sessions
    return session


def cases_of(files: dict[str, str | bytes], session: Session | None = None, **options: Any) -> list[Case]:
    return list(iterate_cases(session or session_at(), MemoryWorkspace(files), **options))


def rows_of(text: str | bytes, file: str, piece: int = 7) -> list[tuple[dict[str, Any], int]]:
    workspace = MemoryWorkspace({file: text}, piece=piece)
    return [(row.values, row.line) for row in read_rows(workspace.read_chunks(file), file)]


def error_of(text: str | bytes, file: str) -> str:
    with pytest.raises(ConfigurationError) as caught:
        rows_of(text, file)
    (finding,) = caught.value.findings
    return str(finding)


@pytest.mark.parametrize("piece", [1, 2, 3, 5, 1000])
@pytest.mark.parametrize("bom", [b"", b"\xef\xbb\xbf"])
def test_every_format_gives_the_same_rows(piece: int, bom: bytes) -> None:
    rows: list[dict[str, Any]] = [{"q": 'é, "x"\n{[', "n": "012"}, {"q": "", "n": "😀\\"}, {"q": "}]", "n": ""}]
    files = {
        "a.json": bom + json.dumps(rows, ensure_ascii=False, indent=2).encode(),
        "b.json": bom + json.dumps(rows).encode(),
        "c.jsonl": bom + "\n\n".join(json.dumps(row, ensure_ascii=False) for row in rows).encode() + b"\r\n",
        "d.csv": bom + 'q,n\r\n"é, ""x""\n{[",012\r\n,😀\\\r\n\r\n}],\r\n'.encode(),
    }
    for file, text in files.items():
        assert [values for values, _ in rows_of(text, file, piece)] == rows, file


def test_lines_of_rows() -> None:
    assert [line for _, line in rows_of('{"a":1}\n\n{"a":2}\n', "x.jsonl")] == [1, 3]
    assert [line for _, line in rows_of('[\n {"a":\n 1},\n {"a": 2}]', "x.json")] == [2, 4]
    assert [line for _, line in rows_of('a,b\n"x\ny",1\nz,2\n', "x.csv")] == [2, 4]


def test_one_object_is_one_row() -> None:
    assert rows_of('\n{"a": [1, 2.5, true, null, {"b": 1e3}]}\n', "x.json") == [
        ({"a": [1, 2.5, True, None, {"b": 1000.0}]}, 2)
    ]


def test_types_are_kept_and_csv_is_text() -> None:
    assert rows_of('[{"a": 1, "b": "1", "c": 1.0, "d": true}]', "x.json")[0][0] == {
        "a": 1,
        "b": "1",
        "c": 1.0,
        "d": True,
    }
    assert rows_of("a,b\n1,true\n", "x.csv")[0][0] == {"a": "1", "b": "true"}


@pytest.mark.parametrize(
    ("file", "text", "message"),
    [
        ("x.jsonl", '{"a":1}\n{"a":\n', "x.jsonl:2: This is not JSON: expecting value."),
        (
            "x.jsonl",
            '{"a":1}\n{"a":1} {"a":2}\n',
            "x.jsonl:2: Something stands after the row's end. One JSON object a line.",
        ),
        ("x.jsonl", "[1]\n", "x.jsonl:1: A row must be an object of columns, not a list."),
        ("x.jsonl", '{"a":NaN}', "x.jsonl:1: NaN is not a JSON value."),
        ("x.jsonl", '{"a":-Infinity}', "x.jsonl:1: -Infinity is not a JSON value."),
        ("x.jsonl", '{"a":1e999}', "x.jsonl:1: The row holds a number that is too large."),
        ("x.jsonl", '{"a":' + "9" * 5000 + "}", "x.jsonl:1: The row holds a number that is too long."),
        ("x.jsonl", '{"a":1,"a":2}', 'x.jsonl:1: The column "a" stands twice in this row.'),
        ("x.jsonl", '\n{"a":"\\ud800"}', "x.jsonl:2: A text in this row holds half of a character (a lone surrogate)."),
        ("x.jsonl", '{"a":' + "[" * 150 + "]" * 150 + "}", "x.jsonl:1: The row is nested deeper than 100 levels."),
        ("x.jsonl", '{"a":' + "[" * 100_000, "x.jsonl:1: The row is nested deeper than 100 levels."),
        (
            "x.jsonl",
            b'{"a":1}\n{"a":"\xff"}',
            "x.jsonl:2: The line holds bytes that are not UTF-8 text. Save the file as UTF-8.",
        ),
        ("x.jsonl", b'{"a":"\xc3', "x.jsonl:1: The line holds bytes that are not UTF-8 text. Save the file as UTF-8."),
        ("x.jsonl", '{"a":1}'.encode("utf-16"), "x.jsonl:1: The file is UTF-16 or UTF-32 text. Save it as UTF-8."),
        ("x.json", '[{"a":1},\n{"a":2}', "x.json:2: Expected a comma or `]` after the row. Is the file complete?"),
        ("x.json", '[{"a":1}\n{"a":2}]', "x.json:2: Expected a comma or `]` after the row. Is the file complete?"),
        ("x.json", '[{"a":1},\n]', "x.json:2: This is not JSON: expecting value."),
        ("x.json", "[", "x.json:1: This is not JSON: expecting value."),
        ("x.json", '[{"a":1}] x', "x.json:1: Something stands after the end of the list."),
        (
            "x.json",
            '{"a":1}\n{"a":2}',
            "x.json:2: Something stands after the row's end. A list of rows begins with `[`.",
        ),
        ("x.json", '"text"', "x.json:1: A row must be an object of columns, not text."),
        ("x.json", "[\n{},\n3]", "x.json:3: A row must be an object of columns, not a number."),
        (
            "x.csv",
            "a,b\n1\n",
            "x.csv:2: The row has 1 fields, the header 2. A field that holds a comma needs double quotes.",
        ),
        (
            "x.csv",
            'a,b\n1,"x\n2,3\n',
            'x.csv:2: This is not CSV: unexpected end of data. A double quote inside a field is written "".',
        ),
        (
            "x.csv",
            'a\n"x"y\n',
            "x.csv:2: This is not CSV: ',' expected after '\"'. A double quote inside a field is written \"\".",
        ),
        ("x.csv", "a,a\n", 'x.csv:1: The column "a" stands twice in the header.'),
        ("x.csv", "a,,c\n", "x.csv:1: A column has no name."),
        ("x.csv", "a;b\n1;2\n", "x.csv:1: The columns are separated by semicolons. Save the file with commas."),
        (
            "x.csv",
            "a\n" + "x" * 200_000,
            'x.csv:2: This is not CSV: field larger than field limit (131072). A double quote inside a field is written "".',
        ),
        ("x.txt", "a", "x.txt: A data set is .json, .jsonl or .csv."),
    ],
)
def test_bad_rows(file: str, text: str | bytes, message: str) -> None:
    assert error_of(text, file) == message


@pytest.mark.parametrize("file", ["x.jsonl", "x.json", "x.csv"])
def test_a_line_without_end_is_not_taken_in_whole(file: str) -> None:
    taken = 0

    def endless() -> Any:
        nonlocal taken
        yield b'[{"a": "' if file == "x.json" else b'{"a": "'
        while True:
            taken += 1
            yield b"x" * 2**20

    with pytest.raises(ConfigurationError):
        list(read_rows(endless(), file))
    assert taken < 40


def test_a_pointer_to_large_storage_is_not_a_data_set() -> None:
    pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n"
    with pytest.raises(ConfigurationError, match=r"Git LFS pointer.*lfs: true"):
        rows_of(pointer, "x.csv", piece=1000)


def test_rows_before_a_bad_one_are_given() -> None:
    rows = read_rows(MemoryWorkspace({"x.jsonl": '{"a":1}\noops\n'}).read_chunks("x.jsonl"), "x.jsonl")
    assert next(rows).values == {"a": 1}
    with pytest.raises(ConfigurationError):
        next(rows)


ROWS: dict[str, str | bytes] = {
    "t/rows.jsonl": '{"q":"a","n":1,"u":{"c":"US"}}\n{"q":"b","n":1.5,"u":{"c":"AR"}}\n{"q":"c","n":true,"u":null}\n'
}


def test_cases_in_order() -> None:
    cases = cases_of(ROWS)
    assert [case.row for case in cases] == [0, 1, 2]
    assert [case.values["q"] for case in cases] == ["a", "b", "c"]


def test_a_session_without_data_set_is_one_case() -> None:
    session = session_at(text=behaviors("- {actor: user, action: says}"))
    (case,) = cases_of({}, session)
    assert (case.row, dict(case.values)) == (None, {})


@pytest.mark.parametrize(
    ("filters", "found"),
    [
        ([("q", "a")], ["a"]),
        ([("cases.q", "b")], ["b"]),
        ([("u.c", "AR")], ["b"]),
        ([("n", "1")], ["a"]),
        ([("n", "1.5")], ["b"]),
        ([("n", "true")], ["c"]),
        ([("u", "null")], ["c"]),
        ([("u.c", "US"), ("q", "a")], ["a"]),
    ],
)
def test_filters(filters: list[tuple[str, str]], found: list[str]) -> None:
    cases = cases_of(ROWS, filters=filters)
    assert [case.values["q"] for case in cases] == found
    assert [case.row for case in cases] == ["abc".index(name) for name in found]


def test_a_filter_that_matches_nothing_is_an_error() -> None:
    with pytest.raises(ConfigurationError) as caught:
        cases_of(ROWS, filters=[("q", "A"), ("n", "1")])
    assert str(caught.value.findings[0]) == (
        't/rows.jsonl: None of 3 rows fits the filter "q:A n:1". Columns and values are compared as text, letter case included.'
    )
    with pytest.raises(ConfigurationError, match="A filter has no column"):
        cases_of(ROWS, filters=[("", "x")])


@pytest.mark.parametrize("text", ["", "\n\n", "[]", "  [ ]  "])
def test_an_empty_data_set_is_an_error(text: str) -> None:
    session = session_at(text=TEXT.replace("rows.jsonl", "rows.json"))
    with pytest.raises(ConfigurationError) as caught:
        cases_of({"t/rows.json": text}, session)
    assert str(caught.value.findings[0]) == "t/rows.json: The data set has no rows. An empty run would prove nothing."


def test_where_the_data_set_is_looked_for() -> None:
    with pytest.raises(ConfigurationError) as caught:
        cases_of({"rows.jsonl": "{}"})
    assert str(caught.value.findings[0]) == (
        't/s.abs.yaml:3:28: There is no data set "t/rows.jsonl". `dataset.path` counts from the session\'s own directory.'
    )
    outside = session_at(text=TEXT.replace("rows.jsonl", "../../rows.jsonl"))
    with pytest.raises(ConfigurationError) as caught:
        cases_of({}, outside)
    assert 't/s.abs.yaml:3:28: The data set "../rows.jsonl" lies outside the workspace.' in str(
        caught.value.findings[0]
    )
    above = session_at(text=TEXT.replace("rows.jsonl", "../rows.jsonl"))
    assert len(cases_of({"rows.jsonl": "{}"}, above)) == 1


def test_a_file_given_beats_the_own_one_and_keeps_its_id() -> None:
    (case,) = cases_of({**ROWS, "other.csv": "q\nz\n"}, dataset="./other.csv")
    assert case.values == {"q": "z"}
    assert case.session.dataset is not None
    assert case.session.dataset.id == "cases"
    with pytest.raises(ConfigurationError, match="There is no data set"):
        cases_of(ROWS, dataset="gone.csv")


def test_a_directory_pairs_by_name() -> None:
    files = {**ROWS, "data/s.csv": "q\npaired\n", "data/other.json": "[]"}
    assert [case.values["q"] for case in cases_of(files, dataset="data")] == ["paired"]
    assert [case.values["q"] for case in cases_of(files, session_at("t/u.abs.yaml"), dataset="data")] == ["a", "b", "c"]
    with pytest.raises(
        ConfigurationError, match=r"Two data sets belong to this session: data/s\.jsonl and data/s\.csv"
    ):
        cases_of({**files, "data/s.jsonl": "{}"}, dataset="data")


def test_a_session_is_not_its_own_data_set() -> None:
    session = session_at(
        "t/s.json", text=json.dumps({"session": "s", "behaviors": [{"actor": "user", "action": "says"}]})
    )
    (case,) = cases_of({"t/s.json": "{}"}, session, dataset="t")
    assert case.row is None


def test_ids_stay_when_rows_move() -> None:
    before = {case.values["q"]: case.id for case in cases_of(ROWS)}
    lines = str(ROWS["t/rows.jsonl"]).splitlines()
    after = cases_of({"t/rows.jsonl": "\n".join(['{"q":"new"}', *reversed(lines)])})
    assert {case.values["q"]: case.id for case in after if case.values["q"] != "new"} == before
    filtered = cases_of(ROWS, filters=[("q", "c")])
    assert filtered[0].id == before["c"]


def test_ids_differ_between_equal_rows_and_between_sessions() -> None:
    rows: dict[str, str | bytes] = {"t/rows.jsonl": '{"q":"a"}\n' * 3, "u/rows.jsonl": '{"q":"a"}\n'}
    ids = [case.id for case in cases_of(rows)]
    ids += [case.id for case in cases_of(rows, session_at("u/s.abs.yaml"))]
    assert len(set(ids)) == 4
    two = "---\n".join([TEXT, TEXT])
    sessions = load_sessions(MemoryWorkspace({"t/s.abs.yaml": two}), ["t/s.abs.yaml"], OPTIONS).sessions
    assert len({cases_of(rows, session)[0].id for session in sessions}) == 2


@pytest.mark.parametrize("kind", ["json", "jsonl", "csv"])
def test_memory_does_not_grow_with_rows(kind: str, tmp_path: Any) -> None:
    script = tmp_path / "measure.py"
    script.write_text(
        "import re, sys, json\n"
        "from pathlib import Path\n"
        "from abs_gate.documents.datasets import iterate_cases\n"
        "from abs_gate.documents.model import DatasetRef, Session\n"
        "from abs_gate.findings import Location\n"
        "kind, count = sys.argv[1], 100_000\n"
        "class Generated:\n"
        "    def is_file(self, path): return True\n"
        "    def is_directory(self, path): return False\n"
        "    def read_chunks(self, path):\n"
        "        if kind == 'json': yield b'['\n"
        "        if kind == 'csv': yield b'q,n\\n'\n"
        "        for n in range(count):\n"
        "            row = json.dumps({'q': f'question {n} ' + 'x' * 200, 'n': n})\n"
        "            if kind == 'json': yield ((',\\n' if n else '') + row).encode()\n"
        "            elif kind == 'csv': yield f'question {n},{n}\\n'.encode()\n"
        "            else: yield row.encode() + b'\\n'\n"
        "        if kind == 'json': yield b']'\n"
        "place = Location(file='s.abs.yaml')\n"
        "ref = DatasetRef(id='cases', path=f'd.{kind}', location=place)\n"
        "session = Session(name='s', file='s.abs.yaml', behaviors=(), dataset=ref, location=place)\n"
        "n = sum(1 for _ in iterate_cases(session, Generated()))\n"
        # The peak of this program alone: ru_maxrss would count the test process it was forked from.
        "peak = re.search(r'VmHWM:\\s+(\\d+) kB', Path('/proc/self/status').read_text())\n"
        "print(n, int(peak[1]) // 1024)\n"
    )
    output = subprocess.run([sys.executable, str(script), kind], capture_output=True, text=True, check=True).stdout
    rows, megabytes = map(int, output.split())
    assert rows == 100_000
    assert megabytes < 100


@settings(deadline=None, max_examples=200)
@given(
    st.lists(
        st.dictionaries(
            st.text('ab"\\é\n', max_size=3),
            st.none() | st.integers() | st.text('{}[],"\\\né😀', max_size=5),
            max_size=3,
        ),
        max_size=6,
    ),
    st.integers(1, 9),
    st.sampled_from([None, 1]),
)
def test_json_in_any_pieces(rows: list[dict[str, Any]], piece: int, indent: int | None) -> None:
    assert [
        values for values, _ in rows_of(json.dumps(rows, indent=indent, ensure_ascii=False), "x.json", piece)
    ] == rows
    lines = "\n".join(json.dumps(row) for row in rows)
    assert [values for values, _ in rows_of(lines, "x.jsonl", piece)] == rows


@settings(deadline=None, max_examples=300)
@given(
    st.binary(max_size=60) | st.text('{}[],":\\ \n\r\t0123abtrue"é;', max_size=60).map(str.encode),
    st.sampled_from(["x.json", "x.jsonl", "x.csv"]),
)
def test_whatever_the_bytes_a_row_or_a_located_error(data: bytes, file: str) -> None:
    try:
        rows = rows_of(data, file)
    except ConfigurationError as error:
        assert all(finding.location is not None and finding.location.file == file for finding in error.findings)
    else:
        for values, _ in rows:
            json.dumps(values, allow_nan=False).encode()
