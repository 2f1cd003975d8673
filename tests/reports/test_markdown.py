"""Job summary and comment: inert, cut at whole rows, readable when there is much."""

from __future__ import annotations

import re

import pytest
from markdown_it import MarkdownIt
from markdown_it.token import Token

from abs_gate.reports import ReportOptions
from abs_gate.reports.comment import (
    COMMENT_LIMIT,
    Marker,
    parse_marker,
    render_comment,
    render_marker,
)
from abs_gate.reports.markdown import SUMMARY_LIMIT, render
from abs_gate.reports.markdown_text import Section, cell, code, fence, fit, sentence, size_of

from .samples import HOSTILE_TEXTS, SAMPLES, behavior, case, document, session, trial

PARSER = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
OUR_HTML = re.compile(r"</?details>|</?summary>|</?sub>|<br>")
BAITS = ["octocat", "evil.example", "alert(", "onerror", ":tada:", "[click]", "GH-7", "owned", "add-mask", "|---", "$$"]


def flat(tokens: list[Token]) -> list[Token]:
    return [one for token in tokens for one in [token, *flat(token.children or [])]]


def unsafe_parts(markdown: str) -> list[str]:
    """Everything outside of code that text of others could have got into."""
    found = []
    for token in flat(PARSER.parse(markdown)):
        if token.type in ("link_open", "image", "s_open"):
            found.append(f"{token.type}: {token.attrs}")
        elif token.type == "text" and any(bait in token.content for bait in BAITS):
            found.append(token.content)
        elif token.type in ("html_block", "html_inline"):
            rest = OUR_HTML.sub("", re.sub(r"\A<!-- abs-gate:comment \{[^<>]*\} -->", "", token.content))
            if "<" in rest or any(bait in rest for bait in BAITS):
                found.append(token.content)
    return found


@pytest.mark.parametrize("sample", SAMPLES)
def test_text_of_others_is_inert(sample: str) -> None:
    assert unsafe_parts(render(SAMPLES[sample](), ReportOptions())) == []
    assert unsafe_parts(render_comment(SAMPLES[sample](), key="matrix <b> @octocat [click](x) ` a")) == []


@pytest.mark.parametrize(
    "text", [*HOSTILE_TEXTS, "`", "``", "` a `", "a`", " ", "", "\\", "\\|", "|", "\\`", "\n\n# x"]
)
def test_one_hostile_text_stays_one_code_span_or_block(text: str) -> None:
    [paragraph] = [token for token in PARSER.parse(f"before {code(text)} after") if token.type == "inline"]
    kinds = [token.type for token in paragraph.children or []]
    assert kinds in (["text", "code_inline", "text"], ["text"])
    blocks = [token.type for token in PARSER.parse(f"before\n\n{fence(text)}\n\nafter")]
    paragraph_kinds = ["paragraph_open", "inline", "paragraph_close"]
    assert blocks == [*paragraph_kinds, "fence", *paragraph_kinds]
    row = f"| a | b |\n|---|---|\n| {cell(text)} | last |\n"
    cells = [token for token in PARSER.parse(row) if token.type == "inline"][2:]
    assert len(cells) == 2
    assert cells[1].content == "last"


def test_a_code_span_shows_the_text_itself() -> None:
    for text in ("plain", "a | b", "`tick`", "``two`` and `one`", "back\\slash", "\\|"):
        token = PARSER.parse(f"| h |\n|---|\n| {cell(text)} |")
        [span] = [one for one in flat(token) if one.type == "code_inline"]
        assert span.content == text


@pytest.mark.parametrize("sample", SAMPLES)
def test_tables_and_collapsed_parts_are_whole(sample: str) -> None:
    for text in (render(SAMPLES[sample](), ReportOptions()), render_comment(SAMPLES[sample]())):
        lines = re.sub(r"(?ms)^(`{3,})\w*\n.*?^\1\n", "", text).splitlines()
        assert sum(line.startswith("<details>") for line in lines) == sum(line == "</details>" for line in lines)
        rows = [line for line in lines if line.startswith("|")]
        assert all(row.endswith("|") for row in rows)


