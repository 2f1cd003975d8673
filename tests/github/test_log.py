import io
import re
import threading

import pytest

from abs_gate.github.log import WorkflowLog

COMMAND = re.compile(r"^\s*::[^:]*::|##\[", re.MULTILINE)


def obeyed(log):
    """The commands the runner would obey: it splits at LF, CR and CRLF, and looks past Unicode blanks."""
    token, found = None, []
    for line in re.split(r"\r\n|\n|\r", log):
        if token is not None:
            token = None if line.strip().lower() == f"::{token}::" else token
            continue
        if stop := re.match(r"\s*::stop-commands::(.+)", line, re.IGNORECASE):
            token = stop[1].strip()
        elif COMMAND.search(line):
            found.append(line)
    return found


HOSTILE = [
    "::error::forged",
    "\r::error::forged",
    "\u00a0::error::forged",
    "\u2003\t::set-output name=x::1",
    "text ##[error]forged",
    "text ##[group]unclosed",
    "::add-matcher::/tmp/x.json",
    "::ADD-MASK::a",
    "::stop-commands::mine",
    "a\n::save-state name=x::1\nb",
    "a\x0b::error::x\x0c::error::y\x85::error::z\u2028::error::w",
    "##[##[error]",
    "\ufeff::error::x",
    "\x1b[2K\r::error::x",
]


@pytest.mark.parametrize("text", HOSTILE)
def test_no_text_is_obeyed_even_without_the_stop(text):
    stream = io.StringIO()
    WorkflowLog(stream).line(text)
    assert obeyed(stream.getvalue()) == []


@pytest.mark.parametrize("text", HOSTILE)
def test_no_text_is_obeyed_inside_the_stop(text):
    stream = io.StringIO()
    with WorkflowLog(stream) as log:
        log.line(text)
        stream.write(text + "\n")  # a child that writes past the writer
    assert obeyed(stream.getvalue()) == []


def test_annotations_step_out_of_the_stop_and_back():
    stream = io.StringIO()
    with WorkflowLog(stream) as log:
        stream.write("::error::before\n")
        log.commands("::error title=a::real\n")
        stream.write("::error::after\n")
    assert obeyed(stream.getvalue()) == ["::error title=a::real"]


def test_the_stop_is_ended_when_an_error_passes_through():
    stream = io.StringIO()
    with pytest.raises(RuntimeError), WorkflowLog(stream):
        raise RuntimeError
    stream.write("::notice::next step\n")
    assert obeyed(stream.getvalue()) == ["::notice::next step"]


def test_tokens_differ_and_are_long():
    tokens = set()
    for _ in range(5):
        stream = io.StringIO()
        with WorkflowLog(stream):
            pass
        tokens.add(re.match("::stop-commands::(.+)", stream.getvalue())[1])
    assert len(tokens) == 5
    assert all(len(token) >= 40 for token in tokens)


def test_lines_of_many_threads_stay_whole():
    stream = io.StringIO()
    with WorkflowLog(stream) as log:
        threads = [threading.Thread(target=lambda n=n: [log.line(f"line {n}") for _ in range(50)]) for n in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    lines = stream.getvalue().splitlines()[1:-1]
    assert sorted(set(lines)) == [f"line {n}" for n in range(8)]
    assert len(lines) == 400


def test_no_commands_write_nothing():
    stream = io.StringIO()
    WorkflowLog(stream).commands("")
    assert stream.getvalue() == ""
