"""What trials change against what was said, over a real run of the gate."""

import json

import pytest

from abs_gate.app.effects import Exclusive
from abs_gate.cli.main import run_cli

AGENT = """
import json, pathlib, time
LEDGER = pathlib.Path({ledger!r})

def agent(messages, tools):
    word = messages[-1]["content"].split()[0]
    for _ in range({{"once": 1, "twice": 2, "none": 0, "silent": 1}}[word]):
        time.sleep(0.02)
        with LEDGER.open("a") as file:
            file.write(json.dumps({{"order": "ORD-1"}}) + "\\n")
    return "Looked at it." if word == "silent" else "I have refunded ORD-1."
"""
SESSION = """
abs_version: "0.2"
session: {name}
behaviors:
  - {{actor: user, action: says, content: "{name} please"}}
  - {{actor: assistant, action: responds}}
"""
CONFIGURATION = """
version: 1
agent: {format: python, command: "effect_agent_%s:agent"}
sessions:
  paths: [sessions/]
  trials: 4
  concurrency: 4
  early_stop: false
  policy:
    - effects:
        - probe: {file: {path: ledger.jsonl, as: lines}}
          claims: [{says: "(?i)refunded (ORD-\\\\d)", where: {order: ORD-1}}]
"""


@pytest.fixture
def gate(tmp_path, monkeypatch, capsys):
    def run(*names, configuration=CONFIGURATION):
        (tmp_path / "sessions").mkdir()
        unique = tmp_path.name.replace("-", "_")
        agent = AGENT.format(ledger=str(tmp_path / "ledger.jsonl"))
        (tmp_path / f"effect_agent_{unique}.py").write_text(agent, "utf-8")
        (tmp_path / "abs-gate.yaml").write_text(configuration % unique, "utf-8")
        for name in names:
            (tmp_path / "sessions" / f"{name}.abs.yaml").write_text(SESSION.format(name=name), "utf-8")
        monkeypatch.chdir(tmp_path)
        code = run_cli(["run", "-q", "--format", "json"])
        printed = capsys.readouterr()
        return code, json.loads(printed.out) if printed.out else printed.err

    return run


def test_what_was_said_is_held_against_the_ledger_trial_by_trial(gate):
    code, document = gate("once", "twice", "none", "silent")
    assert code == 1
    outcomes = {session["name"]: session for session in document["sessions"]}
    assert outcomes["once"]["trials"]["passed"] == 4
    for name, words in (("twice", "more often"), ("none", "claimed, not done"), ("silent", "done, but not said")):
        assert outcomes[name]["trials"]["failed"] == 4
        trial = outcomes[name]["cases"][0]["trials"][0]
        assert words in trial["reason"]
        assert any(words in mismatch["reason"] for mismatch in trial["mismatches"])


def test_a_probe_that_cannot_be_read_is_unverified(gate):
    broken = CONFIGURATION.replace("as: lines", "as: json").replace("ledger.jsonl", "abs-gate.yaml")
    code, document = gate("once", configuration=broken)
    assert code == 3
    assert document["sessions"][0]["trials"]["unverified"] == 4


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("says:", "sayz:", 'Did you mean "says"?'),
        ("(?i)refunded (ORD", "(?i)refunded ((ORD", "pattern"),
        ("file: {path: ledger.jsonl, as: lines}", "sqlite: {file: x, query: DELETE FROM x}", "would write"),
        ("probe:", "prob:", 'Did you mean "probe"?'),
    ],
)
def test_entries_that_are_wrong_stop_the_run_before_it_begins(gate, old, new, words):
    code, errors = gate("once", configuration=CONFIGURATION.replace(old, new))
    assert code == 2
    assert words in errors
    assert "abs-gate.yaml:" in errors


def test_alone_means_alone():
    import threading

    turns, inside, seen = Exclusive(), [], []

    def together():
        with turns.together():
            inside.append(1)
            seen.append(("together", "alone" in inside))
            inside.remove(1)

    def alone():
        with turns.alone():
            inside.append("alone")
            seen.append(("alone", len(inside) > 1))
            inside.remove("alone")

    threads = [threading.Thread(target=together if n % 3 else alone) for n in range(60)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(10)
    assert len(seen) == 60
    assert not any(wrong for _, wrong in seen)
