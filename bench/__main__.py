"""`python -m bench`: every measurement, as a Markdown table on standard output."""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

from bench import inputs
from bench.measure import Table, agent, seconds, seconds_and_peak

GATE = [sys.executable, "-m", "abs_gate"]
CONCURRENCY = 32


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench")
    parser.add_argument("--only", help="measurements whose name contains this")
    parser.add_argument("--reference", help="Python of an environment with the reference runner abslang 0.6.0")
    arguments = parser.parse_args()
    table = Table()
    with tempfile.TemporaryDirectory(prefix="abs-gate-bench-") as directory:
        place = Path(directory)
        for name, measurement in MEASUREMENTS.items():
            if not arguments.only or arguments.only in name:
                measurement(table, place, arguments.reference)
    print(table.markdown())


def start_up(table: Table, place: Path, reference: str | None) -> None:
    floor = seconds([sys.executable, "-c", "import click"], rounds=9)
    version = seconds([*GATE, "--version"], rounds=9)
    ratio(table, "`--version`, of `python -c 'import click'`", version / floor, 1.5)
    for breaks, words in ((False, "breaks nothing"), (True, "breaks")):
        pair = map(str, inputs.small_pair(place, breaks=breaks))
        diff = seconds([*GATE, "diff", *pair], rounds=9, ok=(0, 1))
        ratio(table, f"`diff` of one small pair that {words}, of `python -c 'import click'`", diff / floor, 3)


def overhead(table: Table, place: Path, reference: str | None) -> None:
    """One worker against an agent that answers at once, beside a bare loop sending the same requests."""
    rows = 2000
    session = inputs.one_turn_session(place, rows)
    with agent() as url:
        bare = min(_bare_loop(url, rows) for _ in range(3))
        command = [*GATE, "sessions", str(session), "--agent", url, "--concurrency", "1", "--quiet", "--no-early-stop"]
        gate = seconds(command, rounds=3, cwd=place) - seconds([*GATE, "validate", str(session)], rounds=3, cwd=place)
    ratio(table, f"`sessions`, {rows:,} rows one after another, of a bare `requests.Session` loop", gate / bare, 2)


def _bare_loop(url: str, rows: int) -> float:
    script = (
        "import json,sys,time,requests\n"
        "s=requests.Session();t=time.perf_counter()\n"
        f"for i in range({rows}):\n"
        " r=s.post(sys.argv[1],json={'messages':[{'role':'user','content':f'Where is order {i}?'}]},timeout=60)\n"
        " json.loads(r.content)['choices'][0]['message']['content']\n"
        "print(time.perf_counter()-t)\n"
    )
    done = subprocess.run([sys.executable, "-c", script, url], capture_output=True, text=True, check=True)
    return float(done.stdout)


def latency(table: Table, place: Path, reference: str | None) -> None:
    """An agent that takes 100 ms: wall time against the best that concurrency allows."""
    rows = 3200
    session = inputs.one_turn_session(place, rows)
    with agent(latency=100) as url:
        command = [*GATE, "sessions", str(session), "--agent", url, "--concurrency", str(CONCURRENCY), "--quiet"]
        took = seconds([*command, "--no-early-stop"], rounds=2, cwd=place)
    ideal = rows / CONCURRENCY * 0.1
    ratio(
        table, f"{rows:,} sessions at 100 ms, {CONCURRENCY} at a time, of the ideal {ideal:.1f} s", took / ideal, 1.15
    )


def peer(table: Table, place: Path, reference: str | None) -> None:
    """Sessions a second beside the reference runner, same document, same agent, zero latency."""
    rows, ours_rows = 400, 4000  # enough that neither figure is mostly start-up
    session, ours_session = inputs.one_turn_session(place, rows), inputs.one_turn_session(place, ours_rows)
    with agent() as url:
        command = [*GATE, "sessions", str(ours_session), "--agent", url, "--quiet", "--no-early-stop"]
        ours = ours_rows / seconds(command, rounds=3, cwd=place)
        if reference is None:
            table.add("sessions a second at zero latency", f"{ours:,.0f} (the reference runner is not installed)")
            return
        script = Path(reference).with_name("abslang")
        schema = place / "schema" / "abs.schema.json"  # it looks for one here and does not bring its own
        schema.parent.mkdir(exist_ok=True)
        schema.write_text("{}")
        theirs = rows / seconds([str(script), "run", session.name, "--agent", url], rounds=2, cwd=place, ok=(0, 1))
    faster = ours / theirs
    table.add(
        "sessions a second at zero latency, against reference runner 0.6.0",
        f"{ours:,.0f} to {theirs:,.0f}: {faster:.1f}x",
        "15x",
        faster >= 15,
    )


def rows_in_memory(table: Table, place: Path, reference: str | None) -> None:
    for rows in (1_000, 100_000):
        session = inputs.one_turn_session(place, rows)
        with agent() as url:
            command = [
                *GATE,
                "sessions",
                str(session),
                "--agent",
                url,
                "--quiet",
                "--no-early-stop",
                "--format",
                "json",
            ]
            took, peak = seconds_and_peak(command, cwd=place)
        table.add(f"{rows:,} dataset rows: peak memory", f"{peak / 1e6:.0f} MB in {took:.0f} s", "150 MB", peak < 150e6)


def many_tools(table: Table, place: Path, reference: str | None) -> None:
    base, head = inputs.many_tools(place, tools=10_000, changed=100)
    took, peak = seconds_and_peak([*GATE, "diff", str(base), str(head), "--format", "json"], ok=(0, 1))
    table.add("`diff` of 10,000 tools, 1 % changed", f"{took:.1f} s, {peak / 1e6:.0f} MB", "5 s", took < 5)


def large_schema(table: Table, place: Path, reference: str | None) -> None:
    base, head = inputs.large_schema(place, nodes=5_000)
    took = seconds([*GATE, "diff", str(base), str(head)], rounds=3, ok=(0, 1))
    table.add("`diff` of a schema of 5,000 nodes", f"{took:.2f} s", "1 s", took < 1)


def growth(table: Table, place: Path, reference: str | None) -> None:
    """How the cost of a run grows with rows, trials and tools."""
    with agent() as url:
        for rows, trials in ((500, 1), (2000, 1), (500, 4)):
            session = inputs.one_turn_session(place, rows)
            command = [*GATE, "sessions", str(session), "--agent", url, "--trials", str(trials), "--quiet"]
            took = seconds([*command, "--no-early-stop"], rounds=2, cwd=place)
            table.add(f"{rows:,} rows x {trials} trials", f"{took:.2f} s, {took / rows / trials * 1000:.2f} ms a trial")
    for tools in (1_000, 4_000):
        base, head = inputs.many_tools(place, tools=tools, changed=tools // 100)
        took = seconds([*GATE, "diff", str(base), str(head), "--format", "json"], rounds=2, ok=(0, 1))
        table.add(f"{tools:,} tools compared", f"{took:.2f} s, {took / tools * 1000:.2f} ms a tool")


def ratio(table: Table, what: str, value: float, goal: float) -> None:
    table.add(what, f"{value:.2f}x", f"{goal:g}x", value <= goal)


MEASUREMENTS = {
    "start-up": start_up,
    "overhead": overhead,
    "latency": latency,
    "peer": peer,
    "rows": rows_in_memory,
    "tools": many_tools,
    "schema": large_schema,
    "growth": growth,
}

if __name__ == "__main__":
    main()
