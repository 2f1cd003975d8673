"""Placeholders: sources and their order, types, text, patterns."""
# ruff: noqa: E501 - a table row is one line

from __future__ import annotations

import json
import re
from typing import Any

import pytest
import re2
from hypothesis import given
from hypothesis import strategies as st

from abs_gate.documents.datasets import iterate_cases
from abs_gate.documents.placeholders import find_placeholders
from abs_gate.documents.variables import (
    BadPlaceholder,
    Scope,
    UnknownVariable,
    VariableError,
    as_text,
    environment_variables,
)

from .memory_workspace import MemoryWorkspace, behaviors, load_one

ROW = {"id": 12345, "user": {"name": "Ann", "tags": ["a", {"b": 1}]}, "a.b": "dotted", "none": None, "yes": True}
SCOPE = Scope(
    captures={"captured": "c", "order": {"id": 7}},
    row=ROW,
    dataset_id="cases",
    variables={"captured": "v", "given": "v", "x-y_z": "dash", "cases.given": "namespaced"},
    environment={"given": "e", "env": "e"},
    configuration={"env": "f", "file": 1.0, "user": "not the column"},
)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("captured", "c"), ("given", "v"), ("env", "e"), ("file", 1.0), ("x-y_z", "dash"), ("cases.given", "namespaced"),
        ("cases.id", 12345), ("id", 12345), ("cases.user.name", "Ann"), ("cases.user.tags.1.b", 1), ("cases.a.b", "dotted"),
        ("order.id", 7), ("cases.none", None), ("cases.yes", True), ("user", "not the column"), ("user.name", "Ann"),
    ],
)  # fmt: skip
def test_sources_and_their_order(name: str, value: Any) -> None:
    assert SCOPE.lookup(name) == value
    assert SCOPE.resolve(f"{{{{ {name} }}}}") == value


def test_a_column_beats_a_variable_of_the_same_full_name() -> None:
    scope = Scope(row={"id": "row"}, dataset_id="cases", variables={"cases.id": "var", "id": "var"})
    assert scope.lookup("cases.id") == "row"
    assert scope.lookup("id") == "var"
    assert scope.with_captures({"cases.id": "captured"}).lookup("cases.id") == "captured"


@pytest.mark.parametrize(
    "name", ["cases.user.tags.2", "cases.user.tags.-1", "cases.user.tags.x", "cases.id.x", "other.id"]
)
def test_paths_that_lead_nowhere(name: str) -> None:
    with pytest.raises(UnknownVariable):
        SCOPE.lookup(name)


def test_the_nearest_name_is_suggested() -> None:
    with pytest.raises(UnknownVariable) as caught:
        SCOPE.resolve({"a": ["{{cases.usre}}"]})
    assert (caught.value.name, caught.value.nearest) == ("cases.usre", "cases.user")
    assert str(caught.value) == 'No value for the variable `cases.usre`. Did you mean "cases.user"?'


@pytest.mark.parametrize(
    ("template", "value"),
    [
        ("{{cases.id}}", 12345),
        ("{{ cases.id }}", 12345),
        ("#{{cases.id}}", "#12345"),
        ("{{cases.id}} ", "12345 "),
        ("{{cases.none}}", None),
        ("is {{cases.none}}", "is null"),
        ("is {{cases.yes}}", "is true"),
        ("is {{file}}", "is 1.0"),
        ("is {{cases.user}}", 'is {"name": "Ann", "tags": ["a", {"b": 1}]}'),
        ("{{captured}}{{given}}", "cv"),
        ('{"id": {{cases.id}}}', '{"id": 12345}'),
        ("no braces }} here", "no braces }} here"),
        ("{ {captured}}", "{ {captured}}"),
        ({"k": ["{{cases.id}}", {"n {{captured}}": "{{cases.yes}}"}]}, {"k": [12345, {"n c": True}]}),
        (17, 17),
        (None, None),
    ],
)
def test_resolution(template: Any, value: Any) -> None:
    resolved = SCOPE.resolve(template)
    assert resolved == value
    assert type(resolved) is type(value)


