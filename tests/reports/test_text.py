"""Terminal text."""

from __future__ import annotations

import pytest

from abs_gate.reports import ReportOptions
from abs_gate.reports.terminal import display_width
from abs_gate.reports.text import render

from .samples import SAMPLES, behavior, case, document, session, trial


@pytest.mark.parametrize("sample", SAMPLES)
@pytest.mark.parametrize("width", [60, 100])
def test_no_line_is_wider_than_the_terminal(sample: str, width: int) -> None:
    text = render(SAMPLES[sample](), ReportOptions(width=width, verbose=sample != "huge"))
    assert [line for line in text.splitlines() if display_width(line) > width] == []


def test_colour_only_when_asked_for() -> None:
    assert "\x1b[" not in render(SAMPLES["failed"](), ReportOptions())
    colored = render(SAMPLES["failed"](), ReportOptions(color=True))
    assert colored.startswith("\x1b[31mFAILED")
    assert colored.count("\x1b[0m") * 2 == colored.count("\x1b[")


def test_colour_adds_nothing_but_colour() -> None:
    import re

    plain = render(SAMPLES["failed"](), ReportOptions())
    assert re.sub(r"\x1b\[[0-9;]*m", "", render(SAMPLES["failed"](), ReportOptions(color=True))) == plain


def test_hostile_text_cannot_move_the_cursor_even_with_colour() -> None:
    import re

    text = render(SAMPLES["hostile"](), ReportOptions(color=True))
    assert re.sub(r"\x1b\[[0-9;]+m", "", text).isprintable() or not any(
        ord(char) < 32 and char != "\n" for char in re.sub(r"\x1b\[[0-9;]+m", "", text)
    )
    assert "\x1b[31mred" not in text


def test_expected_stands_above_observed_and_the_cause() -> None:
    text = render(SAMPLES["failed"](), ReportOptions())
    order = ["expected issue_refund", "observed issue_refund", 'because  argument "order_id"', "turn 2, row 1, trial 1"]
    places = [text.index(part) for part in order]
    assert places == sorted(places)


def test_what_gates_comes_before_what_does_not() -> None:
    text = render(SAMPLES["failed"](), ReportOptions())
    assert text.index("Refund a damaged order") < text.index("Tone with an angry customer")
    assert text.index("Tone with an angry customer") < text.index("quarantined, does not gate")
    assert text.index("quarantined, does not gate") < text.index("within what the session's threshold")


def test_unexpected_calls_and_saved_trials_are_named() -> None:
    assert "issue_refund (3 times)" in render(SAMPLES["failed"](), ReportOptions())
    assert "decided after 8 of" in render(SAMPLES["passed"](), ReportOptions())


def test_quiet_gives_the_verdict_and_a_line_for_each_failure_that_gates() -> None:
    text = render(SAMPLES["failed"](), ReportOptions(quiet=True, width=200))
    assert text.startswith("FAILED: ")
    assert 'sessions/refund.abs.yaml:32: assistant calls "issue_refund": argument "order_id" differs' in text
    assert "Loyalty" not in text
    assert "Sessions" not in text


def test_verbose_adds_transcripts_and_every_case() -> None:
    text = render(SAMPLES["failed"](), ReportOptions(verbose=True))
    assert "6. assistant calls issue_refund" in text
    assert "no behavior asked for this" in " ".join(text.split())
    assert '"Look up an order" row 1: passed in 1.8 s, failed in 900 ms' in text


def test_many_failures_are_counted() -> None:
    text = render(SAMPLES["huge"](), ReportOptions())
    assert "and 280 more behaviors (--format json shows all)" in text
    assert "and 150 more changes (--format json shows all)" in text
    assert len(text) < 100_000


def test_unverified_trials_stand_beside_the_rate() -> None:
    records = [case([trial(), trial("unverified", reason="no judge")])]
    made = document(sessions=[session("S", records, behaviors=[behavior(0, "b", 1, unverified=1)])])
    text = render(made, ReportOptions())
    assert "passed 1 of 1 (100 %)" in text
    assert "1 could not be verified" in text
