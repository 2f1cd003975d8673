"""Loading sessions: what becomes of a good document, and every sentence about a bad one."""
# ruff: noqa: E501 - an expected message is one line

from __future__ import annotations

import time

import pytest

from abs_gate.documents.load import LoadOptions, load_sessions
from abs_gate.documents.model import Category
from abs_gate.errors import ConfigurationError
from abs_gate.evaluators import evaluator_shapes

from .memory_workspace import OPTIONS, SHAPES, MemoryWorkspace, behaviors, errors_of, load_all, load_one

FULL = """\
session: Refund
abs_version: "0.2"
description: |
  A customer asks
  for a refund.
dataset:
  id: cases
  path: data/refund.jsonl
behaviors:
  - id: ask
    actor: user
    action: says
    content: "{{cases.question}}"
    capture: { orderId: "{{cases.id}}" }
  - actor: assistant
    action: calls
    target: Order MCP
    with: { orderId: "{{orderId}}" }
    evaluations:
      - { type: tool_call, ordered: false, blocking: true }
  - actor: tool
    action: responds
    target: Order MCP
    content: { status: shipped, eta: 2026-07-30 }
  - id: maybe
    actor: assistant
    action: asks
    optional: true
    matches_when: { type: regex, pattern: '^Which \\w+' }
  - actor: assistant
    action: hands_off
    target: Human Agent
    requires: maybe
    with_only: {}
evaluations:
  - type: any_of
    threshold: 0.5
    evaluations:
      - { type: never, match: { actor: assistant, action: calls, target: Pay } }
      - { type: expected, behavior: maybe, when: "{{cases.n}} > 1", reason: why }
"""


def test_a_full_document() -> None:
    session = load_one(FULL)
    ask, call, result, maybe, hand_off = session.behaviors
    assert (session.name, session.file, session.abs_version) == ("Refund", "s.abs.yaml", "0.2")
    assert session.description == "A customer asks\nfor a refund.\n"
    assert session.dataset is not None
    assert (session.dataset.id, session.dataset.path) == ("cases", "data/refund.jsonl")
    assert [b.index for b in session.behaviors] == [0, 1, 2, 3, 4]
    assert (ask.id, ask.is_sent, dict(ask.capture)) == ("ask", True, {"orderId": "{{cases.id}}"})
    assert (call.category, call.target, dict(call.with_ or {})) == (
        Category.EXECUTION,
        "Order MCP",
        {"orderId": "{{orderId}}"},
    )
    assert result.is_tool_result
    assert result.content == {"status": "shipped", "eta": "2026-07-30"}
    assert maybe.optional
    assert maybe.matches_when is not None
    assert maybe.matches_when.argument == "^Which \\w+"
    assert (hand_off.with_only, hand_off.with_, hand_off.requires) == ({}, None, "maybe")
    assert str(call.location) == "s.abs.yaml:15:5"
    assert str(call.places["with"]) == "s.abs.yaml:18:11"


def test_evaluations_of_a_full_document() -> None:
    session = load_one(FULL)
    (tool_call,) = session.behaviors[1].evaluations
    assert (tool_call.type, dict(tool_call.fields), tool_call.blocking) == ("tool_call", {"ordered": False}, True)
    (any_of,) = session.evaluations
    never, expected = any_of.children
    assert (any_of.threshold, any_of.label, dict(any_of.fields)) == (0.5, "any_of of 2", {})
    assert (never.label, never.fields["match"]["target"]) == ("never assistant calls Pay", "Pay")
    assert (expected.when, dict(expected.fields)) == ("{{cases.n}} > 1", {"behavior": "maybe", "reason": "why"})
    assert str(expected.location) == "s.abs.yaml:40:9"


def test_json_documents() -> None:
    text = '{"session": "s", "abs_version": "0.1", "behaviors": [{"actor": "user", "action": "says", "content": "\\ud83d\\ude00"}]}'
    (session,) = load_all(text, file="s.abs.json").sessions
    assert session.behaviors[0].content == "😀"
    assert session.abs_version == "0.1"


def test_several_sessions_in_a_file_and_three_dashes_in_text() -> None:
    one = behaviors("- {actor: user, action: says, content: 'a --- b'}")
    two = behaviors("- actor: user\n  action: says\n  content: |\n    first\n    ---\n    second")
    first, second, third = load_all(f"{one}---\n{two}---\n{one}").sessions
    assert first.behaviors[0].content == "a --- b"
    assert second.behaviors[0].content == "first\n---\nsecond\n"
    assert (first.occurrence, second.occurrence, third.occurrence) == (1, 2, 3)


