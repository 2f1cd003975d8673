"""Answers each line with what it was told, counts its turns, and does odd things on request."""

import json
import os
import subprocess
import sys
import time

turns = 0
for line in sys.stdin:
    turns += 1
    request = json.loads(line)
    text = (request["messages"] or [{"content": ""}])[-1]["content"]
    if text == "crash":
        print("Traceback: out of cheese", file=sys.stderr)
        sys.exit(3)
    if text == "hang":
        time.sleep(60)
    if text == "silence":
        sys.stdout.close()
        os.close(1)
        time.sleep(60)
    if text == "noise":
        print("some debugging")
        print("and more", flush=True)
        continue
    if text == "twice":
        print(json.dumps({"content": "first"}))
    if text == "flood":
        sys.stdout.write("x" * 9_000_000)
        sys.stdout.flush()
        time.sleep(60)
    if text == "chatty":
        sys.stderr.write("log line\n" * 100_000)
    if text == "grandchild":
        child = subprocess.Popen(["sleep", "300"])
        text = str(child.pid)
    if text == "env":
        text = json.dumps(dict(os.environ))
    if text == "call":
        print(json.dumps({"tool_calls": [{"name": "look", "arguments": {"q": 1}}]}), flush=True)
        continue
    print(json.dumps({"content": f"{turns}:{text}", "key": request["turn_key"]}), flush=True)
