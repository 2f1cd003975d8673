import re

import pytest

from abs_gate.github.outputs import MAX_SUMMARY_BYTES, append_summary, write_outputs


def read_outputs(text):
    """As the runner reads the file."""
    lines = text.split("\n")
    found = {}
    while lines and lines != [""]:
        name, delimiter = re.fullmatch(r"([^=<]+)<<(.+)", lines.pop(0)).groups()
        value = []
        while (line := lines.pop(0)) != delimiter:
            value.append(line)
        found[name] = "\n".join(value)
    return found


@pytest.mark.parametrize(
    "value",
    ["", "passed", "a\nb", "x<<EOF\nEOF\nevil=1", "\r\n", "pass-rate=0", "café \U0001f600", "\ud800"],
)
def test_values_come_back_as_they_were(tmp_path, value):
    file = tmp_path / "output"
    assert write_outputs({"GITHUB_OUTPUT": str(file)}, {"verdict": value, "after": "intact"})
    found = read_outputs(file.read_bytes().decode())
    assert found == {"verdict": value.encode("utf-8", "replace").decode(), "after": "intact"}


def test_a_delimiter_that_the_value_holds_is_not_used(tmp_path):
    file = tmp_path / "output"
    delimiters = iter(["guessed-1", "guessed-2", "safe", "safe-2"])
    values = {"verdict": "x\nguessed-1\nevil<<guessed-2\nguessed-2", "ok": "1"}
    write_outputs({"GITHUB_OUTPUT": str(file)}, values, new_delimiter=lambda: next(delimiters))
    assert read_outputs(file.read_text()) == values


def test_delimiters_are_never_the_same(tmp_path):
    file = tmp_path / "output"
    write_outputs({"GITHUB_OUTPUT": str(file)}, {"a": "1", "b": "2"})
    delimiters = re.findall("<<(.+)", file.read_text())
    assert len(set(delimiters)) == 2
    assert all(len(delimiter) > 30 for delimiter in delimiters)


@pytest.mark.parametrize("name", ["", "a b", "a=b", "x<<y", "a\nb", "1a"])
def test_names_are_checked(tmp_path, name):
    with pytest.raises(ValueError, match="name of an output"):
        write_outputs({"GITHUB_OUTPUT": str(tmp_path / "output")}, {name: "1"})


def test_what_is_there_stays(tmp_path):
    file = tmp_path / "output"
    file.write_text("earlier=1\n")
    write_outputs({"GITHUB_OUTPUT": str(file)}, {"a": "1"})
    assert file.read_text().startswith("earlier=1\na<<")


def test_outside_a_workflow_nothing_is_written():
    assert not write_outputs({}, {"a": "1"})
    assert not append_summary({}, "x")


def test_env_and_path_files_are_never_touched(tmp_path):
    names = ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY", "GITHUB_ENV", "GITHUB_PATH", "GITHUB_STATE")
    environ = {name: str(tmp_path / name) for name in names}
    for name in names:
        (tmp_path / name).touch()
    write_outputs(environ, {"a": "1"})
    append_summary(environ, "text")
    assert {name for name in names if (tmp_path / name).stat().st_size} == {"GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY"}


def test_summaries_add_up(tmp_path):
    file = tmp_path / "summary"
    append_summary({"GITHUB_STEP_SUMMARY": str(file)}, "one")
    append_summary({"GITHUB_STEP_SUMMARY": str(file)}, "two\n")
    assert file.read_text() == "one\ntwo\n"


@pytest.mark.parametrize("used", [0, 600_000, MAX_SUMMARY_BYTES - 50, MAX_SUMMARY_BYTES + 10])
def test_summary_stays_within_the_limit_and_is_cut_at_a_line(tmp_path, used):
    file = tmp_path / "summary"
    file.write_bytes(b"x" * used)
    written = append_summary({"GITHUB_STEP_SUMMARY": str(file)}, "| row with ünïcode |\n" * 60_000)
    data = file.read_bytes()
    assert len(data) <= max(MAX_SUMMARY_BYTES, used)
    assert written is (len(data) > used)
    if written:
        added = data[used:].decode()
        rows, _, note = added.partition("\n\n")
        assert set(rows.split("\n")) <= {"| row with ünïcode |", ""}
        assert "cut here" in note


def test_a_cut_inside_a_fence_closes_it(tmp_path):
    file = tmp_path / "summary"
    append_summary({"GITHUB_STEP_SUMMARY": str(file)}, "```\n" + "line of a transcript\n" * 60_000 + "```\n")
    fences = [line for line in file.read_text().split("\n") if line.startswith("```")]
    assert len(fences) == 2