def test_a_missing_version_is_a_warning() -> None:
    loaded = load_all("session: s\nbehaviors:\n- {actor: user, action: says}\n")
    assert [str(warning) for warning in loaded.warnings] == [
        's.abs.yaml:1:1: `abs_version` is missing; 0.2 is taken. Write abs_version: "0.2".'
    ]


def test_directories_hold_every_session_file_below() -> None:
    good = behaviors("- {actor: user, action: says}")
    files = {
        "t/b.abs.yaml": good, "t/a/z.abs.yml": good, "t/c.abs.json": '{"session": "s", "behaviors": [{"actor": "user", "action": "says"}]}',
        "t/notes.yaml": "not: a session", "other.yaml": good,
    }  # fmt: skip
    loaded = load_sessions(MemoryWorkspace(files), ["t", "./other.yaml", "t/b.abs.yaml"], OPTIONS)
    assert [session.file for session in loaded.sessions] == [
        "t/a/z.abs.yml",
        "t/b.abs.yaml",
        "t/c.abs.json",
        "other.yaml",
    ]


def test_errors_of_all_files_come_together() -> None:
    files = {"a.abs.yaml": "session: 1\n", "b.abs.yaml": "a: [", "c.abs.yaml": b"\xff", "d.abs.yaml": "# nothing\n"}
    with pytest.raises(ConfigurationError) as caught:
        load_sessions(MemoryWorkspace(files), [".", "gone.yaml", "../up.yaml"], OPTIONS)
    assert [str(finding) for finding in caught.value.findings] == [
        "../up.yaml: `../up.yaml` leads outside the workspace",
        "a.abs.yaml:1:1: `behaviors` is missing in the document.",
        "a.abs.yaml:1:10: `session` of the document must be text, not a number (1). Put it in quotes if it is meant as text.",
        "b.abs.yaml:1:5: A value is missing here. Close brackets and braces that are open.",
        "c.abs.yaml:1:1: The byte 0xFF is not UTF-8 text. Save the file as UTF-8.",
        "d.abs.yaml: The file holds no document. Remove it, or write a session.",
        "gone.yaml: There is no such file or directory.",
    ]
    assert caught.value.exit_code == 2


def test_a_directory_without_sessions_is_an_error() -> None:
    with pytest.raises(ConfigurationError, match="The directory holds no session files"):
        load_sessions(MemoryWorkspace({"t/x.yaml": ""}), ["t"], OPTIONS)


def test_no_session_is_an_error() -> None:
    only_fragments = "fragments:\n  f:\n  - {actor: user, action: says}\n"
    with pytest.raises(ConfigurationError, match="No sessions found"):
        load_all(only_fragments)
    with pytest.raises(ConfigurationError, match="No sessions found in no paths"):
        load_sessions(MemoryWorkspace({}), [], OPTIONS)


