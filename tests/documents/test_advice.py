"""Warnings about what is legal and probably not meant; each with a twin that is fine."""
# ruff: noqa: E501 - an expected message is one line

from __future__ import annotations

from typing import Any

import pytest

from abs_gate.documents.advice import KnownTools, find_doubts
from abs_gate.documents.model import Case
from abs_gate.documents.variables import Scope
from abs_gate.documents.when_advice import find_case_mismatches
from abs_gate.findings import Severity

from .memory_workspace import SHAPES, behaviors, load_all, load_one

U = "- {actor: user, action: says, content: hi}\n"
A = "- {actor: assistant, action: informs}\n"


def doubts(text: str, tools: KnownTools | None = None) -> list[str]:
    found = find_doubts(load_all(text), tools=tools, evaluators=SHAPES)
    assert all(finding.severity is Severity.WARNING for finding in found)
    return [str(finding) for finding in found]


def rules(body: str, tools: KnownTools | None = None, **top: str) -> list[str]:
    found = find_doubts(load_all(behaviors(body, **top)), tools=tools, evaluators=SHAPES)
    return [finding.rule for finding in found]


def test_a_good_session_gives_no_warning() -> None:
    assert doubts(behaviors(U + A)) == []


@pytest.mark.parametrize(
    ("scalar", "message"),
    [
        ("no", '"no" is text here; readers of YAML 1.1 take it for true or false. Put it in quotes.'),
        ("On", '"On" is text here; readers of YAML 1.1 take it for true or false. Put it in quotes.'),
        ("012", '"012" is text here; readers of YAML 1.1 take it for a number. Put it in quotes.'),
        ("12:30", '"12:30" is text here; readers of YAML 1.1 take it for a number of base sixty. Put it in quotes.'),
        ("2026-07-30", '"2026-07-30" is text here; readers of YAML 1.1 take it for a date. Put it in quotes.'),
        ("1_000", '"1_000" is text here; readers of YAML 1.1 take it for a number. Put it in quotes.'),
        ("+4912345678", '"+4912345678" is read as a number. Put it in quotes if it is meant as text.'),
        ("0x1F", '"0x1F" is read as a number. Put it in quotes if it is meant as text.'),
        ("12e3", '"12e3" is read as a number. Put it in quotes if it is meant as text.'),
    ],
)
def test_scalars_that_others_read_differently(scalar: str, message: str) -> None:
    body = "- {actor: assistant, action: calls, with: {a: %s}}"
    assert doubts(behaviors(body % scalar)) == [f"s.abs.yaml:4:47: {message}"]
    assert doubts(behaviors(body % f"'{scalar}'")) == []


@pytest.mark.parametrize("scalar", ["12", "1.5", "true", "nothing", "0", "2026", "v1.2", "12:a", "not", "1e", "0.5"])
def test_scalars_that_everybody_reads_alike(scalar: str) -> None:
    assert doubts(behaviors(f"- {{actor: assistant, action: calls, with: {{a: {scalar}}}}}")) == []


def test_a_session_that_cannot_fail() -> None:
    expected = [
        "s.abs.yaml:1:1: This session can never fail: it expects nothing and checks nothing. Add an assistant behavior that is not optional, or evaluations."
    ]
    assert doubts(behaviors(U)) == expected
    assert doubts(behaviors(U + "- {actor: assistant, action: asks, optional: true}")) == expected
    assert rules(U + "evaluations: [{type: eventually, match: {action: informs}}]") == []


def test_a_missing_version_comes_once() -> None:
    assert len(doubts("session: s\nbehaviors:\n" + A)) == 1


def test_sessions_of_one_name() -> None:
    text = "---\n".join([behaviors(U + A)] * 2)
    assert doubts(text) == [
        's.abs.yaml:8:1: Another session in this file is called "s" too. Reports tell sessions apart by name.'
    ]


