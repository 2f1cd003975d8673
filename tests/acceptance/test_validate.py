"""`abs-gate validate` of sessions: errors stop it, what is legal but probably wrong is a warning at its place."""

import pytest

from abs_gate.cli.main import run_cli

USER = "  - {actor: user, action: says, content: hi}\n"
ANSWER = "  - {actor: assistant, action: informs}\n"


@pytest.fixture
def validate(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)

    def validate(behaviors, *arguments, evaluations="", head="", version='abs_version: "0.2"\n', files=None):
        text = f"session: s\n{version}{head}behaviors:\n{behaviors}{evaluations}"
        (tmp_path / "s.abs.yaml").write_text(text)
        for name, content in (files or {}).items():
            (tmp_path / name).write_text(content)
        code = run_cli(["validate", "s.abs.yaml", *arguments])
        told = capsys.readouterr()
        return code, told.out, told.err

    return validate


def test_a_sound_session_gets_no_warning(validate):
    assert validate(USER + ANSWER) == (0, "Valid: 1 session with 1 case.\n", "")


WARNINGS = {
    "a YAML 1.1 boolean": ({"behaviors": USER.replace("hi", "no") + ANSWER}, ":4:", "1.1"),
    "a date": ({"behaviors": USER.replace("hi", "2026-07-30") + ANSWER}, ":4:", "a date"),
    "base sixty": ({"behaviors": USER.replace("hi", "12:30:45") + ANSWER}, ":4:", "base sixty"),
    "a leading zero": ({"behaviors": USER.replace("hi", "012345") + ANSWER}, ":4:", "1.1"),
    "cannot fail": ({"behaviors": USER}, ":1:", "can never fail"),
    "cannot fail, all optional": (
        {"behaviors": USER + "  - {actor: assistant, action: informs, optional: true}\n"},
        ":1:",
        "can never fail",
    ),
    "an evaluation on a user step": (
        {
            "behaviors": "  - actor: user\n    action: says\n    content: hi\n"
            "    evaluations: [{type: contains, value: hi}]\n" + ANSWER
        },
        ":7:",
        "what the session itself sends",
    ),
    "a result nobody asks for": (
        {"behaviors": USER + "  - {actor: tool, action: responds, target: t, content: {a: 1}}\n" + ANSWER},
        ":5:",
        "No behavior before this result calls",
    ),
    "what cannot be observed": (
        {"behaviors": USER + "  - {actor: tool, action: stores, target: t}\n" + ANSWER},
        ":5:",
        "cannot be observed",
    ),
    "an unused capture": (
        {"behaviors": "  - {actor: user, action: says, content: hi, capture: {order: 5}}\n" + ANSWER},
        ":4:",
        "captured and never used",
    ),
    "a threshold without a score": (
        {
            "behaviors": USER
            + ANSWER.replace("informs", "informs, evaluations: [{type: contains, value: x, threshold: 0.5}]")
        },
        ":5:",
        "no score",
    ),
    "a reference that is text": (
        {
            "behaviors": USER
            + ANSWER.replace("informs", "informs, evaluations: [{type: f1, ground_truth: asnwer.says}]")
        },
        ":5:",
        "taken as text",
    ),
    "an expected required behavior": (
        {
            "behaviors": USER + "  - {id: a, actor: assistant, action: informs}\n",
            "evaluations": "evaluations:\n  - {type: expected, behavior: a}\n",
        },
        ":7:",
        "must happen anyway",
    ),
    "no hand-off tool": (
        {
            "behaviors": USER + ANSWER,
            "evaluations": "evaluations:\n  - {type: never, match: {action: hands_off}}\n",
        },
        ":7:",
        "no hand-off tool is known",
    ),
    "an optional text that takes any": (
        {
            "behaviors": USER
            + "  - {id: ask, actor: assistant, action: asks, optional: true}\n"
            + "  - {actor: user, action: says, content: ORD-1, requires: ask}\n"
            + ANSWER
        },
        ":5:",
        "takes any text of the turn",
    ),
    "a judged evaluation without a judge": (
        {"behaviors": USER + ANSWER.replace("informs", "informs, evaluations: [{type: llm_judge, criteria: kind}]")},
        ":5:",
        "no judge is configured",
    ),
    "a dimension without a judge": (
        {"behaviors": USER + ANSWER, "evaluations": "evaluations:\n  - {type: Fluency}\n"},
        ":7:",
        "no judge is configured",
    ),
    "a match by a judge without a judge": (
        {"behaviors": USER + ANSWER.replace("informs", "informs, matches_when: {type: llm_judge, criteria: kind}")},
        ":5:",
        "no judge is configured",
    ),
    "a when of other types": (
        {
            "behaviors": USER
            + ANSWER.replace("informs", "informs, evaluations: [{type: contains, value: x, when: \"1 == '1'\"}]")
        },
        ":5:",
        "compares",
    ),
}


