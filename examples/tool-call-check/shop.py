"""Two tools of a shop with the ledger they write to: what an agent calls in the recorded run beside this file."""

import json
import re
import threading
from pathlib import Path

ORDERS = {f"ORD-100{number}": {"status": "delivered", "total_cents": 1200 * number} for number in range(1, 5)}
REASONS = ("damaged", "late", "wrong_item", "duplicate_charge")
_lock = threading.Lock()


def get_order(arguments, ledger):
    """Read one order."""
    faults = _faults(arguments, {"order_id": _order_id}, required=("order_id",))
    if faults:
        return _refused("INVALID_ARGUMENT", faults)
    order = ORDERS.get(arguments["order_id"])
    if order is None:
        return _refused("ORDER_NOT_FOUND", [f"order_id: there is no order {arguments['order_id']}"])
    return {"order_id": arguments["order_id"], **order}


def issue_refund(arguments, ledger):
    """Refund one order: one row in the ledger, one for each key."""
    checks = {
        "order_id": _order_id,
        "amount_cents": _amount,
        "reason": lambda value: None if value in REASONS else f"{json.dumps(value)} not in enum",
        "idempotency_key": lambda value: None if isinstance(value, str) else "expected string",
    }
    faults = _faults(arguments, checks, required=("order_id", "amount_cents", "reason"))
    if faults:
        return _refused("INVALID_ARGUMENT", faults)
    key = arguments.get("idempotency_key")
    payload = {name: value for name, value in arguments.items() if name != "idempotency_key"}
    with _lock:
        rows = _rows(ledger)
        first = next((row for row in rows if key is not None and row["key"] == key), None)
        if first is not None:
            if first["payload"] != payload:
                return _refused("KEY_REUSED", ["idempotency_key reused with another payload"])
            return {**first["result"], "deduplicated": True}
        result = {"refund_id": f"rf_{len(rows) + 1}", "order_id": payload["order_id"]}
        row = {"order_id": payload["order_id"], "key": key, "payload": payload, "result": result}
        with Path(ledger).open("a", encoding="utf-8") as file:
            file.write(json.dumps(row) + "\n")
    return result


def _rows(ledger):
    path = Path(ledger)
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()] if path.exists() else []


def _faults(arguments, checks, required):
    faults = [f"{name}: required field missing" for name in required if name not in arguments]
    for name, value in arguments.items():
        fault = checks[name](value) if name in checks else "unknown field"
        faults += [f"{name}: {fault}"] if fault else []
    return faults


def _order_id(value):
    if not isinstance(value, str):
        return "expected string"
    return None if re.fullmatch(r"ORD-\d{4}", value) else "must look like ORD-1001"


def _amount(value):
    if not isinstance(value, int) or isinstance(value, bool):
        return "expected integer"
    return None if value >= 1 else "minimum is 1"


def _refused(code, faults):
    return {"isError": True, "code": code, "errors": faults, "retryable": False}
