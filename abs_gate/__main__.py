"""`python -m abs_gate`: the same command line as `abs-gate`."""

import sys

from abs_gate.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
