"""The command line as a person uses it."""

import json
import os
import stat
import subprocess
import sys

GATE = [sys.executable, "-m", "abs_gate"]


def gate(*arguments, cwd=None, **environ):
    return subprocess.run(
        [*GATE, *arguments], capture_output=True, text=True, cwd=cwd, env=os.environ | environ, check=False
    )


def test_a_report_to_a_device_leaves_the_device(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = subprocess.Popen(["cat", str(pipe)], stdout=subprocess.PIPE, text=True)
    contract = tmp_path / "tools.json"
    contract.write_text('[{"name": "read", "inputSchema": {"type": "object"}}]')
    done = gate("lint", str(contract), "--fail-on", "none", "-o", str(pipe))
    text, _ = reader.communicate(timeout=20)
    assert done.returncode == 0, done.stderr
    assert "read" in text
    assert stat.S_ISFIFO(pipe.stat().st_mode)


def test_the_demo_passes_the_good_and_blocks_the_bad(tmp_path):
    done = gate("demo", "--dir", str(tmp_path / "demo"))
    assert done.returncode == 0, done.stdout + done.stderr
    assert "let the good pull request through and blocked the bad one" in done.stdout
    for pull_request in ("good", "bad"):
        for name in ("result.json", "report.html", "junit.xml", "summary.md"):
            assert (tmp_path / "demo" / pull_request / name).stat().st_size > 500
    again = gate("demo", "--dir", str(tmp_path / "demo"))
    assert again.returncode == 2
    assert "exists already" in again.stderr


def test_init_writes_files_that_are_valid_and_never_overwrites(tmp_path):
    first = gate("init", cwd=tmp_path)
    assert first.returncode == 0, first.stderr
    assert (tmp_path / ".github/workflows/abs-gate.yml").is_file()
    valid = gate("validate", cwd=tmp_path)
    assert valid.returncode == 0, valid.stderr
    mine = "version: 1\n# mine\n"
    (tmp_path / "abs-gate.yaml").write_text(mine)
    assert gate("init", cwd=tmp_path).returncode == 0
    assert (tmp_path / "abs-gate.yaml").read_text() == mine


def test_rules_are_listed_and_explained():
    listed = gate("rules")
    assert listed.returncode == 0
    assert "optional_to_required" in listed.stdout
    one = gate("rules", "optional_to_required")
    assert one.returncode == 0
    assert "required" in one.stdout
    unknown = gate("rules", "optional_to_requird")
    assert unknown.returncode == 2
    assert "optional_to_required" in unknown.stderr


def test_diff_says_what_broke_with_the_call_that_shows_it(tmp_path):
    schema = {"type": "object", "properties": {"order": {"type": "string"}, "why": {"type": "string"}}}
    base = [{"name": "refund", "inputSchema": schema | {"required": ["order"]}}]
    head = [{"name": "refund", "inputSchema": schema | {"required": ["order", "why"]}}]
    (tmp_path / "a.json").write_text(json.dumps(base))
    (tmp_path / "b.json").write_text(json.dumps(head))
    done = gate("diff", "a.json", "b.json", "--format", "json", cwd=tmp_path)
    assert done.returncode == 1
    [tool] = json.loads(done.stdout)
    assert (tool["tool_id"], tool["classification"]) == ("refund", "breaking")
    [change] = [change for change in tool["changes"] if change["kind"] == "optional_to_required"]
    assert change["path"] == "input.why"
    assert change["proof"] == "witness"
    assert list(change["witness"]) == ["order"]
    assert gate("diff", "a.json", "a.json", cwd=tmp_path).returncode == 0
    assert gate("diff", "a.json", "b.json", "--fail-on", "none", cwd=tmp_path).returncode == 0


def test_a_fingerprint_does_not_depend_on_layout(tmp_path):
    tool = {"name": "refund", "description": "Refunds.", "inputSchema": {"type": "object", "required": ["b", "a"]}}
    (tmp_path / "a.json").write_text(json.dumps([tool]))
    again = {"inputSchema": {"required": ["a", "b"], "type": "object"}, "description": "Refunds.", "name": "refund"}
    (tmp_path / "b.yaml").write_text(json.dumps({"tools": [again]}, indent=4))
    one, other = (gate("fingerprint", str(tmp_path / name)).stdout for name in ("a.json", "b.yaml"))
    assert one == other
    assert one.splitlines()[-1].split()[1] == "tool-set"


def test_results_go_to_standard_output_and_everything_else_to_standard_error(tmp_path):
    (tmp_path / "s.abs.yaml").write_text(
        "session: s\nabs_version: '0.2'\nbehaviors:\n  - {actor: user, action: says, content: hi}\n"
        "  - {actor: assistant, action: informs}\n"
    )
    done = gate("sessions", "s.abs.yaml", "--agent", "http://127.0.0.1:9/", "--format", "json", cwd=tmp_path)
    assert done.returncode == 3
    document = json.loads(done.stdout)
    assert document["verdict"] == "unverified"
    assert document["exit_code"] == 3
    assert list(tmp_path.iterdir()) == [tmp_path / "s.abs.yaml"]


def test_every_command_has_help():
    listed = gate("--help").stdout
    for name in ("run", "sessions", "verify", "canary", "merge"):
        assert name in listed
        done = gate(name, "--help")
        assert done.returncode == 0, done.stderr
        assert len(done.stdout.splitlines()) > 5
