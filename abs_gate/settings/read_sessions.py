"""Which sessions run and how each is decided, from the configuration."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from abs_gate.findings import Json
from abs_gate.settings import values
from abs_gate.settings.model import Quarantine, SequentialSettings, SessionPolicy, SessionsSettings
from abs_gate.settings.options import DECISIONS
from abs_gate.settings.read_rest import read_lists
from abs_gate.settings.reader import Section

_WITH_CONFIDENCE = ("demonstrated", "not_worse")
_CATEGORIES = ("communication", "execution", "interaction", "delegation")
_VARIABLE_PREFIX = "ABS_VAR_"


def read_sessions(section: Section) -> SessionsSettings:
    """Everything under `sessions:`."""
    trials = section.get("trials", values.whole_number(1, 1_000_000), 1)
    policies = tuple(
        _policy(entry, trials, trials_given=section.given("trials") is not None) for entry in _policy_entries(section)
    )
    for index, policy in enumerate(policies[:-1]):
        if policy.match is None:
            section.refuse("policy", f"Entry {index + 1} has no match, so no entry after it is ever reached.")
    return SessionsSettings(
        paths=section.get("paths", values.texts, ()),
        trials=trials,
        concurrency=section.get("concurrency", values.whole_number(1, 1000), 8),
        policy=policies,
        quarantine=tuple(_quarantine(entry) for entry in section.entries("quarantine")),
        dataset=section.get("dataset", values.text, None),
        variables=_variables(section),
        filters=section.get("filters", values.filters, ()),
        select=section.get("select", values.lines, ()),
        early_stop=section.get("early_stop", values.boolean, True),
        actions=section.get("actions", _actions, {}),
        handoff_tools=section.get("handoff_tools", values.texts, ()),
        transcripts=section.get("transcripts", values.choice("failures", "all", "none"), "failures"),
        traces=section.get("traces", values.text, None),
        baseline=section.get("baseline", values.text, None),
        shard=section.get("shard", values.shard, None),
        resume=section.get("resume", values.boolean, False),
    )


def _policy_entries(section: Section) -> list[Section]:
    entries = list(section.entries("policy", option_path="sessions.policy.*"))
    fallback = Section(source=section.source, path=(*section.path, "policy"), option_path="sessions.policy.*")
    last_is_open = bool(entries) and isinstance(entries[-1].value, Mapping) and entries[-1].raw("match") is None
    return entries if last_is_open else [*entries, fallback]


def _policy(entry: Section, all_trials: int, *, trials_given: bool) -> SessionPolicy:
    """One entry. What is given outside holds for every entry; a critical one is decided as the file says."""
    critical = entry.from_file("critical", values.boolean, False)
    own_trials = None if trials_given else entry.from_file("trials", values.whole_number(1, 1_000_000), None)
    get = entry.from_file if critical else entry.get
    pass_rate = get("pass_rate", values.rate, Fraction(1))
    given = None if critical else entry.given("pass_rate")
    confidence = get("confidence", values.open_rate, None)
    decide = get("decide", values.choice(*DECISIONS), "demonstrated" if confidence is not None else "observed")
    policy = SessionPolicy(
        match=entry.from_file("match", values.text, None),
        critical=critical,
        trials=own_trials,
        pass_rate=pass_rate,
        pass_rate_text=_as_written(entry.raw("pass_rate") if given is None else given.value, pass_rate),
        decide=decide,
        confidence=(confidence or Fraction(19, 20)) if decide in _WITH_CONFIDENCE else None,
        per=entry.get("per", values.choice("session", "row"), "session"),
        pass_hat_k=_pass_hat_k(entry, own_trials or all_trials),
        min_coverage=_min_coverage(entry),
        max_unverified=entry.get("max_unverified", values.whole_number(0), None),
        unexpected_calls=entry.get("unexpected_calls", values.choice("allow", "fail"), "allow"),
        sequential=_sequential(entry, decide),
        baseline=entry.get("baseline", values.choice("report", "gate"), "report"),
        forbid=entry.get("forbid", read_lists, {}),
        effects=tuple(entry.get("effects", values.as_is, ())),
        location=entry.location() if entry.value is not None else None,
    )
    _check_policy(entry, policy)
    return policy


def _check_policy(entry: Section, policy: SessionPolicy) -> None:
    if policy.critical and policy.pass_rate < 1 and policy.decide == "observed":
        entry.refuse("pass_rate", "In a critical session every trial must pass. Remove pass_rate, or critical.")
    if policy.decide == "demonstrated" and policy.pass_rate == 1:
        entry.refuse(
            "pass_rate",
            "No number of trials demonstrates a rate of 100 %.",
            hint="Ask for less (pass_rate: 0.95), or use decide: observed.",
        )
    as_written = entry.given("decide") is None
    if as_written and entry.raw("confidence") is not None and policy.decide not in _WITH_CONFIDENCE:
        entry.refuse("confidence", f"Confidence has no part in `decide: {policy.decide}`.")
    if policy.decide == "not_worse" and policy.pass_rate == 0:
        entry.refuse("pass_rate", "Nothing is worse than a rate of 0, so this policy could never fail.")


def _min_coverage(entry: Section) -> Fraction:
    """1 unless written; where only max_unverified is written, that alone decides."""
    default = Fraction(1) if entry.raw("max_unverified") is None else Fraction(0)
    return entry.get("min_coverage", values.rate, default)


def _pass_hat_k(entry: Section, trials: int) -> tuple[int, Fraction] | None:
    if not isinstance(entry.raw("pass_hat_k"), Mapping):
        return None
    section = entry.section("pass_hat_k")
    k = section.get("k", values.whole_number(1, 1_000_000), 1)
    minimum = section.get("min", values.rate, Fraction(1))
    if k > trials:
        section.refuse("k", f"pass^{k} is undefined for {trials} trials of a case. Set trials to {k} or more.")
    return k, minimum


def _sequential(entry: Section, decide: str) -> SequentialSettings | None:
    if decide != "sequential":
        return None
    section = entry.section("sequential")
    if not isinstance(section.value, Mapping):
        entry.refuse(
            "decide", "Deciding sequentially needs `sequential: {p0: …, p1: …}`: not good enough, good enough."
        )
        return None
    test = SequentialSettings(
        p0=section.get("p0", values.open_rate, Fraction(1, 2)),
        p1=section.get("p1", values.rate, Fraction(1)),
        alpha=section.get("alpha", values.open_rate, Fraction(1, 20)),
        beta=section.get("beta", values.open_rate, Fraction(1, 10)),
    )
    if test.p0 >= test.p1:
        section.refuse("p0", "p0 must be below p1: it is the rate that is not good enough.")
    if test.alpha + test.beta >= 1:
        section.refuse("alpha", "alpha and beta together must stay below 1.")
    return test


def _quarantine(entry: Section) -> Quarantine:
    return Quarantine(
        session=entry.from_file("session", values.text, ""),
        owner=entry.from_file("owner", values.text, ""),
        until=entry.from_file("until", values.iso_date, "0001-01-01"),
        reason=entry.from_file("reason", str, ""),
        location=entry.location(),
    )


def _variables(section: Section) -> Mapping[str, Json]:
    """Those of the file, beaten by ABS_VAR_ variables, beaten by those given outside."""
    merged: dict[str, Json] = dict(section.from_file("variables", values.assignments, {}))
    for name, value in section.source.environ.items():
        if name.startswith(_VARIABLE_PREFIX) and value and name != _VARIABLE_PREFIX:
            merged[name.removeprefix(_VARIABLE_PREFIX)] = value
    given = section.given("variables")
    if given is not None:
        merged.update(given.value)
    return merged


def _actions(value: Json) -> Mapping[str, str]:
    if not isinstance(value, Mapping):
        raise ValueError("Write a mapping of action to category.")
    category = values.choice(*_CATEGORIES)
    return {str(action): category(item) for action, item in value.items()}


def _as_written(written: Json, rate: Fraction) -> str:
    """The threshold as people read it: as written where it was a text with a sign, else as a percentage."""
    if isinstance(written, str):
        return written.strip()
    percent = rate * 100
    return f"{percent.numerator}%" if percent.denominator == 1 else f"{float(percent):.12g}%"
