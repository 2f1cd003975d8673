"""Every fault that can be planted in the billing example is caught by the checks meant for it, and by no other."""

import shutil
import socket
import subprocess

import pytest

from tests.verification.suites import ROOT, at_fault, verify

RETRY = "not safe to retry"
REFUSED = {"refused", "refused before any effect"}
PROVIDER_FAULTS = {
    "accepts-unknown-field": {"refuses an unknown field": REFUSED},
    "accepts-missing-reason": {"refuses reason: missing": REFUSED},
    "accepts-text-amount": {"refuses amount_cents: wrong type": REFUSED},
    "accepts-any-reason": {"refuses reason: wrong type": REFUSED, "refuses reason: not an allowed value": REFUSED},
    "accepts-zero": {
        "refuses amount_cents: below the minimum": REFUSED,
        "refuses amount_cents: above the maximum": REFUSED,
    },
    "accepts-any-order-id": {
        "refuses order_id: wrong type": {"error code"},
        "refuses order_id: wrong form": {"error code"},
    },
    "no-deduplication": {
        RETRY: {
            "same key, same payload",
            "same key, same payload: one effect",
            "same key, other payload: refused",
            "same key, other payload: no effect",
            "key is kept for 86400 s",
            "concurrent duplicates",
            "concurrent duplicates: one effect",
            "lost answer, then retry: one effect",
        },
        "a key used for another refund is refused": {"refused", "effects"},
    },
    "new-receipt": {RETRY: {"same key, same payload", "key is kept for 86400 s", "concurrent duplicates"}},
    "ignores-other-payload": {
        RETRY: {"same key, other payload: refused"},
        "a key used for another refund is refused": {"refused"},
    },
    "refuses-repeats": {
        RETRY: {"same key, same payload", "key is kept for 86400 s", "lost answer, then retry"},
    },
    "ignores-scope": {RETRY: {"the same key in another order_id is another action"}},
    "racy": {RETRY: {"concurrent duplicates", "concurrent duplicates: one effect"}},
    "forgets-undelivered": {RETRY: {"lost answer, then retry: one effect"}},
    "drops-status": {
        "the valid call succeeds as declared": {"result conforms to the output schema"},
        "the refund that was asked for stands in the ledger": {"result", "result conforms to the output schema"},
    },
    "wrong-retryability": {"an unknown order is not found": {"retryable", "declared error code"}},
    "error-as-success": {"an unknown order is not found": {"refused"}},
    "accepts-expired-authority": {"expired authority is refused": {"refused", "effects"}},
    "accepts-stale-version": {"a stale version is refused": {"refused", "effects"}},
    "read-writes": {
        "the valid call succeeds as declared": {"a read-only tool changes nothing"},
        "an unknown order cannot be read": {"a read-only tool changes nothing"},
    },
    "writes-twice": {
        "the valid call succeeds as declared": {"a write has one effect"},
        RETRY: {
            "same key, same payload: one effect",
            "the same key in another order_id is another action: one effect",
            "concurrent duplicates: one effect",
            "lost answer, then retry: one effect",
        },
        "the refund that was asked for stands in the ledger": {"effects"},
    },
}
EVERY_REFUSAL = {
    "writes-before-checking": "refused before any effect",
    "vague-errors": "message names the field",
    "undeclared-error": "declared error code",
}
LOST = {
    "a silent provider is a temporary failure",
    "a connection cut before the answer is a temporary failure",
    "half an answer is a temporary failure",
    "a lost answer is a temporary failure",
}
ADAPTER_FAULTS = {
    "new-key-each-time": {"a duplicate action gives the first receipt": {"first receipt", "one action"}},
    "timeout-as-success": {name: {"refused"} for name in LOST},
    "timeout-is-final": {name: {"error code", "retryable"} for name in LOST},
    "passes-everything-on": {"nothing leaks from a success with internals": {"no leaks"}},
    "overload-is-final": {"an overloaded provider is a temporary failure": {"error code", "retryable"}},
    "follows-redirects": {"a redirect elsewhere fails closed": {"refused"}},
    "drops-receipt": {
        "passes a success on": {"result conforms to the output schema"},
    },
    "strict": {"a field added by the provider changes nothing": {"accepted"}},
    "no-reason": {
        "an ineligible action is rejected": {"reason"},
        "an unknown order is rejected in words the user may read": {"message"},
    },
    "passes-messages-on": {
        "an ineligible action is rejected": {"no leaks"},
        "nothing leaks from a stack trace": {"no leaks"},
        "nothing leaks from an error with internals": {"no leaks"},
        "nothing leaks from a refusal with internals": {"no leaks"},
    },
    "believes-anything": {
        f"{shape} fails closed": {"refused"}
        for shape in (
            "an empty object",
            "an unknown object",
            "a list",
            "null",
            "an empty body",
            "a page of HTML",
            "broken JSON",
        )
    },
}


