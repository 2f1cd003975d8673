"""Settings from all their sources, and everything that can be wrong with them."""

from __future__ import annotations

import json
import os
from fractions import Fraction

import jsonschema
import pytest

from abs_gate.errors import ConfigurationError
from abs_gate.settings.compare import compare_policies, trust_base
from abs_gate.settings.given import read_inputs
from abs_gate.settings.load import load_settings, settings_schema
from abs_gate.settings.matching import path_matches, policy_for, quarantine_for
from abs_gate.settings.options import OPTIONS
from abs_gate.sources.located import parse_documents
from abs_gate.vcs.worktree import WorkTree

FULL = """\
version: 1
agent:
  url: https://staging.example.com/chat
  format: openai
  model: null
  auth: {type: bearer, token_env: AGENT_TOKEN}
  headers: {}
  timeout: 60
  retries: 2
  tools: contracts
  start: {command: "python agent.py", ready: "http://127.0.0.1:8080/health", timeout: 60}
sessions:
  paths: [sessions/]
  trials: 3
  concurrency: 8
  policy:
    - {match: "sessions/refund*.abs.yaml", critical: true, trials: 5}
    - {pass_rate: 0.9, decide: observed, confidence: null, pass_hat_k: null, min_coverage: 1.0}
  quarantine: [{session: "Loyalty points", owner: "@team", until: 2027-01-31, reason: "..."}]
contracts:
  paths: [contracts/]
  base: auto
  block: [breaking, safety_breaking]
  review: [behavior_sensitive]
  rules: {tool_added: ignore}
  providers: [openai-strict]
targets: {"Order MCP": [get_order]}
budget: {max_agent_calls: 2000, max_minutes: 20}
report: {dir: abs-gate-report, junit: junit.xml, json: result.json, html: report.html, comment: auto}
canary: {owner: "@payments", thresholds: {missing_argument_rate: 2%}}
"""
TOKEN = {"AGENT_TOKEN": "t0p-secret"}


@pytest.fixture
def load(tmp_path):
    def run(text: str | None = None, *, file: str | None = None, **sources):
        configuration = tmp_path / "abs-gate.yaml"
        configuration.unlink(missing_ok=True)
        if text is not None:
            configuration.write_text(text)
        return load_settings(WorkTree(os.fspath(tmp_path)), file, **sources)

    return run


@pytest.fixture
def refused(load):
    def run(text: str | None = None, **sources) -> list[str]:
        with pytest.raises(ConfigurationError) as problem:
            load(text, **sources)
        assert problem.value.findings
        return [str(finding) for finding in problem.value.findings]

    return run


def test_a_whole_configuration(load):
    settings = load(FULL, environ=TOKEN, known_rules=lambda: ["tool_added"])
    assert settings.file == "abs-gate.yaml"
    assert settings.agent.auth.token.value == "t0p-secret"
    assert settings.agent.start.ready == "http://127.0.0.1:8080/health"
    assert settings.agent.url_origin == "file"
    refund, others = settings.sessions.policy
    assert (refund.critical, refund.trials, refund.pass_rate) == (True, 5, 1)
    assert (others.pass_rate, others.pass_rate_text, others.confidence) == (Fraction(9, 10), "90%", None)
    assert settings.budget.max_minutes == 20
    assert settings.targets == {"Order MCP": ("get_order",)}
    assert settings.canary.thresholds == {"missing_argument_rate": Fraction(1, 50)}
    assert settings.fingerprint.startswith("sha256:")
    assert [secret.value for secret in settings.secrets] == ["t0p-secret"]
    assert "t0p-secret" not in repr(settings)
    jsonschema.validate(parse_documents(FULL, "f.yaml")[0].value, settings_schema())


def test_defaults_without_a_file(load):
    settings = load()
    assert settings.file is None
    assert settings.sessions.trials == 1
    assert settings.sessions.policy[0].pass_rate == 1
    assert settings.allow_commands is True
    assert load(environ={"GITHUB_ACTIONS": "true"}).allow_commands is False
    assert load(environ={"GITHUB_ACTIONS": "true"}, inputs={"allow-commands": "true"}).allow_commands is True


