"""Whatever stands in a file or is said by an agent: a verdict or a readable error, never a traceback."""

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from abs_gate.cli.main import run_cli
from abs_gate.documents.vocabulary import (
    ACTIONS,
    ACTORS,
    BEHAVIOR_KEYS,
    EVALUATION_KEYS,
    SESSION_KEYS,
)
from abs_gate.evaluators import EVALUATORS

from .agents import LoopbackAgent

EXAMPLES = settings(
    max_examples=150,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(allow_nan=False),
    st.text(max_size=8),
    st.sampled_from(["{{x}}", "{{", "}}", "{{ a.b }}", "s", "no", "(", "[", "#", "1 ==", "self", "a.says"]),
)
ANYTHING = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)


def mapping_of(known, *keys):
    """A mapping of known keys to what may stand there, with now and then anything there instead."""
    values = {key: st.one_of(known[key], ANYTHING) if key in known else ANYTHING for key in keys}
    return st.fixed_dictionaries({}, optional=values)


EVALUATION = mapping_of(
    {
        "type": st.sampled_from(sorted(EVALUATORS)),
        "evaluations": st.lists(st.fixed_dictionaries({"type": st.sampled_from(sorted(EVALUATORS))}), max_size=2),
        "match": mapping_of({}, "actor", "action", "target"),
        "when": st.sampled_from(["{{a}} == 1", "true", "(", "'x' < 1", "not false and 1 == 1"]),
    },
    *EVALUATION_KEYS,
    *("value", "pattern", "schema", "match", "order", "criteria", "evaluations", "variable", "behavior", "target"),
    *("with", "ordered", "ground_truth", "max", "min", "after", "max_steps"),
)
BEHAVIOR = mapping_of(
    {
        "actor": st.sampled_from(sorted(ACTORS)),
        "action": st.sampled_from(sorted(ACTIONS)),
        "target": st.text(max_size=5),
        "content": st.text(max_size=5),
        "capture": st.dictionaries(st.sampled_from("ab"), SCALARS, max_size=2),
        "with": st.dictionaries(st.sampled_from("ab"), ANYTHING, max_size=2),
        "evaluations": st.lists(EVALUATION, max_size=3),
        "optional": st.booleans(),
        "id": st.sampled_from("abc"),
        "requires": st.sampled_from("abc"),
    },
    *BEHAVIOR_KEYS,
)
SESSION = mapping_of(
    {
        "session": st.just("s"),
        "abs_version": st.sampled_from(["0.1", "0.2"]),
        "behaviors": st.lists(BEHAVIOR, max_size=5),
        "evaluations": st.lists(EVALUATION, max_size=3),
        "fragments": st.dictionaries(st.text(max_size=3), st.lists(BEHAVIOR, max_size=2), max_size=2),
    },
    *SESSION_KEYS,
)


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)

    def run(command, *arguments):
        code = run_cli([command, *arguments])
        told = capsys.readouterr()
        assert "Traceback" not in told.err + told.out and "Internal fault" not in told.err, told.err
        assert told.err.strip() or code == 0 or told.out.strip(), "a code without a word"
        return code

    return run


@EXAMPLES
@given(data=st.one_of(st.binary(max_size=200), st.text(max_size=200).map(lambda text: text.encode("utf-8", "replace"))))
def test_any_bytes_as_a_document(run, tmp_path, data):
    for name in ("s.abs.yaml", "s.abs.json"):
        (tmp_path / name).write_bytes(data)
        assert run("validate", name) in (0, 2)


@EXAMPLES
@given(document=st.one_of(SESSION, ANYTHING))
def test_anything_in_the_place_of_anything(run, tmp_path, document):
    (tmp_path / "s.abs.json").write_text(json.dumps(document))
    assert run("validate", "s.abs.json") in (0, 2)


