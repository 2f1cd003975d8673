"""Commands and Python functions as tools."""

import os
import sys
import threading
import time

import pytest

from abs_gate.drivers.command_tool import CommandTool
from abs_gate.drivers.python_tool import PythonTool, find_function
from abs_gate.errors import ConfigurationError
from abs_gate.transport.children import Child
from abs_gate.verification.model import AnswerKind

SCRIPT = """
import json, os, sys, time
for line in sys.stdin:
    asked = json.loads(line)
    word = asked["arguments"].get("do")
    if word == "die": sys.exit(3)
    if word == "hang": time.sleep(30)
    if word == "junk": print("not json", flush=True); continue
    if word == "refuse": answer = {"error": {"code": "NO", "message": "no: do", "retryable": True}}
    else: answer = {"result": {"asked": asked, "pid": os.getpid()}}
    if word == "wait": time.sleep(0.3)
    print(json.dumps(answer), flush=True)
"""


@pytest.fixture
def command(tmp_path):
    (tmp_path / "tool.py").write_text(SCRIPT)
    made = []

    def make(*, concurrent=False, timeout_s=5.0):
        def start():
            return Child(f"{sys.executable} tool.py", cwd=str(tmp_path), env=dict(os.environ))

        made.append(CommandTool("refund", start, timeout_s=timeout_s, concurrent=concurrent))
        return made[-1]

    yield make
    for tool in made:
        tool.close()


def test_a_line_a_call_in_one_process(command):
    tool = command()
    first = tool.call({"a": 1}, key="k", context={"c": 2})
    assert first.content["asked"] == {"tool": "refund", "arguments": {"a": 1}, "key": "k", "context": {"c": 2}}
    assert tool.call({}).content["pid"] == first.content["pid"]
    refused = tool.call({"do": "refuse"})
    assert (refused.kind, refused.code, refused.retryable) == (AnswerKind.TOOL_ERROR, "NO", True)
    assert tool.call({"do": "junk"}).kind is AnswerKind.PROTOCOL_ERROR


def test_a_command_that_dies_or_hangs_is_started_again(command):
    tool = command(timeout_s=0.5)
    first = tool.call({}).content["pid"]
    assert tool.call({"do": "die"}).kind is AnswerKind.NO_ANSWER
    second = tool.call({}).content["pid"]
    assert tool.call({"do": "hang"}).kind is AnswerKind.NO_ANSWER
    assert len({first, second, tool.call({}).content["pid"]}) == 3


@pytest.mark.parametrize("concurrent", [True, False])
def test_several_processes_serve_only_where_that_is_said(command, concurrent):
    tool = command(concurrent=concurrent)
    assert tool.is_concurrent is concurrent
    answers = []
    threads = [threading.Thread(target=lambda: answers.append(tool.call({"do": "wait"}))) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({answer.content["pid"] for answer in answers}) == (3 if concurrent else 1)


def test_functions_are_found_beside_the_suite_and_kept_apart(tmp_path):
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "shared.py").write_text(f"NAME = {name!r}\n")
        (tmp_path / name / "shop.py").write_text("import shared\ndef who(arguments): return shared.NAME\n")
    found = [find_function("shop:who", tmp_path / name)({}) for name in ("one", "two")]
    assert found == ["one", "two"]
    assert "shared" not in sys.modules
    assert not list(tmp_path.rglob("__pycache__"))
    with pytest.raises(ConfigurationError, match="no function nobody"):
        find_function("shop:nobody", tmp_path / "one")
    (tmp_path / "one" / "broken.py").write_text("1/0")
    with pytest.raises(ConfigurationError, match="ZeroDivisionError"):
        find_function("broken:x", tmp_path / "one")
    with pytest.raises(ConfigurationError, match="no module"):
        find_function("absent_module_here:x", tmp_path)


class Refused(Exception):
    code = "NO"
    retryable = False


def python(function, **given):
    return PythonTool(function, given, shown="f", timeout_s=0.5)


def test_functions_return_raise_and_take_too_long():
    def fail(error):
        raise error

    assert python(lambda a, **more: [a, more], x=1).call({"a": 1}, key="k").content == [{"a": 1}, {"x": 1, "key": "k"}]
    refused = python(lambda a: fail(Refused("no: a"))).call({})
    assert (refused.kind, refused.code, refused.message, refused.retryable) == ("tool_error", "NO", "no: a", False)
    assert python(lambda a: fail(ValueError("x"))).call({}).kind is AnswerKind.PROTOCOL_ERROR
    assert python(lambda a: time.sleep(5)).call({}).kind is AnswerKind.NO_ANSWER
    assert python(lambda a: object()).call({}).kind is AnswerKind.PROTOCOL_ERROR
    assert python(lambda a: {"isError": True, "errors": ["a: bad"]}).call({}).message == "a: bad"
    assert python(lambda a: {"error": None}).call({}).kind is AnswerKind.RESULT


def test_a_function_cannot_change_the_arguments_it_is_given():
    arguments = {"a": [1]}
    python(lambda a: a["a"].append(2)).call(arguments)
    assert arguments == {"a": [1]}
