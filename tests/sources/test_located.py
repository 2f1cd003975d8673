"""Documents as values with places: what is read, what is refused, and where."""
# ruff: noqa: E501 - an expected message is one line

from __future__ import annotations

import json
import time
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from abs_gate.errors import ConfigurationError
from abs_gate.sources.located import parse_documents
from abs_gate.sources.workspace import MAX_FILE_BYTES


def value_of(text: str | bytes, file: str = "f.yaml") -> Any:
    (document,) = parse_documents(text, file)
    return document.value


def problems_of(text: str | bytes, file: str = "f.yaml") -> list[str]:
    with pytest.raises(ConfigurationError) as caught:
        parse_documents(text, file)
    assert caught.value.findings
    return [str(finding) for finding in caught.value.findings]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("no", "no"), ("Yes", "Yes"), ("on", "on"), ("off", "off"), ("y", "y"),
        ("012345", "012345"), ("-012", "-012"), ("00", "00"), ("007.5", "007.5"), ("0", 0), ("-0", 0),
        ("12", 12), ("-12", -12), ("+12", 12), ("0x1F", 31), ("0o17", 15), ("0b11", "0b11"), ("0o8", "0o8"),
        ("1_000", "1_000"), ("12:30", "12:30"), ("12:30:45", "12:30:45"), ("2026-07-30", "2026-07-30"),
        ("2026-07-30T10:00:00Z", "2026-07-30T10:00:00Z"),
        ("1.5", 1.5), (".5", 0.5), ("1.", 1.0), ("-1e3", -1000.0), ("1e5", 100000.0), ("1.2.3", "1.2.3"), (".", "."),
        ("1e", "1e"), ("+", "+"), ("--1", "--1"), ("１２", "１２"), ("٣", "٣"),
        ("true", True), ("True", True), ("TRUE", True), ("tRUE", "tRUE"), ("false", False),
        ("null", None), ("~", None), ("Null", None), ("nil", "nil"), ("NaN", "NaN"), ("inf", "inf"),
        ("<<", "<<"), ("=", "="), ("a b", "a b"), ("'12'", "12"), ('"no"', "no"), ("'true'", "true"),
        ("|\n  12\n", "12\n"), (">\n  a\n  b\n", "a b\n"), ("0.1", 0.1), ("9007199254740993", 9007199254740993),
    ],
)  # fmt: skip
def test_scalars_follow_the_core_schema(text: str, value: Any) -> None:
    read = value_of(f"k: {text}")["k"]
    assert read == value
    assert type(read) is type(value)


def test_keys_are_always_text() -> None:
    assert value_of("1: a\ntrue: b\nnull: c\n1.0: d\n012: e\n2026-01-01: f") == {
        "1": "a", "true": "b", "null": "c", "1.0": "d", "012": "e", "2026-01-01": "f",
    }  # fmt: skip


def test_documents_are_split_at_markers_only() -> None:
    text = "a: |\n  one\n  ---\n  two\n---\nb: 'x --- y'\n...\n---\n# only a comment\n---\n- 3\n"
    documents = parse_documents(text, "f.yaml")
    assert [document.value for document in documents] == [{"a": "one\n---\ntwo\n"}, {"b": "x --- y"}, [3]]
    assert [document.index for document in documents] == [0, 1, 2]
    assert documents[0].text == "a: |\n  one\n  ---\n  two"
    assert documents[2].text == "---\n- 3"


def test_places_of_keys_and_values() -> None:
    text = "# top\nsession: é x\nitems:\n  - a: 1\n    b: [10, 20]\n  - 'q'\n---\nz:\n  y: |\n    t\n"
    first, second = parse_documents(text, "d/f.yaml")
    assert str(first.location()) == "d/f.yaml:2:1"
    assert str(first.location(("session",))) == "d/f.yaml:2:10"
    assert str(first.key_location(("items",))) == "d/f.yaml:3:1"
    assert str(first.location(("items", 0, "b", 1))) == "d/f.yaml:5:13"
    assert str(first.key_location(("items", 0, "b"))) == "d/f.yaml:5:5"
    assert str(first.location(("items", 1))) == "d/f.yaml:6:5"
    assert str(second.key_location(("z", "y"))) == "d/f.yaml:9:3"


