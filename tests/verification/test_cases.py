"""Written cases: every key of a case and of what it expects can fail, and says how."""

import pytest

from tests.verification.suites import at_fault, verify

CONTRACTS = """
tool_id: shop.pay
model_surface:
  name: pay
  description: Pay.
  input_schema: {type: object, properties: {order: {type: string}, key: {type: string}}, required: [order]}
  output_schema: {type: object, properties: {id: {type: string}}, required: [id]}
errors:
  - {code: DECLINED, retryable: false}
policy: {effect: irreversible_external_write, idempotency_key: key}
runtime: {deadline_ms: 500}
---
tool_id: shop.look
model_surface:
  name: look
  description: Look.
  input_schema: {type: object, properties: {order: {type: string}}}
policy: {effect: read_only}
"""
TOOLS = """
import json, threading, time
lock = threading.Lock()

class Declined(Exception):
    code, retryable = "DECLINED", False

def pay(arguments, file, key=None, user="jane", leak=""):
    if user == "mallory": raise Declined("no")
    word = arguments["order"]
    if word == "undeclared": return {"isError": True, "code": "WEIRD", "message": "?"}
    if word == "uncoded": return {"isError": True, "message": "no"}
    if word == "slow": time.sleep(0.8)
    if word == "nothing": return {"id": "p-0"}
    if word == "shapeless": return {"no": "id"}
    if word == "leak": return {"id": leak}
    with lock, open(file, "a+") as rows:
        rows.seek(0)
        known = [json.loads(line) for line in rows]
        mine = [row for row in known if arguments.get("key") and row["key"] == arguments["key"]]
        if not mine or word == "again":
            mine = [{"id": f"p-{len(known) + 1}", "order": word, "key": arguments.get("key")}]
            rows.write(json.dumps(mine[0]) + "\\n")
    return {"id": mine[0]["id"], "order": word}

def look(arguments, file):
    if arguments.get("order") == "sly":
        with open(file, "a") as rows: rows.write('{"looked": true, "key": null}\\n')
    return {"rows": 1}
"""
SUITE = """
verification: shop
contracts: [tools.yaml]
tools:
  shop.pay:
    driver: {python: {function: 'shop:pay', with: {file: '{{tmp}}/rows', leak: '{{canary.email}}'}}}
    probe: rows
    derive: []
    valid: {order: 'o-{{fresh}}'}
  shop.look:
    driver: {python: {function: 'shop:look', with: {file: '{{tmp}}/rows'}}}
    probe: rows
    derive: []
    valid: {}
probes:
  rows: {file: {path: '{{tmp}}/rows', as: lines}}
  other: {file: {path: '{{tmp}}/other'}}
cases:
  - {name: it, tool: shop.pay, CASE}
"""


def run(tmp_path, case, suite=SUITE):
    (tmp_path / "tools.yaml").write_text(CONTRACTS, "utf-8")
    (tmp_path / "shop.py").write_text(TOOLS, "utf-8")
    (tmp_path / "suite.yaml").write_text(suite.replace("CASE", case), "utf-8")
    return verify(tmp_path, "suite.yaml")


@pytest.mark.parametrize(
    "case",
    [
        "expect: {effects: {added: 1}}",
        "arguments: {order: x}, expect: {result: {order: x}, effects: {added: [{order: x}]}}",
        "arguments: {order: x}, key: k1, repeat: 3, expect: {effects: {added: 1}}",
        "arguments: {order: x}, key: k1, repeat: 4, at_once: true, expect: {effects: {added: 1}}",
        "arguments: {order: x}, key: k1, lose_answer: true, expect: {effects: {added: 1}}",
        "arguments: {order: nothing}, expect: {effects: none}",
        "context: {user: mallory}, expect: {error: {code: DECLINED, retryable: false, message: 'NO'}, effects: none}",
        "expect: {effects: {rows: changed, other: none}}",
        "expect: {error: true}, context: {user: mallory}",
    ],
)
def test_what_holds_passes(tmp_path, case):
    records = run(tmp_path, case)
    assert [record["outcome"] for record in records] == ["passed"], records


