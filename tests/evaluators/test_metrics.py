"""Text metrics against values computed with abslang 0.6.0, and against slow oracles."""

from __future__ import annotations

import json
import time
from functools import lru_cache
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from abs_gate.evaluators.metrics import measure_bleu, measure_f1, measure_rouge, tokenise

VECTORS = json.loads((Path(__file__).parent / "data" / "text_metrics.json").read_text("utf-8"))
words = st.lists(st.sampled_from("abcd"), max_size=9).map(" ".join)


@pytest.mark.parametrize("vector", VECTORS, ids=lambda v: f"{v['observed'][:12]}~{v['reference'][:12]}")
def test_reference_values(vector):
    observed, reference = vector["observed"], vector["reference"]
    assert measure_f1(observed, reference).f1 == pytest.approx(vector["f1"], abs=1e-11)
    assert measure_bleu(observed, reference)[0] == pytest.approx(vector["bleu"], abs=1e-11)
    for variant in ("rouge1", "rouge2", "rougeL"):
        overlap = measure_rouge(observed, reference, variant)
        for metric in ("precision", "recall", "f1"):
            assert getattr(overlap, metric) == pytest.approx(vector[f"{variant}.{metric}"], abs=1e-11)


def test_published_values():
    cat = "the cat sat on the mat"
    assert round(measure_f1(cat, "the cat is on the mat").f1, 6) == 0.833333
    assert round(measure_bleu(cat, "the cat is on the mat")[0], 6) == 0.488923
    assert round(measure_rouge(cat, "A dog runs in the park", "rougeL").f1, 6) == 0.166667


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("47.50", ["47", "50"]),
        ("don't", ["don", "t"]),
        ("straße STRASSE", ["straße", "strasse"]),
        ("a_b 😀 ¡hola!", ["a_b", "hola"]),
        ("你好世界", ["你好世界"]),
        ("", []),
    ],
)
def test_tokens(text, tokens):
    assert tokenise(text) == tokens


@settings(max_examples=200, deadline=None)
@given(words, words)
def test_rouge_l_is_the_longest_common_subsequence(observed, reference):
    mine, theirs = observed.split(), reference.split()

    @lru_cache
    def longest(i: int, j: int) -> int:
        if i == len(mine) or j == len(theirs):
            return 0
        if mine[i] == theirs[j]:
            return 1 + longest(i + 1, j + 1)
        return max(longest(i + 1, j), longest(i, j + 1))

    overlap = measure_rouge(observed, reference, "rougeL")
    assert overlap.precision == (longest(0, 0) / len(mine) if mine else 0)
    assert overlap.recall == (longest(0, 0) / len(theirs) if theirs else 0)


@settings(max_examples=100, deadline=None)
@given(words, words)
def test_laws(observed, reference):
    assert measure_f1(observed, reference).f1 == measure_f1(reference, observed).f1
    for score in (
        measure_f1(observed, reference).f1,
        measure_bleu(observed, reference)[0],
        measure_rouge(observed, reference, "rouge2").f1,
    ):
        assert 0 <= score <= 1 + 1e-12
    if observed:
        assert measure_f1(observed, observed).f1 == 1
        assert measure_bleu(observed, observed)[0] == pytest.approx(1)


def test_long_texts_do_not_hang():
    started = time.monotonic()
    measure_rouge("a b c " * 20_000, "b a c " * 20_000, "rougeL")
    assert time.monotonic() - started < 10
