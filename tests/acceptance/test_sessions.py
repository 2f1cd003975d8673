"""The flags of `abs-gate sessions`, from outside."""

import json
import os
import re
import threading
import xml.etree.ElementTree as ElementTree

import pytest

from abs_gate.cli.main import run_cli

from . import agents
from .agents import LoopbackAgent
from .gate import sessions

SESSION = """\
session: {name}
abs_version: "0.2"
behaviors:
  - {{actor: user, action: says, content: "{content}"}}
  - {{actor: assistant, action: responds, evaluations: [{{type: contains, value: "{value}"}}]}}
"""


def write(place, name="s", content="hi", value="hi", **more):
    (place / f"{name}.abs.yaml").write_text(SESSION.format(name=name, content=content, value=value))
    for file, text in more.items():
        (place / file.replace("__", ".")).write_text(text)


def echo(path, headers, body):
    """Says again what was said last."""
    return {"choices": [{"message": {"role": "assistant", "content": f"You said: {body['messages'][-1]['content']}"}}]}


@pytest.fixture
def agent():
    with LoopbackAgent(echo) as started:
        yield started


def said(agent):
    return [body["messages"][-1]["content"] for body in agent.bodies]


class TestAuthentication:
    @pytest.mark.parametrize(
        ("kind", "name", "value"),
        [
            ("bearer", "authorization", "Bearer tok-1"),
            ("api_key", "x-api-key", "tok-1"),
            ("none", "authorization", None),
        ],
    )
    def test_a_token_goes_where_its_kind_says(self, tmp_path, agent, kind, name, value):
        write(tmp_path)
        token = [] if kind == "none" else ["--agent-token", "tok-1"]
        done = sessions(tmp_path, ".", "--agent", agent.url, "--agent-auth", kind, *token)
        assert done.code == 0, done.err
        assert agent.requests[0][1].get(name) == value
        assert "tok-1" not in done.out

    def test_headers_and_the_environment(self, tmp_path, agent):
        write(tmp_path)
        environ = {"ABS_GATE_AGENT_TOKEN": "tok-2", "ABS_GATE_AGENT_URL": agent.url}
        done = sessions(tmp_path, "s.abs.yaml", "--header", "X-Tenant=a=b", "--header", "X-Two=2", environ=environ)
        assert done.code == 0, done.err
        headers = agent.requests[0][1]
        assert (headers["x-tenant"], headers["x-two"], headers["authorization"]) == ("a=b", "2", "Bearer tok-2")
        assert headers["idempotency-key"]

    def test_a_granted_token_is_fetched_and_used(self, tmp_path):
        def answer(path, headers, body):
            if path == "/token":
                return {"access_token": "granted", "token_type": "Bearer", "expires_in": 60}
            return echo(path, headers, body)

        write(tmp_path)
        with LoopbackAgent(answer) as agent:
            environ = {
                "ABS_GATE_AGENT_CLIENT_ID": "me",
                "ABS_GATE_AGENT_CLIENT_SECRET": "mine-alone",
                "ABS_GATE_AGENT_REFRESH_URL": f"{agent.url}/token",
            }
            done = sessions(tmp_path, ".", "--agent", f"{agent.url}/chat", "--agent-auth", "oauth2", environ=environ)
        assert done.code == 0, done.out + done.err
        assert [path for path, _, _ in agent.requests] == ["/token", "/chat"]
        assert agent.requests[1][1]["authorization"] == "Bearer granted"
        assert "mine-alone" not in done.out and "granted" not in done.out


class TestVariables:
    def test_text_and_typed(self, tmp_path, agent):
        write(tmp_path, "text", "{{order}}", "You said: 5")
        write(tmp_path, "typed", "{{data}}", 'You said: {\\"a\\": 1}')
        done = sessions(tmp_path, ".", "--agent", agent.url, "--var", "order=5", "--var", 'data:={"a": 1}')
        assert done.code == 0, done.out
        assert sorted(said(agent)) == ["5", '{"a": 1}']

    def test_one_without_a_value_stops_everything(self, tmp_path, agent):
        write(tmp_path, content="{{ordr}}")
        done = sessions(tmp_path, ".", "--agent", agent.url, "--var", "order=5", format=None)
        assert done.code == 2 and not agent.requests
        assert "s.abs.yaml:4:" in done.err and "ordr" in done.err and 'Did you mean "order"?' in done.err


ROWS = '{"q": "red", "n": 1}\n{"q": "blue", "n": 2}\n{"q": "green", "n": 2}\n'


