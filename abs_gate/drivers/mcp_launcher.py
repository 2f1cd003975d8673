"""Starts an MCP server and ends every process of its group when it ends. Run as a script, by path, isolated.

It leads the process group, so that what a launcher such as npx leaves behind is ended with it. Standard input and
output are the server's own.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Sequence


def main(words: Sequence[str]) -> None:
    """Run the command, then end the group, this process included."""
    # A handler, not SIG_IGN: what is ignored stays ignored in the server too.
    told: list[int] = []
    signal.signal(signal.SIGTERM, lambda number, _: told.append(number))
    try:
        status = subprocess.Popen(list(words)).wait()
    except OSError as error:
        sys.stderr.write(f"{words[0]} could not be started: {error.strerror or error}\n")
    else:
        if not told:
            how = f"ended with status {status}" if status >= 0 else f"was ended by {signal.Signals(-status).name}"
            sys.stderr.write(f"\nThe server {how}.\n")
    sys.stderr.flush()
    os.killpg(0, signal.SIGKILL)


if __name__ == "__main__":
    main(sys.argv[1:])
