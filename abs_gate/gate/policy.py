"""A session's policy as a record of the result, and back: shards are decided again from nothing but their results."""

from __future__ import annotations

from fractions import Fraction

from msgspec import Struct

from abs_gate.gate.result import PolicyRecord, SequentialRecord
from abs_gate.settings.model import SequentialSettings, SessionPolicy


class DecidingPolicy(Struct, frozen=True, kw_only=True):
    """What decides a session, with the number of trials of each case."""

    policy: SessionPolicy
    trials: int

    @property
    def alpha(self) -> Fraction:
        """One minus the confidence."""
        return 1 - (self.policy.confidence or Fraction(19, 20))


def to_record(deciding: DecidingPolicy) -> PolicyRecord:
    """The record of a policy."""
    policy = deciding.policy
    hat = policy.pass_hat_k
    record: PolicyRecord = {
        "trials": deciding.trials,
        "pass_rate": str(policy.pass_rate),
        "pass_rate_text": policy.pass_rate_text,
        "decide": policy.decide,  # type: ignore[typeddict-item]
        "confidence": None if policy.confidence is None else str(policy.confidence),
        "per": policy.per,  # type: ignore[typeddict-item]
        "pass_hat_k": None if hat is None else {"k": hat[0], "min": str(hat[1])},
        "min_coverage": str(policy.min_coverage),
        "max_unverified": policy.max_unverified,
        "sequential": _sequential_record(policy.sequential),
        "baseline": policy.baseline,  # type: ignore[typeddict-item]
        "forbid": {key: list(names) for key, names in policy.forbid.items()},
    }
    return record


def from_record(record: PolicyRecord, *, critical: bool) -> DecidingPolicy:
    """The policy of a record."""
    hat, test = record["pass_hat_k"], record["sequential"]
    policy = SessionPolicy(
        critical=critical,
        pass_rate=Fraction(record["pass_rate"]),
        pass_rate_text=record["pass_rate_text"],
        decide=record["decide"],
        confidence=None if record["confidence"] is None else Fraction(record["confidence"]),
        per=record["per"],
        pass_hat_k=None if hat is None else (hat["k"], Fraction(hat["min"])),
        min_coverage=Fraction(record["min_coverage"]),
        max_unverified=record["max_unverified"],
        sequential=None
        if test is None
        else SequentialSettings(
            p0=Fraction(test["p0"]),
            p1=Fraction(test["p1"]),
            alpha=Fraction(test["alpha"]),
            beta=Fraction(test["beta"]),
        ),
        baseline=record["baseline"],
        forbid={key: tuple(names) for key, names in record.get("forbid", {}).items()},
    )
    return DecidingPolicy(policy=policy, trials=record["trials"])


def _sequential_record(test: SequentialSettings | None) -> SequentialRecord | None:
    if test is None:
        return None
    return {"p0": str(test.p0), "p1": str(test.p1), "alpha": str(test.alpha), "beta": str(test.beta)}