@pytest.mark.parametrize("name", WARNINGS)
def test_every_warning_stands_at_its_place(validate, name):
    given, place, words = WARNINGS[name]
    code, out, err = validate(**given)
    assert code == 0, err
    assert [line for line in err.splitlines() if f"s.abs.yaml{place}" in line and words in line], err
    assert "warning" in out


def test_a_never_that_names_an_unknown_tool(validate, tmp_path):
    contract = '[{"name": "get_order", "inputSchema": {"type": "object"}}]'
    (tmp_path / "tools.json").write_text(contract)
    never = "evaluations:\n  - {type: never, match: {actor: assistant, action: calls, target: get_ordr}}\n"
    code, _, err = validate(USER + ANSWER, "tools.json", evaluations=never)
    assert code == 0 and "s.abs.yaml:7:" in err and "get_ordr" in err and "always pass" in err
    code, _, err = validate(USER + ANSWER, "tools.json", evaluations=never.replace("ordr", "order"))
    assert "always pass" not in err


def test_types_in_rows_are_told_once_a_place(validate):
    rows = '{"n": 1}\n{"n": "1"}\n{"n": "2"}\n'
    behaviors = USER + ANSWER.replace(
        "informs", 'informs, evaluations: [{type: contains, value: x, when: "{{d.n}} == 1"}]'
    )
    code, _, err = validate(behaviors, head="dataset: {id: d, path: d.jsonl}\n", files={"d.jsonl": rows})
    assert code == 0 and err.count("s.abs.yaml:6:") == 1 and "row 2" in err


def test_a_missing_version_is_a_warning_and_an_unknown_one_an_error(validate):
    code, _, err = validate(USER + ANSWER, version="")
    assert code == 0 and "s.abs.yaml:1:" in err and "abs_version" in err
    code, _, err = validate(USER + ANSWER, version='abs_version: "0.3"\n')
    assert code == 2 and "s.abs.yaml:2:" in err and "0.1" in err and "0.2" in err


def test_flags_of_data_sets_count(validate):
    (code, _, err) = validate(
        USER.replace("hi", '"{{q}}"') + ANSWER,
        "--dataset",
        "rows.jsonl",
        files={"rows.jsonl": '{"q": "a"}\n{"r": "b"}\n'},
    )
    assert code == 2 and "row 2" in err and "q" in err


def test_judges_and_actions_are_the_configurations(validate, tmp_path):
    behaviors = USER + ANSWER.replace("informs", "informs, evaluations: [{type: Fluency, adapter: strict}]")
    assert validate(behaviors)[0] == 0, "without a configuration nobody knows the judges"
    judge = "  - {name: lenient, format: openai, url: 'http://127.0.0.1:9'}\n"
    (tmp_path / "abs-gate.yaml").write_text(f"version: 1\njudges:\n{judge}")
    code, _, err = validate(behaviors, "-c", "abs-gate.yaml")
    assert code == 2 and "strict" in err and "lenient" in err
    (tmp_path / "abs-gate.yaml").write_text("version: 1\nsessions: {actions: {sings: communication}}\n")
    assert validate(USER + ANSWER.replace("informs", "sings"), "-c", "abs-gate.yaml")[0] == 0
    assert validate(USER + ANSWER.replace("informs", "sings"))[0] == 2


def test_every_error_is_told_in_one_go_with_its_place(validate):
    behaviors = (
        "  - {actor: usr, action: says, content: hi}\n"
        "  - {actor: assistant, action: callz, target: t}\n"
        "  - {actor: assistant, action: informs, "
        "evaluations: [{type: contians, value: x}, {type: regex, pattern: '('}]}\n"
        "  - {actor: user, action: says, content: hi, with: {}, with_only: {}, extra: 1}\n"
    )
    code, out, err = validate(behaviors, evaluations="evaluations:\n  - {type: never, match: {}}\n")
    assert (code, out) == (2, "")
    for place in (":4:", ":5:", ":6:", ":7:", ":9:"):
        assert f"s.abs.yaml{place}" in err
    for word in ('Did you mean "user"?', "calls", 'Did you mean "contains"?', "extra"):
        assert word in err


JUDGED = USER + ANSWER.replace("informs", "informs, evaluations: [{type: llm_judge, criteria: kind}]")