class TestDataSets:
    def test_a_file_its_filter_and_each_row_by_itself(self, tmp_path, agent):
        write(tmp_path, content="{{q}}", value="{{q}}", rows__jsonl=ROWS)
        done = sessions(tmp_path, "s.abs.yaml", "--agent", agent.url, "--dataset", "rows.jsonl", "--filter", "n:2")
        assert done.code == 0, done.out + done.err
        assert sorted(said(agent)) == ["blue", "green"]
        assert [case["row"] for case in done.session["cases"]] in ([1, 2], []) or done.session["trials"]["run"] == 2

    def test_a_directory_pairs_by_name(self, tmp_path, agent):
        for name in ("one", "two"):
            write(tmp_path, name, "{{q}}", "{{q}}")
        data = tmp_path / "data"
        data.mkdir()
        (data / "one.csv").write_text("\ufeffq\nfrom csv\n", encoding="utf-8")
        (data / "two.json").write_text('[{"q": "from json"}]')
        done = sessions(tmp_path, ".", "--agent", agent.url, "--dataset", "data")
        assert done.code == 0, done.out + done.err
        assert sorted(said(agent)) == ["from csv", "from json"]

    @pytest.mark.parametrize(
        ("arguments", "words"),
        [
            (["--dataset", "rows.jsonl", "--filter", "n:9"], "filter"),
            (["--dataset", "empty.json"], "empty.json"),
            (["--dataset", "bad.jsonl"], "bad.jsonl:2"),
            (["--dataset", "absent.csv"], "absent.csv"),
            (["--select", "ss"], 'Did you mean "s"?'),
        ],
    )
    def test_nothing_to_run_is_an_error(self, tmp_path, agent, refused, arguments, words):
        more = {"rows__jsonl": ROWS, "empty__json": "[]", "bad__jsonl": '{"q": 1}\n{"q": \n'}
        write(tmp_path, content="{{q}}", value="{{q}}", **more)
        assert words in refused("s.abs.yaml", "--agent", agent.url, *arguments)
        assert not agent.requests


class TestVerdicts:
    def test_selection_trials_and_pass_rate(self, tmp_path):
        write(tmp_path, "flaky", "hi", "good")
        write(tmp_path, "never", "hi", "nothing says this")
        count, lock = [0], threading.Lock()

        def flaky(path, headers, body):
            with lock:
                count[0] += 1
                return "bad" if count[0] % 4 == 0 else "good"

        with LoopbackAgent(flaky) as agent:
            run = [
                ".",
                "--agent",
                agent.url,
                "--select",
                "flaky",
                "--trials",
                "8",
                "--no-early-stop",
                "--concurrency",
                "1",
            ]
            enough = sessions(tmp_path, *run, "--pass-rate", "75%")
            missed = sessions(tmp_path, *run, "--pass-rate", "0.8")
        assert (enough.code, missed.code) == (0, 1)
        assert enough.session["trials"] | {"passed": 6, "failed": 2, "run": 8} == enough.session["trials"]
        assert enough.session["name"] == "flaky" and enough.session["pass_rate"] == 0.75

    def test_unexpected_calls(self, tmp_path):
        write(tmp_path, "s", "order 5", "tool")
        with LoopbackAgent(agents.openai) as agent:
            allowed = sessions(tmp_path, ".", "--agent", agent.url, "--unexpected-calls", "allow", format="text")
            refused = sessions(tmp_path, ".", "--agent", agent.url, "--unexpected-calls", "fail")
        assert allowed.code == 0 and "get_order" in allowed.out
        assert refused.code == 1 and refused.session["unexpected_calls"] == {"get_order": 1}
        assert all(behavior["passed"] == 1 for behavior in refused.session["behaviors"])

    def test_the_same_document_for_every_exit_code(self, tmp_path, agent):
        write(tmp_path, "good")
        write(tmp_path, "bad", "hi", "nothing says this")
        good = sessions(tmp_path, "good.abs.yaml", "--agent", agent.url)
        bad = sessions(tmp_path, "bad.abs.yaml", "--agent", agent.url)
        open_ = sessions(tmp_path, "good.abs.yaml", "--agent", "http://127.0.0.1:9/")
        wrong = sessions(tmp_path, "absent.abs.yaml", "--agent", agent.url)
        assert [good.code, bad.code, open_.code, wrong.code] == [0, 1, 3, 2]
        assert [d.result["verdict"] for d in (good, bad, open_)] == ["passed", "failed", "unverified"]
        assert [d.result["exit_code"] for d in (good, bad, open_)] == [0, 1, 3]
        assert wrong.out == "" and "absent.abs.yaml" in wrong.err

    def test_reports_to_a_file(self, tmp_path, agent):
        write(tmp_path)
        done = sessions(tmp_path, ".", "--agent", agent.url, "-o", "report.xml", format="junit")
        assert done.code == 0 and done.out == ""
        assert ElementTree.parse(tmp_path / "report.xml").getroot().attrib["tests"] != "0"
        assert sorted(path.name for path in tmp_path.iterdir()) == ["report.xml", "s.abs.yaml"]

    @pytest.mark.parametrize("form", ["text", "markdown", "html", "junit"])
    def test_a_failure_is_explained_in_every_form(self, tmp_path, agent, form):
        write(tmp_path, "s", "hi", "good-bye")
        done = sessions(tmp_path, ".", "--agent", agent.url, format=form)
        assert done.code == 1
        assert "good-bye" in done.out and "You said: hi" in done.out