U = "- {actor: user, action: says, content: hi}\n"
BAD = [
    ("session: s\nbehaviours:\n" + U, [
        "1:1: `behaviors` is missing in the document.",
        '2:1: Unknown key "behaviours" in the document. Did you mean "behaviors"?',
    ]),
    ("- a", ["1:1: A document must be a mapping, not a list."]),
    ("just text", ['1:1: A document must be a mapping, not text ("just text").']),
    ("session: ''\nbehaviors: []", ["1:10: `session` of the document is empty.", "2:12: `behaviors` is empty: there is nothing to run."]),
    ("session: s\nbehaviors: x", ['2:12: `behaviors` of the document must be a list, not text ("x").']),
    ("session: s\nbehaviors:\n- x\n- 3", [
        '3:3: A behavior must be a mapping, not text ("x").',
        "4:3: A behavior must be a mapping, not a number (3).",
    ]),
    (behaviors(U).replace('"0.2"', "0.2"), ['2:14: `abs_version` 0.2 is not one of "0.1" and "0.2". Put it in quotes: abs_version: "0.2".']),
    (behaviors(U).replace('"0.2"', '"0.3"'), ['2:14: `abs_version` "0.3" is not one of "0.1" and "0.2".']),
    (behaviors("- {acter: user, action: says}"), [
        "4:3: `actor` is missing in a behavior.",
        '4:4: Unknown key "acter" in a behavior. Did you mean "actor"?',
    ]),
    (behaviors("- {actor: agent, action: says}"), [
        '4:11: No actor is called "agent". Actors are user, assistant, tool, system, human, external.',
    ]),
    (behaviors("- {actor: User, action: says}"), ['4:11: No actor is called "User". Did you mean "user"?']),
    (behaviors("- {actor: user, action: say}"), ['4:25: No action is called "say". Did you mean "says"? A custom action needs a category in the configuration, such as `sessions.actions: {say: communication}`.']),
    (behaviors("- {actor: user, action: refunds}"), [
        '4:25: No action is called "refunds". Did you mean "responds"? A custom action needs a category in the configuration, such as `sessions.actions: {refunds: communication}`.',
    ]),
    (behaviors("- {actor: [user], action: 3, id: 7, target: {a: 1}, requires: true, optional: yes}"), [
        "4:11: `actor` of a behavior must be text, not a list.",
        "4:27: `action` of a behavior must be text, not a number (3). Put it in quotes if it is meant as text.",
        "4:34: `id` of a behavior must be text, not a number (7). Put it in quotes if it is meant as text.",
        "4:45: `target` of a behavior must be text, not a mapping.",
        "4:63: `requires` of a behavior must be text, not true. Put it in quotes if it is meant as text.",
        '4:79: `optional` of a behavior must be true or false, not text ("yes"). In YAML 1.2 yes, no, on and off are text: write true or false.',
    ]),
    (behaviors("- {actor: assistant, action: calls, with: {a: 1}, with_only: {a: 1}}"), [
        "4:51: `with` and `with_only` cannot stand together. `with` allows further arguments, `with_only` does not: keep the one you mean.",
    ]),
    (behaviors("- {actor: assistant, action: calls, with: [a]}"), ["4:43: `with` of a behavior must be a mapping, not a list."]),
    (behaviors("- {actor: assistant, action: calls, with: {}}"), [
        "4:43: `with: {}` would check nothing. Leave it out, or write `with_only: {}` for a call without arguments.",
    ]),
    (behaviors("- {actor: user, action: says, content: null}"), [
        "4:40: `content` of a message that is sent is null. Write the message, or leave `content` out to send the action's name.",
    ]),
    (behaviors("- {actor: user, action: says, capture: {'a b': 1}}"), [
        '4:41: "a b" cannot name a variable. Use letters, digits, `_`, `.` and `-`.',
    ]),
    (behaviors("- {actor: user, action: says, capture: {}}"), ["4:40: `capture` is empty."]),
    (behaviors(U + "- {actor: user, action: says, id: a}\n- {actor: user, action: says, id: a}"), [
        '6:35: The id "a" is used a second time in this session. The first behavior with it stands in line 5.',
    ]),
    (behaviors("- {actor: user, action: says, id: '{{x}}'}"), ["4:35: An `id` cannot hold a placeholder."]),
    (behaviors("- {actor: user, action: says, id: ask_id}\n- {actor: user, action: says, requires: ask-id}"), [
        '5:41: `requires` names no behavior: "ask-id". Did you mean "ask_id"?',
    ]),
    (behaviors("- {actor: user, action: says, requires: nobody}"), [
        '4:41: `requires` names no behavior: "nobody". No behavior in this session has an id.',
    ]),
    (behaviors("- {actor: user, action: says, id: a, requires: b}\n- {actor: user, action: says, id: b, requires: b}"), [
        '4:48: `requires` names a behavior that comes after it: "b". It could never be met; name a behavior that comes before.',
        '5:48: `requires` names itself: "b". It could never be met; name a behavior that comes before.',
    ]),
    (behaviors("- {actor: assistant, action: asks, matches_when: {type: contain, value: x}}"), [
        '4:57: `matches_when` knows no type "contain". Did you mean "contains"?',
    ]),
    (behaviors("- {actor: assistant, action: asks, matches_when: {type: regex, value: x}}"), [
        "4:50: `pattern` is missing in `matches_when` of type regex.",
        '4:64: Unknown key "value" in `matches_when` of type regex. Keys here: type, pattern.',
    ]),
    (behaviors("- {actor: assistant, action: asks, matches_when: {type: regex, pattern: '('}}"), [
        '4:73: The pattern "(" is not a regular expression: missing ) at position 1.',
    ]),
    (behaviors("- {actor: assistant, action: asks, matches_when: yes}"), ['4:50: `matches_when` must be a mapping, not text ("yes").']),
    (behaviors(U, dataset="{name: x, path: 3}"), [
        "3:10: `id` is missing in `dataset`.",
        '3:11: Unknown key "name" in `dataset`. Keys here: id, path.',
        "3:26: `path` of `dataset` must be text, not a number (3). Put it in quotes if it is meant as text.",
    ]),
    (behaviors(U, dataset="{id: a b, path: x.csv}"), [
        '3:15: "a b" cannot be the id of a data set. Use letters, digits, `_`, `.` and `-`.',
    ]),
]  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), BAD)
def test_bad_documents(text: str, expected: list[str]) -> None:
    assert errors_of(text) == [f"s.abs.yaml:{line}" for line in expected]


