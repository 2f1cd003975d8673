"""Whether a change makes its own policy weaker: told loudly, so that nobody lowers the bar to get under it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from msgspec.structs import replace

from abs_gate.findings import Json
from abs_gate.settings.matching import policy_for
from abs_gate.settings.model import JudgeSettings, SessionPolicy, SessionsSettings, Settings

_ACTIONS = ("ignore", "note", "review", "block")
_LINT = ("none", "error", "warning", "info")
_DECISIONS = ("not_worse", "observed", "sequential", "demonstrated")
_ANY = "any session"


def compare_policies(
    base: Settings, head: Settings, paths: Iterable[str] = (), *, today: str = "0001-01-01"
) -> tuple[str, ...]:
    """How the head's policy is weaker than the base's, a sentence each. `paths` are the session files of both.

    Without them the patterns of both policies stand for the files. `today` is an ISO date: a quarantine that ended
    before it weakens nothing.
    """
    found = [
        *_sessions(base.sessions, head.sessions, paths),
        *_quarantines(base.sessions, head.sessions, today),
        *_contracts(base, head),
    ]
    found += [f"verify.paths no longer holds {path}" for path in _missing(base.verify, head.verify)]
    if base.threshold_policy == "block" and head.threshold_policy != "block":
        found.append("threshold_policy is no longer block")
    return tuple(dict.fromkeys(found))


def trust_base(head: Settings, base: Settings) -> Settings:
    """The head's settings with what the base's file has as well marked as named by the base.

    These are addresses, and at them the names of the variables that hold secrets.
    """
    agent = replace(head.agent, secret_names=head.agent.secret_names - base.agent.secret_names)
    if agent.url_origin == "file" and agent.url is not None and agent.url == base.agent.url:
        agent = replace(agent, url_origin="base")
    auth = agent.auth
    if auth.endpoint_origin == "file" and auth.token_url is not None and auth.token_url == base.agent.auth.token_url:
        agent = replace(agent, auth=replace(auth, endpoint_origin="base"))
    return replace(head, agent=agent, judges=tuple(_trust_judge(judge, base.judges) for judge in head.judges))


def _trust_judge(judge: JudgeSettings, known: Iterable[JudgeSettings]) -> JudgeSettings:
    same = [each for each in known if each.url == judge.url]
    if judge.url_origin != "file" or not same:
        return judge
    names = frozenset(name for each in same for name in each.secret_names)
    return replace(judge, url_origin="base", secret_names=judge.secret_names - names)


def _sessions(base: SessionsSettings, head: SessionsSettings, paths: Iterable[str]) -> Iterator[str]:
    files = list(paths) or [policy.match or "" for policy in (*base.policy, *head.policy)]
    for file in dict.fromkeys(files):
        name = file or _ANY
        before, after = policy_for(base, file), policy_for(head, file)
        yield from _policies(name, before, after)
        was, now = before.trials or base.trials, after.trials or head.trials
        if now < was:
            yield f"{name}: trials lowered from {was} to {now}"
    for path in base.paths:
        if path not in head.paths:
            yield f"sessions.paths no longer holds {path}"


def _policies(name: str, before: SessionPolicy, after: SessionPolicy) -> Iterator[str]:
    if before.critical and not after.critical:
        yield f"{name}: no longer critical"
    if after.pass_rate < before.pass_rate:
        yield f"{name}: pass_rate lowered from {before.pass_rate_text} to {after.pass_rate_text}"
    if _DECISIONS.index(after.decide) < _DECISIONS.index(before.decide):
        yield f"{name}: decides by {after.decide} instead of {before.decide}"
    if before.confidence is not None and after.confidence is not None and after.confidence < before.confidence:
        yield f"{name}: confidence lowered from {float(before.confidence):g} to {float(after.confidence):g}"
    if after.min_coverage < before.min_coverage:
        yield f"{name}: min_coverage lowered from {float(before.min_coverage):g} to {float(after.min_coverage):g}"
    if (after.max_unverified or 0) > (before.max_unverified or 0):
        yield f"{name}: max_unverified raised from {before.max_unverified or 0} to {after.max_unverified}"
    if before.per == "row" and after.per != "row":
        yield f"{name}: no longer decided row by row"
    if before.unexpected_calls == "fail" and after.unexpected_calls != "fail":
        yield f"{name}: unexpected calls no longer fail"
    if before.baseline == "gate" and after.baseline != "gate":
        yield f"{name}: a regression against the baseline no longer fails"
    if before.pass_hat_k is not None and (after.pass_hat_k is None or after.pass_hat_k < before.pass_hat_k):
        yield f"{name}: pass_hat_k removed or lowered"
    if before.sequential is not None and after.sequential is not None:
        old, new = before.sequential, after.sequential
        if (new.p0, new.p1) < (old.p0, old.p1) or new.alpha > old.alpha:
            yield f"{name}: the sequential test asks for less"
    for key, forbidden in before.forbid.items():
        for word in sorted(set(forbidden) - set(after.forbid.get(key, ()))):
            yield f"{name}: forbid.{key} no longer holds {word}"
    if gone := [entry for entry in before.effects if entry not in after.effects]:
        yield f"{name}: effects no longer hold {len(gone)} of {len(before.effects)} entries, or hold them otherwise"


def _quarantines(base: SessionsSettings, head: SessionsSettings, today: str) -> Iterator[str]:
    before = {entry.session: entry.until for entry in base.quarantine}
    for entry in head.quarantine:
        if not entry.holds(today):
            continue
        if entry.session not in before:
            yield f'session "{entry.session}" quarantined until {entry.until}'
        elif entry.until > before[entry.session]:
            yield f'quarantine of session "{entry.session}" prolonged to {entry.until}'


def _missing(before: Mapping[str, Json], after: Mapping[str, Json]) -> list[str]:
    kept = {path.rstrip("/") for path in after.get("paths") or ()}
    return [path for path in before.get("paths") or () if path.rstrip("/") not in kept]


def _contracts(base: Settings, head: Settings) -> Iterator[str]:
    old, new = base.contracts, head.contracts
    for word in sorted(old.block - new.block):
        yield f"contracts.block no longer holds {word}"
    for word in sorted(old.review - new.review - new.block):
        yield f"contracts.review no longer holds {word}"
    for rule in sorted(old.rules.keys() | new.rules.keys()):
        before, after = old.rules.get(rule), new.rules.get(rule)
        if after is not None and (before is None or _ACTIONS.index(after) < _ACTIONS.index(before)):
            if before is not None or after != "block":
                yield f"contract rule {rule} set to {after}" + (f" instead of {before}" if before else "")
        elif after is None and before == "block":
            yield f"contract rule {rule} is no longer set to block"
    if new.base != old.base:
        yield f"contracts.base changed from {old.base} to {new.base}: contracts are compared with something else"
    for path in old.paths:
        if path not in new.paths:
            yield f"contracts.paths no longer holds {path}"
    for profile in old.providers:
        if profile not in new.providers:
            yield f"contracts.providers no longer holds {profile}"
    if _LINT.index(new.fail_on_lint) < _LINT.index(old.fail_on_lint):
        yield f"contracts.fail_on_lint relaxed from {old.fail_on_lint} to {new.fail_on_lint}"
    if new.review_label is not None and new.review_label != old.review_label:
        yield f"contracts.review_label set to {new.review_label}"
