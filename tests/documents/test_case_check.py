"""A case is checked with its row before anything is sent."""
# ruff: noqa: E501 - an expected message is one line

from __future__ import annotations

from typing import Any

import pytest

from abs_gate.documents.case_check import check_variables
from abs_gate.documents.model import Case
from abs_gate.documents.variables import Scope

from .memory_workspace import SHAPES, behaviors, load_one

SCOPE = Scope(variables={"given": "g", "num": 5})


def found(body: str, row: dict[str, Any] | None = None, scope: Scope = SCOPE) -> list[str]:
    session = load_one(behaviors(body, dataset="{id: cases, path: d.jsonl}"))
    case = Case(session=session, row=None if row is None else 4, values=row or {}, id="c")
    return [str(finding) for finding in check_variables(case, scope, SHAPES)]


def test_everything_known() -> None:
    body = """\
- actor: user
  action: says
  content: "{{cases.q}} {{given}}"
  capture: { order: "{{cases.id}}", deep: { a: "{{given}}" } }
- actor: assistant
  action: calls
  target: "{{given}}"
  with: { id: "{{order}}", more: [{ "{{deep.a}}": "{{num}}" }] }
  evaluations: [{ type: contains, value: "{{own}}" }]
  capture: { own: x }
- actor: assistant
  action: informs
  matches_when: { type: regex, pattern: "^{{cases.q}}$" }
  evaluations:
    - { type: llm_judge, criteria: c, prompt: "{{response}} {{criteria}} {{given}}", when: "{{cases.id}} > 3 && '{{own}}' == 'x'" }
evaluations:
- { type: variable_consistency, variable: order }
- { type: within, match: { target: "{{given}}" }, after: { action: says }, max_steps: "{{num}}" }
"""
    assert found(body, {"q": "a (b", "id": 4}) == []


@pytest.mark.parametrize(
    ("body", "row", "expected"),
    [
        ("- {actor: user, action: says, content: 'x {{cases.qq}}'}", {"q": 1}, [
            's.abs.yaml:5:40: No value for the variable `cases.qq` in `content` of `user says` (row 5). Did you mean "cases.q"?',
        ]),
        ("- {actor: user, action: says, content: '{{zzz}}'}", None, [
            "s.abs.yaml:5:40: No value for the variable `zzz` in `content` of `user says`. Capture it earlier, or give it by --var or a data set.",
        ]),
        ("- {actor: user, action: says, content: '{{later}}'}\n- {actor: user, action: says, content: x, capture: {later: 1}}", {}, [
            "s.abs.yaml:5:40: No value for the variable `later` in `content` of `user says` (row 5). Capture it earlier, or give it by --var or a data set.",
        ]),
        ("- {actor: assistant, action: calls, id: c, with: {a: {b: ['{{x}}']}}}", None, [
            "s.abs.yaml:5:50: No value for the variable `x` in `with` of `assistant calls` (c). Capture it earlier, or give it by --var or a data set.",
        ]),
        ("- {actor: user, action: says, content: 'x {{ }}'}", None, [
            "s.abs.yaml:5:40: `content` of `user says`: `{{ }}` is not a placeholder: write `{{name}}` with letters, digits, `_`, `.`, `-`.",
        ]),
        ("- {actor: user, action: says, content: '{{cases.q}}'}", {"q": None}, [
            's.abs.yaml:5:40: "{{cases.q}}" is null, and nothing can be sent for `content` of `user says` (row 5).',
        ]),
        ("- {actor: user, action: says, content: 'is {{cases.q}}'}", {"q": None}, []),
        ("- {actor: user, action: says, content: '{{cases.q}}'}", {"q": "hi {{name}}"}, [
            "s.abs.yaml:5:40: The value of `cases.q` in `content` of `user says` itself holds `{{` (row 5). Values are not expanded again, and nothing is sent with `{{` left in it.",
        ]),
        ("- {actor: assistant, action: calls, target: '{{num}}'}", None, [
            "s.abs.yaml:5:45: `target` of `assistant calls {{num}}` comes to a number; it must be text.",
        ]),
        ("- {actor: assistant, action: asks, matches_when: {type: regex, pattern: '{{cases.p}}'}}", {"p": "("}, [
            "s.abs.yaml:5:73: `matches_when` of `assistant asks` is not a regular expression: missing ) at position 1 (row 5).",
        ]),
        ("- {actor: assistant, action: asks, matches_when: {type: contains, value: '{{p}}'}}", None, [
            "s.abs.yaml:5:74: No value for the variable `p` in `matches_when` of `assistant asks`. Capture it earlier, or give it by --var or a data set.",
        ]),
        ("- {actor: user, action: says, content: x, capture: {a: '{{b}}'}}\n- {actor: user, action: says, content: '{{a}}'}", None, [
            "s.abs.yaml:5:52: No value for the variable `b` in `capture` of `user says`. Capture it earlier, or give it by --var or a data set.",
        ]),
        ("- {actor: assistant, action: informs, evaluations: [{type: regex, pattern: 'x {{y}}'}]}", None, [
            "s.abs.yaml:5:76: No value for the variable `y` in `pattern` of `regex` on `assistant informs`. Capture it earlier, or give it by --var or a data set.",
        ]),
        ("- {actor: assistant, action: informs, evaluations: [{type: contains, value: '{{y}}'}]}", None, [
            "s.abs.yaml:5:77: No value for the variable `y` in `value` of `contains` on `assistant informs`. Capture it earlier, or give it by --var or a data set.",
        ]),
        ("- {actor: user, action: says, content: x}\nevaluations:\n- {type: within, match: {action: says}, after: {action: says}, max_steps: '{{given}}'}", None, [
            's.abs.yaml:7:75: `max_steps` of `within` with its variables in place: The value must be a whole number, not text ("g").',
        ]),
        ("- {actor: user, action: says, content: x}\nevaluations:\n- {type: variable_consistency, variable: ordre}", {"order": 1}, [
            's.abs.yaml:7:42: No value for the variable `ordre` in `variable_consistency` on the session (row 5). Did you mean "order"?',
        ]),
        ("- {actor: user, action: says, content: x}\nevaluations:\n- {type: any_of, evaluations: [{type: never, match: {action: asks}, when: '{{cases.n}} > 1'}]}", {"n": "2"}, [
            's.abs.yaml:7:75: `when` of `never` on the session cannot be decided: `>` at character 13 cannot order text ("2") and a number (1); both must be numbers or both text (row 5).',
        ]),
        ("- {actor: user, action: says, content: x}\nevaluations:\n- {type: never, match: {action: asks}, when: '{{cases.m}} == 1'}", {"n": "2"}, [
            's.abs.yaml:7:46: No value for the variable `cases.m` in `when` of `never` on the session (row 5). Did you mean "cases.n"?',
        ]),
        ("- {actor: assistant, action: calls, with: {'{{given}}': 1, g: 2}}", None, [
            "s.abs.yaml:5:43: `with` of `assistant calls`: Two keys come to the same name `g` once variables are put in.",
        ]),
    ],
)  # fmt: skip
def test_what_keeps_a_case_from_running(body: str, row: dict[str, Any] | None, expected: list[str]) -> None:
    assert found(body, row) == expected


def test_all_findings_of_a_case_come_together() -> None:
    body = "- {actor: user, action: says, content: '{{a}}', target: '{{b}}'}\n- {actor: assistant, action: calls, with: {c: '{{c}}'}}"
    assert len(found(body)) == 3
