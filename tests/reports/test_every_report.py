"""Laws that hold for every report of every sample."""

from __future__ import annotations

import copy

import pytest

from abs_gate.reports import REPORTERS, ReportOptions
from abs_gate.reports.annotations import render_annotations
from abs_gate.reports.comment import render_comment

from .samples import SAMPLES

RENDERERS = {name: (lambda d, r=reporter: r.render(d, ReportOptions())) for name, reporter in REPORTERS.items()}
RENDERERS["comment"] = render_comment
RENDERERS["annotations"] = render_annotations
HIDDEN = [chr(point) for point in (*range(0x20), *range(0x7F, 0xA0)) if chr(point) != "\n"]
HIDDEN += ["\u202e", "\u202c", "\u200b", "\u200d", "\ufeff", "\u2028", "\u2029", "\ud800", "\ufffe"]


def test_the_table_names_every_format_with_a_file_name() -> None:
    assert list(REPORTERS) == ["text", "junit", "markdown", "html", "json", "sarif"]
    assert len({reporter.default_filename for reporter in REPORTERS.values()}) == len(REPORTERS)


@pytest.mark.parametrize("sample", SAMPLES)
@pytest.mark.parametrize("name", RENDERERS)
def test_report_is_utf8_and_shows_no_hidden_character(name: str, sample: str) -> None:
    text = RENDERERS[name](SAMPLES[sample]())
    text.encode("utf-8")
    assert [char for char in HIDDEN if char in text] == []


@pytest.mark.parametrize("sample", SAMPLES)
@pytest.mark.parametrize("name", RENDERERS)
def test_report_leaves_the_document_alone(name: str, sample: str) -> None:
    document = SAMPLES[sample]()
    before = copy.deepcopy(document)
    RENDERERS[name](document)
    assert document == before


@pytest.mark.parametrize("name", RENDERERS)
def test_report_does_not_depend_on_the_order_of_keys(name: str) -> None:
    def turned(value: object) -> object:
        if isinstance(value, dict):
            return {key: turned(value[key]) for key in reversed(list(value))}
        return [turned(one) for one in value] if isinstance(value, list) else value

    document = SAMPLES["failed"]()
    document["metadata"]["versions"] = {"a": "1", "b": "2"}
    expected = RENDERERS[name](document)
    document["metadata"]["versions"] = {"b": "2", "a": "1"}
    document["metadata"]["usage"] = dict(reversed(document["metadata"]["usage"].items()))
    assert RENDERERS[name](document) == expected
    if name == "json":
        assert RENDERERS[name](turned(document)) == expected


@pytest.mark.parametrize("name", ["text", "markdown", "html", "comment", "junit"])
def test_what_failed_is_named_with_its_place(name: str) -> None:
    text = RENDERERS[name](SAMPLES["failed"]())
    assert "sessions/refund.abs.yaml" in text
    assert "ORD-1002" in text
    assert "optional_to_required" in text
    assert "2 of 5" in text


@pytest.mark.parametrize("name", ["text", "markdown", "html", "comment"])
def test_the_verdict_comes_before_everything_else(name: str) -> None:
    text = RENDERERS[name](SAMPLES["unverified"]())
    body = text[text.find("<body>") :] if name == "html" else text
    verdict = min(place for word in ("could not be verified", "COULD NOT") if (place := body.find(word)) >= 0)
    assert verdict < body.find("connection refused")
