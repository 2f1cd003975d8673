"""A good document with anything in the place of anything: it loads or is refused with places, and nothing else."""
# ruff: noqa: E501 - one entry is one line

from __future__ import annotations

import copy
import json
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from abs_gate.documents.advice import KnownTools, find_doubts
from abs_gate.documents.case_check import check_variables
from abs_gate.documents.model import Case
from abs_gate.documents.variables import Scope
from abs_gate.documents.when_advice import find_case_mismatches
from abs_gate.errors import ConfigurationError
from abs_gate.evaluators import evaluator_shapes

from .memory_workspace import LoadOptions, load_all

OPTIONS = LoadOptions(evaluators=evaluator_shapes())
GOOD: dict[str, Any] = {
    "session": "s",
    "abs_version": "0.2",
    "description": "d",
    "dataset": {"id": "cases", "path": "d.jsonl"},
    "fragments": {"f": [{"actor": "user", "action": "says", "content": "{{cases.q}}"}], "g": [{"include": "f"}]},
    "behaviors": [
        {"include": "g"},
        {"id": "a", "actor": "user", "action": "says", "content": "hi", "capture": {"x": "{{cases.q}}"}},
        {"id": "c", "actor": "assistant", "action": "calls", "target": "T", "with": {"k": ["{{x}}", {"n": 1}]},
         "evaluations": [{"type": "tool_call", "ordered": False}]},
        {"actor": "tool", "action": "responds", "target": "T", "content": {"k": 1}},
        {"id": "o", "actor": "assistant", "action": "asks", "optional": True, "requires": "a",
         "matches_when": {"type": "regex", "pattern": "^{{x}}$"}},
        {"actor": "assistant", "action": "informs", "evaluations": [
            {"type": "contains", "value": "{{x}}", "when": "{{cases.q}} == 'a' && !({{x}} < 'b')", "blocking": True},
            {"type": "schema", "schema": {"type": "object", "properties": {"a": {"$ref": "#/$defs/b"}}, "$defs": {"b": {}}}},
            {"type": "all_of", "threshold": 0.5, "evaluations": [{"type": "regex", "pattern": "x{{x}}"}]},
            {"type": "Groundedness", "query": "a.says", "context": "c", "response": "self", "adapter": "j"},
        ]},
    ],
    "evaluations": [
        {"type": "sequence", "order": [{"actor": "user"}, {"action": "calls", "target": "T"}]},
        {"type": "never", "match": {"action": "hands_off"}},
        {"type": "within", "match": {"action": "informs"}, "after": {"actor": "user"}, "max_steps": 3},
        {"type": "variable_consistency", "variable": "x"},
        {"type": "expected", "behavior": "o", "after": {"actor": "user"}, "reason": "r"},
    ],
}  # fmt: skip


def paths(value: Any, here: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    steps = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [here, *(path for step, child in steps for path in paths(child, (*here, step)))]


PATHS = paths(GOOD)
WORDS = ["", " ", "a", "o", "{{x}}", "{{", "{{x y}}", "{{cases.q.r}}", "yes", "0.1", "0.2", "says", "calls", "assistant",
         "tool", "f", "g", "(", "self", "all_of", "expected", "sequence", "é\u2028", "x" * 300]  # fmt: skip
ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 3) | st.floats(-1, 2) | st.sampled_from(WORDS),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from([*WORDS, "type", "actor"]), inner, max_size=2),
    max_leaves=4,
)  # fmt: skip
MUTATIONS = st.lists(
    st.tuples(st.sampled_from(PATHS), ANYTHING, st.sampled_from(["set", "drop", "rename"])), max_size=3
)


def mutate(document: Any, path: tuple[Any, ...], value: Any, how: str) -> Any:
    if not path:
        return value
    parent = document
    for step in path[:-1]:
        try:
            parent = parent[step]
        except (KeyError, IndexError, TypeError):
            return document
    last = path[-1]
    if isinstance(parent, dict) and last in parent:
        kept = parent.pop(last)
        if how == "set":
            parent[last] = value
        elif how == "rename":
            parent[str(value)[:20]] = kept
    elif isinstance(parent, list) and isinstance(last, int) and last < len(parent):
        if how == "drop":
            del parent[last]
        else:
            parent[last] = value
    return document


@settings(max_examples=500, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(MUTATIONS, st.dictionaries(st.sampled_from(["q", "x"]), ANYTHING, max_size=2))
def test_any_mutation_is_read_or_refused(
    mutations: list[tuple[tuple[Any, ...], Any, str]], row: dict[str, Any]
) -> None:
    document = copy.deepcopy(GOOD)
    for path, value, how in mutations:
        document = mutate(document, path, copy.deepcopy(value), how)
    try:
        loaded = load_all(json.dumps(document), OPTIONS, file="s.abs.json")
    except ConfigurationError as error:
        for finding in error.findings:
            assert finding.location is not None and finding.location.file == "s.abs.json"
            assert "\n" not in str(finding) and len(str(finding)) < 1_000
        return
    for finding in find_doubts(loaded, tools=KnownTools(names=frozenset({"T"})), evaluators=OPTIONS.evaluators):
        assert "\n" not in str(finding)
    for session in loaded.sessions:
        case = Case(session=session, row=0, values=row, id="c")
        for finding in (*check_variables(case, Scope(), OPTIONS.evaluators), *find_case_mismatches(case, Scope())):
            assert finding.location is not None and "\n" not in str(finding)


def test_the_document_itself_is_good() -> None:
    loaded = load_all(json.dumps(GOOD), OPTIONS, file="s.abs.json")
    case = Case(session=loaded.sessions[0], row=0, values={"q": "a"}, id="c")
    assert check_variables(case, Scope(), OPTIONS.evaluators) == ()