def test_any_judge_that_a_run_would_find_ends_the_doubt(validate, tmp_path, monkeypatch):
    assert "no judge is configured" in validate(JUDGED)[2]
    (tmp_path / "abs-gate.yaml").write_text("version: 1\njudges: [{format: openai, url: 'http://127.0.0.1:9'}]\n")
    assert validate(JUDGED, "-c", "abs-gate.yaml")[2] == ""
    assert validate(JUDGED)[2] == "", "a file that was not read may name one"
    two = ", ".join(f"{{name: {name}, format: openai, url: 'http://127.0.0.1:9'}}" for name in ("a", "b"))
    (tmp_path / "abs-gate.yaml").write_text(f"version: 1\njudges: [{two}]\n")
    assert "no default judge is configured" in validate(JUDGED, "-c", "abs-gate.yaml")[2]
    assert validate(JUDGED.replace("llm_judge,", "llm_judge, adapter: b,"), "-c", "abs-gate.yaml")[2] == ""
    (tmp_path / "abs-gate.yaml").unlink()
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-fixture")
    assert validate(JUDGED)[2] == ""


def test_an_optional_text_is_doubted_only_where_it_matters_which_one_it_is(validate):
    optional = "  - {id: ask, actor: assistant, action: asks, optional: true%s}\n"
    follows = "  - {actor: user, action: says, content: ORD-1, requires: ask}\n"
    assert validate(USER + optional % "" + ANSWER)[2] == ""
    told = ", matches_when: {type: contains, value: number}"
    assert validate(USER + optional % told + follows + ANSWER)[2] == ""
    expected = "evaluations:\n  - {type: expected, behavior: ask}\n"
    assert "takes any text" in validate(USER + optional % "" + ANSWER, evaluations=expected)[2]
    call = "  - {id: ask, actor: assistant, action: calls, target: t, optional: true}\n"
    assert validate(USER + call + follows + ANSWER)[2] == ""


QUARANTINE = "version: 1\nsessions:\n  quarantine: [{session: %s, owner: me, until: 2099-01-01}]\n"


def test_a_quarantine_that_no_session_falls_under(validate, tmp_path):
    config = tmp_path / "abs-gate.yaml"
    for name, told in (("Not there", "no effect"), ("S", 'Did you mean "s"?'), ("s", ""), ("'*.abs.yaml'", "")):
        config.write_text(QUARANTINE % name)
        code, _, err = validate(USER + ANSWER, "-c", "abs-gate.yaml")
        assert code == 0
        assert ("abs-gate.yaml:3:16: No session falls under" in err and told in err) if told else err == ""


def test_a_plan_that_decides_nothing_is_a_warning_in_quarantine_only(validate, tmp_path):
    policy = "  policy: [{decide: demonstrated, pass_rate: 90%, confidence: 0.95}]\n"
    config = tmp_path / "abs-gate.yaml"
    config.write_text(QUARANTINE % "s" + policy)
    code, _, err = validate(USER + ANSWER, "-c", "abs-gate.yaml")
    assert code == 0 and "can never demonstrate 90%" in err
    config.write_text((QUARANTINE % "s").replace("2099", "2020") + policy)
    code, _, err = validate(USER + ANSWER, "-c", "abs-gate.yaml")
    assert code == 2 and "can never demonstrate 90%" in err


def test_acknowledgements_are_read(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tools.json").write_text('[{"name": "get_order", "inputSchema": {"type": "object"}}]')
    (tmp_path / "abs-gate.yaml").write_text(
        "version: 1\ncontracts: {paths: [tools.json], acknowledgements: acks.yaml}\n"
    )
    assert run_cli(["validate"]) == 2 and "acks.yaml" in capsys.readouterr().err
    entry = f"acknowledgements:\n  - {{tool: get_order, to: 'sha256:{'0' * 64}', by: me, reason: read}}\n"
    (tmp_path / "acks.yaml").write_text(entry)
    assert run_cli(["validate"]) == 2
    told = capsys.readouterr().err
    assert "acks.yaml:2:5:" in told and "`from: null` for a new tool" in told
    (tmp_path / "acks.yaml").write_text(entry.replace("to:", "from: null, to:"))
    assert run_cli(["validate"]) == 0


def test_acknowledgements_named_themselves(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    entry = f"acknowledgements:\n  - {{tool: get_order, from: null, to: 'sha256:{'0' * 64}', by: me, reason: read}}\n"
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "acks.yaml").write_text(entry)
    for named in (["a/acks.yaml", "b/acks.yaml"], ["."]):
        assert run_cli(["validate", *named]) == 0
        assert "2 acknowledgements." in capsys.readouterr().out
    (tmp_path / "b" / "acks.yaml").write_text(entry.replace("by: me, ", ""))
    assert run_cli(["validate", "."]) == 2
    assert 'b/acks.yaml:2:5: "by" is missing' in capsys.readouterr().err