def test_a_path_that_leads_nowhere_gives_the_nearest_place() -> None:
    (document,) = parse_documents("a:\n  b: 1\n", "f.yaml")
    assert str(document.location(("a", "missing", 3))) == "f.yaml:2:3"
    assert str(document.key_location(("a", "missing"))) == "f.yaml:2:3"
    assert str(document.location(("nope",))) == "f.yaml:1:1"


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_every_line_break_counts_once(newline: str) -> None:
    (document,) = parse_documents(newline.join(["a: 1", "", "b:", "  c: 2", ""]), "f.yaml")
    assert document.value == {"a": 1, "b": {"c": 2}}
    assert str(document.location(("b", "c"))) == "f.yaml:4:6"


def test_a_byte_order_mark_is_not_text() -> None:
    (document,) = parse_documents(b"\xef\xbb\xbfa: 1\n", "f.yaml")
    assert document.value == {"a": 1}
    assert str(document.key_location(("a",))) == "f.yaml:1:1"


def test_separators_of_other_scripts_are_text() -> None:
    assert value_of('a: x\u2028y\u0085z\nb: "p \u2029 q"\n') == {"a": "x\u2028y\u0085z", "b": "p \u2029 q"}


def test_json_as_such() -> None:
    text = (
        '\n{\n\t"emoji": "\\ud83d\\ude00", "long '
        + "k" * 2000
        + '": [1.0, -2e3, true, null, {}, [], ""],\n "u": "\u2028"}'
    )
    (document,) = parse_documents(text, "f.json")
    assert document.value == json.loads(text)
    assert str(document.key_location(("u",))) == "f.json:4:2"
    assert str(document.location(("emoji",))) == "f.json:3:11"


def test_flow_yaml_in_a_yaml_file_is_not_taken_for_broken_json() -> None:
    assert value_of("{a: 1, b: [x, 'y']}") == {"a": 1, "b": ["x", "y"]}


def test_aliases_and_merges() -> None:
    text = "base: &b {x: 1, y: 2}\nother: &o {y: 3, z: 4}\none:\n  <<: *b\n  y: 9\ntwo: {<<: [*b, *o]}\nthree: *b\nfour: {'<<': 1}"
    value = value_of(text)
    assert value["one"] == {"y": 9, "x": 1}
    assert value["two"] == {"x": 1, "y": 2, "z": 4}
    assert value["three"] == {"x": 1, "y": 2}
    assert value["four"] == {"<<": 1}


def test_an_alias_may_be_a_key() -> None:
    assert value_of("a: &k name\n*k : 1\n") == {"a": "name", "name": 1}


def test_nothing_is_no_document() -> None:
    for empty in ("", "\n\n", "# comment\n", "---\n", "---\n---\n...\n", b"\xef\xbb\xbf"):
        assert parse_documents(empty, "f.yaml") == ()


NESTED = {
    "flow lists": "[" * 200,
    "flow mappings": "a: " + "{b: " * 200,
    "block lists": "- " * 200 + "x",
    "block mappings": "".join(" " * level + "k:\n" for level in range(200)),
    "very deep": "[" * 100_000,
    "deep json": '{"a":' * 100_000,
    "keys": "? " * 5_000,
}


@pytest.mark.parametrize("name", NESTED)
@pytest.mark.parametrize("file", ["f.yaml", "f.json"])
def test_nesting_is_bounded(name: str, file: str) -> None:
    started = time.monotonic()
    problems = problems_of(NESTED[name], file)
    assert time.monotonic() - started < 1
    assert all(problem.startswith(file) for problem in problems)


