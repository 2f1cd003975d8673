"""`abs-gate canary` from outside: both forms of records, three verdicts, every report."""

import json

import pytest

from tests.acceptance.processes import gate

CONFIG = """\
version: 1
canary:
  owner: "@payments"
  min_records: 200
  thresholds: {missing_argument_rate: 2%, validation_failure_rate: 2%}
"""


@pytest.fixture
def place(tmp_path):
    (tmp_path / "abs-gate.yaml").write_text(CONFIG)
    write_runs(tmp_path / "before.jsonl", 1000, spoiled=10)
    return tmp_path


def write_runs(path, number, *, spoiled, contract="sha256:old"):
    def run(index):
        bad = index < spoiled
        call = {"tool": "issue_refund", "missing_arguments": ["reason"] if bad else [], "valid": not bad}
        return {"run": f"r{index}", "contract": contract, "calls": [call]}

    path.write_text("".join(json.dumps(run(index)) + "\n" for index in range(number)))


def write_spans(path, number, *, spoiled):
    """A trace a run: the model call that offers the tool, and the execution."""
    schema = {"type": "object", "properties": {"reason": {"type": "string"}}, "required": ["reason"]}
    tools = [{"type": "function", "name": "issue_refund", "parameters": schema}]

    def spans(index):
        arguments = {} if index < spoiled else {"reason": "late"}
        yield {"traceId": f"t{index}", "attributes": {"gen_ai.tool.definitions": json.dumps(tools)}}
        called = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "issue_refund"}
        yield {"traceId": f"t{index}", "attributes": called | {"gen_ai.tool.call.arguments": json.dumps(arguments)}}

    lines = [json.dumps(span) for index in range(number) for span in spans(index)]
    path.write_text("\n".join(lines) + "\n")


def canary(place, *more):
    return gate("canary", "--baseline", "before.jsonl", "--candidate", "after.jsonl", *more, cwd=place)


@pytest.mark.parametrize(
    ("number", "spoiled", "code", "word"),
    [(1000, 80, 1, "ROLL BACK"), (1000, 10, 0, "CONTINUE"), (60, 0, 3, "HOLD")],
)
def test_the_verdict_is_the_exit_code_and_every_form_says_it(place, number, spoiled, code, word):
    write_runs(place / "after.jsonl", number, spoiled=spoiled, contract="sha256:new")
    text = canary(place)
    assert text.returncode == code, text.stderr
    assert text.stdout.startswith(word)
    assert "@payments" in text.stdout
    assert "sha256:new" in text.stdout
    parsed = canary(place, "--format", "json")
    assert parsed.returncode == code
    document = json.loads(parsed.stdout)
    assert document["verdict"].upper() == word
    assert document["exit_code"] == code
    [missing] = [metric for metric in document["metrics"] if metric["name"] == "missing_argument_rate"]
    assert missing["candidate"] == [spoiled, number]
    low, high = missing["interval"]
    assert low < missing["difference"] < high
    page = canary(place, "--format", "markdown", "-o", "canary.md")
    assert page.returncode == code
    assert page.stdout == ""
    assert f"Canary: {word.lower()}" in (place / "canary.md").read_text()
    quiet = canary(place, "--quiet")
    assert len(quiet.stdout) < len(text.stdout)


def test_spans_decide_as_records_of_our_own_do(place):
    write_spans(place / "before.jsonl", 400, spoiled=4)
    write_spans(place / "after.jsonl", 400, spoiled=60)
    done = canary(place, "--format", "json")
    assert done.returncode == 1, done.stderr
    document = json.loads(done.stdout)
    [missing] = [metric for metric in document["metrics"] if metric["name"] == "missing_argument_rate"]
    assert (missing["baseline"], missing["candidate"]) == ([4, 400], [60, 400])


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("not json\n", "after.jsonl:1: This line is not JSON"),
        ('{"run": "a", "calls": [{"tool": "x", "valid": "maybe"}]}\n', "after.jsonl:1"),
        ('{"run": "a", "calls": []}\n{"run": "a", "calls": []}\n', "after.jsonl:2"),
        ("", "holds no execution record"),
        ("[" * 100_000, "after.jsonl:1: This line is not JSON"),
    ],
)
def test_wrong_records_are_refused_with_their_place(place, text, told):
    (place / "after.jsonl").write_text(text)
    done = canary(place)
    assert done.returncode == 2
    assert told in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""


def test_without_thresholds_nothing_could_be_decided(place):
    write_runs(place / "after.jsonl", 300, spoiled=0)
    (place / "abs-gate.yaml").unlink()
    done = canary(place)
    assert done.returncode == 2
    assert "rollback threshold" in done.stderr


def test_a_hostile_tool_name_cannot_draw_on_the_terminal_or_the_page(place):
    call = {"tool": "x", "error": "\x1b[2Jevil|<img src=x>`", "valid": True, "missing_arguments": []}
    runs = [json.dumps({"run": str(index), "calls": [call]}) for index in range(300)]
    (place / "after.jsonl").write_text("\n".join(runs))
    assert "\x1b" not in canary(place).stdout
    [row] = [line for line in canary(place, "--format", "markdown").stdout.splitlines() if "evil" in line]
    assert row.replace("\\|", "").count("|") == 7
