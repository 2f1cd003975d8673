"""The identity of a policy: a hash over everything that decides, and nothing else."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from fractions import Fraction

from msgspec import Struct
from msgspec.structs import asdict

from abs_gate.findings import Json
from abs_gate.settings.model import SessionPolicy, Settings


def policy_fingerprint(settings: Settings) -> str:
    """`sha256:…` over thresholds, rules and quarantine; the same for 0.9, 90% and 9/10, and wherever they stand."""
    sessions, contracts = settings.sessions, settings.contracts
    decides = {
        "trials": sessions.trials,
        "policy": [_policy(policy) for policy in sessions.policy],
        "quarantine": [[entry.session, entry.owner, entry.until] for entry in sessions.quarantine],
        "block": sorted(contracts.block),
        "review": sorted(contracts.review),
        "rules": dict(contracts.rules),
        "providers": sorted(contracts.providers),
        "fail_on_lint": contracts.fail_on_lint,
        "review_label": contracts.review_label,
        "threshold_policy": settings.threshold_policy,
    }
    text = json.dumps(_plain(decides), sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return "sha256:" + hashlib.sha256(text.encode()).hexdigest()


def _policy(policy: SessionPolicy) -> Mapping[str, Json]:
    skipped = ("location", "pass_rate_text")
    return {name: value for name, value in asdict(policy).items() if name not in skipped}


def _plain(value: Json) -> Json:
    if isinstance(value, Fraction):
        return str(value)
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if isinstance(value, Struct):
        return _plain(asdict(value))
    return value