E = "- actor: assistant\n  action: informs\n  evaluations:\n  - "
BAD_EVALUATIONS = [
    (E + "{type: contain, value: x}", ['7:12: No evaluator is called "contain". Did you mean "contains"?']),
    (E + "{typ: contains, value: x}", ["7:5: `type` is missing in an evaluation."]),
    (E + "text", ['7:5: An evaluation must be a mapping, not text ("text").']),
    (E + "{type: contains, vlaue: x}", [
        "7:5: `contains` needs `value`.",
        '7:22: Unknown key "vlaue" in `contains`. Did you mean "value"?',
    ]),
    (E + "{type: contains, value: [x]}", [
        "7:29: `value` must be text or a number, not a list.",
    ]),
    (E + "{type: regex, pattern: '[a-'}", [
        '7:28: The pattern "[a-" is not a regular expression: unterminated character set at position 3.',
    ]),
    (E + "{type: regex, pattern: '{{x}}('}", [
        '7:28: The pattern "{{x}}(" is not a regular expression: missing ) at position 2.',
    ]),
    (E + "{type: schema, schema: {type: strnig, minLength: -1}}", [
        '7:35: This is not a valid JSON Schema: `type` may not be "strnig".',
        "7:54: This is not a valid JSON Schema: `minLength` must be at least 0.",
    ]),
    (E + "{type: schema, schema: {$ref: 'http://example.com/x'}}", [
        '7:35: The reference "http://example.com/x" names nothing in this schema. '
        "Only references inside the schema itself are followed, such as #/$defs/name.",
    ]),
    (E + "{type: schema, schema: {properties: {a: {pattern: '('}, b: {$ref: '#/$defs/c'}}, patternProperties: {'*': {}}}}", [
        '7:55: The pattern "(" is not a regular expression: missing ) at position 1.',
        '7:71: The reference "#/$defs/c" names nothing in this schema. '
        "Only references inside the schema itself are followed, such as #/$defs/name.",
        '7:106: The pattern "*" is not a regular expression: nothing to repeat at position 0.',
    ]),
    (E + "{type: schema, schema: {$schema: 'http://x/draft-99', type: 3}}", [
        '7:38: `$schema` "http://x/draft-99" names no known draft of JSON Schema.',
    ]),
    (E + "{type: contains, value: x, when: '{{a}} = 1'}", ["7:38: `when` cannot be read: `=` at character 7: write `==` to compare"]),
    (E + "{type: llm_judge, criteria: x, threshold: 8}", [
        "7:47: `threshold` of `llm_judge` must be from 0 to 1, not 8. Scores are 0 to 1 whatever scale a judge uses.",
    ]),
    (E + "{type: llm_judge, criteria: x, threshold: '0.5', blocking: 1, adapter: '{{a}}'}", [
        '7:47: `threshold` of `llm_judge` must be a number from 0 to 1, not text ("0.5").',
        "7:64: `blocking` of `llm_judge` must be true or false, not a number (1).",
        "7:76: `adapter` cannot hold a placeholder.",
    ]),
    (E + "{type: sequence, order: [{action: says}]}", [
        "7:12: `sequence` cannot stand under a behavior. Move it to `evaluations:` under the session, beside `behaviors:`.",
    ]),
    (E + "{type: all_of, evaluations: []}", ["7:33: `all_of` holds no evaluations: it would check nothing."]),
    (E + "{type: any_of}", ["7:5: `any_of` needs `evaluations`."]),
    (E + "{type: none_of, evaluations: [{type: any_of, evaluations: [{type: regex, pattern: '*'}]}]}", [
        '7:87: The pattern "*" is not a regular expression: nothing to repeat at position 0.',
    ]),
    (U + f"evaluations:\n- {{type: sequence, order: [{'{action: asks}, ' * 1_001}]}}", ["6:27: `order` has more than 1,000 entries."]),
    (U + "evaluations:\n- {type: sequence, order: []}", ["6:27: `order` of `sequence` is empty: it would check nothing."]),
    (U + "evaluations:\n- {type: sequence, order: [{actr: user}]}", [
        '6:29: Unknown key "actr" in `order[0]`. Did you mean "actor"?',
    ]),
    (U + "evaluations:\n- {type: within, match: {action: says}, after: {action: says}, max_steps: soon}", [
        '6:75: `max_steps` must be a whole number, not text ("soon").',
    ]),
    (U + "evaluations:\n- {type: regex, pattern: x}", [
        "6:10: `regex` cannot stand under the session. Move it to `evaluations:` under the behavior it is about.",
    ]),
    (U + "evaluations:\n- {type: expected, behavior: aks}", [
        '6:30: `expected` names no behavior: "aks". No behavior in this session has an id.',
    ]),
    (U + "- {actor: assistant, action: asks, id: q, optional: true}\nevaluations:\n- {type: all_of, evaluations: [{type: sequence, order: [{actor: user}, {action: asks}]}]}", [
        '7:56: Entry 2 of `sequence` can only mean the optional behavior "q". '
        "A sequence must happen, an optional behavior may not: use `expected` with `after`.",
    ]),
    (U + "evaluations:\n- {type: variable_consistency, variable: '{{orderId}}'}", [
        '6:42: `variable` takes a name, not a placeholder: "{{orderId}}". Write it without braces.',
    ]),
    (U + "evaluations: {type: never}", ["5:14: `evaluations` of the document must be a list, not a mapping."]),
]  # fmt: skip