def test_precedence_flag_input_environment_file_default(load):
    text = "version: 1\nsessions: {trials: 2}\n"
    everything = {
        "environ": {"ABS_GATE_TRIALS": "3"},
        "inputs": {"trials": "4"},
        "flags": {"--trials": "5"},
    }
    assert load(text, **everything).sessions.trials == 5
    everything["flags"] = {"--trials": ""}
    assert load(text, **everything).sessions.trials == 4
    everything["inputs"] = {"trials": " "}
    assert load(text, **everything).sessions.trials == 3
    everything["environ"] = {"ABS_GATE_TRIALS": ""}
    assert load(text, **everything).sessions.trials == 2


def test_our_own_variables_beat_those_of_the_reference_runner(load):
    environ = {"ABS_AGENT_URL": "http://upstream", "ABS_GATE_AGENT_URL": "http://ours"}
    settings = load(environ=environ)
    assert (settings.agent.url, settings.agent.url_origin) == ("http://ours", "environment")


@pytest.mark.parametrize(
    ("sources", "name"),
    [
        ({"flags": {"--pass-rate": "90"}}, "--pass-rate: "),
        ({"inputs": {"min-pass-rate": "101%"}}, "input min-pass-rate: "),
        ({"environ": {"ABS_GATE_PASS_RATE": "NaN"}}, "ABS_GATE_PASS_RATE: "),
        ({"flags": {"--shard": "9/8"}}, "--shard: "),
        ({"inputs": {"allow-commands": "yes"}}, "input allow-commands: "),
        ({"flags": {"--agent": "https://user:pass@host"}}, "--agent: "),
        ({"flags": {"--decide": "obsrved"}}, "--decide: "),
        ({"flags": {"--fail-on": "braking"}}, "--fail-on: "),
    ],
)
def test_an_error_names_where_the_value_came_from(refused, sources, name):
    (message,) = refused(**sources)
    assert message.startswith(name)


def test_what_is_given_outside_holds_for_every_policy_but_critical_stays_critical(load):
    settings = load(FULL, environ=TOKEN, flags={"--pass-rate": "50%", "--trials": "7"})
    critical, others = settings.sessions.policy
    assert critical.critical
    assert critical.pass_rate == 1
    assert critical.trials is None
    assert settings.sessions.trials == 7
    assert others.pass_rate == Fraction(1, 2)
    assert load(flags={"--pass-rate": "50%"}).sessions.policy[0].pass_rate_text == "50%"


def test_every_error_at_once_with_its_place(refused):
    messages = refused(
        """\
version: 1
agent:
  urll: https://x
  url: ftp://x
  timeout: -5
sessions:
  trials: 0
  policy:
    - {pass_rate: 90, decide: observd}
    - {match: a, critical: true, pass_rate: 0.5}
    - {pass_hat_k: {k: 5, min: .8}}
  quarantine: [{session: x}]
contracts: {rules: {tool_addd: note, x: blok}, block: [breking]}
budget: {max_cost: 5}
reprt: {}
""",
        known_rules=lambda: ["tool_added", "x"],
        flags={"--shard": "3"},
    )
    expected = [
        '--shard: "3" is not a shard',
        'abs-gate.yaml:3:3: Unknown key "urll" in `agent`. Did you mean "url"?',
        'abs-gate.yaml:4:8: agent.url: "ftp://x" is not an http or https address',
        "abs-gate.yaml:5:12: agent.timeout:",
        "abs-gate.yaml:7:11: `sessions.trials` must be at least 1",
        "abs-gate.yaml:9:5: sessions.policy: Entry 1 has no match",
        'abs-gate.yaml:9:19: sessions.policy[0].pass_rate: "90" is above 1',
        "abs-gate.yaml:9:31: `sessions.policy[0].decide` must be one of",
        "abs-gate.yaml:10:45: sessions.policy[1].pass_rate: In a critical session",
        "abs-gate.yaml:11:24: sessions.policy[2].pass_hat_k.k: pass^5 is undefined for 1 trials",
        'abs-gate.yaml:12:16: "owner" is missing',
        'abs-gate.yaml:12:16: "until" is missing',
        'contracts.rules.tool_addd: There is no such rule. Did you mean "tool_added"?',
        'Did you mean "block"?',
        'Did you mean "breaking"?',
        "budget.max_cost: A limit on cost needs",
        'Unknown key "reprt". Did you mean "report"?',
    ]
    for start in expected:
        assert any(start in message for message in messages), (start, messages)
    assert len(messages) == len(expected)


@pytest.mark.parametrize(
    "text", ["", "[]", "just text", "version: 1\n---\nversion: 1\n", "version: 2\n", "agent: {}\n"]
)
def test_what_is_no_configuration(refused, text):
    assert "abs-gate.yaml" in refused(text)[0]


