"""Workflow commands: ours arrive whole, and nothing else can be one."""

from __future__ import annotations

import re

import pytest

from abs_gate.reports.annotations import (
    MESSAGE_LIMIT,
    Annotation,
    check_annotations,
    escape_data,
    escape_property,
    find_annotations,
    render_annotations,
    render_command,
    repository_path,
    resume_commands,
    sanitise_log,
    stop_commands,
)

from .samples import HOSTILE_TEXTS, SAMPLES

COMMAND = re.compile(r"::(error|warning|notice) ((?:[a-z]+=[^:,\r\n]*,?)*)::([^\r\n]*)")


def runner_commands(log: str) -> list[str]:
    """The commands a runner would see in a log, as its source reads lines: loosely on purpose."""
    found = []
    for line in re.split(r"\r\n|\r|\n", log):
        if re.match(r"\s*::[^\s:]+.*::", line) or re.search(r"##\[[^\]]*\]", line):
            found.append(line)
    return found


def unescape(text: str) -> str:
    for code, char in (("%0D", "\r"), ("%0A", "\n"), ("%3A", ":"), ("%2C", ","), ("%25", "%")):
        text = text.replace(code, char)
    return text


def test_data_and_properties_are_escaped_differently() -> None:
    assert escape_data("100%, a:b\r\n") == "100%25, a:b%0D%0A"
    assert escape_property("100%, a:b\r\n") == "100%25%2C a%3Ab%0D%0A"


@pytest.mark.parametrize("text", HOSTILE_TEXTS)
def test_a_command_is_one_line_and_no_other_command(text: str) -> None:
    line = render_command(Annotation(kind="error", title=text, message=text, file="a.yaml", line=3))
    assert len(re.split(r"[\r\n\x0b\x0c\x1c-\x1e\x85\u2028\u2029]", line)) == 1
    found = COMMAND.fullmatch(line)
    assert found, line
    assert "##[" not in line
    assert found[2].count("=") >= 3
    assert "file=a.yaml,line=3" in found[2]


@pytest.mark.parametrize("sample", SAMPLES)
def test_at_most_ten_of_a_kind_and_nothing_but_commands(sample: str) -> None:
    lines = render_annotations(SAMPLES[sample]()).splitlines()
    kinds = [COMMAND.fullmatch(line)[1] for line in lines]  # type: ignore[index]
    assert all(kinds.count(kind) <= 10 for kind in ("error", "warning", "notice"))
    assert all(len(line) < MESSAGE_LIMIT + 800 for line in lines)


def test_a_job_limit_holds_over_all_kinds() -> None:
    assert len(render_annotations(SAMPLES["huge"](), per_job=5).splitlines()) == 5
    assert len(render_annotations(SAMPLES["huge"](), per_job=1).splitlines()) == 1


def test_the_rest_is_counted_in_one_line() -> None:
    lines = render_annotations(SAMPLES["huge"]()).splitlines()
    total = {"error": 1 + 300 + 200 + 100, "warning": 200}
    assert lines[-1] == (
        f"::notice title=abs-gate::Not shown here: {total['error'] - 10} errors, {total['warning'] - 10} warnings. "
        "The job summary has all."
    )


def test_worst_first_with_place_rate_and_reason() -> None:
    lines = render_annotations(SAMPLES["failed"]()).splitlines()
    assert lines[0].startswith("::error title=abs-gate%3A not ready to merge::")
    assert "file=sessions/refund.abs.yaml,line=32::Passed 2 of 5 (40 %25)." in lines[1]
    kinds = [COMMAND.fullmatch(line)[1] for line in lines]  # type: ignore[index]
    assert kinds == sorted(kinds, key=["error", "warning", "notice"].index)
    assert any("(does not gate)" in line and line.startswith("::notice") for line in lines)
    assert any("makes the policy weaker" in line and line.startswith("::warning") for line in lines)


