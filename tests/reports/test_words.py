"""Text of others made visible; figures in words; schemas in short form; terminal layout."""

from __future__ import annotations

from fractions import Fraction

import pytest

from abs_gate.reports.figures import count_of, duration_text, interval_text, join_words, percent, rate_of
from abs_gate.reports.schema_text import describe_difference, schema_summary
from abs_gate.reports.terminal import display_width, wrap
from abs_gate.reports.untrusted import block, cut, one_line, visible


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain text", "plain text"),
        ("Grüße, 日本語, עברית", "Grüße, 日本語, עברית"),
        ("a\nb\tc\rd", "a\\nb\\tc\\rd"),
        ("\x1b[31m", "\\x1b[31m"),
        ("\x9b2J", "\\x9b2J"),
        ("a\u202eb\u2066c", "a\\u202eb\\u2066c"),
        ("ze\u200bro\u200d\ufeff\u2060", "ze\\u200bro\\u200d\\ufeff\\u2060"),
        ("\ud83d", "\\ud83d"),
        ("\ufffe\ufdd0\U0001ffff", "\\ufffe\\ufdd0\\U0001ffff"),
        ("tag\U000e0041", "tag\\U000e0041"),
        ("hangul filler \u3164", "hangul filler \\u3164"),
        ("❤\ufe0f is an emoji, a\ufe0f hides data", "❤\ufe0f is an emoji, a\\ufe0f hides data"),
        ("\u2028\u2029\x85", "\\u2028\\u2029\\x85"),
    ],
)
def test_hidden_characters_become_visible_escapes(text: str, shown: str) -> None:
    assert visible(text) == shown


def test_line_ends_stay_only_where_asked_for() -> None:
    assert visible("a\r\nb\rc\n\td", keep_lines=True) == "a\nb\nc\n    d"


def test_text_is_bounded_and_says_so() -> None:
    assert cut("x" * 100, 10) == "x" * 10 + "... (90 more characters)"
    assert len(one_line("word " * 10_000, 50)) <= 50
    assert one_line("  a \n\n b ", 50) == "a b"
    assert block("\n\nabc\n", 100) == "abc"


@pytest.mark.parametrize(
    ("rate", "shown"),
    [
        (0.7996, "79.9 %"),
        (0.79999999, "79.9 %"),
        (0.8, "80 %"),
        (0.57, "57 %"),
        (0.29, "29 %"),
        (2 / 3, "66.6 %"),
        (0.9999, "99.9 %"),
        (1.0, "100 %"),
        (0.0, "0 %"),
        (0.0004, "0 %"),
        (Fraction(1999, 2500), "79.9 %"),
        (Fraction(4, 5), "80 %"),
    ],
)
def test_percentages_are_floored(rate: float | Fraction, shown: str) -> None:
    assert percent(rate) == shown


def test_every_exact_tenth_of_a_percent_is_shown_exactly() -> None:
    for tenths in range(1001):
        whole, tenth = divmod(tenths, 10)
        assert percent(tenths / 1000) == (f"{whole}.{tenth} %" if tenth else f"{whole} %")


def test_figures_in_words() -> None:
    assert rate_of(4, 5) == "4 of 5 (80 %)"
    assert rate_of(0, 0) == "0 of 0"
    assert interval_text([0.3755, 0.9638]) == "37.5 % to 96.3 %"
    assert interval_text(None) == "-"
    assert [duration_text(ms) for ms in (0, 999, 1000, 12_345, 59_999, 60_000, 3_599_999, 7_380_000)] == [
        "0 ms", "999 ms", "1.0 s", "12.3 s", "59.9 s", "1 min 00 s", "59 min 59 s", "2 h 03 min",
    ]  # fmt: skip
    assert [count_of(n, "case") for n in (0, 1, 2, 1234)] == ["0 cases", "1 case", "2 cases", "1,234 cases"]
    assert join_words(["a", "b", "c"]) == "a, b and c"


@pytest.mark.parametrize(
    ("schema", "shown"),
    [
        (True, "anything"),
        ({"type": "string", "minLength": 1}, "string (minLength 1)"),
        ({"enum": ["a", 1, None]}, '"a" | 1 | null'),
        ({"type": ["string", "null"]}, "string | null"),
        ({"anyOf": [{"type": "null"}, {"const": 3}]}, "null | 3"),
        ({"type": "array", "items": {"type": "integer"}}, "array of integer"),
        (
            {"type": "object", "properties": {"id": {"type": "string"}, "n": {}}, "required": ["id"]},
            "{id: string, n?: anything}",
        ),
        ({"$ref": "#/$defs/x"}, "#/$defs/x"),
    ],
)
def test_schemas_are_summed_up(schema: object, shown: str) -> None:
    assert schema_summary(schema) == shown


@pytest.mark.parametrize(
    ("before", "after", "lines"),
    [
        ({"minLength": 1}, {"minLength": 5}, ["minLength: 1 -> 5"]),
        ({"enum": ["a", "b"]}, {"enum": ["c", "b"]}, ['enum: removed "a"; added "c"']),
        ({"required": ["a"]}, {"required": ["a", "b"]}, ['required: added "b"']),
        (None, {"type": "boolean"}, ["added boolean"]),
        ({"type": "string"}, None, ["removed string"]),
        ("always", "never", ['"always" -> "never"']),
        (True, 1, ["true -> 1"]),
        (1, 1.0, []),
        ({"a": {"b": {"c": 1}}}, {"a": {"b": {"c": 2}}}, ["a.b.c: 1 -> 2"]),
        ({"enum": [1, True]}, {"enum": [1, 1]}, ["enum: removed true"]),
    ],
)
def test_differences_are_named_by_place(before: object, after: object, lines: list[str]) -> None:
    assert describe_difference(before, after) == lines


def test_large_and_deep_schemas_stay_short() -> None:
    deep: dict[str, object] = {"type": "string"}
    for _ in range(300):
        deep = {"type": "object", "properties": {"inner": deep}}
    assert len(schema_summary(deep)) < 300
    wide = {"properties": {f"p{n}": {"type": "string"} for n in range(500)}}
    assert "480 more" in schema_summary(wide)
    lines = describe_difference({f"k{n}": n for n in range(100)}, {f"k{n}": n + 1 for n in range(100)})
    assert lines[-1] == "and 89 more places"
    assert len(lines) == 12


@pytest.mark.parametrize("width", range(24, 60))
def test_wrapping_keeps_to_the_width_and_to_the_words(width: int) -> None:
    text = "passed 2 of 5 (40 %), interval 11.7 % to 76.9 % " * 4
    lines = wrap(text, width, first="  - ")
    assert all(display_width(line) <= width for line in lines)
    assert lines[0].startswith("  - passed")
    assert all(line.startswith("    ") for line in lines[1:])
    assert not any(line.strip().startswith("%") for line in lines)
    assert "".join("".join(lines).split()) == "".join(f"  - {text}".split())


def test_wide_characters_count_two_columns() -> None:
    assert display_width("日本a") == 5
    assert all(display_width(line) <= 20 for line in wrap("日本語" * 30, 20))
    assert all(display_width(line) <= 20 for line in wrap("x" * 100, 20, first="> "))
