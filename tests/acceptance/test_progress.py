"""What is seen while a run goes on: on a terminal, in a log, when quiet; and `--watch`."""

import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import termios
import time

import pytest

from tests.acceptance.processes import GATE, CountingAgent, environment, gate, start_gate, wait_until, write_session


def every_tenth_fails(text, before):
    order = text.split("order ")[1].rstrip("?")
    return "No idea." if order.endswith("0") else "Your order is on the way."


def in_terminal(*arguments, cwd, columns=100, **environ):
    """Run the gate with a terminal as its standard error; gives all that was drawn on it."""
    main, side = pty.openpty()
    fcntl.ioctl(side, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    process = subprocess.Popen(
        [*GATE, *arguments], cwd=cwd, stdout=subprocess.DEVNULL, stderr=side, env=environment(TERM="xterm", **environ)
    )
    os.close(side)
    drawn = b""
    end = time.monotonic() + 60
    while time.monotonic() < end:
        if not select.select([main], [], [], 1)[0]:
            if process.poll() is not None:
                break
            continue
        try:
            data = os.read(main, 65536)
        except OSError:
            break
        if not data:
            break
        drawn += data
    os.close(main)
    return process.wait(10), drawn.decode()


def test_a_terminal_has_one_line_that_is_drawn_over_with_failures_above(tmp_path):
    write_session(tmp_path, rows=60)
    with CountingAgent(every_tenth_fails, latency=0.05) as agent:
        code, drawn = in_terminal(
            "sessions", "order.abs.yaml", "--agent", agent.url, "--no-early-stop", "--concurrency", "2", cwd=tmp_path
        )
    assert code == 1
    standing = re.findall(r"\r\x1b\[2K([\d,]+) of 60 trials([^\r\n]*)", drawn)
    counts = [int(count) for count, _ in standing]
    assert len(counts) >= 5
    assert counts == sorted(counts)
    assert any("failed" in rest for _, rest in standing)
    assert any(re.search(r"about \d+ s left: Where is my order", rest) for _, rest in standing)
    assert drawn.count("\x1b[2Kfailed: Where is my order") == 1
    # What is left on the screen at the end: no half-drawn line before the words that follow.
    assert drawn.rstrip().endswith("\x1b[2K") or "\r\x1b[2K" in drawn.rstrip()[-40:]


def test_the_line_fits_a_narrow_terminal(tmp_path):
    write_session(tmp_path, rows=30, name="A name that is much longer than the terminal is wide")
    with CountingAgent(latency=0.05) as agent:
        _, drawn = in_terminal("sessions", "order.abs.yaml", "--agent", agent.url, cwd=tmp_path, columns=30)
    lines = re.findall(r"\r\x1b\[2K(\d+ of 30[^\r\n]*)", drawn)
    assert len(lines) >= 2
    assert max(map(len, lines)) < 30


def test_a_log_has_whole_lines_and_no_control_characters(tmp_path):
    write_session(tmp_path, rows=20)
    with CountingAgent(every_tenth_fails) as agent:
        done = gate("sessions", "order.abs.yaml", "--agent", agent.url, "--no-early-stop", cwd=tmp_path)
    assert done.returncode == 1
    lines = done.stderr.splitlines()
    assert lines[0] == "Running 20 trials."
    assert sum(line.startswith("failed: Where is my order: ") for line in lines) == 1
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f]", done.stderr)


def test_a_log_is_told_how_far_it_is_now_and_then(tmp_path, monkeypatch):
    from abs_gate.cli import progress

    monkeypatch.setattr(progress, "PLAIN_INTERVAL_S", 0.0)
    said = []
    monkeypatch.setattr(progress.output, "error", said.append)
    plain = progress.Plain()
    plain.plan(4)
    for outcome in ("passed", "failed", "unverified"):
        plain.trial_done("A", outcome, "why\x1b[2J")
    assert said[0] == "Running 4 trials."
    assert said[1] == "1 of 4 trials"
    assert said[2] == "failed: A: why\\x1b[2J"
    assert said[-1] == "3 of 4 trials, 1 failed, 1 not verified"


def test_a_long_reason_is_cut_after_a_word(monkeypatch):
    from abs_gate.cli import progress

    said: list[str] = []
    monkeypatch.setattr(progress.output, "error", said.append)
    plain = progress.Plain()
    plain.plan(1)
    plain.trial_done("s", "failed", "of the container. Instead " * 20)
    (line,) = [each for each in said if each.startswith("failed")]
    assert line.endswith("…") and len(line) < 180
    assert line.removesuffix("…").rsplit(" ", 1)[1] in {"of", "the", "container.", "Instead"}


