"""Whether a write is safe to retry: races that are lost only now and then."""

from tests.verification.suites import verify

TOOLS = """tool_id: billing.refund
model_surface:
  name: refund
  description: Refund an order.
  input_schema:
    type: object
    properties: {order: {type: string}, key: {type: string}}
    required: [order, key]
policy: {effect: irreversible_external_write, idempotency_key: key}
"""
RACE = """
import json, threading, time
lock, in_flight, together, done = threading.Lock(), {}, [], {}

def refund(arguments, ledger):
    key = arguments["key"]
    with lock:
        in_flight[key] = in_flight.get(key, 0) + 1
        if in_flight[key] == 2 and key not in together:
            together.append(key)
    time.sleep(0.05)
    with lock:
        is_lost = together.index(key) == 1 if key in together else False
        in_flight[key] -= 1
        if key in done and not is_lost:
            return done[key]
        done[key] = {"id": f"r{len(done)}"}
        with open(ledger, "a") as rows:
            rows.write(json.dumps({"key": key}) + "\\n")
        return done[key]
"""


def test_a_race_that_the_first_burst_does_not_lose_is_found_by_a_later_one(tmp_path):
    (tmp_path / "shop.py").write_text(RACE, "utf-8")
    (tmp_path / "tools.yaml").write_text(TOOLS, "utf-8")
    (tmp_path / "suite.yaml").write_text(
        "verification: race\ncontracts: [tools.yaml]\ntools:\n  billing.refund:\n"
        "    driver: {python: {function: 'shop:refund', with: {ledger: '{{tmp}}/ledger'}}}\n"
        "    valid: {order: ORD-1, key: 'k-{{fresh}}'}\n    derive: [retry]\n    probe: ledger\n"
        "probes: {ledger: {file: {path: '{{tmp}}/ledger', as: lines}}}\n",
        "utf-8",
    )
    (record,) = verify(tmp_path, "suite.yaml")
    failed = {check["name"] for check in record["checks"] if check["outcome"] == "failed"}
    assert "concurrent duplicates: one effect" in failed, record