@pytest.mark.parametrize(
    ("body", "found"),
    [
        ("- {actor: user, action: says, evaluations: [{type: contains, value: x}]}\n" + A, ["evaluation-of-sent"]),
        (A + "- {actor: tool, action: stores, target: Db}", ["not-observable"]),
        (A + "- {actor: tool, action: responds, target: Db, content: x}", ["unasked-result"]),
        ("- {actor: assistant, action: calls, target: Db}\n- {actor: tool, action: responds, target: Db}", []),
        ("- {actor: assistant, action: calls, target: Dc}\n- {actor: tool, action: responds, target: Db}", ["unasked-result"]),
        ("- {actor: tool, action: responds, target: Db}\n- {actor: assistant, action: calls, target: Db}", ["unasked-result"]),
        ("- {actor: assistant, action: informs, with: {a: 1}}", ["arguments-not-compared"]),
        ("- {actor: assistant, action: hands_off, with: {a: 1}}", []),
        ("- {actor: user, action: says, optional: true}\n" + A, ["not-for-this-actor"]),
        ("- {actor: user, action: says, matches_when: {type: contains, value: x}}\n" + A, ["not-for-this-actor"]),
        ("- {actor: user, action: submits, with_only: {}}\n" + A, ["arguments-not-compared"]),
        ("- {actor: assistant, action: informs, evaluations: [{type: contains, value: x, threshold: 0.5}]}", ["threshold-ignored"]),
        ("- {actor: assistant, action: informs, evaluations: [{type: llm_judge, criteria: x, threshold: 0.5}]}", []),
        ("- {actor: assistant, action: asks, id: b}\nevaluations: [{type: expected, behavior: b}]", ["expected-of-required"]),
        ("- {actor: assistant, action: asks, id: b, optional: true}\nevaluations: [{type: expected, behavior: b}]", ["optional-takes-any-text"]),
        ("- {actor: assistant, action: asks, id: b, optional: true, matches_when: {type: contains, value: x}}\nevaluations: [{type: expected, behavior: b}]", []),
        ("- {actor: assistant, action: asks, id: b, evaluations: [{type: Groundedness, query: c.says, context: b.asks, response: self}]}", ["reference-is-text"]),
        ("- {actor: assistant, action: asks, id: b, evaluations: [{type: Groundedness, query: assistant.asks, context: 'see v1.2 of it'}]}", []),
        (U.replace("}", ", capture: {a: 1}}") + A, ["unused-capture"]),
        (U.replace("}", ", capture: {a: 1}}") + "- {actor: assistant, action: calls, with: {x: {y: '{{a}}'}}}", []),
        (U.replace("}", ", capture: {a: {b: 1}}}") + A + "evaluations: [{type: never, match: {action: asks}, when: '{{a.b}} == 1'}]", []),
        (U.replace("}", ", capture: {a: 1}}") + A + "evaluations: [{type: variable_consistency, variable: a}]", []),
        ("- {actor: assistant, action: informs, capture: {a: 1}, evaluations: [{type: contains, value: '{{a}}'}]}", []),
        (A + "- {actor: assistant, action: asks, id: q, optional: true, capture: {a: 1}}\n- {actor: user, action: says, content: '{{a}}'}", ["maybe-unbound"]),
        (A + "- {actor: assistant, action: asks, id: q, optional: true, capture: {a: 1}}\n- {actor: user, action: says, content: '{{a}}', requires: q}", ["optional-takes-any-text"]),
        (A + "- {actor: assistant, action: asks, id: q, optional: true, capture: {a: 1}}\n- {actor: user, action: says, id: r, requires: q}\n- {actor: user, action: says, content: '{{a}}', requires: r}", ["optional-takes-any-text"]),
    ],
)  # fmt: skip
def test_doubts_about_behaviors(body: str, found: list[str]) -> None:
    assert rules(body) == found


NEVER = A + "evaluations: [{type: never, match: {actor: assistant, action: %s%s}}]"


