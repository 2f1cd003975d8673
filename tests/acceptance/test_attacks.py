"""Agents, contracts and pull requests that attack whoever reads the reports, through the action as it is started."""

import base64
import json
import re
import threading
import xml.etree.ElementTree as ET
from html.parser import HTMLParser
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import quote, quote_plus

import pytest

from tests.acceptance.processes import CountingAgent
from tests.acceptance.repositories import BROKEN_CONTRACT, CONFIG, CONTRACT, FILES, SESSION, checkout_of
from tests.acceptance.runner import run_action
from tests.github.fake_api import FakeGitHub
from tests.reports.samples import HOSTILE_TEXTS
from tests.reports.test_annotations import COMMAND, runner_commands
from tests.reports.test_markdown import unsafe_parts

SECRET = "s3cr3t/pass+wörd \"quoted\"=='x'"
FLOOD = "::error::flood ##[error]flood\r\n" * 20_000
EVERYTHING = "\n".join(HOSTILE_TEXTS)
NAME = '"@octocat ::error::owned\\r\\n::warning::owned <b> `owned` | ##[error]owned [click](x) ![i](y)"'
REPORTS = ("junit.xml", "result.json", "report.html", "summary.md", "report.sarif", "journal.jsonl", "evidence.json")


def all_forms(secret: str) -> list[str]:
    """A secret as texts of others may hold it."""
    raw = secret.encode()
    return [
        secret,
        quote(secret),
        quote(secret, safe=""),
        quote_plus(secret),
        json.dumps(secret)[1:-1],
        json.dumps(secret, ensure_ascii=False)[1:-1],
        base64.b64encode(raw).decode(),
        base64.urlsafe_b64encode(raw).decode(),
    ]


def inside_base64(secret: str) -> list[str]:
    """Longer base64 that holds the secret at each alignment."""
    return [base64.b64encode(b"user" + b":" * n + secret.encode() + b"tail").decode() for n in range(3)]


def commands_of(log: str) -> list[str]:
    """What the runner would obey: commands outside of what stands between stop-commands and its token."""
    obeyed, token = [], None
    for line in re.split(r"\r\n|\r|\n", log):
        if token is not None:
            token = None if line.strip() == f"::{token}::" else token
        elif stop := re.match(r"\s*::stop-commands::(.+)", line):
            token = stop[1]
        else:
            obeyed += runner_commands(line)
    return obeyed


@pytest.fixture(scope="module")
def attacked(tmp_path_factory):
    """One run in which everything that can be hostile is."""
    place = tmp_path_factory.mktemp("attacked")
    config = (
        CONFIG
        + "report: {dir: abs-gate-report, sarif: report.sarif, junit: junit.xml, html: report.html, "
        + ("markdown: summary.md, json: result.json, check_run: true}\n")
    )
    evil_contract = CONTRACT.replace("orders.get_order", "evil.tool").replace("name: get_order", "name: evil_tool")
    evil_contract = evil_contract.replace("Look one order", json.dumps(EVERYTHING[:300])[1:-1].replace(":", "") + " x")
    repository = checkout_of(
        place,
        FILES,
        {
            "abs-gate.yaml": config,
            "contracts/orders.yaml": BROKEN_CONTRACT.replace("Look one", "::error::owned ##[error] @octocat Look"),
            "contracts/`e|vil`\n::error::.yaml": evil_contract,
            "sessions/`ünï` ::error::|<b>.abs.yaml": SESSION.replace("Where is my order", NAME),
        },
    )  # fmt: skip
    with (
        FakeGitHub() as github,
        CountingAgent(
            lambda text, before: EVERYTHING + " ".join([*all_forms(SECRET), *inside_base64(SECRET)])
        ) as agent,
    ):
        inputs = {"agent-url": agent.url, "agent-token": SECRET, "trials": "2", "agent-model": "@octocat ::error::`x`"}
        step = run_action(repository, place, api_url=github.url, inputs=inputs)
        assert github.complaints == []
        yield step, github


def test_the_verdict_is_not_moved_by_what_an_agent_says(attacked):
    step, _ = attacked
    assert step.code == 1, step.log
    assert step.outputs["verdict"] == "failed"
    assert step.outputs["sessions-failed"] == "2"
    assert set(step.outputs) >= {"verdict", "exit-code", "pass-rate", "comment-url"}
    assert not [name for name in step.outputs if name in ("x", "name", "owned")]


def test_the_log_obeys_only_our_annotations(attacked):
    step, _ = attacked
    obeyed = [line for line in commands_of(step.log) if not re.fullmatch(r"::[0-9a-f]{48}::", line)]
    assert obeyed
    for line in obeyed:
        assert COMMAND.fullmatch(line), line
        assert "##[" not in line
    inside = [line for line in re.split(r"\r\n|\r|\n", step.log) if runner_commands(line) and line not in obeyed]
    assert all(re.fullmatch(r"::(stop-commands::)?[0-9a-f]{48}(::)?", line) for line in inside), inside
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u202e\u2028]", step.log)


def test_comment_and_summary_hold_nothing_that_acts(attacked):
    step, github = attacked
    [comment] = github.bodies()
    for text in (comment, step.summary, (step.workspace / "abs-gate-report/summary.md").read_text()):
        assert unsafe_parts(text) == []
        assert text.count("abs-gate:comment") == (1 if text is comment else 0)
    assert len(comment) < 65_536


