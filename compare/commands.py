"""Whole commands on one large input: what somebody who runs them waits and pays for."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from compare.tools import ADAPTERS, Tool

ROUNDS = 5


def command_seconds(tool: Tool, base: Path, head: Path, place: Path) -> tuple[float, int]:
    """The least CPU time of the tool's own command over some rounds, with its server's, and its exit code.

    A peer first records `base` with its own `snapshot`, served by a stub; only its `check` of `head` is timed.
    """
    place.mkdir()
    served = place / "tools.json"
    server = [sys.executable, str(ADAPTERS / "stub_server.py"), str(served)]
    served.write_bytes(base.read_bytes())
    environment = {**os.environ, "MCPLOCK_HOME": str(place / "home")}
    snapshot, check = COMMANDS[tool.name](tool, server, place, (base, head))
    if snapshot:
        subprocess.run(snapshot, cwd=place, env=environment, capture_output=True, check=True, timeout=100)
    served.write_bytes(head.read_bytes())
    runs = [_run(check, place, environment) for _ in range(ROUNDS)]
    return min(seconds for seconds, _ in runs), runs[0][1]


def _run(command: Sequence[str], place: Path, environment: dict[str, str]) -> tuple[float, int]:
    process = subprocess.Popen(
        command, cwd=place, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return usage.ru_utime + usage.ru_stime, process.returncode


_Commands = tuple[Sequence[str], Sequence[str]]


def _script(tool: Tool) -> str:
    return str(Path(tool.command[0]).with_name(tool.name))


def _abs_gate(tool: Tool, server: Sequence[str], place: Path, files: tuple[Path, Path]) -> _Commands:
    return (), [tool.command[0], "-m", "abs_gate", "diff", *map(str, files), "--format", "json"]


def _mcp_contract(tool: Tool, server: Sequence[str], place: Path, files: tuple[Path, Path]) -> _Commands:
    return [_script(tool), "snapshot", "--quiet", "--", *server], [_script(tool), "check", "--json", "--", *server]


def _mcp_diff(tool: Tool, server: Sequence[str], place: Path, files: tuple[Path, Path]) -> _Commands:
    return [_script(tool), "snapshot", *server], [_script(tool), "check", "--json", *server]


def _mcpdrift(tool: Tool, server: Sequence[str], place: Path, files: tuple[Path, Path]) -> _Commands:
    config = {"mcpServers": {"stub": {"command": server[0], "args": list(server[1:])}}}
    (place / "mcp.json").write_text(json.dumps(config))
    return (
        [_script(tool), "snapshot", "--config", "mcp.json", "--out", "lock.json"],
        [_script(tool), "check", "--config", "mcp.json", "--lock", "lock.json", "--json"],
    )


def _mcplock(tool: Tool, server: Sequence[str], place: Path, files: tuple[Path, Path]) -> _Commands:
    return [_script(tool), "snapshot", shlex.join(server)], [_script(tool), "check", shlex.join(server)]


COMMANDS: dict[str, Callable[[Tool, Sequence[str], Path, tuple[Path, Path]], _Commands]] = {
    "abs-gate": _abs_gate,
    "mcp-contract": _mcp_contract,
    "mcp-diff": _mcp_diff,
    "mcpdrift": _mcpdrift,
    "mcplock": _mcplock,
}