@pytest.mark.parametrize("text", ["{{}}", "{{ }}", "{{a b}}", "{{a!}}", "x {{a", "{{a}} {{", "{{{{a}}}}", "{{a{b}}}"])
def test_braces_that_are_no_placeholder(text: str) -> None:
    with pytest.raises(BadPlaceholder, match="is not a placeholder"):
        Scope(variables={"a": 1, "b": 2}).resolve(text)


def test_two_keys_of_one_name() -> None:
    with pytest.raises(VariableError, match="Two keys come to the same name `c`"):
        SCOPE.resolve({"{{captured}}": 1, "c": 2})


def test_values_are_put_in_once() -> None:
    assert Scope(variables={"a": "{{b}}", "b": "never"}).resolve("x {{a}}") == "x {{b}}"


def test_later_captures_win_and_earlier_scopes_do_not_change() -> None:
    first = Scope().with_captures({"a": 1})
    assert first.with_captures({"a": 2}).lookup("a") == 2
    assert first.lookup("a") == 1


def test_values_gives_everything_by_name() -> None:
    values = SCOPE.values()
    assert values["captured"] == "c"
    assert values["cases.id"] == values["id"] == 12345
    assert values["env"] == "e"


def test_environment_variables() -> None:
    assert environment_variables({"ABS_VAR_orderId": "1", "ABS_VAR_": "x", "ABS_VARY": "y", "PATH": "z"}) == {
        "orderId": "1"
    }


@pytest.mark.parametrize(
    "text", ["47.50 (€)", "a+b*c?", "[x]{2}|^$", "a\\d", "x-y #z & ~", "line\nbreak", "é😀", "{{x}}"]
)
def test_values_in_a_pattern_are_literal_text(text: str) -> None:
    pattern = Scope(variables={"v": text}).resolve_pattern("^is {{v}}$")
    assert re.search(pattern, f"is {text}")
    assert re2.search(pattern, f"is {text}")
    assert not re.search(pattern, f"is {text}!")


def test_a_pattern_that_is_one_placeholder_is_a_pattern() -> None:
    assert Scope(variables={"v": r"\d+"}).resolve_pattern("{{v}}") == r"\d+"
    assert Scope(variables={"v": r"\d+"}).resolve_pattern("{{v}}x") == r"\\d\+x"


def test_a_case_brings_its_row() -> None:
    text = behaviors(
        "- {actor: user, action: says, content: '{{cases.q}} {{q}}'}", dataset="{id: cases, path: d.jsonl}"
    )
    session = load_one(text)
    workspace = MemoryWorkspace({"d.jsonl": '{"q": "hi"}\n'})
    (case,) = iterate_cases(session, workspace)
    scope = Scope(captures={"left": "over"}, variables={"x": 1}).for_case(case)
    assert scope.resolve(session.behaviors[0].content) == "hi hi"
    assert scope.lookup("x") == 1
    with pytest.raises(UnknownVariable):
        scope.lookup("left")


NAMES = st.from_regex(r"[A-Za-z_][A-Za-z0-9_-]{0,8}", fullmatch=True)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text("ab{}\n é", max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("ab", max_size=3), inner, max_size=3),
    max_leaves=8,
)


@given(NAMES, VALUES, st.text("xy {}", max_size=5), st.text("xy }", max_size=5))
def test_one_placeholder_keeps_the_type_and_more_make_text(name: str, value: Any, before: str, after: str) -> None:
    scope = Scope(variables={name: value})
    assert scope.resolve("{{" + name + "}}") == value
    if "{" not in before and (before or after.strip("}")):
        resolved = scope.resolve(before + "{{" + name + "}}" + " " + after)
        assert resolved == before + as_text(value) + " " + after


@given(st.text("{}ab ", max_size=12))
def test_nothing_is_left_unresolved(text: str) -> None:
    try:
        resolved = Scope(variables={"a": "1", "b": "2", "ab": "3"}).resolve(text)
    except VariableError:
        return
    assert "{{" not in str(resolved)


@given(VALUES)
def test_placeholders_are_found_wherever_they_stand(value: Any) -> None:
    count = json.dumps({"v": value, "w": ["{{x}}", {"{{y}}": "{{x}}"}]}).count("{{x}}")
    found = find_placeholders({"v": value, "w": ["{{x}}", {"{{y}}": "{{x}}"}]})
    assert sum(part.name == "x" for part in found) == count == 2
    assert sum(part.name == "y" for part in found) == 1