def test_a_passed_gate_annotates_no_error() -> None:
    assert render_annotations(SAMPLES["passed"]()) == ""
    assert all(one.kind != "error" for one in find_annotations(SAMPLES["passed"]()))


def test_a_long_message_is_cut_outside_of_escapes() -> None:
    line = render_command(Annotation(kind="error", title="t", message="\n%" * 5000))
    message = COMMAND.fullmatch(line)[3]  # type: ignore[index]
    assert len(message) <= MESSAGE_LIMIT
    assert message.endswith("...")
    assert "%" not in unescape(message).replace("%", "", unescape(message).count("%"))
    assert re.fullmatch(r"(%0A|%25|\.)+", message)


@pytest.mark.parametrize(
    ("path", "kept"),
    [
        ("sessions/a.yaml", "sessions/a.yaml"),
        ("./a.yaml", "a.yaml"),
        ("/etc/passwd", None),
        ("../a.yaml", None),
        ("a/../../b", None),
        ("C:\\a", None),
        ("c:/a", None),
        ("a\\..\\b", None),
        ("https://evil.example/a", None),
        ("a\nb", None),
        ("a\u202eb", None),
        ("", None),
        (None, None),
        ("grüße/ä.yaml", "grüße/ä.yaml"),
    ],
)
def test_only_paths_inside_the_workspace_are_named(path: str | None, kept: str | None) -> None:
    assert repository_path(path) == kept


def test_check_runs_get_batches_of_fifty_with_places() -> None:
    batches = check_annotations(SAMPLES["huge"]())
    assert [len(batch) for batch in batches[:-1]] == [50] * (len(batches) - 1)
    assert sum(len(batch) for batch in batches) == 300 + 200 + 100 + 200
    first = batches[0][0]
    assert set(first) == {"path", "start_line", "end_line", "annotation_level", "title", "message"}
    assert first["annotation_level"] == "failure"
    for batch in check_annotations(SAMPLES["hostile"]()):
        for one in batch:
            assert repository_path(one["path"]) == one["path"]
            assert one["start_line"] >= 1


@pytest.mark.parametrize("text", HOSTILE_TEXTS)
def test_no_text_in_the_log_is_a_command(text: str) -> None:
    assert runner_commands(sanitise_log(text)) == []


@pytest.mark.parametrize(
    "text",
    [
        "::error::x",
        "  ::error::x",
        "\t::set-output name=a::b",
        "\u00a0::add-mask::x",
        "\u2003\u3000::stop-commands::x",
        "\ufeff::error::x",
        "\u200b::error::x",
        "fine\n::error::x",
        "fine\r::error::x",
        "fine\r\n::error::x",
        "fine\x0b::error::x",
        "fine\u2028::error::x",
        "text ##[error]x",
        "##[ERROR]x",
        "###[error]x",
        "####[group]x",
        "#\x00#[error]x",
        "##\u200b[error]x",
        "::ERROR::x",
        "::::error::x",
        "##[[error]]",
    ],
)
def test_ways_to_smuggle_a_command_into_the_log(text: str) -> None:
    made = sanitise_log(text)
    assert runner_commands(made) == []
    assert "##[" not in made
    assert "\r" not in made
    assert made.count("\n") == text.replace("\r\n", "").count("\n") + 0 if "\r\n" not in text else True


def test_ordinary_text_in_the_log_is_left_alone() -> None:
    text = "FAILED: 1 of 2 sessions\n  - a::b, C++::type, # 3 [x], grüße\n\n{'a': 1}"
    assert sanitise_log(text) == text


def test_commands_are_stopped_and_resumed_with_a_token_of_ours() -> None:
    token = "0123456789abcdef0123"
    assert stop_commands(token) == f"::stop-commands::{token}"
    assert resume_commands(token) == f"::{token}::"


@pytest.mark.parametrize("token", ["", "short", "has blank in the middle", "a" * 15, "a\n" * 20, "::" * 20])
def test_a_weak_or_broken_token_is_refused(token: str) -> None:
    with pytest.raises(ValueError, match="token"):
        stop_commands(token)
