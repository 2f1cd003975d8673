"""A refund agent over HTTP that needs no model: it follows its prompt in `prompt.md` to the letter.

It speaks the OpenAI chat format, runs its own tools (get_order, issue_refund) and keeps a ledger of
refunds. `POST /chat` answers a conversation, `GET /ledger` shows the ledger, `GET /health` says it is up.

    python agent.py --port 8765
"""

import argparse
import json
import re
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

ORDERS = {
    "ORD-1001": {"order_id": "ORD-1001", "status": "delivered", "item": "lamp", "total_cents": 4750},
    "ORD-1002": {"order_id": "ORD-1002", "status": "shipped", "item": "desk", "total_cents": 19900},
}
PROMPT = (Path(__file__).parent / "prompt.md").read_text(encoding="utf-8")
ISSUES_BEFORE_CONFIRMING = "call issue_refund before you confirm" in PROMPT.lower()

ledger: list[dict] = []
ledger_lock = threading.Lock()


def get_order(order_id: str) -> dict:
    """Read one order; changes nothing."""
    return ORDERS.get(order_id) or {"error": "ORDER_NOT_FOUND", "message": f"No order {order_id}."}


def issue_refund(order_id: str, amount_cents: int, action_id: str) -> dict:
    """Refund an order once: the same action_id gives the first receipt again."""
    with ledger_lock:
        for entry in ledger:
            if entry["action_id"] == action_id:
                return {"receipt_id": entry["receipt_id"], "amount_cents": entry["amount_cents"]}
        receipt = f"RF-{len(ledger) + 1:04d}"
        ledger.append(
            {"receipt_id": receipt, "order_id": order_id, "amount_cents": amount_cents, "action_id": action_id}
        )
    return {"receipt_id": receipt, "amount_cents": amount_cents}


class Reply:
    """Collects the messages of one turn."""

    def __init__(self, first_call: int) -> None:
        self.messages: list[dict] = []
        self.calls = first_call

    def run(self, tool, **arguments) -> dict:
        """Call a tool and record the call and its result."""
        self.calls += 1
        call_id = f"call_{self.calls}"
        function = {"name": tool.__name__, "arguments": json.dumps(arguments)}
        self.messages.append(
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [{"id": call_id, "type": "function", "function": function}],
            }
        )
        result = tool(**arguments)
        self.messages.append({"role": "tool", "tool_call_id": call_id, "content": json.dumps(result)})
        return result

    def say(self, text: str) -> list[dict]:
        """End the turn with a text."""
        self.messages.append({"role": "assistant", "content": text})
        return self.messages


def answer(messages: list[dict], session_key: str) -> list[dict]:
    """One turn: what the agent does about the last user message."""
    said = [m["content"] for m in messages if m["role"] == "user"]
    text = said[-1].lower()
    orders = re.findall(r"ORD-\d{4}", " ".join(said))
    reply = Reply(first_call=sum(len(m.get("tool_calls") or ()) for m in messages))
    if "policy" in text:
        return reply.say("You can return an item within 30 days of delivery. Nothing is refunded until you ask for it.")
    if not orders:
        return reply.say("Which order is it? Please tell me the number; it looks like ORD-1001.")
    order = reply.run(get_order, order_id=orders[-1])
    if "error" in order:
        return reply.say(f"I cannot find {orders[-1]}. Please check the number in your confirmation e-mail.")
    if "refund" not in text:
        return reply.say(f"Your {order['item']} ({order['order_id']}) is {order['status']}.")
    if order["status"] != "delivered":
        return reply.say(f"{order['order_id']} is not delivered yet, so I cannot refund it.")
    if not ISSUES_BEFORE_CONFIRMING:
        return reply.say(f"Done! Your refund for {order['order_id']} has been issued.")
    receipt = reply.run(
        issue_refund,
        order_id=order["order_id"],
        amount_cents=order["total_cents"],
        action_id=f"{session_key}/{order['order_id']}",
    )
    euros = f"{receipt['amount_cents'] / 100:.2f}"
    return reply.say(f"I have refunded {euros} EUR for {order['order_id']}. Your receipt is {receipt['receipt_id']}.")


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *args) -> None:
        pass

    def send(self, status: int, value) -> None:
        body = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self) -> None:
        if self.path == "/ledger":
            with ledger_lock:
                return self.send(200, list(ledger))
        if self.path == "/health":
            return self.send(200, {"status": "ok"})
        return self.send(404, {"error": "not found"})

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers.get("Content-Length", 0))))
        key = self.headers.get("Idempotency-Key", "local")
        self.send(200, {"messages": answer(body["messages"], key)})


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, default=8765)
    ThreadingHTTPServer(("127.0.0.1", parser.parse_args().port), Handler).serve_forever()
