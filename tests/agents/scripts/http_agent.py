"""A small HTTP agent: `http_agent.py PORT [DELAY]`. Starts a grandchild and tells its pid."""

import http.server
import json
import subprocess
import sys
import time

print("starting up", flush=True)
time.sleep(float(sys.argv[2]) if len(sys.argv) > 2 else 0)
grandchild = subprocess.Popen(["sleep", "300"])


class Handler(http.server.BaseHTTPRequestHandler):
    def answer(self, value):
        body = json.dumps(value).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        self.answer({"ok": True})

    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        self.answer({"content": str(grandchild.pid)})


http.server.HTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
