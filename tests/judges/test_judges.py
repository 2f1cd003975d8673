import json
import sys
import time

import pytest

from abs_gate.errors import ConfigurationError, JudgeUnavailable
from abs_gate.evaluators.panel import JudgePanel, Question
from abs_gate.evaluators.verdicts import Judgement
from abs_gate.judges import build_panel
from abs_gate.judges.build import usual_key
from abs_gate.settings.model import JudgeSettings, Secret
from abs_gate.transport import Transport
from abs_gate.wire.endpoints import PROVIDERS, complete_url
from tests.transport.servers import ScriptedServer, http

ANSWERS = {
    "openai": {"choices": [{"message": {"role": "assistant", "content": "Fine. Score: 0.8"}}]},
    "claude": {"type": "message", "role": "assistant", "content": [{"type": "text", "text": "Fine. Score: 0.8"}]},
    "gemini": {"candidates": [{"content": {"parts": [{"text": "Fine. Score: 0.8"}], "role": "model"}}]},
}
PATHS = {
    "openai": "/v1/chat/completions",
    "claude": "/v1/messages",
    "gemini": "/v1beta/models/m1:generateContent",
}
QUESTION = Question(kind="llm_judge", prompt="Is it polite?", inputs={"response": "Thanks"})


@pytest.fixture
def transport():
    with Transport() as opened:
        yield opened


def panel(transport, *judges, **fields):
    built = build_panel(judges, transport, **{"environ": {}, "allow_commands": True, **fields})
    assert isinstance(built, JudgePanel)
    return built


@pytest.mark.parametrize("name", list(ANSWERS))
def test_a_model_is_asked_in_its_own_format(transport, name):
    with ScriptedServer(lambda request, sock: http(json.dumps(ANSWERS[name]))) as server:
        settings = JudgeSettings(format=name, url=server.url, model="m1", token=Secret("key-123456"))
        (answer,) = panel(transport, settings).ask(QUESTION)
        (request,) = server.requests
    assert answer == Judgement(score=0.8, reason="Fine. Score: 0.8")
    assert request.path == PATHS[name]
    provider = PROVIDERS[name]
    assert request.headers[provider.key_header.lower()] == provider.key_prefix + "key-123456"
    body = json.loads(request.body)
    assert "Is it polite?" in request.body.decode()
    assert body.get("temperature", body.get("generationConfig", {}).get("temperature")) == 0
    assert body.get("model", "m1") == "m1"


@pytest.mark.parametrize(
    ("name", "url", "whole"),
    [
        ("openai", None, "https://api.openai.com/v1/chat/completions"),
        ("openai", "http://localhost:11434/v1", "http://localhost:11434/v1/chat/completions"),
        ("openai", "http://localhost:11434/v1/", "http://localhost:11434/v1/chat/completions"),
        ("openai", "http://localhost:11434", "http://localhost:11434/v1/chat/completions"),
        ("openai", "https://x.test/judge?v=1", "https://x.test/judge?v=1"),
        ("openai", "https://a.test/openai/d/chat/completions?v=1", "https://a.test/openai/d/chat/completions?v=1"),
        ("openai", "https://g.test/v1beta/openai", "https://g.test/v1beta/openai/chat/completions"),
        ("openai", "https://o.test/api/v1", "https://o.test/api/v1/chat/completions"),
        ("claude", None, "https://api.anthropic.com/v1/messages"),
        ("claude", "https://p.test/v1/messages", "https://p.test/v1/messages"),
        ("gemini", None, "https://generativelanguage.googleapis.com/v1beta"),
        ("gemini", "https://p.test/v1beta/models/m:generateContent", "https://p.test/v1beta/models/m:generateContent"),
    ],
)
def test_a_base_or_a_full_address_will_do(name, url, whole):
    assert complete_url(url, PROVIDERS[name]) == whole


def test_the_usual_key_goes_to_the_providers_own_address_only():
    environ = {
        "OPENAI_API_KEY": " sk-1 ",
        "ANTHROPIC_API_KEY": "sk-ant",
        "GEMINI_API_KEY": "",
        "GOOGLE_API_KEY": "AIza",
    }
    found = {name: usual_key(None, provider, environ) for name, provider in PROVIDERS.items()}
    assert {name: secret.value for name, secret in found.items()} == {
        "openai": "sk-1",
        "claude": "sk-ant",
        "gemini": "AIza",
    }
    assert found["gemini"].origin == "env:GOOGLE_API_KEY"
    assert usual_key("https://api.openai.com/v1", PROVIDERS["openai"], environ).value == "sk-1"
    for other in (
        "http://api.openai.com/v1",
        "https://evil.test/v1",
        "https://api.openai.com.evil.test/",
        "https://api.openai.com:444/",
    ):
        assert usual_key(other, PROVIDERS["openai"], environ) is None
    assert usual_key(None, PROVIDERS["openai"], {}) is None