def test_a_file_that_is_named_must_be_there(refused):
    assert "other.yaml" in refused(file="other.yaml")[0]
    assert "other.yaml" in refused(environ={"ABS_GATE_CONFIG": "other.yaml"})[0]


@pytest.mark.parametrize(
    "text",
    [
        "version: 1\nagent: {auth: {type: bearer, token: s3cr3t-value}}\n",
        "version: 1\nagent: {api_key: s3cr3t-value}\n",
        "version: 1\njudges: [{token: s3cr3t-value}]\n",
        "version: 1\nagent: {headers: {Authorization: Bearer s3cr3t-value}}\n",
        "version: 1\nagent: {auth: {token_env: s3cr3t-value}}\n",
    ],
)
def test_a_secret_in_the_file_is_refused_and_not_shown(refused, text):
    messages = refused(text)
    assert "secret" in messages[0]
    assert "s3cr3t-value" not in "".join(messages)


def test_a_missing_secret_is_named(refused, load):
    text = "version: 1\nagent: {auth: {type: bearer, token_env: NO_SUCH_TOKEN}}\n"
    (message,) = refused(text)
    assert message.startswith("abs-gate.yaml:2:")
    assert "NO_SUCH_TOKEN is not set" in message
    assert load(text, resolve_secrets=False).agent.auth.token is None


def test_secret_headers(load):
    text = "version: 1\nagent: {headers: {X-Team: a}, headers_env: {X-Key: KEY}}\n"
    settings = load(text, environ={"KEY": "k-secret"}, flags={"--header": ("X-Other=o-secret",)})
    assert settings.agent.headers == {"X-Team": "a"}
    assert {name: secret.value for name, secret in settings.agent.header_secrets.items()} == {
        "X-Key": "k-secret",
        "X-Other": "o-secret",
    }
    assert {secret.value for secret in settings.secrets} == {"k-secret", "o-secret"}


@pytest.mark.parametrize(
    ("auth", "what"),
    [
        ("type: bearer", "token_env"),
        ("type: oauth2", "token_url"),
        ("type: header, token_env: T", "header"),
        ("type: api_key", "token_env"),
    ],
)
def test_authentication_needs_its_parts(refused, auth, what):
    (message,) = refused(f"version: 1\nagent: {{auth: {{{auth}}}}}\n", environ={"T": "x"})
    assert what in message


def test_a_token_alone_means_bearer(load):
    assert load(environ={"ABS_AGENT_TOKEN": "abcdef"}).agent.auth.type == "bearer"


@pytest.mark.parametrize(
    ("policy", "what"),
    [
        ("{decide: demonstrated}", "100 %"),
        ("{decide: observed, confidence: 0.95}", "no part"),
        ("{decide: sequential}", "needs `sequential"),
        ("{decide: sequential, sequential: {p0: 0.9, p1: 0.7}}", "below p1"),
        ("{decide: not_worse, pass_rate: 0}", "never fail"),
        ("{confidence: 1}", "strictly"),
        ("{pass_hat_k: {k: 4, min: 0.5}}", "pass^4 is undefined"),
    ],
)
def test_policies_that_cannot_be(refused, policy, what):
    (message,) = refused(f"version: 1\nsessions: {{policy: [{policy}]}}\n")
    assert what in message


def test_confidence_alone_asks_for_a_demonstration(load):
    policy = load(flags={"--pass-rate": "0.9"}, inputs={"confidence": "95%"}).sessions.policy[0]
    assert (policy.decide, policy.confidence) == ("demonstrated", Fraction(19, 20))
    assert load(flags={"--decide": "demonstrated", "--pass-rate": "0.9"}).sessions.policy[0].confidence == Fraction(
        19, 20
    )


def test_confidence_given_outside_leaves_other_decisions_alone(load):
    text = """\
version: 1
sessions:
  policy:
    - {match: "a*", critical: true}
    - {match: "b*", decide: observed}
    - {match: "c*", decide: not_worse, pass_rate: 0.8}
    - {pass_rate: 0.9}
"""
    decisions = [
        (policy.decide, policy.confidence) for policy in load(text, inputs={"confidence": "0.99"}).sessions.policy
    ]
    assert decisions == [
        ("observed", None),
        ("observed", None),
        ("not_worse", Fraction(99, 100)),
        ("demonstrated", Fraction(99, 100)),
    ]
    asked = load(text, flags={"--decide": "not_worse"}).sessions.policy
    assert [policy.decide for policy in asked] == ["observed", "not_worse", "not_worse", "not_worse"]


