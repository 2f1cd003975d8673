"""Comparing with the base's result, quarantine, and outcomes of other tools: from outside."""

import json
import re
import shutil
from pathlib import Path

import pytest

from tests.acceptance.processes import CountingAgent, gate, write_session

SESSIONS = {
    "breaks": (lambda trial: True, lambda trial: False),
    "mends": (lambda trial: False, lambda trial: True),
    "fails on": (lambda trial: False, lambda trial: False),
    "wavers": (lambda trial: True, lambda trial: trial != 3),
    "holds": (lambda trial: True, lambda trial: True),
}
"""Name to whether a trial passes, on the base and on the head."""
SAID = {
    "breaks": "passed on the base and does not now",
    "mends": "did not pass on the base and does now",
    "fails on": "did not pass on the base either",
    "wavers": "changed, and chance explains it",
    "holds": "as on the base",
}
STATES = {"breaks": "new_failure", "mends": "fixed", "fails on": "still_failing", "wavers": "flaky", "holds": "same"}


def run_side(place, side, directory, *more, policy="pass_rate: 1", config=""):
    (place / "abs-gate.yaml").write_text(
        f"version: 1\nsessions: {{paths: [.], trials: 12, concurrency: 1, policy: [{{{policy}}}]{config}}}\n"
    )

    def answer(text, before):
        name = text.removeprefix("Where is order ").removesuffix("?")
        return "Your order is on the way." if SESSIONS[name][side](before) else "No idea."

    with CountingAgent(answer) as agent:
        return gate("run", "--agent", agent.url, "--report-dir", directory, "--no-early-stop", *more, cwd=place)


@pytest.fixture
def place(tmp_path):
    for name in SESSIONS:
        path = write_session(tmp_path, name=name, file=name.replace(" ", "-"))
        path.write_text(path.read_text().replace("order 7", f"order {name}"))
    return tmp_path


def result_of(directory):
    return json.loads((directory / "result.json").read_text())


def test_every_report_says_what_changed_against_the_base(place):
    assert run_side(place, 0, "base").returncode == 1
    done = run_side(place, 1, "head", "--baseline", "base/result.json")
    assert done.returncode == 1, done.stderr
    document = result_of(place / "head")
    sessions = {session["name"]: session for session in document["sessions"]}
    assert {name: session["baseline"]["state"] for name, session in sessions.items()} == STATES
    assert {name for name, session in sessions.items() if session["baseline"]["regression"]} == {"breaks"}
    breaks = sessions["breaks"]["baseline"]
    assert (breaks["base_passed"], breaks["base_verified"], breaks["difference"]) == (12, 12, -1.0)
    assert breaks["p_adjusted"] < 0.001
    assert breaks["interval"][1] < -0.5
    texts = {"text": done.stdout}
    for name in ("junit.xml", "summary.md", "report.html", "result.json"):
        texts[name] = (place / "head" / name).read_text()
    for report, text in texts.items():
        flat = re.sub(r"\s+", " ", text.replace("`", ""))
        for name, said in SAID.items():
            assert (said in flat) or (report == "result.json" and STATES[name] in flat), (report, name)


def test_a_regression_gates_only_where_policy_says_so(place):
    for name in ("mends", "fails-on", "wavers", "holds"):
        (place / f"{name}.abs.yaml").unlink()
    shutil.copy(place / "breaks.abs.yaml", place / "second.abs.yaml")
    assert run_side(place, 0, "base", policy="pass_rate: 0%, min_coverage: 0").returncode == 0
    told = run_side(place, 1, "head", "--baseline", "base/result.json", policy="pass_rate: 0%")
    assert told.returncode == 0, told.stdout
    assert "a drop that chance does not explain" in " ".join(told.stdout.split())
    gated = run_side(place, 1, "head", "--baseline", "base/result.json", policy="pass_rate: 0%, baseline: gate")
    assert gated.returncode == 1
    assert "a drop that chance does not explain (p =" in " ".join(gated.stdout.split())
    same = run_side(place, 0, "head", "--baseline", "base/result.json", policy="pass_rate: 0%, baseline: gate")
    assert same.returncode == 0


@pytest.mark.parametrize(
    ("text", "told"),
    [("{", "not complete JSON"), ("{}", "not a result"), ('{"schema_version": 9}', "reads version 1")],
)
def test_a_baseline_that_cannot_be_read_is_refused(place, text, told):
    (place / "old.json").write_text(text)
    done = run_side(place, 0, "head", "--baseline", "old.json")
    assert done.returncode == 2
    assert told in done.stderr
    assert not (place / "head" / "result.json").exists()
    assert run_side(place, 0, "head", "--baseline", "absent.json").returncode == 2


def test_a_quarantined_session_runs_and_shows_and_does_not_gate_until_its_day(place):
    def quarantine(until, names=("fails on", "breaks")):
        entries = ", ".join(
            f'{{session: "{name}", owner: "@team", until: {until}, reason: slow backend}}' for name in names
        )
        return f", quarantine: [{entries}]"

    held = run_side(place, 1, "reports", config=quarantine("2999-01-31", ("fails on", "breaks", "wavers")))
    assert held.returncode == 0, held.stdout
    flat = " ".join(held.stdout.split())
    assert "Quarantined by @team, until 2999-01-31: slow backend" in flat
    assert 'Not gating: session "fails on" is failed' in flat
    assert "3 quarantined" in flat
    document = result_of(place / "reports")
    assert sum(session["trials"]["run"] for session in document["sessions"] if session["quarantined"]) == 36
    over = run_side(place, 1, "reports", config=quarantine("2020-01-31"))
    assert over.returncode == 1
    assert "ended on 2020-01-31, so the session gates again" in " ".join(over.stdout.split())
    ownerless = run_side(place, 1, "reports", config=', quarantine: [{session: "holds", until: 2999-01-31}]')
    assert ownerless.returncode == 2
    assert "owner" in ownerless.stderr
    for name in ("mends", "wavers", "holds"):
        (place / f"{name}.abs.yaml").unlink()
    nothing_left = run_side(place, 1, "reports", config=quarantine("2999-01-31"))
    assert nothing_left.returncode == 3
    assert "Every session is quarantined" in nothing_left.stdout


def test_published_outcomes_of_tau_bench_give_the_published_rates(tmp_path):
    data = Path(__file__).parents[1] / "gate" / "data" / "taubench-airline.json"
    text = gate("report", str(data), cwd=tmp_path)
    assert text.returncode == 0, text.stderr
    powers = "pass^1 42 %, pass^2 27.3 %, pass^3 22 %, pass^4 20 %"
    assert powers in text.stdout
    assert powers in gate("report", str(data), "--format", "markdown", cwd=tmp_path).stdout.replace("`", "")
    page = gate("report", str(data), "--format", "html", cwd=tmp_path).stdout
    assert "k=1: 42 %, k=2: 27.3 %, k=3: 22 %, k=4: 20 %" in page
    [session] = json.loads(gate("report", str(data), "--format", "json", cwd=tmp_path).stdout)["sessions"]
    assert session["pass_hat_k"] == pytest.approx({"1": 0.42, "2": 0.82 / 3, "3": 0.22, "4": 0.2})
    errors = [round(error, 4) for error in session["pass_hat_k_error"].values()]
    assert errors == [0.0522, 0.0555, 0.0565, 0.0571]