@pytest.mark.parametrize(("body", "expected"), BAD_EVALUATIONS)
def test_bad_evaluations(body: str, expected: list[str]) -> None:
    assert errors_of(behaviors(body)) == [f"s.abs.yaml:{line}" for line in expected]


@pytest.mark.parametrize(
    "schema",
    [
        "true", "{}", "{$ref: '#'}", "{$ref: '#/$defs/a', $defs: {a: {type: string}}}",
        "{$schema: 'http://json-schema.org/draft-07/schema#', definitions: {a: {}}, items: [{$ref: '#/definitions/a'}]}",
        "{$ref: '#x', $defs: {a: {$anchor: x}}}", "{$id: 'http://e/r', $ref: other, $defs: {a: {$id: other}}}",
        "{$ref: '#/$defs/a~1b%20c', $defs: {'a/b c': true}}", "{properties: {$ref: {type: string}}, const: {$ref: gone}}",
        "{type: string, pattern: '^\\p{L}+$', format: date}", "{allOf: [{$ref: '#/allOf/1'}, {type: object}]}",
    ],
)  # fmt: skip
def test_json_schemas_that_are_fine(schema: str) -> None:
    assert errors_of(behaviors(f"{E}{{type: schema, schema: {schema}}}")) == []


def test_a_schema_nested_to_the_limit_is_no_crash() -> None:
    deep = "{items: " * 90 + "true" + "}" * 90
    assert errors_of(behaviors(f"{E}{{type: schema, schema: {deep}}}")) in (
        [],
        ["s.abs.yaml:7:28: The JSON Schema is nested too deeply."],
    )


def test_placeholders_may_stand_for_any_field() -> None:
    body = U + 'evaluations:\n- {type: within, match: {action: says}, after: {action: says}, max_steps: "{{n}}"}'
    assert errors_of(behaviors(body)) == []


def test_an_adapter_must_be_known_where_judges_are() -> None:
    options = LoadOptions(evaluators=SHAPES, adapters=frozenset({"azure", "default"}))
    text = behaviors(E + "{type: llm_judge, criteria: x, adapter: azur}")
    assert errors_of(text, options) == ['s.abs.yaml:7:45: No judge is called "azur". Did you mean "azure"?']
    assert errors_of(text.replace("azur}", "azure}"), options) == []


