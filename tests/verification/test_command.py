"""`abs-gate verify` from the outside: exit codes, forms, ending, hostile suites and tools."""

import json
import os
import signal
import subprocess
import sys
import time
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

from abs_gate.cli.main import run_cli

CONTRACT = """
tool_id: notes.add
model_surface:
  name: add_note
  description: Add a note.
  input_schema:
    type: object
    properties: {text: {type: string, minLength: 1}, key: {type: string}}
    required: [text, key]
    additionalProperties: false
policy: {effect: reversible_write, idempotency_key: key}
"""
SUITE = """
verification: notes
contracts: [tools.yaml]
tools:
  notes.add:
    driver: {python: {function: 'notes:add', with: {file: '{{tmp}}/notes'}}}
    probe: notes
    valid: {text: 'note {{fresh}}', key: 'key-{{fresh}}'}
probes: {notes: {file: {path: '{{tmp}}/notes', as: lines}}}
"""
TOOL = """
import json, threading
lock = threading.Lock()

def add(arguments, file):
    for name in ("text", "key"):
        if name not in arguments: return {"isError": True, "message": f"{name}: missing"}
    for name, value in arguments.items():
        if name not in ("text", "key"): return {"isError": True, "message": f"{name}: unknown"}
        if not isinstance(value, str) or not value: return {"isError": True, "message": f"{name}: expected text"}
    with lock, open(file, "a+") as notes:
        notes.seek(0)
        for line in notes:
            known = json.loads(line)
            if known["key"] == arguments["key"]:
                if known != arguments: return {"isError": True, "message": "key: used before"}
                return {"added": known["text"]}
        notes.write(json.dumps(arguments) + "\\n")
    return {"added": arguments["text"]}
"""


@pytest.fixture
def place(tmp_path, monkeypatch):
    (tmp_path / "tools.yaml").write_text(CONTRACT, "utf-8")
    (tmp_path / "suite.yaml").write_text(SUITE, "utf-8")
    (tmp_path / "notes.py").write_text(TOOL, "utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(capsys, *arguments):
    code = run_cli(["verify", *arguments])
    printed = capsys.readouterr()
    return code, printed.out, printed.err


def write(place, **files):
    for name, text in files.items():
        (place / f"{name}.yaml").write_text(text, "utf-8")


def test_everything_passes_and_nothing_is_left(place, capsys):
    before = sorted(path.name for path in place.iterdir())
    code, out, _ = run(capsys, ".")
    assert code == 0, out
    assert "PASS  notes.add: safe to retry" in out
    assert "FAIL" not in out
    assert sorted(path.name for path in place.iterdir()) == before


def test_a_failure_is_exit_1_in_every_form(place, capsys):
    (place / "notes.py").write_text(TOOL.replace('known["key"] == ', '"" == '), "utf-8")
    code, out, _ = run(capsys, "suite.yaml")
    assert code == 1
    assert "not safe to retry" in out
    assert "tools.yaml:" in out
    code, out, _ = run(capsys, "suite.yaml", "--format", "json")
    document = json.loads(out)
    assert (code, document["verdict"], document["exit_code"]) == (1, "failed", 1)
    code, out, _ = run(capsys, "suite.yaml", "--format", "junit")
    root = ElementTree.fromstring(out)
    assert code == 1
    assert root.findall(".//testsuite[@name='verification']//failure")
    for form in ("markdown", "html"):
        code, out, _ = run(capsys, "suite.yaml", "--format", form)
        assert code == 1
        assert "not safe to retry" in out


def test_without_a_probe_effects_are_not_verified(place, capsys):
    write(place, suite=SUITE.replace("    probe: notes\n", ""))
    code, out, _ = run(capsys, "suite.yaml")
    assert code == 3
    assert "no probe looks at what this tool changes" in out
    assert "could not verify whether it is safe to retry" in out


def test_a_wrong_suite_is_exit_2_and_nothing_is_called(place, capsys):
    write(place, suite=SUITE.replace("valid:", "valdi:") + "\nstart: [{command: 'touch started'}]\n")
    code, _, err = run(capsys, "suite.yaml")
    assert code == 2
    assert 'Did you mean "valid"?' in err
    assert "Traceback" not in err
    assert not (place / "started").exists()


@pytest.mark.parametrize(
    ("command", "words"),
    [("sh -c 'echo no port left >&2; exit 1'", "no port left"), ("sleep 60", "was not ready within")],
)
def test_a_service_that_does_not_start_is_exit_3(place, capsys, command, words):
    start = f'\nstart: [{{command: "{command}", ready: "http://127.0.0.1:9/", timeout: 0.5}}]\n'
    write(place, suite=SUITE + start)
    code, out, _ = run(capsys, "suite.yaml")
    assert code == 3
    assert words in " ".join(out.split())


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("notes:add", "absent_one:add", "no module"),
        ("notes:add", "notes:absent", "no function"),
        ("path: '{{tmp}}/notes'", "path: /etc/passwd", "outside the workspace"),
        ("path: '{{tmp}}/notes'", "path: ../../x", "outside the workspace"),
    ],
)
def test_what_cannot_be_opened_is_exit_2(place, capsys, old, new, words):
    write(place, suite=SUITE.replace(old, new))
    code, _, err = run(capsys, "suite.yaml")
    assert code == 2
    assert words in err
    assert "Traceback" not in err


