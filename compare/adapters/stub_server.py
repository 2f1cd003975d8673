"""A Model Context Protocol server over stdio that has the tools of a file, for peers that only read live servers."""

import json
import sys
from pathlib import Path

TOOLS = json.loads(Path(sys.argv[1]).read_bytes())["tools"]

INFO = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": {"name": "stub", "version": "1"}}

for line in sys.stdin:
    request = json.loads(line)
    if "id" not in request:
        continue
    answer = {"jsonrpc": "2.0", "id": request["id"]}
    if request["method"] == "initialize":
        INFO["protocolVersion"] = request["params"]["protocolVersion"]
        answer["result"] = INFO
    elif request["method"] == "tools/list":
        answer["result"] = {"tools": TOOLS}
    else:
        answer["error"] = {"code": -32601, "message": "Method not found"}
    print(json.dumps(answer), flush=True)
