"""What a command loads: each of these packages costs more than all the command does."""

import json
import subprocess
import sys

import pytest

SCRIPT = """
import sys
from abs_gate.cli.main import main
sys.argv = ["abs-gate", *sys.argv[1:]]
try:
    main()
finally:
    print(*[name for name in {heavy} if name in sys.modules], file=sys.stderr)
"""
HEAVY = (
    *("yaml", "requests", "jsonschema", "referencing", "re2", "regex", "asyncio", "dataclasses", "subprocess"),
    *("abs_gate.vcs.git", "abs_gate.gate.result", "abs_gate.contracts.rules.lint.poisoning"),
)


def loaded(*arguments: str, cwd) -> list[str]:
    script = SCRIPT.format(heavy=HEAVY)
    done = subprocess.run([sys.executable, "-c", script, *arguments], cwd=cwd, capture_output=True, text=True)
    assert done.returncode in (0, 1), done.stderr
    return done.stderr.splitlines()[-1].split()


@pytest.fixture
def pair(tmp_path):
    base = {"type": "object", "properties": {"order_id": {"type": "string", "pattern": "^ORD-"}}}
    more = {**base, "properties": {**base["properties"], "note": {"type": "string"}}}
    needed = {**base, "required": ["order_id"]}
    for name, schema in (("base", base), ("more", more), ("needed", needed)):
        tools = [{"name": "refund", "description": "Refunds.", "inputSchema": schema}]
        (tmp_path / f"{name}.json").write_text(json.dumps({"tools": tools}))
    return tmp_path


def test_version_loads_nothing(tmp_path):
    assert loaded("--version", cwd=tmp_path) == []


def test_a_diff_that_breaks_nothing_loads_nothing_heavy(pair):
    assert loaded("diff", "base.json", "more.json", cwd=pair) == []


def test_a_diff_that_breaks_asks_the_second_opinion(pair):
    found = loaded("diff", "base.json", "needed.json", cwd=pair)
    assert {"jsonschema", "referencing"} <= set(found)
    assert not {"yaml", "requests", "re2", "abs_gate.vcs.git", "abs_gate.contracts.rules.lint.poisoning"} & set(found)
