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
    assert validate(USER + ANSWER) == (0, "Valid: 1 session with 1 case, 0 tools.\n", "")


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