@pytest.fixture
def refused(tmp_path, monkeypatch, capsys):
    """What is wrong with a command line, told in this process: nothing is started for it."""
    monkeypatch.chdir(tmp_path)
    for name in [name for name in os.environ if name.startswith(("ABS_", "GITHUB_", "INPUT_"))]:
        monkeypatch.delenv(name)

    def refused(*arguments):
        assert run_cli(["sessions", *arguments]) == 2
        return capsys.readouterr().err

    return refused


class TestUsage:
    @pytest.mark.parametrize(
        "arguments",
        [
            ["--agent-format", "nonsense"],
            ["--agent", "not a url"],
            ["--timeout", "soon"],
            ["--pass-rate", "7"],
            ["--trials", "0"],
            ["--var", "novalue"],
            ["--var", "x:={"],
            ["--header", "broken"],
            ["--filter", "nocolon"],
            ["--shard", "3/2"],
            ["--nonsense"],
        ],
    )
    def test_wrong_flags_are_named(self, tmp_path, refused, arguments):
        write(tmp_path)
        assert arguments[0] in refused("s.abs.yaml", *arguments)

    def test_several_faults_are_told_in_one_go(self, tmp_path, refused):
        write(tmp_path)
        told = refused("s.abs.yaml", "--timeout", "soon", "--trials", "0")
        assert "--timeout" in told and "--trials" in told

    def test_no_agent(self, tmp_path, refused):
        write(tmp_path)
        assert "--agent" in refused("s.abs.yaml")


def test_results_are_json_for_machines_only_on_standard_output(tmp_path, agent):
    write(tmp_path)
    done = sessions(tmp_path, ".", "--agent", agent.url, "--quiet")
    assert json.loads(done.out)["schema_version"] == 1 and done.err == ""


def test_a_shard_tells_which_sessions_belong_to_others(tmp_path):
    for number in range(4):
        behaviors = "  - {actor: user, action: says, content: hi}\n  - {actor: assistant, action: informs}\n"
        (tmp_path / f"{number}.abs.yaml").write_text(f'session: s{number}\nabs_version: "0.2"\nbehaviors:\n{behaviors}')
    (tmp_path / "agent.py").write_text("def answer(messages, tools):\n    return 'hello'\n")
    (tmp_path / "abs-gate.yaml").write_text("version: 1\nagent: {format: python, command: 'agent:answer'}\n")
    shards = [
        sessions(tmp_path, ".", "-c", "abs-gate.yaml", "--shard", f"{shard}/2", format="text") for shard in (1, 2)
    ]
    assert [done.code for done in shards] == [0, 0]
    for done in shards:
        first = done.out.splitlines()[0]
        assert "passed" in first and "to other shards" in first, first
        assert "could not be verified" not in done.out and "What did not pass" not in done.out
    counts = [int(re.search(r"(\d) of \1 sessions? passed", done.out)[1]) for done in shards]
    assert sum(counts) == 4 and all(counts)


def test_every_report_of_a_shard_calls_the_sessions_of_others_elsewhere(tmp_path):
    for number in range(3):
        behaviors = "  - {actor: user, action: says, content: hi}\n  - {actor: assistant, action: informs}\n"
        (tmp_path / f"{number}.abs.yaml").write_text(f'session: s{number}\nabs_version: "0.2"\nbehaviors:\n{behaviors}')
    (tmp_path / "agent.py").write_text("def answer(messages, tools):\n    return 'hello'\n")
    (tmp_path / "abs-gate.yaml").write_text(
        "version: 1\nagent: {format: python, command: 'agent:answer'}\n"
        "sessions: {quarantine: [{session: s0, owner: me, until: 2099-01-01}]}\n"
    )
    for form, elsewhere in (("text", "elsewhere "), ("markdown", "| ➖ elsewhere |"), ("html", "skipped</span> s")):
        done = sessions(tmp_path, ".", "-c", "abs-gate.yaml", "--shard", "1/9", format=form)
        assert elsewhere in done.out, done.out[-3000:]
        assert "Not gating" not in done.out, "a quarantined session of another shard is that shard's to tell"
    junit = sessions(tmp_path, ".", "-c", "abs-gate.yaml", "--shard", "1/9", format="junit").out
    assert 'errors="0"' in junit and "<error" not in junit and "<failure" not in junit
