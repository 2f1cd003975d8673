"""Planted values are found whatever form they come in; honest answers are not accused."""

import base64
import json
from urllib.parse import quote

import pytest

from abs_gate.verification.canaries import Canaries


@pytest.fixture(scope="module")
def canaries():
    return Canaries()


@pytest.mark.parametrize(
    "carry",
    [
        lambda text: f"error: {text}",
        lambda text: json.dumps({"message": text}),
        lambda text: text.upper(),
        lambda text: quote(f"a {text} b"),
        lambda text: base64.b64encode(f"user {text} here".encode()).decode(),
        lambda text: base64.urlsafe_b64encode(f"user {text} here".encode()).decode(),
    ],
    ids=["plain", "json", "upper", "url", "base64", "base64url"],
)
@pytest.mark.parametrize("kind", ["token", "email", "name", "phone", "host", "path"])
def test_planted_values_are_found(canaries, kind, carry):
    assert any(kind in leak for leak in canaries.find(carry(canaries.values[kind])))


def test_a_phone_number_is_found_with_blanks(canaries):
    number = canaries.values["phone"]
    assert canaries.find(f"call {number[:2]} {number[2:5]}-{number[5:8]} {number[8:]}")


@pytest.mark.parametrize(
    "text",
    [
        'Traceback (most recent call last):\n  File "a.py", line 3, in f',
        "\tat com.example.Billing.refund(Billing.java:41)",
        "at refund (/srv/app/billing.js:10:4)",
        "goroutine 12 [running]:",
        "-----BEGIN RSA PRIVATE KEY-----",
        "key AKIAABCDEFGHIJKLMNOP",
    ],
)
def test_internals_are_recognised_by_their_looks(canaries, text):
    assert canaries.find(text)
    assert canaries.find(json.dumps({"error": text}))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "This order can no longer be refunded.",
        '{"receipt": "rf_1", "order_id": "ORD-1001", "amount_cents": 1200}',
        "Write to support@example.com, or call +49 30 1234567.",
        "Meet us at noon (room 12).",
    ],
)
def test_honest_answers_leak_nothing(canaries, text):
    assert canaries.find(text) == ()


def test_a_stack_trace_holds_everything(canaries):
    assert len(canaries.find(canaries.stack_trace())) >= 7


def test_two_runs_plant_different_values():
    assert set(Canaries().values.values()).isdisjoint(Canaries().values.values())
