"""What a header cannot carry is refused in words that name the setting and never show the value."""

import pytest

from abs_gate.errors import ConfigurationError
from abs_gate.settings.load import load_settings
from abs_gate.vcs.worktree import WorkTree

BAD = "s3cr3t-one\ns3cr3t-two"
FILE = "version: 1\nagent: {url: 'http://a', auth: {type: bearer, token_env: MINE}}\n"


@pytest.fixture
def load(tmp_path):
    def run(text, **sources):
        (tmp_path / "abs-gate.yaml").write_text(text, "utf-8")
        return load_settings(WorkTree(tmp_path), None, **sources)

    return run


def refused(load, text=FILE, **given):
    with pytest.raises(ConfigurationError) as caught:
        load(text, **given)
    said = " ".join(str(finding) for finding in caught.value.findings)
    assert "s3cr3t" not in said
    return said


@pytest.mark.parametrize(
    "value", [BAD, "s3cr3t\r\nX-Evil: 1", "s3cr3t\x00", "s3cr3t\x1b[0m", "s3cr3t\u2028x", "s3cr3t→"]
)
@pytest.mark.parametrize(
    ("given", "name"),
    [
        (lambda value: {"environ": {"MINE": value}}, "MINE"),
        (lambda value: {"environ": {"MINE": "x", "ABS_GATE_AGENT_TOKEN": value}}, "ABS_GATE_AGENT_TOKEN"),
        (lambda value: {"environ": {"MINE": "x"}, "inputs": {"agent-token": value}}, "input agent-token"),
        (lambda value: {"environ": {"MINE": "x"}, "flags": {"--judge-token": value}}, "--judge-token"),
        (lambda value: {"environ": {"MINE": "x"}, "flags": {"--header": (f"X-Key={value}",)}}, "--header"),
        (lambda value: {"environ": {"MINE": "x", "OPENAI_API_KEY": value}}, "OPENAI_API_KEY"),
    ],
)
def test_a_value_that_no_header_can_carry_is_refused(load, given, name, value):
    said = refused(load, **given(value))
    assert name in said
    assert "no HTTP header can carry" in said


def test_headers_of_the_file_are_held_to_the_same(load):
    assert "no HTTP header can carry" in refused(load, 'version: 1\nagent: {headers: {X-A: "s3cr3t\\nx"}}\n')
    assert "not the name of an HTTP header" in refused(load, 'version: 1\nagent: {headers: {"X A": "s3cr3t"}}\n')


def test_blanks_and_line_breaks_around_a_secret_are_taken_off(load):
    settings = load(FILE, environ={"MINE": "  token\n"}, flags={"--judge-token": "t\n", "--judge": "http://j"})
    assert settings.agent.auth.token.value == "token"
    assert settings.judges[0].token.value == "t"