@pytest.mark.parametrize(
    ("case", "failed"),
    [
        ("expect: {effects: none}", {"effects"}),
        ("expect: {effects: {added: 2}}", {"effects"}),
        ("arguments: {order: x}, expect: {result: {order: z}}", {"result"}),
        ("arguments: {order: x}, expect: {error: true}", {"refused"}),
        ("context: {user: mallory}", {"accepted"}),
        ("context: {user: mallory}, expect: {error: {code: OTHER}}", {"error code"}),
        ("context: {user: mallory}, expect: {error: {retryable: true}}", {"retryable"}),
        ("context: {user: mallory}, expect: {error: {message: order}}", {"message"}),
        ("arguments: {order: again}, key: k1, repeat: 2", {"one receipt"}),
        ("arguments: {order: again}, key: k1, repeat: 2, expect: {effects: {added: 1}}", {"one receipt", "effects"}),
        ("arguments: {order: again}, key: k1, lose_answer: true, expect: {effects: {added: 1}}", {"effects"}),
        ("arguments: {order: shapeless}", {"result conforms to the output schema"}),
        ("arguments: {order: undeclared}, expect: {error: true}", {"declared error code"}),
        ("arguments: {order: uncoded}, expect: {error: true}", {"declared error code"}),
        ("arguments: {order: leak}, expect: {leaks: none}", {"no leaks"}),
        ("expect: {effects: {rows: none, other: none}}", {"effects in rows"}),
        ("expect: {effects: {rows: changed, other: changed}}", {"effects in other"}),
    ],
)
def test_what_does_not_hold_fails_in_its_own_check(tmp_path, case, failed):
    assert at_fault(run(tmp_path, case)) == {"it": failed}


def test_a_read_that_changes_something_fails_without_being_asked(tmp_path):
    suite = SUITE.replace("tool: shop.pay, CASE", "tool: shop.look, arguments: {order: sly}")
    assert at_fault(run(tmp_path, "", suite)) == {"it": {"a read-only tool changes nothing"}}


def test_the_declared_deadline_is_kept(tmp_path):
    suite = SUITE.replace("derive: []\n    valid: {order: 'o-{{fresh}}'}", "derive: [output]\n    valid: {order: WORD}")
    assert at_fault(run(tmp_path, "arguments: {order: x}", suite.replace("WORD", "quick"))) == {}
    found = at_fault(run(tmp_path, "arguments: {order: x}", suite.replace("WORD", "slow")))
    assert found == {"the valid call succeeds as declared": {"answered within the declared deadline"}}


def test_a_declared_error_that_nobody_looked_at_is_unverified(tmp_path):
    suite = SUITE.replace("derive: []\n    valid: {order", "derive: [errors]\n    valid: {order", 1)
    records = run(tmp_path, "arguments: {order: x}", suite)
    assert [(record["name"], record["outcome"]) for record in records] == [
        ("it", "passed"),
        ("declared error DECLINED", "unverified"),
    ]
    looked = run(tmp_path, "context: {user: mallory}, expect: {error: {code: DECLINED}}", suite)
    assert [record["outcome"] for record in looked] == ["passed"]


def test_a_state_that_cannot_be_brought_about_is_unverified_and_the_rest_runs(tmp_path):
    suite = SUITE.replace("CASE}", "state: broken}\n  - {name: next, tool: shop.pay}")
    suite += "states: {broken: {setup: [{python: {function: 'shop:absent_state'}}]}}\n"
    (tmp_path / "tools.yaml").write_text(CONTRACTS, "utf-8")
    (tmp_path / "shop.py").write_text(TOOLS + "\ndef absent_state(arguments): raise ValueError('x')\n", "utf-8")
    (tmp_path / "suite.yaml").write_text(suite, "utf-8")
    outcomes = [(record["name"], record["outcome"]) for record in verify(tmp_path, "suite.yaml")]
    assert outcomes == [("it", "unverified"), ("next", "passed")]


def test_a_case_in_a_contract_may_use_what_the_suite_does_not(tmp_path):
    case = "cases: [{name: own, arguments: {order: '{{tmp}} {{port.x}} {{canary.name}}'}}]\n---\n"
    (tmp_path / "tools.yaml").write_text(CONTRACTS.replace("---\n", case), "utf-8")
    (tmp_path / "shop.py").write_text(TOOLS, "utf-8")
    suite = SUITE.replace("{{tmp}}", str(tmp_path)).replace(", CASE", "")
    (tmp_path / "suite.yaml").write_text(suite, "utf-8")
    outcomes = {record["name"]: record["outcome"] for record in verify(tmp_path, "suite.yaml")}
    assert outcomes == {"it": "passed", "own": "passed"}