WHERE_BUSY = {
    # On a busy machine the first duplicate has hung up before the last is sent: undelivered, to the service.
    "forgets-undelivered": {RETRY: {"concurrent duplicates", "concurrent duplicates: one effect"}},
}


@pytest.mark.parametrize("fault", PROVIDER_FAULTS)
def test_a_fault_of_the_service_is_caught_by_its_checks(fault):
    found = at_fault(verify(ROOT, "examples/billing/provider.yaml", fault=fault))
    for name, checks in WHERE_BUSY.get(fault, {}).items():
        found[name] -= checks
    assert found == PROVIDER_FAULTS[fault]


@pytest.mark.parametrize("fault", EVERY_REFUSAL)
def test_a_fault_of_every_refusal_is_caught_by_one_kind_of_check(fault):
    found = at_fault(verify(ROOT, "examples/billing/provider.yaml", fault=fault))
    assert len([name for name in found if name.startswith("refuses ")]) > 10
    derived = {check for name, checks in found.items() if name.startswith("refuses ") for check in checks}
    assert derived == {EVERY_REFUSAL[fault]}


@pytest.mark.parametrize("fault", ADAPTER_FAULTS)
def test_a_fault_of_the_adapter_is_caught_by_its_checks(fault):
    assert at_fault(verify(ROOT, "examples/billing/adapter.yaml", fault=fault)) == ADAPTER_FAULTS[fault]


def test_a_stack_trace_is_recognised_without_being_planted():
    found = at_fault(verify(ROOT, "examples/billing/adapter.yaml", fault="shows-stack-trace"))
    assert found["broken JSON fails closed"] == {"no leaks"}


@pytest.mark.parametrize("suite", ["provider", "adapter", "mcp", "mcp-http"])
def test_the_sound_variant_passes_everything(suite):
    records = verify(ROOT, f"examples/billing/{suite}.yaml")
    assert at_fault(records) == {}
    assert len(records) > 15


def test_a_probe_that_is_not_declared_read_only_is_not_called():
    records = verify(ROOT, "examples/billing/mcp.yaml", fault="probe-may-write")
    wrote = [record for record in records if record["name"] == "the valid call succeeds as declared"]
    assert wrote[0]["outcome"] == "unverified"
    assert "not declared read-only" in wrote[0]["reason"]


def test_faults_of_the_service_are_found_through_the_whole_chain():
    found = at_fault(verify(ROOT, "examples/billing/mcp.yaml", service_fault="no-deduplication"))
    assert "same key, same payload: one effect" in found[RETRY]


def test_servers_are_ended_and_ports_are_free(monkeypatch):
    from abs_gate.drivers import bench

    ports = []
    choose = bench._free_port
    monkeypatch.setattr(bench, "_free_port", lambda: ports.append(choose()) or ports[-1])
    verify(ROOT, "examples/billing/provider.yaml")
    assert len(ports) == 1
    with socket.socket() as again:
        again.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        again.bind(("127.0.0.1", ports[0]))
    running = subprocess.run(["ps", "-ww", "-eo", "args"], capture_output=True, text=True, check=True).stdout
    assert f"--port {ports[0]}" not in running


def test_without_expectations_the_declared_errors_are_what_is_expected(tmp_path):
    place = tmp_path / "billing"
    shutil.copytree(ROOT / "examples" / "billing", place)
    suite = place / "adapter.yaml"
    text = suite.read_text("utf-8")
    start = text.index("    expect:\n      timeout")
    suite.write_text(text[:start] + text[text.index("\ncases:") :], "utf-8")
    found = at_fault(verify(tmp_path, "billing/adapter.yaml", fault="timeout-is-final"))
    assert found["half an answer is a temporary failure"] == {"fitting error"}
    assert at_fault(verify(tmp_path, "billing/adapter.yaml")) == {}
