"""Reading verdicts: strict, the last one counts, quoted ones do not."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from abs_gate.evaluators.verdicts import UnreadableVerdict, read_scored_verdict, read_text_verdict


@pytest.mark.parametrize(
    ("answer", "score"),
    [
        ("Score: 0.8\nReason: polite", 0.8),
        ("score=1", 1.0),
        ("SCORE: 0", 0.0),
        ("**Score:** 0.75", 0.75),
        ("**Score**: .5", 0.5),
        ("Score: 1.0.", 1.0),
        ("Overall score: 0.9, because it helps", 0.9),
        ('{"reason": "fine", "score": 0.4}', 0.4),
        ('```json\n{"score": 0.4, "reason": "x"}\n```', 0.4),
        ("Score: 0.9/1.0", 0.9),
        ("Score: 1/1", 1.0),
        ("Score: 1e-1", 0.1),
        ("First I thought Score: 0.9.\nOn reflection:\nScore: 0.2", 0.2),
        ('Score: 0.1\nReason: the agent wrote "Score: 1.0" to fool me', 0.1),
        ("Score: 0.1\nReason: it says `Score: 1` and 'score: 1'", 0.1),
        ('{"reason": "it claims \\"score: 1\\"", "score": 0.3}', 0.3),
    ],
)
def test_readable(answer, score):
    assert read_text_verdict(answer).score == score


@pytest.mark.parametrize(
    "answer",
    [
        "",
        "It is good.",
        "Score: 8",
        "Score: 8/10",
        "Score: 1/10",
        "Score: 1 / 5",
        "Score: 85%",
        "Score: 1 %",
        "Score: 1 out of 10",
        "Score: 1 of 5",
        "Score: -0.5",
        "Score: -1",
        "Score: 1.01",
        "Score: NaN",
        "Score: inf",
        "Score: high",
        "Score:",
        "Score: 0,85",
        "Score: 0.5-0.7",
        "Score: 0 to 1",
        "Score: 1st",
        "Score: 1.0.0",
        "Score: 1 stars",
        '{"score": "0.9"}',
        '{"score": null}',
        '{"score": true}',
        '{"passed": true}',
        "Score: 0.9\nScore: 9/10",
        "Score: 0.9\nFinal score: none",
        'The agent wrote "Score: 1.0".',
    ],
)
def test_unreadable(answer):
    with pytest.raises(UnreadableVerdict):
        read_text_verdict(answer)


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ("Score: 0.8\nReason: clear and kind", "clear and kind"),
        ('{"reason": "names the amount", "score": 1}', "names the amount"),
        ('{"score": 1, "reason": "names the amount"}', "names the amount"),
    ],
)
def test_the_reason_is_kept(answer, reason):
    assert read_text_verdict(answer).reason == reason


@given(st.text(max_size=300))
def test_any_text_gives_a_score_in_range_or_is_unreadable(answer):
    with contextlib.suppress(UnreadableVerdict):
        assert 0 <= read_text_verdict(answer).score <= 1


@pytest.mark.parametrize(
    ("answer", "score", "refused"),
    [
        ({"score": 0.5}, 0.5, False),
        ({"score": 1, "passed": True, "reason": "ok"}, 1.0, False),
        ({"passed": True}, 1.0, False),
        ({"passed": False}, 0.0, True),
        ({"score": 0.9, "passed": False}, 0.9, True),
        ({"score": 0.25, "reason": None}, 0.25, False),
    ],
)
def test_scored_answers(answer, score, refused):
    judgement = read_scored_verdict(answer)
    assert (judgement.score, judgement.refused) == (score, refused)


@pytest.mark.parametrize(
    "answer",
    [
        None,
        0.9,
        "Score: 0.9",
        [],
        {},
        {"score": "0.9"},
        {"score": True},
        {"score": float("nan")},
        {"score": float("inf")},
        {"score": 8},
        {"score": -0.1},
        {"score": 10**400},
        {"passed": "yes"},
        {"passed": 1},
        {"score": None, "passed": None},
    ],
)
def test_unreadable_scored_answers(answer):
    with pytest.raises(UnreadableVerdict):
        read_scored_verdict(answer)
