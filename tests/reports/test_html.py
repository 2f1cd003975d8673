"""The HTML page as text: self-contained, escaped, bounded."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from html.parser import HTMLParser
from itertools import pairwise

import pytest

from abs_gate.gate.result import ResultDocument
from abs_gate.reports import ReportOptions
from abs_gate.reports.html import render
from abs_gate.reports.svg import rate_bar, timeline

from .samples import SAMPLES, behavior, case, document, refund_transcript, session, step, trial

VOID = {"meta", "input", "br", "rect", "path", "circle", "polyline"}


class Page(HTMLParser):
    """Collects elements, checks nesting, and keeps text by element."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[tuple[str, str]] = []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert len({name for name, _ in attrs}) == len(attrs)
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append((self.open[-1] if self.open else "", data))

    def text_of(self, tag: str) -> str:
        return "".join(data for name, data in self.texts if name == tag)


def page(sample: str) -> Page:
    return Page(render(SAMPLES[sample](), ReportOptions()))


@pytest.mark.parametrize("sample", SAMPLES)
def test_elements_nest_and_ids_are_unique(sample: str) -> None:
    made = page(sample)
    ids = [attributes["id"] for _, attributes in made.elements if "id" in attributes]
    assert len(ids) == len(set(ids))
    for _, attributes in made.elements:
        target = attributes.get("href") or ""
        if target:
            assert target.removeprefix("#") in ids
        if "aria-labelledby" in attributes:
            assert attributes["aria-labelledby"] in ids
        if "for" in attributes:
            assert attributes["for"] in ids


@pytest.mark.parametrize("sample", SAMPLES)
def test_nothing_is_loaded_and_only_our_two_blocks_may_run(sample: str) -> None:
    text = render(SAMPLES[sample](), ReportOptions())
    made = Page(text)
    for tag, attributes in made.elements:
        assert tag not in ("img", "iframe", "link", "object", "embed", "base", "a") or tag == "a"
        assert not {"src", "srcset", "style", "action", "formaction", "srcdoc", "xlink:href"} & set(attributes)
        assert not [name for name in attributes if name.startswith("on")]
    scripts = [attributes for tag, attributes in made.elements if tag == "script"]
    assert scripts == [{"type": "application/json", "id": "data"}, {}]
    policy = next(a["content"] for _, a in made.elements if a.get("http-equiv") == "Content-Security-Policy")
    assert policy is not None
    for tag in ("style", "script"):
        body = re.findall(rf"<{tag}>(.*?)</{tag}>", text, re.DOTALL)
        assert len(body) == 1
        digest = base64.b64encode(hashlib.sha256(body[0].encode()).digest()).decode()
        assert f"{tag}-src 'sha256-{digest}'" in policy
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy


def test_hostile_text_makes_no_element_and_no_attribute() -> None:
    calm, hostile = page("failed"), page("hostile")
    assert {tag for tag, _ in hostile.elements} <= {tag for tag, _ in calm.elements}
    names = {name for _, attributes in calm.elements for name in attributes}
    assert {name for _, attributes in hostile.elements for name in attributes} <= names
    outcomes = {a["data-outcome"] for _, a in hostile.elements if "data-outcome" in a}
    assert outcomes <= {"passed", "failed", "unverified", "skipped", "inconclusive", "tolerated"}


@pytest.mark.parametrize("sample", SAMPLES)
def test_the_data_block_is_json_that_can_end_no_element(sample: str) -> None:
    text = render(SAMPLES[sample](), ReportOptions())
    [block] = re.findall(r'<script type="application/json" id="data">(.*?)</script>', text, re.DOTALL)
    assert not set("<>&\u2028\u2029") & set(block)
    data = json.loads(block)
    record = SAMPLES[sample]()
    assert len(data["cases"]) + data["left"] == sum(len(s["cases"]) for s in record["sessions"])
    for number, _, _, trials in data["cases"]:
        assert 0 <= number < len(data["sessions"])
        assert all(0 <= one[3] < len(data["reasons"]) for one in trials)


