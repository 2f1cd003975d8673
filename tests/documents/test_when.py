"""Conditions: grammar, types, and messages with their place."""
# ruff: noqa: E501 - a table row is one line

from __future__ import annotations

import contextlib
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from abs_gate.documents.variables import Scope, UnknownVariable
from abs_gate.documents.when import WhenError, evaluate_when, parse_when

VALUES: dict[str, Any] = {
    "t": True, "f": False, "n": 3, "r": 3.0, "s": "text", "num": "3", "nil": None, "list": [1, {"a": 1}], "e": "",
    "a.b": {"c": 5}, "quote": "it's", "x-y": 1,
}  # fmt: skip
LOOKUP = Scope(variables=VALUES).lookup


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{{t}}", True), ("!{{t}}", False), ("not {{f}}", True), ("! ! {{t}}", True), ("NOT NOT {{t}}", True),
        ("{{t}} == true", True), ("{{t}} == TRUE", True), ("{{f}} == False", True), ("{{t}} != true", False),
        ("{{n}} == 3", True), ("{{n}} == {{r}}", True), ("{{n}} === 3.0", True), ("{{n}} !== 3", False),
        ("{{num}} == 3", False), ("{{num}} == '3'", True), ("'{{n}}' == '3'", True), ("'{{r}}' == '3.0'", True),
        ("{{num}} != {{n}}", True), ("{{t}} == 1", False), ("{{t}} == 'true'", False), ("'{{t}}' == 'true'", True),
        ("{{nil}} == null", True), ("{{nil}} == NULL", True), ("'{{nil}}' == 'null'", True), ("{{s}} != null", True),
        ("{{e}} == ''", True), ("{{nil}} == ''", False), ("{{list}} == {{list}}", True),
        ("{{n}} > 2 && {{n}} < 4", True), ("{{n}} >= 3 and {{n}} <= 3", True), ("{{n}} > 3 || {{f}}", False),
        ("{{s}} < 'u'", True), ("{{s}} >= 'text'", True), ("{{n}} < 3.5e0", True), ("{{n}} > -1", True), ("-1 < 0", True),
        ("{{t}} || {{f}} && {{f}}", True), ("({{t}} || {{f}}) && {{f}}", False), ("{{t}} OR {{f}} AND {{f}}", True),
        ("!{{f}} == true", True), ("not {{n}} == 4", True), ("!({{t}} && {{f}})", True), ("((({{t}})))", True),
        ("{{a.b.c}} == 5", True), ("{{ x-y }} == 1", True), ('"it\'s" == {{quote}}', True), ("'it\\'s' == {{quote}}", True),
        ("'a{{n}}b{{s}}' == 'a3btext'", True), ("{{f}} && {{s}} > 3", False), ("{{t}} || {{s}} > 3", True),
        ("true", True), ("false", False), ("({{n}} == 3) == true", True), ("'\\\\' == \"\\\\\"", True),
    ],
)  # fmt: skip
def test_conditions(text: str, expected: bool) -> None:
    assert evaluate_when(parse_when(text), LOOKUP) is expected


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "the condition is empty"),
        ("  ", "the condition is empty"),
        ("{{a}} = 1", "`=` at character 7: write `==` to compare"),
        ("{{a}} & {{b}}", "`&` at character 7: write `&&`"),
        ("{{a}} ==", "a value is missing at the end (character 9)"),
        ("{{a}} == 'x", "the quote at character 10 is not closed"),
        ("({{a}}", "the parenthesis at character 1 is not closed"),
        ("{{a}})", '")" is not expected at character 6'),
        ("{{a}} {{b}}", '"{{b}}" is not expected at character 7'),
        ("orderId == 1", '"orderId" at character 1: write {{orderId}} for a variable, or put a text in quotes'),
        ("{{a}} == yes", '"yes" at character 10: write {{yes}} for a variable, or put a text in quotes'),
        ("{{a b}} == 1", '"{{a b}}" at character 1 is not a variable\'s name'),
        ("{{a == 1", "`{{` at character 1 does not begin a placeholder; write {{name}}"),
        ("{{a}} == 1 == 2", "`==` at character 12: join two comparisons with `&&`"),
        ("1 < {{a}} < 3", "`<` at character 11: join two comparisons with `&&`"),
        ("{{a}} == 'x{{b'", '"{{b" in the text at character 10 is not a placeholder'),
        ("{{a}} + 1", '"+" at character 7 has no meaning in a condition'),
        (
            "__import__('os')",
            '"__import__" at character 1: write {{__import__}} for a variable, or put a text in quotes',
        ),
        ("{{a}} == 012", '"0" at character 10 has no meaning in a condition'),
        ("(" * 60 + "true" + ")" * 60, "nested deeper than 50 levels at character 51"),
        ("!" * 10_000, "a condition of 10,000 characters is longer than 2,000"),
        ("true && " * 3, "a value is missing at the end (character 25)"),
    ],
)
def test_what_is_not_a_condition(text: str, message: str) -> None:
    with pytest.raises(ValueError) as caught:
        parse_when(text)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "{{num}} > 2",
            '`>` at character 9 cannot order text ("3") and a number (2); both must be numbers or both text.',
        ),
        ("{{nil}} < 2", "`<` at character 9 cannot order null and a number (2); both must be numbers or both text."),
        ("{{t}} <= {{f}}", "`<=` at character 7 cannot order true and false; both must be numbers or both text."),
        ("{{s}}", '`{{s}}` is text ("text"), neither true nor false; compare it with something.'),
        ("{{t}} && 3", "a value is a number (3), neither true nor false; compare it with something."),
        ("!{{list}}", "`{{list}}` is a list of 2, neither true nor false; compare it with something."),
    ],
)
def test_what_cannot_be_decided(text: str, message: str) -> None:
    with pytest.raises(WhenError) as caught:
        evaluate_when(parse_when(text), LOOKUP)
    assert str(caught.value) == message