@EXAMPLES
@given(rows=st.binary(max_size=120), kind=st.sampled_from(["json", "jsonl", "csv"]))
def test_any_bytes_as_a_data_set(run, tmp_path, rows, kind):
    (tmp_path / f"d.{kind}").write_bytes(rows)
    (tmp_path / "s.abs.yaml").write_text(
        f'session: s\nabs_version: "0.2"\ndataset: {{id: d, path: d.{kind}}}\nbehaviors:\n'
        '  - {actor: user, action: says, content: "{{d.q}}"}\n  - {actor: assistant, action: says}\n'
    )
    assert run("validate", "s.abs.yaml") in (0, 2)


WORDS = st.text(min_size=1, max_size=6)
CHECK = st.one_of(
    st.builds(lambda value: {"type": "contains", "value": value}, WORDS),
    st.builds(lambda value: {"type": "exact_match", "value": value}, ANYTHING.filter(lambda v: "{{" not in str(v))),
    st.just({"type": "schema", "schema": {"type": "object", "required": ["a"]}}),
    st.just({"type": "regex", "pattern": "(a|aa)+$"}),
    st.just({"type": "tool_call", "ordered": False}),
    st.just({"type": "none_of", "evaluations": [{"type": "contains", "value": "x"}, {"type": "Fluency"}]}),
    st.just({"type": "f1", "ground_truth": "assistant.calls"}),
)
PLAYABLE = st.one_of(
    st.builds(lambda text: {"actor": "user", "action": "says", "content": text}, WORDS.filter(lambda t: "{{" not in t)),
    st.builds(
        lambda action, target, optional, checks: {
            "actor": "assistant",
            "action": action,
            "target": target,
            "optional": optional,
            "evaluations": checks,
        },
        st.sampled_from(sorted(ACTIONS)),
        st.sampled_from("tu"),
        st.booleans(),
        st.lists(CHECK, max_size=2),
    ),
    st.just({"actor": "tool", "action": "responds", "target": "t", "content": {"a": 1}}),
)
CALL = st.fixed_dictionaries(
    {},
    optional={
        "id": SCALARS,
        "type": SCALARS,
        "function": mapping_of({"name": st.sampled_from("tu")}, "name", "arguments"),
    },
)
MESSAGE = mapping_of(
    {"content": st.text(max_size=9), "tool_calls": st.lists(CALL, max_size=2)}, "content", "tool_calls"
)
ANSWER = st.one_of(
    ANYTHING,
    MESSAGE.map(lambda message: {"choices": [{"message": {"role": "assistant", **message}}]}),
    st.lists(MESSAGE, max_size=3).map(lambda messages: {"messages": messages}),
)


def test_any_session_against_any_agent(run, tmp_path):
    codes = set()

    @settings(EXAMPLES, max_examples=120)
    @given(behaviors=st.lists(PLAYABLE, min_size=1, max_size=5), answer=ANSWER)
    def play(behaviors, answer):
        document = {"session": "s", "abs_version": "0.2", "behaviors": behaviors}
        (tmp_path / "s.abs.json").write_text(json.dumps(document))
        answers[0] = answer
        codes.add(run("sessions", "s.abs.json", "--agent", agent.url, "--timeout", "2", "--format", "json", "--quiet"))

    answers = [None]
    with LoopbackAgent(lambda *_: answers[0]) as agent:
        play()
    assert {0, 1, 3} <= codes <= {0, 1, 2, 3}


@EXAMPLES
@given(data=st.binary(max_size=200))
def test_any_bytes_as_recorded_conversations(run, tmp_path, data):
    (tmp_path / "t.jsonl").write_bytes(data)
    (tmp_path / "s.abs.yaml").write_text(
        'session: s\nabs_version: "0.2"\nbehaviors:\n'
        "  - {actor: user, action: says, content: hi}\n  - {actor: assistant, action: says}\n"
    )
    assert run("sessions", "s.abs.yaml", "--traces", "t.jsonl") in (0, 1, 2, 3)