def test_verdict_first_then_why_then_what_failed_then_what_to_do() -> None:
    text = render_comment(SAMPLES["failed"]())
    order = [
        "abs-gate: not ready to merge",
        "1 of 4 sessions failed",
        "is critical and failed 3 of 5 trials",
        "### What did not pass",
        '| ❌ | `assistant calls "issue_refund"` | 2 of 5 (40 %) | 11.7 % to 76.9 % |',
        "expected issue_refund",
        "observed issue_refund",
        "<details><summary>Transcript of turn 2, row 1, trial 1 (8 steps)",
        "### Contract changes, compared with commit `9f8e7d6`",
        'required: added "reason"',
        "A call that worked before and is refused now:",
        '{"order_id": "ORD-1001", "amount_cents": 1}',
        "**Affects** the arguments models generate; saved, queued and paused calls.",
        "**What to do:** If the product needs the value",
        "To release it all the same: name `billing.issue_refund@3` in `replaces`.",
        "### Verification",
        "<details><summary>All sessions (4)",
        "commit `1a2b3c4d5e6f`",
    ]
    places = [text.find(part) for part in order]
    assert -1 not in places, order[places.index(-1)]
    assert places == sorted(places)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ('Session "Refund an order" failed 3 of 5 trials.', 'Session `"Refund an order"` failed 3 of 5 trials.'),
        ("a.b: c.d was optional (breaking), it's not", "`a.b`: `c.d` was optional (breaking), it's not"),
        ("judge `my judge` did not answer: HTTP 503", "judge `my judge` did not answer: HTTP 503"),
        ("1. @octocat sees #1 at https://x.y/", "`1`. `@octocat` sees `#1` at `https://x.y/`"),
        ("in commit deadbeef", "in commit `deadbeef`"),
        ('observed "he said \\"no\\" and', 'observed `"he said \\"no\\" and`'),
        ("", "(empty)"),
    ],
)  # fmt: skip
def test_our_words_are_text_and_what_others_wrote_is_set_apart(text: str, shown: str) -> None:
    assert sentence(text) == shown


def test_a_passed_gate_is_short() -> None:
    text = render_comment(SAMPLES["passed"]())
    assert len(text) < 4000
    assert "did not" not in text
    assert text.splitlines()[1] == "## ✅ abs-gate: ready to merge"


def test_three_hundred_failing_behaviors_read_as_their_causes() -> None:
    text = render_comment(SAMPLES["huge"](), run_url="https://github.com/o/r/actions/runs/5")
    assert size_of(text) < COMMENT_LIMIT
    assert "300 behaviors in 100 sessions, for 1 cause:" in text
    assert "and 296 more" in text
    assert "_180 more contract changes in [the job summary](https://github.com/o/r/actions/runs/5)._" in text
    assert "### Verification" in text
    assert "All sessions (100)" in text


def test_different_causes_are_told_apart() -> None:
    sessions = [
        session(
            f"S{n}",
            [case([trial("failed")])],
            behaviors=[behavior(0, "b", 0, 1, reasons=[f"{'no call' if n % 3 else 'wrong text'} in trial {n}"])],
        )
        for n in range(30)
    ]
    text = render_comment(document(verdict="failed", exit_code=1, sessions=sessions))
    assert "30 behaviors in 30 sessions, for 2 causes:" in text
    assert "| 20 | 20 |" in text
    assert "| 10 | 10 |" in text


@pytest.mark.parametrize("limit", [1_000, 2_500, 5_000, 8_000, 20_000, COMMENT_LIMIT])
@pytest.mark.parametrize("sample", ["failed", "hostile", "huge"])
def test_a_comment_never_passes_its_limit_and_stays_whole(sample: str, limit: int) -> None:
    text = render_comment(SAMPLES[sample](), limit=limit)
    assert size_of(text) <= limit
    assert len(text.encode("utf-8")) <= limit
    assert unsafe_parts(text) == []
    assert text.count("<details><summary>") == text.count("</details>") or sample == "hostile"
    kinds = [token for token in PARSER.parse(text) if token.type == "fence"]
    assert all(token.map and text.splitlines()[token.map[1] - 1] == token.markup for token in kinds)
    assert text.splitlines()[1].startswith("## ❌ abs-gate: not ready to merge")
    assert text.rstrip().endswith("</sub>")


def test_what_was_cut_is_counted() -> None:
    text = render_comment(SAMPLES["failed"](), limit=2_500)
    assert re.search(r"_\d+ more (section|sections|behavior|behaviors) in the job summary\._", text)


def test_the_summary_stays_within_a_mebibyte() -> None:
    text = render(SAMPLES["huge"](), ReportOptions())
    assert len(text.encode()) <= SUMMARY_LIMIT < 1_048_576
    big = document(
        verdict="failed",
        sessions=[
            session(f"S {n}", [case([trial("failed", reason="r" * 500)])], reason="r" * 900, behaviors=[
                behavior(i, "label " * 20, 0, 1, reasons=[f"reason {chr(97 + n % 26)}{chr(97 + i)} " * 40])
                for i in range(10)
            ])
            for n in range(1_000)
        ],
    )  # fmt: skip
    assert len(render(big, ReportOptions()).encode()) <= SUMMARY_LIMIT