def test_quiet_says_nothing_but_the_result(tmp_path):
    write_session(tmp_path, rows=20)
    with CountingAgent(every_tenth_fails) as agent:
        done = gate("sessions", "order.abs.yaml", "--agent", agent.url, "--quiet", "--report-dir", "r", cwd=tmp_path)
    assert done.returncode == 1
    assert done.stderr == ""
    assert done.stdout.startswith("FAILED")


class Watched:
    """A gate that is started with `--watch`."""

    def __init__(self, place, *arguments):
        self.place = place
        self.process = start_gate(*arguments, "--watch", cwd=place)

    def wait(self, times):
        """Until it has said so often that it watches."""
        wait_until(lambda: self.errors().count("Ctrl-C ends it") >= times or self.process.poll() is not None)
        assert self.process.poll() is None, self.errors()
        time.sleep(0.1)

    def errors(self):
        return (self.place / "stderr.txt").read_text()

    def output(self):
        return (self.place / "stdout.txt").read_text()

    def end(self):
        self.process.send_signal(signal.SIGINT)
        return self.process.wait(20)


@pytest.fixture
def two_sessions(tmp_path):
    for name in ("first", "second"):
        path = write_session(tmp_path, name=name, file=name, rows=2)
        path.write_text(path.read_text().replace("order {{", name + " order {{"))
    return tmp_path


def asked(agent, name):
    return sum(count for text, count in agent.asked.items() if f"{name} order" in text)


def test_only_the_session_that_changed_runs_again(two_sessions):
    with CountingAgent() as agent:
        watched = Watched(two_sessions, "sessions", ".", "--agent", agent.url)
        try:
            watched.wait(1)
            assert (asked(agent, "first"), asked(agent, "second")) == (2, 2)
            path = two_sessions / "first.abs.yaml"
            path.write_text(path.read_text().replace("on the way", "lost"))
            watched.wait(2)
            assert (asked(agent, "first"), asked(agent, "second")) == (4, 2)
            assert "FAILED: 1 of 1 session failed" in watched.output()
            assert "changed: first.abs.yaml" in watched.errors()
            rows = two_sessions / "second-rows.jsonl"
            rows.write_text(rows.read_text() + '{"order": 9}\n')
            watched.wait(3)
            assert (asked(agent, "first"), asked(agent, "second")) == (4, 5)
            path.write_text("session: [")
            watched.wait(4)
            assert "first.abs.yaml:1" in watched.errors()
            write_session(two_sessions, name="third", file="third")
            path.write_text((two_sessions / "second.abs.yaml").read_text().replace("second", "first"))
            watched.wait(5)
            assert (asked(agent, "first"), asked(agent, "second")) == (6, 8)
        finally:
            code = watched.end()
    assert code == 130
    assert "Traceback" not in watched.errors()


def test_contracts_are_compared_again_without_asking_the_agent(two_sessions):
    schema = '{"type": "object", "properties": {"id": {"type": "string"}}%s}'
    contract = '[{"name": "refund", "description": "Refunds one order.", "inputSchema": ' + schema + "}]"
    for directory in ("contracts", "old"):
        (two_sessions / directory).mkdir()
        (two_sessions / directory / "tools.json").write_text(contract % "")
    (two_sessions / "abs-gate.yaml").write_text(
        "version: 1\nsessions: {paths: [first.abs.yaml, second.abs.yaml]}\n"
        "contracts: {paths: [contracts], base: old, fail_on_lint: none}\nreport: {dir: reports}\n"
    )
    with CountingAgent() as agent:
        watched = Watched(two_sessions, "run", "--agent", agent.url)
        try:
            watched.wait(1)
            assert agent.calls == 4
            assert "PASSED" in watched.output()
            whole = (two_sessions / "reports" / "result.json").read_text()
            (two_sessions / "contracts" / "tools.json").write_text(contract % ', "required": ["id"]')
            watched.wait(2)
            assert agent.calls == 4
            assert "optional_to_required" in watched.output() or "FAILED" in watched.output()
            # A part is shown and never stands in the reports for the whole.
            assert (two_sessions / "reports" / "result.json").read_text() == whole
            config = two_sessions / "abs-gate.yaml"
            config.write_text(config.read_text().replace("sessions: {", "sessions: {trials: 2, "))
            watched.wait(3)
            assert agent.calls == 12
        finally:
            assert watched.end() == 130
