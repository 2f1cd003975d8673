"""Fragments are expanded in place and keep every field."""
# ruff: noqa: E501 - an expected message is one line

from __future__ import annotations

from .memory_workspace import behaviors, errors_of, load_all, load_one

LIBRARY = """\
fragments:
  opening:
    - id: hello
      actor: user
      action: says
      content: Hi
      capture: { who: me }
    - include: lookup
  lookup:
    - id: call
      actor: assistant
      action: calls
      target: Order MCP
      with_only: { a: 1 }
      evaluations: [{ type: tool_call, ordered: false }]
    - actor: assistant
      action: asks
      optional: true
      requires: hello
      matches_when: { type: contains, value: id }
---
"""


def test_every_field_survives_expansion_in_place() -> None:
    text = behaviors("- {actor: system, action: says}\n- include: opening\n- {actor: user, action: says}")
    session = load_one(LIBRARY + text)
    system, hello, call, asks, last = session.behaviors
    assert [b.index for b in session.behaviors] == [0, 1, 2, 3, 4]
    assert (system.actor, last.actor) == ("system", "user")
    assert (hello.id, dict(hello.capture)) == ("hello", {"who": "me"})
    assert (call.id, call.with_only, call.evaluations[0].type) == ("call", {"a": 1}, "tool_call")
    assert (asks.optional, asks.requires) == (True, "hello")
    assert asks.matches_when is not None
    assert str(call.location) == "s.abs.yaml:10:7"


def test_fragments_serve_their_own_document_and_those_after_it() -> None:
    own = behaviors("- include: mine\nfragments:\n  mine:\n  - {actor: user, action: says, content: own}")
    later = behaviors("- include: mine\n- include: opening")
    sessions = load_all(f"{LIBRARY}{own}---\n{later}").sessions
    assert [len(session.behaviors) for session in sessions] == [1, 4]


def test_fragments_do_not_serve_documents_before_them() -> None:
    text = behaviors("- include: opening")
    assert errors_of(f"{text}---\n{LIBRARY}{text}") == [
        's.abs.yaml:4:12: No fragment is called "opening". This file declares no fragments before it.'
    ]


def test_what_is_wrong_with_fragments() -> None:
    text = """\
fragments:
  loop: [{ include: pool }]
  pool: [{ include: loop }]
  selfish: [{ include: selfish }]
  empty: []
  text: hello
  bad:
    - { actor: user, action: sings }
behaviours: x
---
fragments:
  loop: [{ actor: user, action: says }]
session: s
abs_version: "0.2"
behaviors:
  - include: loop
  - include: selfish
  - { include: lop, actor: user }
  - include: 3
"""
    assert errors_of(text) == [
        's.abs.yaml:3:21: Fragments include each other in a circle: loop → pool → loop.',
        's.abs.yaml:4:24: Fragments include each other in a circle: selfish → selfish.',
        's.abs.yaml:5:10: The fragment "empty" is empty.',
        's.abs.yaml:6:9: The fragment "text" must be a list of behaviors, not text ("hello").',
        's.abs.yaml:8:30: No action is called "sings". A custom action needs a category in the configuration, such as `sessions.actions: {sings: communication}`.',
        's.abs.yaml:9:1: Unknown key "behaviours" in a document of fragments. Keys here: fragments, abs_version, description.',
        's.abs.yaml:12:3: The fragment "loop" is declared a second time in this file. The first stands in line 2: remove or rename one.',
        's.abs.yaml:18:16: No fragment is called "lop". Did you mean "loop"?',
        's.abs.yaml:18:21: Unknown key "actor" in an `include` entry. Keys here: include.',
        's.abs.yaml:19:14: `include` of an entry of `behaviors` must be text, not a number (3). Put it in quotes if it is meant as text.',
    ]  # fmt: skip


def test_an_error_in_a_fragment_is_reported_once() -> None:
    text = "fragments:\n  f: [{actor: user, action: sings}]\n---\n" + "---\n".join([behaviors("- include: f")] * 3)
    assert len(errors_of(text)) == 1


def test_an_id_that_comes_twice_through_includes() -> None:
    assert errors_of(LIBRARY + behaviors("- include: lookup\n- include: opening")) == [
        's.abs.yaml:10:11: The id "call" comes twice: its fragment is included more than once in a session. Leave the id out of the fragment, or include it once.',
        's.abs.yaml:19:17: `requires` names a behavior that comes after it: "hello". It could never be met; name a behavior that comes before.',
    ]


def test_includes_cannot_multiply_without_bound() -> None:
    levels = ["f0: [{actor: user, action: says}]"]
    levels += [f"f{n}: [{', '.join([f'{{include: f{n - 1}}}'] * 10)}]" for n in range(1, 9)]
    text = "fragments:\n  " + "\n  ".join(levels) + "\n---\n" + behaviors("- include: f8")
    assert errors_of(text) == ["s.abs.yaml:2:8: The session has more than 1,000 behaviors and includes."]