def test_cutting_counts_bytes_not_characters() -> None:
    sections = [Section(head="h", rows=["日" * 50] * 20, noun="row")]
    text = fit(sections, 1_000, "the file", "foot")
    assert size_of(text) <= 1_000
    kept = text.count("日" * 50)
    assert 1 <= kept <= 6
    assert f"_{20 - kept} more rows in the file._" in text


def test_the_marker_round_trips_whatever_the_key_holds() -> None:
    for key in ("default", "a--b", "x -->", "<!--", "日本", 'quote"', "matrix (3.11, ubuntu)"):
        line = render_marker(key, "abc123", 77, 2, "failed")
        assert line.count("--") == 2
        assert "\n" not in line
        body = f"{line}\n## anything"
        assert parse_marker(body) == Marker(key=key, sha="abc123", run_id=77, run_attempt=2, verdict="failed")


def test_the_marker_of_a_rendered_comment_is_its_own() -> None:
    made = render_comment(SAMPLES["hostile"](), key="k", sha="f" * 40, run_id=9, run_attempt=3)
    assert parse_marker(made) == Marker(key="k", sha="f" * 40, run_id=9, run_attempt=3, verdict="failed")
    assert made.lower().count("abs-gate:comment") == 1


@pytest.mark.parametrize(
    "body",
    [
        "",
        "a comment of a person",
        "quoted:\n<!-- abs-gate:comment {} -->",
        f"> {render_marker('default', 'a', 1, 1, 'passed')}",
        "<!-- abs-gate:comment {} -->",
        "<!-- abs-gate:comment not json -->",
        '<!-- abs-gate:comment {"key":1,"sha":"a","run":1,"attempt":1,"verdict":"passed"} -->',
        '<!-- abs-gate:comment {"key":"k","sha":"a","run":"1","attempt":1,"verdict":"passed"} -->',
        '<!-- abs-gate:comment {"key":"k","sha":"a","run":true,"attempt":1,"verdict":"passed"} -->',
        '<!-- abs-gate:comment [1] -->',
        "<!-- abs-gate:comment {" + "[" * 1900 + "} -->",
        "<!-- abs-gate:comment {" + "1" * 100_000 + "} -->",
    ],
)  # fmt: skip
def test_what_is_not_our_marker_is_none(body: str) -> None:
    assert parse_marker(body) is None


def test_history_says_what_it_was_before() -> None:
    before = Marker(key="default", sha="0123456789abcdef", run_id=1, run_attempt=1, verdict="failed")
    text = render_comment(SAMPLES["passed"](), sha="f" * 40, previous=before)
    assert "Before at `0123456789ab`: ❌ not ready to merge." in text
    again = render_comment(SAMPLES["failed"](), sha="f" * 40, previous=before)
    assert "Before at `0123456789ab`: ❌ not ready to merge, as now." in again
    same = Marker(key="default", sha="f" * 40, run_id=1, run_attempt=1, verdict="unverified")
    assert "on the same commit: ⚠️ could not be verified" in render_comment(
        SAMPLES["passed"](), sha="f" * 40, previous=same
    )
    forged = Marker(key="default", sha="`[x](y)", run_id=1, run_attempt=1, verdict="<b>owned</b>")
    assert "owned" not in render_comment(SAMPLES["passed"](), previous=forged)


@pytest.mark.parametrize("url", ["javascript:alert(1)", "https://x.example/a) [b](c", "https://x.example/a b", "x"])
def test_only_a_plain_address_is_linked(url: str) -> None:
    assert "](" not in render_comment(SAMPLES["huge"](), run_url=url).replace("[x](", "")


def test_what_only_the_threshold_tolerates_is_said_to_gate_nothing() -> None:
    made = document(
        sessions=[
            session(
                "S", [case([trial(), trial("failed")])], outcome="passed", behaviors=[behavior(0, "b", 1, 1)]
            )
        ]
    )  # fmt: skip
    text = render_comment(made)
    assert "### What did not always pass (nothing of this gates)" in text
    assert "(tolerated)" in text


def test_shown_percentages_are_floored() -> None:
    made = document(sessions=[session("S", [case([trial()])], behaviors=[behavior(0, "b", 1999, 501)])])
    assert "1999 of 2500 (79.9 %)" in render(made, ReportOptions())