def test_a_model_that_takes_no_temperature_is_asked_without_from_then_on(transport):
    def answer(request, sock):
        if "temperature" in json.loads(request.body):
            return http('{"error":{"message":"Unsupported value: temperature"}}', "400 Bad Request")
        return http(json.dumps(ANSWERS["openai"]))

    with ScriptedServer(answer) as server:
        asked = panel(transport, JudgeSettings(url=server.url))
        assert asked.ask(QUESTION)[0].score == 0.8
        asked.ask(Question(kind="llm_judge", prompt="Another?", inputs={}))
        assert len(server.requests) == 3


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        (http("no", "401 Unauthorized", "text/plain"), "401"),
        (http("<html>", content_type="text/html"), "HTML page"),
        (http('{"choices":[]}'), "no choices"),
        (http('{"choices":[{"message":{"role":"assistant","content":""}}]}'), "without a text"),
        (http('{"error":{"message":"bad key key-123456"}}'), r"bad key \*\*\*"),
    ],
)
def test_a_model_that_cannot_answer_is_an_unavailable_judge(transport, reply, reason):
    with ScriptedServer(lambda request, sock: reply) as server:
        settings = JudgeSettings(name="strict", url=server.url, token=Secret("key-123456"))
        with pytest.raises(JudgeUnavailable, match=reason) as caught:
            panel(transport, settings).ask(QUESTION)
    assert "strict" in str(caught.value)


def polite(question):
    return {"score": 0.5 if question["type"] == "llm_judge" else 0, "reason": question["inputs"]["response"]}


def wrong(question):
    return {"score": object()}


def raising(question):
    raise KeyError("oops")


def sleeping(question):
    time.sleep(5)


def test_a_python_function_judges(transport):
    judge = JudgeSettings(name="own", format="python", command=f"python:{__name__}:polite")
    assert panel(transport, judge).ask(QUESTION, "own") == (Judgement(score=0.5, reason="Thanks"),)


@pytest.mark.parametrize(
    ("name", "reason"), [("wrong", "not JSON"), ("raising", "KeyError"), ("sleeping", r"within 0\.2 s")]
)
def test_a_python_function_that_fails_is_an_unavailable_judge(transport, name, reason):
    judge = JudgeSettings(format="python", command=f"{__name__}:{name}", timeout=0.2)
    with pytest.raises(JudgeUnavailable, match=reason):
        panel(transport, judge).ask(QUESTION)


def script(tmp_path, text):
    path = tmp_path / "judge.py"
    path.write_text("import json, sys, time, os\n" + text)
    return f"command:{sys.executable} {path}"


def test_a_command_judges(transport, tmp_path):
    command = script(
        tmp_path,
        "question = json.load(sys.stdin)\n"
        "print('log', file=sys.stderr)\n"
        "passed = 'GITHUB_TOKEN' not in os.environ\n"
        "json.dump({'passed': passed, 'reason': question['inputs']['response']}, sys.stdout)\n",
    )
    judge = JudgeSettings(format="command", command=command)
    asked = panel(transport, judge, environ={"PATH": "/usr/bin", "GITHUB_TOKEN": "x"})
    assert asked.ask(QUESTION) == (Judgement(score=1.0, reason="Thanks"),)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("sys.exit('no model')", "status 1.* It said: no model"),
        ("print('not json')", "unreadable: it is not JSON .*not json"),
        ("print('{\"score\": NaN}')", "NaN"),
        ("time.sleep(60)", r"within 0\.5 s"),
        ("sys.stdout.write('x' * 9_000_000); time.sleep(60)", "more than"),
        ("os.close(1); time.sleep(60)", "did not end"),
        ("", "unreadable"),
    ],
)
def test_a_command_that_fails_is_an_unavailable_judge(transport, tmp_path, monkeypatch, text, reason):
    monkeypatch.setattr("abs_gate.transport.children.GRACE_S", 0.5)
    judge = JudgeSettings(format="command", command=script(tmp_path, text), timeout=0.5)
    started = time.monotonic()
    with pytest.raises(JudgeUnavailable, match=reason):
        panel(transport, judge).ask(QUESTION)
    assert time.monotonic() - started < 8


def test_the_panel_knows_names_votes_and_the_default(transport):
    def judge(name, **fields):
        return JudgeSettings(name=name, format="python", command=f"{__name__}:polite", **fields)

    built = panel(transport, judge("a"), judge("default", votes=3))
    assert built.names == ("a", "default")
    assert len(built.ask(QUESTION)) == 3
    assert len(built.ask(QUESTION, "a")) == 1
    assert len(panel(transport, judge("only")).ask(QUESTION)) == 1
    assert build_panel((), transport, environ={}, allow_commands=True) is None


@pytest.mark.parametrize(
    ("settings", "fields", "reason"),
    [
        (JudgeSettings(), {}, "neither an address nor a key"),
        (JudgeSettings(format="oracle"), {}, "no judge format oracle"),
        (JudgeSettings(format="python"), {}, "needs `command`"),
        (JudgeSettings(format="command"), {}, "needs `command`"),
        (JudgeSettings(format="python", command="json:dumps"), {"allow_commands": False}, "allow-commands"),
        (JudgeSettings(format="command", command="true"), {"allow_commands": False}, "allow-commands"),
        (
            JudgeSettings(url="https://evil.test/", token=Secret("abcdef", "input")),
            {"files_trusted": False},
            "not sent to https://evil.test/",
        ),
    ],
)
def test_settings_that_build_no_judge(transport, settings, fields, reason):
    with pytest.raises(ConfigurationError, match=reason):
        panel(transport, settings, **fields)


def test_keys_of_judges_are_redacted_from_then_on(transport):
    panel(transport, JudgeSettings(), environ={"OPENAI_API_KEY": "my-odd-key"})
    assert transport.redactor.redact("my-odd-key") == "***"
