"""Shards, merging, going on after a kill, cancelling and budgets: real processes against a real agent."""

import json
import os
import random
import re
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.acceptance.processes import CountingAgent, gate, start_gate, wait_until, write_session

ROWS = 40
TIMES = re.compile(r'"(started": "[^"]*"|duration_ms": \d+)')


def order_of(text):
    number = text.split("order ")[1].rstrip("?")
    return int(number) if number.isdigit() else -1


def every_ninth_fails(text, before):
    order = order_of(text)
    return "No idea." if order > 0 and order % 9 == 0 else "Your order is on the way."


def flaky_by_count(text, before):
    return "No idea." if (order_of(text) + before) % 4 == 0 else "Your order is on the way."


def write_project(place, *, rate="70%", trials=3, rows=ROWS, more=""):
    write_session(place, rows=rows)
    write_session(place, name="One alone", file="single")
    text = f"version: 1\nsessions: {{paths: [.], trials: {trials}, policy: [{{pass_rate: {rate}}}]}}\n{more}"
    (place / "abs-gate.yaml").write_text(text)


def result_of(directory):
    return json.loads((directory / "result.json").read_text())


def decided(document):
    """All that a verdict is made of: everything but times and the transcripts kept."""
    sessions = [{key: value for key, value in session.items() if key != "cases"} for session in document["sessions"]]
    return document["verdict"], document["reasons"], sessions, document["evidence"]


def kept(document):
    """Every case with how its trials ended."""
    cases = [case for session in document["sessions"] for case in session["cases"]]
    return [(case["id"], case["row"], case["variables"], [t["outcome"] for t in case["trials"]]) for case in cases]


@pytest.mark.timeout(300)
@pytest.mark.parametrize(("rate", "code"), [("70%", 0), ("99%", 1)])
def test_eight_shards_merge_to_the_result_of_one_run(tmp_path, rate, code):
    write_project(tmp_path, rate=rate)
    with CountingAgent(every_ninth_fails) as agent:
        common = ("run", "--agent", agent.url, "--no-early-stop", "--quiet")
        whole = gate(*common, "--report-dir", "whole", cwd=tmp_path)
        assert whole.returncode == code, whole.stderr
        calls = agent.calls
        for number in range(1, 9):
            gate(*common, "--report-dir", f"shard-{number}", "--shard", f"{number}/8", cwd=tmp_path)
        assert agent.calls == 2 * calls == 2 * 3 * (ROWS + 1)
    results = [f"shard-{number}/result.json" for number in range(1, 9)]
    merged = gate("merge", *reversed(results), "-o", "merged", cwd=tmp_path)
    assert merged.returncode == code, merged.stderr
    assert decided(result_of(tmp_path / "merged")) == decided(result_of(tmp_path / "whole"))
    assert kept(result_of(tmp_path / "merged")) == kept(result_of(tmp_path / "whole"))
    assert sorted(file.name for file in (tmp_path / "merged").iterdir()) == [
        "evidence.json",
        "junit.xml",
        "report.html",
        "result.json",
        "summary.md",
    ]
    again = gate("report", "merged/result.json", cwd=tmp_path)
    assert again.stdout == merged.stdout

    compared = gate("merge", *results, "-o", "merged", "--baseline", "whole/result.json", cwd=tmp_path)
    assert compared.returncode == code
    states = [session["baseline"]["state"] for session in result_of(tmp_path / "merged")["sessions"]]
    assert states == (["same", "same"] if code == 0 else ["still_failing", "same"])

    missing = gate("merge", *results[:6], results[7], "-o", "merged", cwd=tmp_path)
    assert missing.returncode == 3
    assert "Of 8 shards, 7 is missing" in missing.stderr
    assert not (tmp_path / "merged" / "result.json").exists()
    doubled = gate("merge", *results, results[3], "-o", "merged", cwd=tmp_path)
    assert doubled.returncode == 3
    assert "Shard 4/8 is there twice" in doubled.stderr
    torn = tmp_path / results[0]
    torn.write_text(torn.read_text()[:-200])
    half = gate("merge", *results, "-o", "merged", cwd=tmp_path)
    assert half.returncode == 2
    assert "not complete JSON" in half.stderr