def test_in_a_workflow_commands_and_secrets_of_files_are_refused(place, capsys, monkeypatch):
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    code, _, err = run(capsys, "suite.yaml")
    assert code == 2
    assert "allow-commands" in err
    driver = "{http: {url: 'http://127.0.0.1:9/', headers: {A: '${SECRET_THING}'}}}"
    old = "{python: {function: 'notes:add', with: {file: '{{tmp}}/notes'}}}"
    assert old in SUITE
    monkeypatch.setenv("SECRET_THING", "s3cr3t-value")
    monkeypatch.setenv("GITHUB_EVENT_NAME", "pull_request")
    write(place, suite=SUITE.replace(old, driver))
    code, out, err = run(capsys, "suite.yaml")
    assert code == 2
    assert "s3cr3t-value" not in out + err


@pytest.mark.parametrize(
    "body",
    [
        "return 'x' * 5_000_000",
        "return {'a': [None] * 100_000}",
        "raise RecursionError('deep')",
        "raise SystemExit(3)",
        "raise KeyboardInterrupt",
        "return {'isError': True, 'message': '\\x1b[31m::error::\\u202e' * 100}",
        "return {1: {2: {3: float('nan')}}}",
        "import threading; return threading.local()",
    ],
)
def test_hostile_tools_end_in_a_verdict(place, capsys, body):
    (place / "notes.py").write_text(f"def add(arguments, file):\n    {body}\n", "utf-8")
    code, out, err = run(capsys, "suite.yaml")
    assert code in (1, 3)
    assert "Traceback" not in err
    assert "\x1b[31m" not in out
    assert len(out) < 200_000


def test_ctrl_c_ends_services_and_their_children(place):
    (place / "service.py").write_text(
        "import subprocess, sys, time\n"
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'])\n"
        "open('pids', 'w').write(f'{child.pid}')\n"
        "time.sleep(600)\n",
        "utf-8",
    )
    write(
        place,
        suite=SUITE + "\nstart: [{command: '{{python}} service.py', ready: 'http://127.0.0.1:9/', timeout: 60}]\n",
    )
    gate = subprocess.Popen([sys.executable, "-m", "abs_gate", "verify", "suite.yaml"], cwd=place)
    for _ in range(1000):
        if (place / "pids").exists() and (place / "pids").read_text():
            break
        time.sleep(0.05)
    child = int((place / "pids").read_text())
    gate.terminate()
    assert gate.wait(40) == 143
    for _ in range(300):
        if not _is_running(child):
            return
        time.sleep(0.1)
    pytest.fail("what the service started is still there")


