"""The billing API: orders, refunds and a ledger in memory, over HTTP.

    python service.py --port 8080 [--fault NAME]

`--fault` plants one fault, so that you can see which check finds it; README.md lists them.
"""

import argparse
import json
import select
import socket
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from refund_rules import find_faults

TOKEN = "Bearer demo-token"


class Billing:
    """Orders and the ledger. One lock: looking up a key and writing its refund are one step."""

    def __init__(self, fault):
        self.fault = fault
        self.lock = threading.Lock()
        self.reset()

    def reset(self):
        self.orders = {f"ORD-{1000 + n}": {"version": 3, "total_cents": 100_000, "open": n != 9} for n in range(1, 10)}
        self.ledger = []
        self.receipts = {}

    def refund(self, arguments, token, connection):
        """Status and body of one refund request."""
        fault = self.fault
        if token != TOKEN and fault != "accepts-expired-authority":
            return error(401, "AUTHORITY_EXPIRED", "the authority of this call has expired: sign in again")
        if fault == "writes-before-checking":
            self.ledger.append({"order_id": "?", "amount_cents": 0})
        faults = find_faults(arguments, fault=fault)
        if faults:
            text = "invalid request" if fault == "vague-errors" else "; ".join(faults)
            code = "E_VALIDATION" if fault == "undeclared-error" else "INVALID_ARGUMENT"
            return error(400, code, text)
        if fault == "racy":
            return self._refund(arguments, connection)
        with self.lock:
            return self._refund(arguments, connection)

    def _refund(self, arguments, connection):
        fault = self.fault
        order_id = arguments["order_id"]
        action = ("" if fault == "ignores-scope" else order_id, arguments["action_id"])
        payload = {name: value for name, value in arguments.items() if name != "action_id"}
        known = None if fault == "no-deduplication" else self.receipts.get(action)
        if known is not None and fault == "forgets-undelivered" and is_gone(known["connection"]):
            known = None
        if known is not None:
            if known["payload"] != payload and fault != "ignores-other-payload":
                return error(422, "KEY_REUSED", "action_id was used for another refund")
            if fault == "refuses-repeats":
                return error(422, "KEY_REUSED", "action_id was used before")
            receipt = dict(known["receipt"])
            if fault == "new-receipt":
                receipt["refund_id"] += "-again"
            return 200, receipt
        if fault == "racy":
            time.sleep(0.05)
        order = self.orders.get(order_id)
        if order is None:
            if fault == "error-as-success":
                return 200, {"refund_id": "", "order_id": order_id, "amount_cents": 0, "status": "refunded"}
            retry = {"retryable": True} if fault == "wrong-retryability" else {}
            return error(404, "ORDER_NOT_FOUND", f"order_id: there is no order {order_id}", **retry)
        if not order["open"]:
            return error(409, "ORDER_INELIGIBLE", "the refund period of this order is over")
        wanted = arguments.get("order_version")
        if wanted not in (None, order["version"]) and fault != "accepts-stale-version":
            return error(409, "STALE_VERSION", "order_version: the order has changed since", retryable=True)
        receipt = {
            "refund_id": f"rf_{len(self.ledger) + 1}",
            "order_id": order_id,
            "amount_cents": arguments.get("amount_cents"),
            "status": "refunded",
            "settles_on": "next business day",
        }
        if fault == "drops-status":
            del receipt["status"]
        self.ledger.append({"refund_id": receipt["refund_id"], "order_id": order_id, **payload})
        if fault == "writes-twice":
            self.ledger.append({"refund_id": receipt["refund_id"] + "b", "order_id": order_id, **payload})
        self.receipts[action] = {"payload": payload, "receipt": receipt, "connection": connection}
        return 200, receipt

    def order(self, order_id):
        """Status and body of one order."""
        faults = [each for each in find_faults({"order_id": order_id}) if "must look like" in each]
        if faults:
            return error(400, "INVALID_ARGUMENT", faults[0])
        if self.fault == "read-writes":
            self.ledger.append({"order_id": order_id, "note": "was read"})
        order = self.orders.get(order_id)
        if order is None:
            return error(404, "ORDER_NOT_FOUND", f"order_id: there is no order {order_id}")
        return 200, {"order_id": order_id, "version": order["version"], "total_cents": order["total_cents"]}


def error(status, code, message, retryable=False):
    return status, {"error": {"code": code, "message": message, "retryable": retryable}}


def is_gone(connection):
    """Whether the other end has closed a connection."""
    if connection.fileno() == -1:
        return True
    readable, _, _ = select.select([connection], [], [], 0)
    return bool(readable) and not connection.recv(1, socket.MSG_PEEK)


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    billing: Billing

    def do_GET(self):
        path, _, query = self.path.partition("?")
        if path == "/health":
            self.answer(200, {"ok": True})
        elif path == "/ledger":
            self.answer(200, {"entries": self.billing.ledger})
        elif path.startswith("/v2/orders/") and not query:
            self.answer(*self.billing.order(path.removeprefix("/v2/orders/")))
        elif path.startswith("/v2/orders/"):
            self.answer(*error(400, "INVALID_ARGUMENT", f"{query.partition('=')[0]}: unknown field"))
        else:
            self.answer(*error(404, "INVALID_ARGUMENT", "there is nothing at this path"))

    def do_POST(self):
        data = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if self.path == "/reset":
            self.billing.reset()
            self.answer(200, {"ok": True})
            return
        try:
            arguments = json.loads(data)
        except ValueError:
            arguments = None
        self.answer(*self.billing.refund(arguments, self.headers.get("Authorization"), self.connection))

    def answer(self, status, body):
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_):
        pass


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, default=8080)
    parser.add_argument("--fault", default="none")
    options = parser.parse_args()
    Handler.billing = Billing(options.fault)
    server = ThreadingHTTPServer(("127.0.0.1", options.port), Handler)
    server.daemon_threads = True
    server.serve_forever(poll_interval=0.1)


if __name__ == "__main__":
    main()