@pytest.mark.parametrize(
    ("action", "target", "tools", "found"),
    [
        ("calls", "pay", KnownTools(names=frozenset({"refund"})), ["unknown-tool"]),
        ("calls", "pay", KnownTools(names=frozenset({"pay"})), []),
        ("calls", "pay", KnownTools(), []),
        ("calls", "Pay API", KnownTools(names=frozenset({"pay"}), aliases={"Pay API": ("pay",)}), []),
        ("calls", "pay", KnownTools(names=frozenset({"Pay API"}), aliases={"Pay API": ("pay",)}), []),
        ("calls", "'{{t}}'", KnownTools(names=frozenset({"refund"})), []),
        ("calls", None, KnownTools(names=frozenset()), []),
        ("hands_off", None, KnownTools(), ["no-handoff-tool"]),
        ("hands_off", "Human Agent", KnownTools(names=frozenset({"pay"})), ["no-handoff-tool"]),
        ("hands_off", "Human Agent", KnownTools(names=frozenset({"transfer_to_human_agent"})), []),
        ("hands_off", None, KnownTools(handoffs=frozenset({"escalate"})), []),
        ("hands_off", "Human Agent", KnownTools(aliases={"Human Agent": ("escalate",)}), []),
    ],
)
def test_never_of_unknown_tools(action: str, target: str | None, tools: KnownTools, found: list[str]) -> None:
    assert rules(NEVER % (action, f", target: {target}" if target else ""), tools) == found


def test_results_are_matched_through_aliases() -> None:
    body = (
        "- {actor: assistant, action: calls, target: get_order}\n- {actor: tool, action: responds, target: Order MCP}"
    )
    assert rules(body) == ["unasked-result"]
    assert rules(body, KnownTools(aliases={"Order MCP": ("get_order",)})) == []


@pytest.mark.parametrize(
    ("when", "dataset", "message"),
    [
        ("{{cases.n}} == true", "d.csv", "`when` compares `{{cases.n}}` (text) with true (true or false)."),
        ("{{cases.n}} == 'true'", "d.csv", None),
        ("{{cases.n}} == true", "d.jsonl", None),
        ("{{captured}} == '3'", "d.jsonl", '`when` compares `{{captured}}` (a number) with "3" (text).'),
        ("{{captured}} == 3 && {{captured}} != null", "d.jsonl", None),
        ("!('a' == 3)", "d.jsonl", '`when` compares "a" (text) with 3 (a number).'),
        ("'{{captured}}' == 3", "d.jsonl", "`when` compares text with 3 (a number)."),
    ],
)
def test_comparisons_that_can_never_be_equal(when: str, dataset: str, message: str | None) -> None:
    body = (
        U.replace("}", ", capture: {captured: 3}}")
        + A
        + f'evaluations: [{{type: never, match: {{action: asks}}, when: "{when}"}}]'
    )
    expected = [] if message is None else [f"{message} Values of different types are never equal."]
    found = doubts(behaviors(body, dataset=f"{{id: cases, path: {dataset}}}"))
    assert [line.split(": ", 1)[1] for line in found if "captured and never" not in line] == expected


def mismatches(row: dict[str, Any]) -> list[str]:
    body = A + "evaluations: [{type: never, match: {action: asks}, when: \"{{cases.n}} == 'x' || {{gone}} == 1\"}]"
    session = load_one(behaviors(body, dataset="{id: cases, path: d.jsonl}"))
    case = Case(session=session, row=0, values=row, id="c")
    return [str(finding) for finding in find_case_mismatches(case, Scope())]


def test_comparisons_with_the_values_of_a_row() -> None:
    assert mismatches({"n": 1}) == [
        's.abs.yaml:6:58: `when` compares `{{cases.n}}` (a number) with "x" (text) (row 1). Values of different types are never equal.'
    ]
    assert mismatches({"n": "y"}) == []
    assert mismatches({"n": None}) == []