def test_max_unverified_alone_decides_about_coverage(load):
    policy = load("version: 1\nsessions: {policy: [{max_unverified: 2}]}\n").sessions.policy[0]
    assert (policy.max_unverified, policy.min_coverage) == (2, 0)


def test_variables_by_precedence(load):
    text = "version: 1\nsessions: {variables: {a: file, b: file, c: file}}\n"
    settings = load(text, environ={"ABS_VAR_b": "env", "ABS_VAR_c": "env"}, flags={"--var": ("c=flag",)})
    assert settings.sessions.variables == {"a": "file", "b": "env", "c": "flag"}
    hidden = load(environ={"ABS_VAR_api_token": "v-secret", "ABS_VAR_name": "nobody"})
    assert [secret.value for secret in hidden.secrets] == ["v-secret"]


def test_judges(load, refused):
    text = "version: 1\njudges: [{name: strict, url: https://j/1, token_env: J}, {model: small, url: https://j/2}]\n"
    settings = load(text, environ={"J": "j-secret"}, flags={"--judge-model": "large"})
    assert {judge.name: judge.model for judge in settings.judges} == {"strict": None, "default": "large"}
    assert load(flags={"--judge": "https://j/3"}).judges[0].url_origin == "flag"
    assert load(environ={"ANTHROPIC_API_KEY": "a-secret"}).judges[0].format == "claude"
    assert "second judge" in refused("version: 1\njudges: [{url: https://a}, {url: https://b}]\n")[0]
    assert "odd number" in refused("version: 1\njudges: [{url: https://a, votes: 2}]\n")[0]
    (judge,) = refused("version: 1\njudges: [{format: python}]\n")
    assert "needs `command`" in judge and "given with -c" in judge
    (agent,) = refused("version: 1\nagent: {format: python}\n")
    assert "module:function" in agent and "given with -c" in agent


def test_fail_on_sets_what_blocks(load):
    assert load(inputs={"fail-on": "behavior_sensitive"}).contracts.block == {
        "behavior_sensitive",
        "breaking",
        "safety_breaking",
    }
    assert load(inputs={"fail-on": "behavior_sensitive"}).contracts.review == frozenset()
    assert load(flags={"--fail-on": "none"}).contracts.block == frozenset()


def test_replay_and_switches(load):
    settings = load(flags={"--replay": "recorded", "--no-early-stop": True, "--resume": True})
    assert (settings.agent.format, settings.agent.replay) == ("replay", "recorded")
    assert settings.sessions.early_stop is False
    assert settings.sessions.resume is True


def test_session_names_may_hold_commas(load):
    assert load(environ={"ABS_GATE_SELECT": "Refund, late\nOther"}).sessions.select == ("Refund, late", "Other")
    assert load(flags={"--select": ("Refund, late",)}).sessions.select == ("Refund, late",)
    assert load(inputs={"sessions": "a/, b/\nc/"}).sessions.paths == ("a/", "b/", "c/")


def test_a_variable_of_ours_that_nothing_reads_is_a_warning(load):
    settings = load(
        FULL.replace("AGENT_TOKEN", "ABS_GATE_MY_TOKEN"),
        environ={"ABS_GATE_MY_TOKEN": "abcdef", "ABS_GATE_TRAILS": "3"},
    )
    (warning,) = settings.warnings
    assert "ABS_GATE_TRAILS" in warning.message
    assert "ABS_GATE_TRIALS" in warning.hint


def test_a_rate_of_zero_is_a_warning(load):
    (warning,) = load("version: 1\nsessions: {policy: [{pass_rate: 0}]}\n").warnings
    assert warning.location.line == 2


def test_inputs_come_from_the_action():
    environ = {"INPUT_AGENT-URL": "http://a", "INPUT_TRIALS": "", "INPUT_MIN-PASS-RATE": "90%", "OTHER": "x"}
    assert read_inputs(environ) == {"agent-url": "http://a", "min-pass-rate": "90%"}


def test_names_of_options_do_not_clash():
    for kind in ("flag", "input"):
        names = [getattr(option, kind) for option in OPTIONS if getattr(option, kind)]
        assert len(names) == len(set(names))
    variables = [name for option in OPTIONS for name in option.environment]
    assert len(variables) == len(set(variables))
    assert len({option.path for option in OPTIONS}) == len(OPTIONS)


