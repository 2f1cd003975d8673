"""The quick JSON reader answers exactly as the careful one, or leaves the text to it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from abs_gate.errors import ConfigurationError
from abs_gate.sources.json_reader import read_json
from abs_gate.sources.json_skim import SkimmedNode, skim_json
from abs_gate.sources.nodes import MAX_DEPTH, MAX_NODES, Node, Positions

SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
VALUES = st.recursive(SCALARS, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=20)


def assert_same_places(careful: Node, quick: SkimmedNode) -> None:
    assert quick.start == careful.start
    assert quick.keys == careful.keys
    children: dict[Any, Node] = dict(careful.entries or {}) or dict(enumerate(careful.items or []))
    for step, child in children.items():
        found = quick.child(step)
        assert found is not None
        assert_same_places(child, found)
    assert quick.child("no such key" * 3) is None
    assert quick.child(len(children)) is None


@given(VALUES, st.sampled_from([None, 0, 2]), st.booleans())
def test_values_and_places_are_those_of_the_careful_reader(value: Any, indent: int | None, ascii_only: bool) -> None:
    text = " \n" + json.dumps({"v": value}, indent=indent, ensure_ascii=ascii_only) + "\r\n"
    skimmed = skim_json(text)
    expected, root = read_json(text, Positions("f.json", text))
    if skimmed is None:
        assert "\\ud" in text
        return
    assert json.dumps(skimmed[0]) == json.dumps(expected)
    assert_same_places(root, skimmed[1])


@given(st.text(alphabet='{}[]",:\\u0dD8123.eE-+ tfnNaul\n', max_size=25))
def test_whatever_is_skimmed_is_json_to_the_careful_reader(text: str) -> None:
    skimmed = skim_json(text)
    if skimmed is not None:
        assert json.dumps(skimmed[0]) == json.dumps(read_json(text, Positions("f.json", text))[0])


@pytest.mark.parametrize(
    "text",
    [
        '{"a": 1, "a": 2}',
        '[{"b": {"a": 1, "a": 1}}]',
        "[NaN]",
        "[-Infinity]",
        "[1e999]",
        f"[{'1' * 1001}]",
        f"[{'1' * 5000}]",
        f"[0.{'0' * 1001}]",
        f"[1e{'0' * 1001}]",
        '["\\ud800"]',
        '{"a": 1, "a": "\\u003a"}',
        '{"a" : 1, "a": 2, "b": ":"}',
        "[1] x",
        "[1,]",
        '["\n"]',
        "",
        "[" * (MAX_DEPTH + 1) + "]" * (MAX_DEPTH + 1),
        "[" * 100_000,
        "[" + "1," * MAX_NODES + "1]",
    ],
    ids=lambda text: text[:20],
)
def test_what_the_careful_reader_refuses_is_left_to_it(text: str) -> None:
    assert skim_json(text) is None
    with pytest.raises(ConfigurationError):
        read_json(text, Positions("f.json", text))


def test_the_deepest_nesting_allowed_is_skimmed() -> None:
    assert skim_json("[" * MAX_DEPTH + "]" * MAX_DEPTH) is not None
