"""Laws of escaping that must hold for any text at all."""

from __future__ import annotations

import html
import json
import re
import xml.etree.ElementTree as ET

from hypothesis import example, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from abs_gate.reports import ReportOptions, html_data, json_report, junit
from abs_gate.reports.annotations import Annotation, render_command, sanitise_log
from abs_gate.reports.comment import parse_marker, render_marker
from abs_gate.reports.html_text import esc, esc_block, prose
from abs_gate.reports.markdown_text import cell, code, fence, sentence, sentence_cell
from abs_gate.reports.terminal import display_width, wrap
from abs_gate.reports.untrusted import visible

from .samples import behavior, case, document, mismatch, session, trial

PARSER = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
SPICE = st.sampled_from(
    ["`", "``", "```", "|", "\\", "\n", "\r", "::", "##[", "#", "[", "]]>", "<!--", "-->", "</details>", "<b>", "&amp;",
     "\u202e", "\u200b", "\x1b", "\x00", "\ud800", "\u2028", "\u00a0", "%0A", "@a", "error", " ", "*", "~~", "$",
     '"', "'"]
)  # fmt: skip
ANY_TEXT = st.lists(SPICE | st.text(st.characters(), max_size=4), max_size=14).map("".join)
BLANKS = " \t\x0b\x0c\x1c\x1d\x1e\x1f\x85\u00a0\u1680\u2000\u2001\u2002\u2003\u2028\u2029\u202f\u205f\u3000\ufeff\u200b"

quick = settings(max_examples=100, deadline=None)


@quick
@given(ANY_TEXT)
def test_a_code_span_is_one_code_span(text: str) -> None:
    span = code(text)
    [inline] = [token for token in PARSER.parse(f"a {span} b") if token.type == "inline"]
    kinds = [token.type for token in inline.children or []]
    assert kinds in (["text", "code_inline", "text"], ["text"]), span


@quick
@given(ANY_TEXT)
@example("1. @octocat fixes #1 at https://example.com/x, see **deadbeef0** in user/repo#2 ![](x) (`a`) :boom: GH-1 $x$")
@example('say "hi" to ``them`` and `us`, "so"')
def test_a_sentence_is_plain_words_and_code_spans(text: str) -> None:
    for place in ("{}", "- {}", "**x** {}<br>{}"):
        inlines = [token for token in PARSER.parse(place.format(*[sentence(text)] * 2)) if token.type == "inline"]
        assert len(inlines) == 1, text
        for token in inlines[0].children or []:
            if token.type == "text":
                assert re.fullmatch(r"[\w ,;.:?()'%-]*", token.content, re.ASCII), token.content
                assert not re.search(r"[:.]\w*[A-Za-z_]|\b[0-9a-f]{7,}\b|[A-Z]-\d|_", token.content), token.content
            else:
                assert token.type in ("code_inline", "strong_open", "strong_close", "html_inline")
                assert token.type != "html_inline" or token.content == "<br>"


@quick
@given(ANY_TEXT, ANY_TEXT)
def test_a_cell_is_one_cell(first: str, second: str) -> None:
    tokens = PARSER.parse(f"| a | b | c |\n|---|---|---|\n| {cell(first)} | {sentence_cell(second)} | end |")
    cells = [token for token in tokens if token.type == "inline"][3:]
    assert len(cells) == 3
    assert cells[2].content == "end"
    assert [child.type for child in cells[0].children or []] in (["code_inline"], ["text"])
    assert {child.type for child in cells[1].children or []} <= {"code_inline", "text"}


@quick
@given(ANY_TEXT)
def test_a_fence_holds_everything(text: str) -> None:
    kinds = [token.type for token in PARSER.parse(f"a\n\n{fence(text)}\n\nb")]
    paragraph = ["paragraph_open", "inline", "paragraph_close"]
    assert kinds == [*paragraph, "fence", *paragraph]


@quick
@given(ANY_TEXT)
@example("##[[x]]")
@example("\u3000::x::")
def test_the_log_holds_no_command(text: str) -> None:
    made = sanitise_log(text)
    assert "##[" not in made
    for line in re.split(r"[\r\n\x0b\x0c\x1c-\x1e\x85\u2028\u2029]", made):
        assert not line.lstrip(BLANKS).startswith("::")


@quick
@given(ANY_TEXT, ANY_TEXT)
def test_an_annotation_is_one_line_with_its_own_parts(title: str, message: str) -> None:
    line = render_command(Annotation(kind="warning", title=title, message=message, file="a b,c:d.yaml", line=7))
    assert re.fullmatch(r"::warning title=[^:,\r\n]*,file=a b%2Cc%3Ad.yaml,line=7::[^\r\n]*", line)
    assert "##[" not in line


@quick
@given(ANY_TEXT)
def test_html_text_makes_no_markup(text: str) -> None:
    for made in (esc(text), esc_block(text)):
        assert not set("<>\"'") & set(made)
        assert html.escape(html.unescape(made), quote=True) == made
    assert re.sub(r"</?code>", "", prose(text)).count("<") == 0
    assert prose(text).count("<code>") == prose(text).count("</code>")


@quick
@given(ANY_TEXT)
def test_what_is_visible_is_only_visible(text: str) -> None:
    made = visible(text)
    made.encode("utf-8")
    assert all(char.isprintable() or char == "\ufe0f" or not char.isascii() for char in made)
    assert "\n" not in made
    assert visible(made) == made


@quick
@given(ANY_TEXT, st.integers(20, 60))
def test_wrapped_lines_fit(text: str, width: int) -> None:
    assert all(display_width(line) <= width for line in wrap(text, width, first="  - "))


@quick
@given(ANY_TEXT)
def test_a_marker_gives_back_its_key(key: str) -> None:
    line = render_marker(key, "abc", 1, 1, "passed")
    assert line.count("-->") == 1
    marker = parse_marker(f"{line}\nbody")
    assert marker is not None
    assert marker.key == key


@settings(max_examples=40, deadline=None)
@given(ANY_TEXT)
def test_whole_reports_stay_readable_by_machines(text: str) -> None:
    failing = trial("failed", reason=text, mismatches=[mismatch("behavior 1", text, expected=text, observed=text)])
    made = document(
        verdict="failed",
        exit_code=1,
        reasons=[text],
        sessions=[session(text, [case([failing], row=1, **{"v": text})], behaviors=[behavior(0, text, 0, 1)])],
    )
    root = ET.fromstring(junit.render(made, ReportOptions()).encode())
    assert [one.get("failures") for one in root] == ["1"]
    assert json.loads(json_report.render(made, ReportOptions())) == made
    data = html_data.cases_data(made)
    assert not set("<>&") & set(data)
    assert len(json.loads(data)["cases"]) == 1