def test_a_hundred_levels_are_fine() -> None:
    assert value_of("[" * 100 + "]" * 100)
    assert value_of("[" * 100 + "]" * 100, "f.json")
    assert problems_of("[" * 101 + "]" * 101, "f.json") == ["f.json:1:101: Nested deeper than 100 levels."]


def test_a_bomb_of_aliases_is_an_error_in_milliseconds() -> None:
    levels = [f"l{n}: &l{n} [{', '.join([f'*l{n - 1}'] * 10)}]" for n in range(1, 12)]
    started = time.monotonic()
    problems = problems_of("l0: &l0 [x, x, x]\n" + "\n".join(levels))
    assert time.monotonic() - started < 0.2
    assert problems == ["f.yaml:6:15: Aliases repeat more than 100,000 values. Write fewer aliases."]


def test_a_bomb_of_merges_is_an_error() -> None:
    levels = [f"m{n}: &m{n} {{<<: *m{n - 1}, k{n}: [{', '.join([f'*m{n - 1}'] * 9)}]}}" for n in range(1, 12)]
    assert "Aliases repeat" in problems_of("m0: &m0 {a: 1}\n" + "\n".join(levels))[0]


def test_a_chain_of_aliases_cannot_nest_without_bound() -> None:
    chain = "a0: &a0 [x]\n" + "\n".join(f"a{n}: &a{n} [*a{n - 1}]" for n in range(1, 150))
    assert "Nested deeper than 100 levels through this alias." in problems_of(chain)[0]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a: 1\nb: 2\na: 3", ["f.yaml:3:1: The key `a` stands twice in this mapping. Remove one: only one value can count."]),
        ("a: .nan\nb: -.inf\nc: 1e999", [
            "f.yaml:1:4: Infinity and NaN are not JSON values.",
            "f.yaml:2:4: Infinity and NaN are not JSON values.",
            "f.yaml:3:4: The number is too large to be held; quote it if it is text.",
        ]),
        ("a: !!python/object/apply:os.system [x]", [
            "f.yaml:1:4: YAML tags (`!name`) are not accepted: a document is plain data. "
            "Remove the tag, or quote the text if the exclamation mark belongs to it.",
        ]),
        ("a: !important", [
            "f.yaml:1:4: YAML tags (`!name`) are not accepted: a document is plain data. "
            "Remove the tag, or quote the text if the exclamation mark belongs to it.",
        ]),
        ("a: *nowhere", ["f.yaml:1:4: The alias `*nowhere` names no anchor before it."]),
        ("a: &a [*a]", ["f.yaml:1:8: The alias `*a` stands inside the value it repeats."]),
        ("[1, 2]: x", ["f.yaml:1:1: A list or mapping cannot be a key. Quote it if it is text."]),
        ("a: {{name}}", ["f.yaml:1:4: A placeholder needs quotes around it in YAML. Write \"{{name}}\"."]),
        ("? \n: x", ["f.yaml:1:2: A key is missing before this colon."]),
        ("a: {<<: 3}", ["f.yaml:1:5: `<<` merges a mapping or a list of mappings."]),
        ("a: Order: 12", [
            "f.yaml:1:9: A `: ` is not expected here. Text that holds `: ` needs quotes around it; "
            "else check the indentation of this line and the one above.",
        ]),
        ("\ta: 1", ["f.yaml:1:1: A tab is used where spaces are needed. Indent with spaces, never with tabs."]),
        ("a:\n  - b\n - c", [
            "f.yaml:3:2: This line does not fit the mapping it stands in. "
            "Usually its indentation differs from the lines beside it, or a quote above is not closed.",
        ]),
        ("- a\nb: 1", [
            "f.yaml:2:1: This line does not fit the list it stands in. Every entry of a list begins with `- ` at the same indentation.",
        ]),
        ("a: 'it's'", [
            "f.yaml:1:8: Something stands behind a value that is complete. "
            "A single quote inside single quotes is written twice (`'it''s'`); check the indentation too.",
        ]),
        ('a: "x\\d"', [
            "f.yaml:1:6: A backslash in double quotes begins an escape that does not exist. "
            "Write `\\\\` for a backslash, or use single quotes (usual for patterns).",
        ]),
        ("a: 'x", ["f.yaml:1:4: A quoted text is not closed before the end of the file. Add the closing quote."]),
        ("a: [b\nc: d", ["f.yaml:1:4: A list in brackets is not closed. Add `]`, or a comma between entries."]),
        ("a: > x\n  y", [
            "f.yaml:1:6: Text stands behind `|` or `>`. "
            "Begin it in the next line; a text that itself begins with one of them needs quotes.",
        ]),
        ("a: @home", ["f.yaml:1:4: This character cannot begin a value. Quote texts that begin with @, ` or %; indent with spaces, never with tabs."]),
        ("a: b\x07c", ["f.yaml:1:5: The control character U+0007 may not stand in YAML. Remove it, or write it as an escape in double quotes, such as \"\\u0007\"."]),
        (b"a: 1\nb: caf\xe9\n", ["f.yaml:2:7: The byte 0xE9 is not UTF-8 text. Save the file as UTF-8."]),
        ("a: é".encode("utf-16"), ["f.yaml:1:1: The file is UTF-16 or UTF-32 text. Save it as UTF-8."]),
        (b"\x7fELF\x02\x01\x00\x00", ["f.yaml:1:7: The file holds a zero byte: it is binary, or UTF-16. Save it as UTF-8."]),
        ("a: " + "9" * 2000, ["f.yaml:1:4: A number of 2000 characters is too long; quote it if it is text."]),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_with_its_place(text: str | bytes, expected: list[str]) -> None:
    assert problems_of(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"a": 1, "a": 2}', ["f.json:1:10: The key `a` stands twice in this mapping. Remove one: only one value can count."]),
        ('{"a": NaN}', ["f.json:1:7: Infinity and NaN are not JSON values."]),
        ('{"a": -Infinity}', ["f.json:1:7: Infinity and NaN are not JSON values."]),
        ('{"a": 1,}', ["f.json:1:9: This is not JSON: expected a key in double quotes, found something else."]),
        ('{"a": 1', ["f.json:1:8: This is not JSON: expected a comma or `}`, found the end of the file."]),
        ("[1 2]", ["f.json:1:4: This is not JSON: expected a comma or `]`, found something else."]),
        ("[01]", ["f.json:1:3: This is not JSON: expected a comma or `]`, found something else."]),
        ('["a\nb"]', [
            "f.json:1:2: A text is not closed, or holds a line break or an escape that JSON does not know. "
            "Close the quote; write line breaks as \\n and backslashes as \\\\.",
        ]),
        ('["\\ud800"]', ["f.json:1:2: An escape names half of a character (a lone surrogate)."]),
        ("[1] x", ["f.json:1:5: This is not JSON: expected nothing more: the document ended before it, found something else."]),
        ("[1e999]", ["f.json:1:2: The number is too large to be held; quote it if it is text."]),
        ("[tru]", ["f.json:1:2: This is not JSON: expected a value, found something else."]),
    ],
)  # fmt: skip
def test_json_errors(text: str, expected: list[str]) -> None:
    assert problems_of(text, "f.json") == expected


