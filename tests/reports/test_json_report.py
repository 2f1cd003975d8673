"""`result.json` as text."""

from __future__ import annotations

import json

import pytest

from abs_gate.gate.load import load_result
from abs_gate.reports import ReportOptions
from abs_gate.reports.json_report import render

from .samples import SAMPLES, document


@pytest.mark.parametrize("sample", SAMPLES)
def test_it_reads_back_as_the_same_document(sample: str) -> None:
    made = SAMPLES[sample]()
    assert load_result(render(made, ReportOptions())) == made


def test_keys_are_sorted_and_the_text_ends_with_a_line_end() -> None:
    text = render(SAMPLES["passed"](), ReportOptions())
    assert text.endswith("}\n")
    assert list(json.loads(text)) == sorted(json.loads(text))
    assert text.index('"contracts"') < text.index('"evidence"') < text.index('"verdict"')


def test_text_of_other_scripts_stays_readable() -> None:
    assert "Grüße 日本" in render(document(reasons=["Grüße 日本"]), ReportOptions())


def test_a_number_that_json_does_not_have_is_refused() -> None:
    made = document()
    made["metadata"]["usage"] = {"tokens": float("nan")}  # type: ignore[dict-item]
    with pytest.raises(ValueError, match="JSON"):
        render(made, ReportOptions())
