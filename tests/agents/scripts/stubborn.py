"""Ignores the end of its input and SIGTERM."""

import signal
import subprocess
import sys
import time

signal.signal(signal.SIGTERM, signal.SIG_IGN)
child = subprocess.Popen([sys.executable, "-c", "import signal,time; signal.signal(15, 1); time.sleep(300)"])
sys.stdin.readline()
print(f'{{"content": "{child.pid}"}}', flush=True)
time.sleep(300)