def test_every_variable_must_exist() -> None:
    for text in ("{{t}} || {{gone}} == 1", "'{{gone}}' == 'x' && {{f}}", "{{f}} && {{gone}}"):
        with pytest.raises(UnknownVariable, match="gone"):
            evaluate_when(parse_when(text), LOOKUP)


def test_a_dataset_text_is_never_run() -> None:
    hostile = "' or true or '"
    when = parse_when("{{x}} == 'safe'")
    assert evaluate_when(when, {"x": hostile}.__getitem__) is False
    assert evaluate_when(parse_when("'{{x}}' == 'safe'"), {"x": hostile}.__getitem__) is False


# A tree of conditions, rendered to text and decided by Python itself.
ATOMS = st.sampled_from(
    [
        ("{{t}}", True), ("{{f}}", False), ("true", True), ("false", False), ("{{n}} == 3", True), ("{{n}} < 3", False),
        ("{{s}} != 'text'", False), ("{{num}} == 3", False), ("'{{n}}' === '3'", True), ("{{n}} >= 2.5", True),
    ]
)  # fmt: skip


def _join(kind: str, parts: list[tuple[str, bool]]) -> tuple[str, bool]:
    texts = [text for text, _ in parts]
    values = [value for _, value in parts]
    return "(" + f" {kind} ".join(texts) + ")", (all(values) if kind in ("&&", "and") else any(values))


CONDITIONS = st.recursive(
    ATOMS,
    lambda inner: (
        st.builds(_join, st.sampled_from(["&&", "||", "and", "OR"]), st.lists(inner, min_size=2, max_size=3))
        | st.builds(lambda sign, part: (f"{sign} ({part[0]})", not part[1]), st.sampled_from(["!", "not"]), inner)
    ),
    max_leaves=12,
)


@settings(deadline=None)
@given(CONDITIONS)
def test_conditions_against_an_oracle(condition: tuple[str, bool]) -> None:
    text, expected = condition
    assert evaluate_when(parse_when(text), LOOKUP) is expected


@settings(deadline=None)
@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=5))
def test_and_binds_tighter_than_or(pairs: list[tuple[bool, bool]]) -> None:
    text = " || ".join(f"{str(left).lower()} && !{str(right).lower()}" for left, right in pairs)
    assert evaluate_when(parse_when(text), LOOKUP) is any(left and not right for left, right in pairs)


@settings(deadline=None, max_examples=400)
@given(st.text("{}()!&|=<>'\"\\ .0123abtruefalsenot-é\n", max_size=30))
def test_any_text_is_a_condition_or_an_error_in_words(text: str) -> None:
    try:
        when = parse_when(text)
    except ValueError as error:
        assert "\n" not in str(error)
        return
    with contextlib.suppress(WhenError, UnknownVariable):
        assert evaluate_when(when, LOOKUP) in (True, False)
