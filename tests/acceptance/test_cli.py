"""The command line as a person uses it."""

import os
import stat
import subprocess
import sys

GATE = [sys.executable, "-m", "abs_gate"]


def gate(*arguments, cwd=None, **environ):
    return subprocess.run(
        [*GATE, *arguments], capture_output=True, text=True, cwd=cwd, env=os.environ | environ, check=False
    )


def test_a_report_to_a_device_leaves_the_device(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = subprocess.Popen(["cat", str(pipe)], stdout=subprocess.PIPE, text=True)
    contract = tmp_path / "tools.json"
    contract.write_text('[{"name": "read", "inputSchema": {"type": "object"}}]')
    done = gate("lint", str(contract), "--fail-on", "none", "-o", str(pipe))
    text, _ = reader.communicate(timeout=20)
    assert done.returncode == 0, done.stderr
    assert "read" in text
    assert stat.S_ISFIFO(pipe.stat().st_mode)