def test_all_misfits_of_a_file_are_reported_in_one_go() -> None:
    problems = problems_of("a: 1\na: 2\nb: .inf\nc: !x 1\nd: 'open")
    assert [problem.split(": ")[0] for problem in problems] == ["f.yaml:2:1", "f.yaml:3:4", "f.yaml:4:4", "f.yaml:5:4"]


def test_a_file_of_errors_is_not_a_flood() -> None:
    assert len(problems_of("\n".join(f"k{n}: .nan" for n in range(5_000)))) == 100


def test_large_files_are_refused() -> None:
    assert problems_of(b"a" * (MAX_FILE_BYTES + 1)) == ["f.yaml: The file is larger than 5 MiB."]


def test_many_values_are_refused() -> None:
    started = time.monotonic()
    assert "more than 500,000 values" in problems_of("[" + "1," * 600_000 + "1]", "f.json")[0]
    assert time.monotonic() - started < 20


def test_many_tag_directives_do_not_take_long() -> None:
    started = time.monotonic()
    assert problems_of("".join(f"%TAG !a{n}! tag:x,\n" for n in range(60_000)) + "---\na: 1")
    assert time.monotonic() - started < 1


def test_secrets_in_a_file_are_not_echoed() -> None:
    secret = "sk-" + "S3CRET" * 20
    for text in (f"a: {secret}: b", f"a: [{secret}", f"{{{secret}: }}: 2", f"{secret}\nb: 1", f'a: "{secret}'):
        assert not any("S3CRETS3CRETS3CRETS3CRETS3CRETS3CRET" in problem for problem in problems_of(text))