def test_a_custom_evaluation_hands_any_field_to_its_judge() -> None:
    body = E + "{type: custom, id: tone, rating_scale: 1-5, %s: 0.6}"
    (evaluation,) = load_one(behaviors(body % "threshold")).behaviors[0].evaluations
    assert (evaluation.threshold, dict(evaluation.fields)) == (0.6, {"id": "tone", "rating_scale": "1-5"})
    assert errors_of(behaviors(body % "treshold")) == [
        's.abs.yaml:7:49: Unknown key "treshold" in `custom`. Did you mean "threshold"?'
    ]


def test_a_sequence_over_a_behavior_that_is_also_required_is_fine() -> None:
    body = (
        "- {actor: assistant, action: asks, optional: true}\n- {actor: assistant, action: asks}\n"
        "evaluations:\n- {type: sequence, order: [{action: asks}, {action: greets}]}"
    )
    assert errors_of(behaviors(body)) == []


def test_what_is_new_in_0_2_is_an_error_in_0_1() -> None:
    body = (
        "- {actor: user, action: says, id: a}\n"
        "- {actor: assistant, action: asks, optional: true, requires: a, matches_when: {type: contains, value: x}, id: b,\n"
        "   evaluations: [{type: contains, value: x, when: 'true'}]}\n"
        "evaluations:\n- {type: expected, behavior: b}"
    )
    found = errors_of(behaviors(body).replace('"0.2"', '"0.1"'))
    assert [line.split("`")[1] for line in found] == ["optional", "requires", "matches_when", "when", "expected"]
    assert found[
        0
    ] == 's.abs.yaml:5:36: `optional` exists since ABS 0.2, and this document is 0.1. Set abs_version: "0.2".'.replace(
        "36", "36"
    )
    assert errors_of(behaviors(body)) == []


def test_custom_actions() -> None:
    text = behaviors("- {actor: assistant, action: refunds, target: Pay}")
    session = load_one(text, LoadOptions(evaluators=SHAPES, actions={"refunds": "execution"}))
    assert session.behaviors[0].category is Category.EXECUTION
    with pytest.raises(ConfigurationError, match='"refunds" is mapped to "money", which is no category'):
        load_one(text, LoadOptions(evaluators=SHAPES, actions={"refunds": "money"}))


def test_standard_actions_keep_their_category() -> None:
    options = LoadOptions(evaluators=SHAPES, actions={"says": "execution"})
    assert load_one(behaviors(U), options).behaviors[0].category is Category.COMMUNICATION


def test_the_shapes_of_the_evaluators_themselves() -> None:
    assert errors_of(FULL, LoadOptions(evaluators=evaluator_shapes())) == []
    assert errors_of(behaviors(E + "{type: regex, patern: x}"), LoadOptions(evaluators=evaluator_shapes())) == [
        "s.abs.yaml:7:5: `regex` needs `pattern`.",
        's.abs.yaml:7:19: Unknown key "patern" in `regex`. Did you mean "pattern"?',
    ]


def test_the_hash_covers_the_document_and_its_fragments() -> None:
    library = "fragments:\n  f:\n  - {actor: user, action: says, content: one}\n---\n"
    text = behaviors("- {include: f}\n" + U)
    base = load_one(library + text).sha256
    assert len(base) == 64
    assert load_one(library + text.replace("\n", "\r\n")).sha256 == base
    assert load_one("# comment\n" + library + text).sha256 == base
    assert load_one(library.replace("one", "two") + text).sha256 != base
    assert load_one(library + text.replace("hi", "ho")).sha256 != base


def test_labels_are_short_and_on_one_line() -> None:
    body = E + '{type: contains, value: "a\\nb ' + "x" * 200 + '"}'
    (evaluation,) = load_one(behaviors(body)).behaviors[0].evaluations
    assert evaluation.label.startswith('contains "a b xxx')
    assert len(evaluation.label) < 70


def test_hostile_documents_do_not_take_long() -> None:
    head = 'session: s\nabs_version: "0.2"\nbehaviors:\n'
    dangling = "".join(f"- {{id: a{n}, actor: assistant, action: asks, requires: a{n}x}}\n" for n in range(500))
    entries = "  - {action: asks, target: t%d}\n"
    selectors = "evaluations:\n- type: sequence\n  order:\n" + "".join(entries % n for n in range(500))
    optional = "- {actor: assistant, action: asks, target: other, optional: true}\n" * 500
    unknown = "- {acter: x}\n" * 20_000
    for text in (head + dangling, head + optional + selectors, head + unknown):
        started = time.monotonic()
        assert len(errors_of(text)) <= 200
        assert time.monotonic() - started < 10