def test_every_option_reaches_the_settings(load):
    """A setting that can be given outside changes what is loaded."""
    examples = {
        "file": None, "agent.format": "claude", "agent.auth.type": "none", "agent.headers": "X-A=b",
        "agent.timeout": "7", "agent.session_timeout": "7", "sessions.variables": "a=b", "sessions.filters": "a:b",
        "sessions.trials": "9", "sessions.concurrency": "9", "sessions.policy.*.pass_rate": "12%",
        "sessions.policy.*.decide": "not_worse", "sessions.policy.*.confidence": None,
        "sessions.policy.*.unexpected_calls": "fail", "sessions.early_stop": "false", "sessions.resume": "true",
        "sessions.transcripts": "all", "sessions.shard": "2/3", "contracts.block": "none",
        "judges.default.format": "claude", "budget.max_agent_calls": "9", "budget.max_minutes": "9",
        "report.comment": "never", "report.annotations": "false", "allow_commands": "false",
        "agent.url": "http://a", "agent.auth.token_url": "http://a", "judges.default.url": "http://a",
    }  # fmt: skip
    default = load()
    for option in OPTIONS:
        value = examples.get(option.path, "something")
        if value is None or (not option.environment and not option.input):
            continue
        name = option.environment[0] if option.environment else None
        settings = load(environ={name: value}) if name else load(inputs={option.input: value})
        if option.path != "agent.auth.type":
            assert settings != default, option.path


def test_the_schema_and_the_readers_agree_on_rates(refused, load):
    for good in (0.9, "90%", "9/10", 1, "0.5", ".5", "100%", "99.9 %"):
        jsonschema.validate(good, _rate_schema())
        load(f"version: 1\nsessions: {{policy: [{{pass_rate: {json.dumps(good)}}}]}}\n")
    for bad in (90, "90", "101%", -0.1, "-1", "NaN", "1/0", "abc", "2.0"):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(bad, _rate_schema())
        refused(f"version: 1\nsessions: {{policy: [{{pass_rate: {json.dumps(bad)}}}]}}\n")


def _rate_schema():
    return {"$ref": "#/$defs/rate", "$defs": settings_schema()["$defs"]}


def test_the_schema_is_valid():
    jsonschema.Draft202012Validator.check_schema(settings_schema())


@pytest.mark.parametrize(
    ("pattern", "path", "matches"),
    [
        ("sessions/refund*.abs.yaml", "sessions/refund-late.abs.yaml", True),
        ("sessions/refund*.abs.yaml", "sessions/deep/refund.abs.yaml", False),
        ("sessions/**/refund*.abs.yaml", "sessions/deep/er/refund.abs.yaml", True),
        ("sessions/**", "sessions/deep/refund.abs.yaml", True),
        ("./sessions/?.yaml", "sessions/a.yaml", True),
        ("sessions/[a].yaml", "sessions/a.yaml", False),
        ("*.yaml", "sessions/a.yaml", False),
    ],
)
def test_patterns_of_session_files(pattern, path, matches):
    assert path_matches(pattern, path) is matches


def test_the_first_policy_that_matches_wins(load):
    sessions = load(FULL, environ=TOKEN).sessions
    assert policy_for(sessions, "sessions/refund-1.abs.yaml").critical
    assert not policy_for(sessions, "sessions/other.abs.yaml").critical
    assert quarantine_for(sessions, "Loyalty points", "x").owner == "@team"
    assert quarantine_for(sessions, "Other", "x") is None


def test_the_fingerprint_is_that_of_what_decides(load):
    def fingerprint(text: str) -> str:
        return load("version: 1\n" + text).fingerprint

    same = ["pass_rate: 0.9", "pass_rate: 90%", "pass_rate: 9/10"]
    assert len({fingerprint(f"sessions: {{policy: [{{{text}}}]}}") for text in same}) == 1
    assert fingerprint("agent: {url: 'http://a'}") == fingerprint("") == fingerprint("report: {dir: x}")
    others = [
        "sessions: {trials: 2}",
        "sessions: {policy: [{critical: true}]}",
        "sessions: {quarantine: [{session: a, owner: b, until: 2030-01-01}]}",
        "contracts: {block: [safety_breaking]}",
        "contracts: {rules: {tool_removed: note}}",
        "contracts: {fail_on_lint: none}",
    ]
    assert len({fingerprint(""), *map(fingerprint, others)}) == len(others) + 1