def test_500_cases_take_less_than_20_seconds(place, capsys):
    cases = "".join(
        f"  - {{name: note {number}, tool: notes.add, expect: {{effects: {{added: 1}}}}}}\n" for number in range(500)
    )
    write(place, suite=f"{SUITE}\ncases:\n{cases}")
    began = time.monotonic()
    code, out, _ = run(capsys, "suite.yaml", "--format", "json")
    assert code == 0
    assert len(json.loads(out)["verification"]) >= 500
    assert time.monotonic() - began < 20


def _is_running(process):
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    stat = Path(f"/proc/{process}/stat")
    return not stat.exists() or stat.read_text().rpartition(")")[2].split()[0] != "Z"


def test_a_secret_that_a_tool_gives_back_is_not_shown(place, capsys, monkeypatch):
    from tests.drivers.servers import serving

    monkeypatch.setenv("NOTES_TOKEN", "k9-notes-secret-77")
    with serving(lambda asked: (401, {"error": {"message": f"bad {asked.headers['x-key']}"}})) as (url, _):
        old = "{python: {function: 'notes:add', with: {file: '{{tmp}}/notes'}}}"
        driver = f"{{http: {{url: '{url}', headers: {{X-Key: '${{NOTES_TOKEN}}'}}}}}}"
        write(place, suite=SUITE.replace(old, driver))
        code, out, err = run(capsys, "suite.yaml")
    assert code == 1
    assert "bad ***" in out
    assert "k9-notes-secret-77" not in out + err


def test_a_cancelled_run_still_tells_what_it_verified(place):
    cases = "cases:\n  - {name: quick, tool: notes.add}\n"
    cases += "  - {name: slow, tool: notes.add, arguments: {text: SLEEP, key: k}}\n"
    (place / "notes.py").write_text(
        TOOL.replace(
            "def add(arguments, file):",
            "def add(arguments, file):\n    if arguments.get('text') == 'SLEEP':"
            "\n        open('asleep', 'w').close(); import time; time.sleep(60)",
        ),
        "utf-8",
    )
    suite = SUITE.replace("    valid:", "    derive: []\n    valid:").replace(
        "with: {file: '{{tmp}}/notes'}}}", "timeout: 60, with: {file: '{{tmp}}/notes'}}}"
    )
    write(place, suite=suite + cases)
    gate = subprocess.Popen(
        [sys.executable, "-m", "abs_gate", "verify", "suite.yaml", "--format", "json", "-q"],
        cwd=place,
        stdout=subprocess.PIPE,
    )
    for _ in range(1000):
        if (place / "asleep").exists():
            break
        time.sleep(0.05)
    gate.terminate()
    document = json.loads(gate.communicate(timeout=40)[0])
    assert gate.returncode == 143
    assert (document["verdict"], document["exit_code"]) == ("cancelled", 143)
    assert [record["name"] for record in document["verification"]] == ["quick"]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_run_leaves_no_directory_behind(tmp_path, number):
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    (tmp_path / "tools.yaml").write_text(
        "tool_id: shop.pay\nmodel_surface: {name: pay, input_schema: {type: object}}\n"
    )
    (tmp_path / "shop.py").write_text(
        "import time\ndef pay(arguments, file):\n    open(file, 'w').close()\n    time.sleep(60)\n"
    )
    (tmp_path / "suite.yaml").write_text(
        "verification: shop\ncontracts: [tools.yaml]\n"
        "tools: {shop.pay: {derive: [], valid: {}, driver: "
        "{python: {function: 'shop:pay', timeout: 50, with: {file: '{{tmp}}/called'}}}}}\n"
        "cases: [{name: it, tool: shop.pay}]\n"
    )
    command = [sys.executable, "-m", "abs_gate", "verify", "suite.yaml"]
    environ = {**os.environ, "TMPDIR": str(temporary)}
    with subprocess.Popen(
        command, cwd=tmp_path, env=environ, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    ) as process:
        until = time.monotonic() + 30
        while not list(temporary.glob("*/called")) and time.monotonic() < until:
            time.sleep(0.05)
        assert list(temporary.glob("*/called"))
        process.send_signal(number)
        assert process.wait(timeout=30) == 128 + number
        assert b"Traceback" not in process.stderr.read()
    assert list(temporary.iterdir()) == []