def test_check_runs_hold_nothing_that_acts(attacked):
    _, github = attacked
    [check] = github.checks.values()
    assert check["conclusion"] == "failure"
    for one in check["annotations"]:
        assert one["path"] in (
            "contracts/orders.yaml",
            "sessions/order.abs.yaml",
            "sessions/`ünï` ::error::|<b>.abs.yaml",
        )
        assert "\r" not in one["message"] + one["title"]


def test_files_can_be_read_by_strict_readers(attacked):
    step, _ = attacked
    reports = step.workspace / "abs-gate-report"
    tree = ET.parse(reports / "junit.xml")
    assert tree.getroot().tag == "testsuites"
    result = json.loads((reports / "result.json").read_text())
    assert result["verdict"] == "failed"
    assert json.loads((reports / "report.sarif").read_text())["version"] == "2.1.0"
    for line in (reports / "journal.jsonl").read_bytes().splitlines():
        json.loads(line)

    class Tags(HTMLParser):
        def __init__(self):
            super().__init__()
            self.seen = set()

        def handle_starttag(self, tag, attrs):
            self.seen.add(tag)
            assert not [name for name, _ in attrs if name.startswith("on")], attrs
            assert all(not (value or "").startswith(("http", "javascript")) for name, value in attrs), attrs

    page = Tags()
    page.feed((reports / "report.html").read_text())
    assert not page.seen & {"img", "iframe", "base", "link", "object"}


def test_the_token_is_in_no_sink(attacked):
    step, github = attacked
    sinks = {name: (step.workspace / "abs-gate-report" / name).read_text() for name in REPORTS}
    sinks |= {"log": step.log, "summary": step.summary, "outputs": str(step.outputs)}
    sinks |= {"comments": "".join(github.bodies()), "checks": json.dumps(github.checks, ensure_ascii=False)}
    for name, text in sinks.items():
        for form in all_forms(SECRET):
            for shown in (form, json.dumps(form)[1:-1], json.dumps(form, ensure_ascii=False)[1:-1]):
                assert shown not in text, (name, form)


class EchoingAgent:
    """Gives no answer, whatever its status, but everything it was sent, the token in all forms."""

    def __init__(self, status):
        agent = self
        self.asked = 0

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                agent.asked += 1
                body = self.rfile.read(int(self.headers["Content-Length"])).decode()
                authorization = self.headers["Authorization"].encode("latin-1").decode()
                token = authorization.removeprefix("Bearer ")
                text = "\n".join([EVERYTHING, authorization, *all_forms(token), *inside_base64(token), body])
                answer = json.dumps({"error": {"message": text}}).encode() if status != 200 else text.encode()
                self.send_response(status, "::error::owned ##[error]owned")
                self.send_header("Content-Length", str(len(answer)))
                self.end_headers()
                self.wfile.write(answer)

            def log_message(self, *_): ...

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/chat"

    def __enter__(self):
        threading.Thread(target=self.server.serve_forever, args=(0.02,), daemon=True).start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()


@pytest.mark.parametrize("status", [500, 401, 200])
def test_an_agent_that_fails_with_the_token_in_its_words(tmp_path, status):
    token = "agent-s3cr3t/+=token"
    place = checkout_of(tmp_path, FILES, {})
    with FakeGitHub() as github, EchoingAgent(status) as agent:
        inputs = {"agent-url": agent.url, "agent-token": token}
        environ = {"ABS_GATE_RECORD": "recorded"}
        step = run_action(place, tmp_path, api_url=github.url, inputs=inputs, environ=environ)
        assert agent.asked
        comments = "".join(github.bodies())
    assert step.code == 3, step.log
    assert step.outputs["verdict"] == "unverified"
    assert "::error::owned" not in "".join(commands_of(step.log))
    assert unsafe_parts(comments) == []
    written = [path for path in place.workspace.rglob("*") if path.is_file() and ".git" not in path.parts]
    sinks = {str(path): path.read_bytes().decode() for path in written}
    sinks |= {"log": step.log, "summary": step.summary, "comment": comments}
    for name, text in sinks.items():
        for form in [*all_forms(token), *(text[8:-8] for text in inside_base64(token))]:
            assert form not in text, (name, form)


def test_a_flood_is_bounded_everywhere(tmp_path):
    place = checkout_of(tmp_path, FILES, {})
    with FakeGitHub() as github, CountingAgent(lambda text, before: FLOOD * 8) as agent:
        step = run_action(place, tmp_path, api_url=github.url, inputs={"agent-url": agent.url, "trials": "3"})
        [comment] = github.bodies()
    assert step.code in (1, 3), step.log[-2000:]
    assert len(step.log) < 100_000
    assert len(comment) < 65_536
    assert len(step.summary) < 1_000_000
    assert "flood" not in "".join(line for line in commands_of(step.log) if not COMMAND.fullmatch(line))
    sizes = {path.name: path.stat().st_size for path in (place.workspace / "abs-gate-report").iterdir()}
    assert all(size < 5_000_000 for size in sizes.values()), sizes