@pytest.mark.parametrize(
    ("base", "head", "told"),
    [
        ("sessions: {policy: [{pass_rate: 0.9}]}", "sessions: {policy: [{pass_rate: 0.8}]}", "from 90% to 80%"),
        ("sessions: {trials: 5}", "sessions: {trials: 3}", "trials lowered from 5 to 3"),
        ("sessions: {policy: [{critical: true}]}", "", "no longer critical"),
        ("sessions: {policy: [{match: a*, critical: true}]}", "", "a*: no longer critical"),
        ("", "sessions: {policy: [{min_coverage: 0.5}]}", "min_coverage lowered from 1 to 0.5"),
        ("", "sessions: {quarantine: [{session: a, owner: b, until: 2030-01-01}]}", 'session "a" quarantined'),
        ("sessions: {paths: [a, b]}", "sessions: {paths: [a]}", "sessions.paths no longer holds b"),
        ("", "contracts: {block: [safety_breaking]}", "contracts.block no longer holds breaking"),
        ("", "contracts: {review: []}", "contracts.review no longer holds behavior_sensitive"),
        ("", "contracts: {rules: {tool_removed: ignore}}", "contract rule tool_removed set to ignore"),
        ("contracts: {paths: [c]}", "", "contracts.paths no longer holds c"),
        ("", "contracts: {fail_on_lint: none}", "fail_on_lint relaxed"),
        ("verify: {paths: [a, b/]}", "verify: {paths: [b]}", "verify.paths no longer holds a"),
        ("verify: {paths: [a]}", "", "verify.paths no longer holds a"),
        ("sessions: {policy: [{forbid: {tools: [x]}}]}", "", "forbid.tools no longer holds x"),
        ("sessions: {policy: [{match: a*, forbid: {tools: [x]}}]}", "", "a*: forbid.tools no longer holds x"),
        ("sessions: {policy: [{effects: [{probe: p}, {probe: q}]}]}", "sessions: {policy: [{effects: [{probe: q}]}]}",
         "effects no longer hold 1 of 2 entries"),
        ("sessions: {policy: [{effects: [{probe: p}]}]}", "", "effects no longer hold 1 of 1"),
        ("threshold_policy: block", "", "threshold_policy is no longer block"),
        ("sessions: {policy: [{unexpected_calls: fail}]}", "", "unexpected calls no longer fail"),
        ("sessions: {policy: [{baseline: gate}]}", "", "regression against the baseline no longer fails"),
        ("sessions: {policy: [{per: row}]}", "", "no longer decided row by row"),
        ("sessions: {policy: [{pass_rate: .9, decide: demonstrated}]}", "", "decides by observed"),
    ],
)  # fmt: skip
def test_a_weaker_policy_is_told(load, base, head, told):
    before, after = load(f"version: 1\n{base}\n"), load(f"version: 1\n{head}\n")
    assert any(told in text for text in compare_policies(before, after))
    assert compare_policies(before, before) == ()


def test_a_stricter_policy_is_not_told(load):
    before = load("version: 1\nsessions: {policy: [{pass_rate: 0.8}], trials: 3}\n")
    after = load("version: 1\nsessions: {policy: [{match: a*, critical: true}, {pass_rate: 0.9}], trials: 5}\n")
    assert compare_policies(before, after) == ()
    assert compare_policies(before, after, ["a1", "b"]) == ()


def test_a_quarantine_that_has_ended_weakens_nothing(load):
    before = load("version: 1\n")
    after = load("version: 1\nsessions: {quarantine: [{session: a, owner: b, until: 2030-01-01}]}\n")
    assert compare_policies(before, after, today="2030-01-01") != ()
    assert compare_policies(before, after, today="2030-01-02") == ()


def test_an_address_that_the_base_names_too_is_trusted(load):
    base = load("version: 1\nagent: {url: 'http://a'}\njudges: [{url: 'http://j'}]\n")
    same = trust_base(base, base)
    assert (same.agent.url_origin, same.judges[0].url_origin) == ("base", "base")
    moved = trust_base(load("version: 1\nagent: {url: 'http://evil'}\njudges: [{url: 'http://evil'}]\n"), base)
    assert (moved.agent.url_origin, moved.judges[0].url_origin) == ("file", "file")
