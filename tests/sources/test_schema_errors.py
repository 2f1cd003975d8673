"""JSON Schema errors in words."""
# ruff: noqa: E501 - an expected message is one line

from __future__ import annotations

from typing import Any

import pytest

from abs_gate.sources.located import parse_documents
from abs_gate.sources.schema_errors import explain_mismatches, find_schema_errors

SCHEMA: dict[str, Any] = {
    "type": "object",
    "additionalProperties": False,
    "required": ["agent"],
    "properties": {
        "agent": {
            "type": "object",
            "additionalProperties": False,
            "properties": {
                "format": {"enum": ["openai", "claude"]},
                "timeout": {"type": "number", "minimum": 1},
                "paths": {"oneOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]},
            },
        },
        "names": {"type": "array", "minItems": 1, "uniqueItems": True},
        "date": {"type": "string", "format": "date"},
        "id": {"type": "string", "pattern": "^[a-z]+$"},
        "count": {"type": ["integer", "null"]},
    },
}


def sentences(text: str, schema: dict[str, Any] | None = None, **options: Any) -> list[str]:
    (document,) = parse_documents(text, "g.yaml")
    return [str(finding) for finding in find_schema_errors(document, schema or SCHEMA, rule="r", **options)]


def test_all_errors_at_once_in_order() -> None:
    text = "agnet: 1\nagent:\n  format: opnai\n  timeout: 0\n  tmeout: no\n  paths: 3\nnames: []\ndate: 1st\nid: A\ncount: 1.5\n"
    assert sentences(text) == [
        'g.yaml:1:1: Unknown key "agnet". Did you mean "agent"?',
        'g.yaml:3:11: `agent.format` must be one of "openai", "claude", not text ("opnai"). Did you mean "openai"?',
        "g.yaml:4:12: `agent.timeout` must be at least 1, not 0.",
        'g.yaml:5:3: Unknown key "tmeout" in `agent`. Did you mean "timeout"?',
        "g.yaml:6:10: `agent.paths` must be text or a list, not a number (3).",
        "g.yaml:7:8: `names` must not be empty.",
        'g.yaml:8:7: `date` "1st" is not a valid date.',
        'g.yaml:9:5: `id` "A" does not have the form `^[a-z]+$`.',
        "g.yaml:10:8: `count` must be a whole number or null, not a number (1.5).",
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("names: [a]", 'g.yaml:1:1: "agent" is missing.'),
        ("agent: no", 'g.yaml:1:8: `agent` must be a mapping, not text ("no").'),
        ("agent: {timeout: true}", "g.yaml:1:18: `agent.timeout` must be a number, not true."),
        ("agent: {paths: [a, 2]}", "g.yaml:1:20: `agent.paths[1]` must be text, not a number (2)."),
        ("agent: {}\nnames: [a, a]", "g.yaml:2:8: `names` holds the same entry twice."),
        ("- a", "g.yaml:1:1: The document must be a mapping, not a list."),
    ],
)
def test_one_error(text: str, expected: str) -> None:
    assert sentences(text) == [expected]


def test_a_part_of_a_document() -> None:
    assert sentences("a:\n  - x: 1\n", {"properties": {"x": {"type": "string"}}}, path=("a", 0)) == [
        "g.yaml:2:8: `x` must be text, not a number (1)."
    ]


def test_values_not_known_yet_are_not_judged() -> None:
    schema = {"properties": {"n": {"type": "integer"}, "m": {"type": "integer"}}}
    found = sentences('n: "{{x}}"\nm: y\n', schema, accept=lambda value: isinstance(value, str) and "{{" in value)
    assert found == ['g.yaml:2:4: `m` must be a whole number, not text ("y").']


def test_a_value_without_a_file() -> None:
    assert explain_mismatches(3, {"type": "string"}) == ("The value must be text, not a number (3).",)
    assert explain_mismatches("x", {"type": "string"}) == ()


def test_a_flood_is_cut() -> None:
    text = "agent: {}\n" + "".join(f"x{n}: 1\n" for n in range(500))
    assert len(sentences(text)) == 100


def test_long_values_are_not_echoed_whole() -> None:
    (message,) = sentences(f"agent: {'s' * 5000}")
    assert len(message) < 200