@pytest.mark.timeout(300)
@pytest.mark.parametrize("seed", range(3))
def test_a_run_that_is_killed_again_and_again_ends_as_if_it_had_not(tmp_path, seed):
    chance = random.Random(seed)
    write_project(tmp_path)
    report = tmp_path / "reports"
    with CountingAgent(every_ninth_fails, latency=0.01) as agent:
        common = ("run", "--agent", agent.url, "--no-early-stop", "--concurrency", "4")
        expected = gate(*common, "--report-dir", "expected", cwd=tmp_path)
        assert expected.returncode == 0, expected.stderr
        planned = agent.calls
        report.mkdir()
        (report / "result.json").write_text((tmp_path / "expected" / "result.json").read_text())
        agent.asked.clear()
        kills = 0
        for goal in sorted(chance.sample(range(3, planned), 3)):
            process = start_gate(*common, "--report-dir", "reports", "--resume", cwd=tmp_path)
            goal += 4 * kills
            wait_until(lambda goal=goal, process=process: agent.calls >= goal or process.poll() is not None)
            process.send_signal(signal.SIGKILL)
            process.wait()
            kills += process.returncode == -signal.SIGKILL
            # The pass of the earlier run is gone, and nothing half written took its place.
            assert not [file for file in report.iterdir() if file.name != "journal.jsonl"]
        recorded = (report / "journal.jsonl").read_bytes().count(b"\n") - 1
        assert kills == 3
        done = gate(*common, "--report-dir", "reports", "--resume", cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        assert recorded > 10
        # Only what was under way at a kill, four at most each time, is asked again.
        assert planned <= agent.calls <= planned + 4 * kills
        before = agent.calls
        again = gate(*common, "--report-dir", "reports", "--resume", cwd=tmp_path)
        assert (again.returncode, agent.calls) == (0, before)
    assert decided(result_of(report)) == decided(result_of(tmp_path / "expected"))


def test_the_journal_of_another_run_is_refused_in_words(tmp_path):
    write_project(tmp_path, rows=5)
    with CountingAgent() as agent:
        common = ("run", "--agent", agent.url, "--report-dir", "reports", "--quiet")
        assert gate(*common, cwd=tmp_path).returncode == 0
        asked = agent.calls
        for change in (("--trials", "4"), ("--var", "x=1"), ("--agent-model", "other")):
            refused = gate(*common, "--resume", *change, cwd=tmp_path)
            assert refused.returncode == 2
            assert "another run" in refused.stderr
            assert "Run without --resume" in refused.stderr
        rows = tmp_path / "order-rows.jsonl"
        rows.write_text(rows.read_text().replace('"order": 3', '"order": 33'))
        assert "another run" in gate(*common, "--resume", cwd=tmp_path).stderr
        assert agent.calls == asked
    nowhere = gate("run", "--agent", agent.url, "--resume", cwd=tmp_path)
    assert nowhere.returncode == 2
    assert "--report-dir" in nowhere.stderr


def test_a_journal_that_was_cut_in_its_first_line_starts_anew(tmp_path):
    write_project(tmp_path, rows=3, trials=1)
    (tmp_path / "reports").mkdir()
    with CountingAgent() as agent:
        common = ("run", "--agent", agent.url, "--report-dir", "reports", "--quiet", "--resume")
        for cut in (b"", b'{"abs_gate_journal": 1, "iden'):
            (tmp_path / "reports" / "journal.jsonl").write_bytes(cut)
            agent.asked.clear()
            assert gate(*common, cwd=tmp_path).returncode == 0
            assert agent.calls == 4
        assert gate(*common, cwd=tmp_path).returncode == 0
        assert agent.calls == 4


def test_secrets_are_not_in_the_journal(tmp_path):
    write_project(tmp_path, rows=3, trials=1)
    with CountingAgent(lambda text, before: "Your token is sesame-open-7731.") as agent:
        done = gate("run", "--agent", agent.url, "--report-dir", "reports", cwd=tmp_path,
                    ABS_GATE_AGENT_TOKEN="sesame-open-7731")  # fmt: skip
    assert done.returncode == 1
    for file in (tmp_path / "reports").iterdir():
        assert "sesame-open-7731" not in file.read_text(), file.name
    assert "Your token is ***" in (tmp_path / "reports" / "journal.jsonl").read_text()


STARTED_AGENT = """\
import http.server, json, os, time
open("agent.pid", "w").write(str(os.getpid()))
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200); self.end_headers()
    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        open("asked", "a").write("x")
        time.sleep(0.05 if os.path.getsize("asked") < 20 else 60)
        body = json.dumps({"choices": [{"message": {"role": "assistant", "content": "on the way"}}]}).encode()
        self.send_response(200); self.send_header("Content-Length", str(len(body))); self.end_headers()
        self.wfile.write(body)
    def log_message(self, *a): pass
http.server.ThreadingHTTPServer(("127.0.0.1", int(os.environ["PORT"])), Handler).serve_forever()
"""


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_cancelling_ends_the_agent_and_leaves_a_partial_result(tmp_path, number, code):
    from tests.acceptance.runner import free_port

    port = free_port()
    (tmp_path / "agent.py").write_text(STARTED_AGENT)
    start = f"agent: {{url: 'http://127.0.0.1:{port}/chat', start: {{command: '\"{sys.executable}\" agent.py', "
    start += f"ready: 'http://127.0.0.1:{port}/', env: {{PORT: '{port}'}}}}}}\n"
    write_project(tmp_path, more=start)
    process = start_gate("run", "--report-dir", "reports", "--concurrency", "4", cwd=tmp_path)
    asked = tmp_path / "asked"
    wait_until(lambda: asked.exists() and asked.stat().st_size > 21)
    started = time.monotonic()
    process.send_signal(number)
    assert process.wait(30) == code, (tmp_path / "stderr.txt").read_text()
    assert time.monotonic() - started < 15
    agent = int((tmp_path / "agent.pid").read_text())
    with pytest.raises(ProcessLookupError):
        os.kill(agent, 0)
    document = result_of(tmp_path / "reports")
    assert (document["verdict"], document["exit_code"]) == ("cancelled", code)
    assert 10 < document["sessions"][0]["trials"]["run"] < 3 * ROWS
    assert document["sessions"][0]["outcome"] == "unverified"
    assert "CANCELLED" in (tmp_path / "stdout.txt").read_text()
    assert "Traceback" not in (tmp_path / "stderr.txt").read_text()


BUDGETS = [
    ("max_agent_calls: 25", "25 agent calls"),
    ("max_tokens: 3000", "3,000 tokens"),
    ("max_cost: 0.02, prices: {input_per_million: 2.5, output_per_million: 10}", "budget of 0.02"),
    ("max_minutes: 0.02", "0.02 minutes"),
]


@pytest.mark.parametrize(("budget", "told"), BUDGETS)
def test_a_spent_budget_stops_and_is_no_pass(tmp_path, budget, told):
    write_project(tmp_path, more=f"budget: {{{budget}}}\n")
    with CountingAgent(latency=0.1 if "minutes" in budget else 0.002) as agent:
        done = gate("run", "--agent", agent.url, "--report-dir", "reports", "--concurrency", "2", cwd=tmp_path)
        assert done.returncode == 3, done.stderr
        asked = agent.calls
        assert 15 <= asked <= 40
        assert told in " ".join(done.stdout.split())
        document = result_of(tmp_path / "reports")
        assert document["verdict"] == "unverified"
        assert document["metadata"]["agent_calls"] <= asked
        order = next(session for session in document["sessions"] if session["name"] != "One alone")
        assert "planned trials did not run" in order["reason"]
        if "calls" in budget:
            assert asked == 25


def test_more_to_spend_lets_a_run_go_on_where_it_stopped(tmp_path):
    write_project(tmp_path)
    with CountingAgent() as agent:
        common = ("run", "--agent", agent.url, "--report-dir", "reports", "--concurrency", "3", "--no-early-stop")
        assert gate(*common, "--max-agent-calls", "50", cwd=tmp_path).returncode == 3
        assert agent.calls == 50
        assert gate(*common, "--resume", cwd=tmp_path).returncode == 0
        assert agent.calls == 3 * (ROWS + 1)


def test_early_stop_after_a_kill_decides_as_before(tmp_path):
    write_project(tmp_path, rate="95%")
    with CountingAgent(every_ninth_fails, latency=0.01) as agent:
        common = ("run", "--agent", agent.url, "--concurrency", "1")
        expected = gate(*common, "--report-dir", "expected", cwd=tmp_path)
        assert expected.returncode == 1
        process = start_gate(*common, "--report-dir", "reports", cwd=tmp_path)
        asked = agent.calls
        wait_until(lambda: agent.calls > asked + 20)
        process.kill()
        process.wait()
        done = gate(*common, "--report-dir", "reports", "--resume", cwd=tmp_path)
        assert done.returncode == 1
    first, second = result_of(tmp_path / "expected"), result_of(tmp_path / "reports")
    assert first["sessions"][0]["decided_after"] < 3 * ROWS
    assert decided(first) == decided(second)


def test_recorded_traffic_decides_the_same_byte_for_byte(tmp_path):
    write_project(tmp_path)
    with CountingAgent(every_ninth_fails) as agent:
        common = ("run", "--agent", agent.url, "--transcripts", "all", "--format", "json")
        assert gate(*common, "--record", "traffic", cwd=tmp_path).returncode == 0
        asked = agent.calls
        runs = [gate(*common, "--replay", "traffic", "--concurrency", str(n), cwd=tmp_path) for n in (8, 8, 1)]
        assert agent.calls == asked
    assert [done.returncode for done in runs] == [0, 0, 0], runs[0].stderr + runs[0].stdout
    first, second, third = (TIMES.sub("", done.stdout) for done in runs)
    assert first == second == third
    document = json.loads(runs[0].stdout)
    assert document["sessions"][0]["decided_after"] < 3 * ROWS
    assert sum(trial["outcome"] == "failed" for case in document["sessions"][0]["cases"] for trial in case["trials"])


def test_memory_stays_flat_over_many_trials(tmp_path):
    write_session(tmp_path)
    bench = Path(__file__).parents[2] / "bench" / "agent.py"
    peaks = []
    with subprocess.Popen([sys.executable, str(bench)], stdout=subprocess.PIPE, text=True) as agent:
        url = f"http://127.0.0.1:{agent.stdout.readline().strip()}/chat"
        for trials in (500, 4000):
            common = ("sessions", "order.abs.yaml", "--agent", url, "--no-early-stop", "--quiet")
            process = start_gate(*common, "--trials", str(trials), cwd=tmp_path)
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
            assert process.returncode == 0
            peaks.append(usage.ru_maxrss * 1024)
        agent.terminate()
    assert peaks[1] < peaks[0] + 12_000_000


def test_reports_are_whole_or_absent_on_a_full_disk(tmp_path):
    write_project(tmp_path, rows=2, trials=1)
    (tmp_path / "reports").mkdir()
    with CountingAgent() as agent:
        limit = f"ulimit -f 1; exec {sys.executable} -m abs_gate run --agent {agent.url} --report-dir reports --quiet"
        done = subprocess.run(["bash", "-c", limit], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert "Traceback" not in done.stderr
    for file in (tmp_path / "reports").iterdir():
        assert stat.S_ISREG(file.stat().st_mode)
        assert file.name != "result.json"
