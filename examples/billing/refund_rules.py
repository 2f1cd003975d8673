"""Which arguments of a refund are right. Used by the service and by the adapter before anything else happens."""

import re

REASONS = ("damaged", "late", "wrong_item", "duplicate_charge")


def find_faults(arguments, *, fault="none", with_version=True):
    """What is wrong with the arguments, each sentence naming its field."""
    if not isinstance(arguments, dict):
        return ["the arguments are no object"]
    checks = {
        "order_id": None if fault == "accepts-any-order-id" else _order_id,
        "amount_cents": {"accepts-text-amount": _text_amount, "accepts-zero": _any_integer}.get(fault, _amount),
        "reason": None if fault == "accepts-any-reason" else _reason,
        "action_id": _action_id,
    }
    if with_version:
        checks["order_version"] = _version
    required = [name for name in checks if name != "order_version"]
    if fault == "accepts-missing-reason":
        required.remove("reason")
    faults = [f"{name}: required field missing" for name in required if name not in arguments]
    for name, value in arguments.items():
        if name not in checks:
            faults += [] if fault == "accepts-unknown-field" else [f"{name}: unknown field"]
        elif checks[name] is not None and (wrong := checks[name](value)):
            faults.append(f"{name}: {wrong}")
    return faults


def _order_id(value):
    if not isinstance(value, str):
        return "expected string"
    return None if re.fullmatch(r"ORD-\d{4}", value) else "must look like ORD-1001"


def _amount(value):
    return _any_integer(value) or (None if 1 <= value <= 100_000 else "must lie between 1 and 100000")


def _any_integer(value):
    return None if isinstance(value, int) and not isinstance(value, bool) else "expected integer"


def _text_amount(value):
    return None if isinstance(value, str) else _amount(value)


def _reason(value):
    return None if value in REASONS else f"must be one of {', '.join(REASONS)}"


def _action_id(value):
    return None if isinstance(value, str) and 8 <= len(value) <= 80 else "expected string of 8 to 80 characters"


def _version(value):
    return _any_integer(value) or (None if value >= 1 else "must be 1 or more")