JSON_TEXT = st.text(st.characters(exclude_categories=("Cs",)), max_size=20)
JSON_VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats(allow_nan=False, allow_infinity=False)
    | JSON_TEXT,
    lambda children: st.lists(children, max_size=4) | st.dictionaries(JSON_TEXT, children, max_size=4),
    max_leaves=20,
)


@given(JSON_VALUES)
def test_json_round_trip(value: Any) -> None:
    for ascii_only in (True, False):
        text = json.dumps({"v": value}, ensure_ascii=ascii_only, indent=1)
        assert value_of(text, "f.json") == {"v": value}
        assert value_of(text, "f.yaml") == {"v": value}


class QuotingDumper(yaml.SafeDumper):
    """Quotes every text: what is no number in YAML 1.1, which it writes, may be one in 1.2 (`0E0`)."""


QuotingDumper.add_representer(str, lambda dumper, text: dumper.represent_scalar("tag:yaml.org,2002:str", text, '"'))


@given(JSON_VALUES)
@example("0E0")
def test_yaml_round_trip(value: Any) -> None:
    text = yaml.dump({"v": value}, Dumper=QuotingDumper)
    assert value_of(text) == {"v": value}


@given(JSON_VALUES)
def test_every_value_has_its_place(value: Any) -> None:
    text = json.dumps({"v": value}, indent=1)
    lines = text.split("\n")
    (document,) = parse_documents(text, "f.json")

    def check(path: tuple[str | int, ...], here: Any) -> None:
        place = document.location(path)
        assert place.line and place.column
        assert lines[place.line - 1][place.column - 1 :].startswith(json.dumps(here, indent=1)[:1])
        children = here.items() if isinstance(here, dict) else enumerate(here) if isinstance(here, list) else ()
        for step, child in children:
            check((*path, step), child)

    check((), {"v": value})


HOSTILE = st.one_of(
    st.binary(max_size=200),
    st.text(max_size=100).map(lambda text: text.encode("utf-8", "surrogatepass")),
    st.text("{}[]:,-?&*!|>'\"%@`#\n\t\r ab01~<.\\u\x00\ufeff\u2028", max_size=60).map(str.encode),
)


@settings(max_examples=600, suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(HOSTILE)
def test_whatever_the_bytes_the_only_error_is_a_located_one(data: bytes) -> None:
    for file in ("f.yaml", "f.json"):
        try:
            documents = parse_documents(data, file)
        except ConfigurationError as error:
            assert error.findings
            for finding in error.findings:
                assert finding.location is not None and finding.location.file == file
                assert "\n" not in str(finding) and len(str(finding)) < 400
        else:
            for document in documents:
                json.dumps(document.value, allow_nan=False)
                document.text.encode()