def test_a_thousand_cases_stay_below_two_megabytes() -> None:
    text = render(SAMPLES["huge"](), ReportOptions())
    assert len(text.encode()) < 2_000_000
    data = json.loads(re.findall(r'id="data">(.*?)</script>', text, re.DOTALL)[0])
    assert (len(data["cases"]), data["left"]) == (1_000, 0)


def everything_large() -> ResultDocument:
    noise = "日本 <b>&amp;</b> " * 200
    long = [
        step(n, n, "call", target="tool_" * 30, arguments={"a": noise}, expected=False, notes=[noise])
        for n in range(400)
    ]
    sessions = [
        session(
            f"{noise} {number}",
            [
                case([trial("failed", reason=f"{noise}{row}", transcript=long)] * 2, row=row, a=noise)
                for row in range(20)
            ],
            reason=noise,
            behaviors=[
                behavior(n, noise, 0, 9, reasons=[f"{chr(97 + number % 26)}{n} {noise}"] * 5) for n in range(20)
            ],
        )
        for number in range(300)
    ]
    return document(verdict="failed", exit_code=1, reasons=[noise] * 500, sessions=sessions)


def test_the_page_is_bounded_whatever_it_shows() -> None:
    text = render(everything_large(), ReportOptions())
    assert len(text.encode()) < 2_000_000
    assert "more sessions in the list of cases" in text
    Page(text)


def test_verdict_reasons_and_failures_come_in_that_order() -> None:
    text = render(SAMPLES["failed"](), ReportOptions())
    order = [
        "<h1>",
        "<span>abs-gate: not ready to merge</span>",
        "1 of 4 sessions failed",
        "is critical and failed 3 of 5 trials",
        "What did not pass</h2>",
        "Expected</h4>",
        "Observed</h4>",
        'class="timeline"',
        "Tool contracts</h2>",
        "refused now:",
        "Verification</h2>",
        "Sessions and behaviors</h2>",
        "All cases</h2>",
        "This run</h2>",
    ]
    places = [text.find(part) for part in order]
    assert -1 not in places, order[places.index(-1)]
    assert places == sorted(places)


def test_it_has_landmarks_one_title_and_headings_without_gaps() -> None:
    made = page("failed")
    tags = [tag for tag, _ in made.elements]
    for landmark in ("header", "main", "footer"):
        assert tags.count(landmark) == 1
    assert tags.count("h1") == 1
    levels = [int(tag[1]) for tag in tags if re.fullmatch("h[1-6]", tag)]
    assert all(after - before <= 1 for before, after in pairwise(levels))
    assert ("html", {"lang": "en"}) in made.elements
    assert all("aria-label" in attributes for tag, attributes in made.elements if tag == "nav")


def test_a_bar_is_as_long_as_its_rate_and_its_whisker_as_its_interval() -> None:
    bar = rate_bar(0.4, [0.1, 0.75], "failed")
    assert '<rect class="fill failed" width="48" ' in bar
    assert 'd="M12 8H90M12 5v6M90 5v6"' in bar
    assert "fill" not in rate_bar(None, None, "unverified")
    assert 'width="120"' in rate_bar(1.0, [0.5, 1.0], "passed")
    assert 'width="0"' in rate_bar(-3.0, None, "failed").replace('width="120"', "", 1)


def test_a_timeline_marks_every_step_in_its_lane() -> None:
    made = timeline(refund_transcript())
    numbers = re.findall(r'<text x="\d+" y="(\d+)">(\d)</text>', made)
    assert [number for _, number in numbers] == list("12345678")
    lanes = [height for height, _ in numbers]
    assert lanes[0] == lanes[4]
    assert lanes[1] == lanes[3] == lanes[5] == lanes[7]
    assert lanes[2] == lanes[6]
    assert len({*lanes}) == 3
    assert made.count("<rect") == 2
    assert re.findall(r'class="mark (\w+) bad"', made) == ["call", "result"]
    assert re.findall(r">turn (\d)<", made) == ["1", "2"]
    assert "8 steps: 2 tool calls, 1 of them not asked for" in made
    assert timeline([]) == ""
