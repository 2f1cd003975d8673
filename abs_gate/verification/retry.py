"""Whether a write is safe to retry: one key, one effect, whatever happens to the answer."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor

from abs_gate.evaluators.json_schema import SchemaUnusable, find_violations
from abs_gate.findings import Json
from abs_gate.outcomes import Outcome
from abs_gate.verification.effects import contains, show
from abs_gate.verification.model import AnswerKind, CaseResult, Check, ToolAnswer, judged
from abs_gate.verification.subject import Subject

DUPLICATES = 4
"""Calls sent at the same moment."""
BURSTS = 4
"""Times that is done, each with a new key: a race that is lost most times is found by one of them."""
LONGEST_WAIT_S = 0.25
"""How long a declared retention is waited for: enough to find a key that is dropped at once, not hours."""


def verify_retry(subject: Subject) -> CaseResult:
    """Everything about repeating one write. The case's name is the verdict: safe, not safe, could not verify."""
    checks = list(_with_key(subject)) if subject.key_name else []
    checks += _without_key(subject)
    outcomes = {check.outcome for check in checks}
    verdict = "safe to retry"
    if Outcome.FAILED in outcomes:
        verdict = "not safe to retry"
    elif Outcome.UNVERIFIED in outcomes or Outcome.INCONCLUSIVE in outcomes:
        verdict = "could not verify whether it is safe to retry"
    tool = subject.contract
    return CaseResult(
        id=f"{tool.tool_id}/retry",
        tool_id=tool.tool_id,
        kind="retry",
        name=verdict,
        checks=tuple(checks),
        location=tool.places.get(("policy", "idempotency_key"), tool.location),
        details={"verdict": verdict},
    )


def _with_key(subject: Subject) -> list[Check]:
    subject.reset()
    arguments, key = subject.fresh_call(), subject.new_key()
    watch = subject.watch()
    first = subject.call(arguments, key)
    if first.kind is not AnswerKind.RESULT:
        reason = f"the valid call was not accepted: {first.message or first.kind.value}"
        return [Check(name="valid call", outcome=Outcome.UNVERIFIED, reason=reason)]
    second = subject.call(arguments, key)
    return [
        _same_receipt("same key, same payload", first, second),
        watch.check_effects("same key, same payload: one effect", 1),
        *_other_payload(subject, arguments, key, first),
        *_within_retention(subject, arguments, key, first),
        *_other_scope(subject, arguments, key),
        *_at_once(subject),
        *_lost_answer(subject),
    ]


def _same_receipt(name: str, first: ToolAnswer, later: ToolAnswer) -> Check:
    """A repeat gives the first result again; it may add that it is one."""
    if later.kind is AnswerKind.NO_ANSWER:
        return Check(name=name, outcome=Outcome.UNVERIFIED, reason="the repeat got no answer")
    if later.kind is not AnswerKind.RESULT:
        reason = f"the repeat was refused instead of giving the first result: {later.message or later.kind.value}"
        return judged(name, reason)
    if not contains(later.content, first.content):
        reason = f"the repeat gave another result: {show(first.content)}, then {show(later.content)}"
        return judged(name, reason)
    return judged(name, "")


def _other_payload(subject: Subject, arguments: Mapping[str, Json], key: str, first: ToolAnswer) -> list[Check]:
    name = "same key, other payload: refused"
    other = other_payload(subject, arguments)
    if other is None:
        return [Check(name=name, outcome=Outcome.SKIPPED, reason="no other valid payload is known; give `vary`")]
    watch = subject.watch()
    answer = subject.call(other, key)
    nothing = watch.check_nothing("same key, other payload: no effect")
    if answer.is_refusal:
        return [judged(name, ""), nothing]
    if answer.kind is AnswerKind.NO_ANSWER:
        return [Check(name=name, outcome=Outcome.UNVERIFIED, reason="no answer came"), nothing]
    reason = f"{show(other)} was accepted under the key of {show(dict(arguments))}: {show(answer.content)}"
    if contains(answer.content, first.content):
        reason = f"{show(other)} got the result of {show(dict(arguments))}, as if it had been done"
    return [judged(name, reason), nothing]


def _at_once(subject: Subject) -> list[Check]:
    """Duplicates truly in parallel: one takes effect, the others get its receipt or a conflict."""
    name = "concurrent duplicates"
    if not subject.driver.is_concurrent:
        reason = "its one process answers one call after the other; `concurrent: true` lets several serve"
        return [Check(name=name, outcome=Outcome.SKIPPED, reason=reason)]
    found: list[Check] = []
    with ThreadPoolExecutor(DUPLICATES) as pool:
        for burst in range(BURSTS):
            checks = _burst(subject, pool, name, is_first=burst == 0)
            if checks is None:
                break
            found = checks
            if any(check.outcome is Outcome.FAILED for check in checks):
                break
    return found


def _burst(subject: Subject, pool: ThreadPoolExecutor, name: str, *, is_first: bool) -> list[Check] | None:
    """Duplicates of one new call under one new key. None where a later one is not accepted at all: stock is finite."""
    subject.reset()
    arguments, key = subject.fresh_call(), subject.new_key()
    watch = subject.watch()
    barrier = threading.Barrier(DUPLICATES)

    def send() -> ToolAnswer:
        barrier.wait()
        return subject.call(arguments, key)

    answers = [future.result() for future in [pool.submit(send) for _ in range(DUPLICATES)]]
    results = [answer for answer in answers if answer.kind is AnswerKind.RESULT]
    if not results and not is_first:
        return None
    if not results:
        checks = [Check(name=name, outcome=Outcome.FAILED, reason="none of the concurrent calls succeeded")]
    else:
        differing = next((each for each in results if not _alike(each.content, results[0].content)), None)
        reason = ""
        if differing is not None:
            reason = f"one key gave two results: {show(results[0].content)}, {show(differing.content)}"
        odd = next((each for each in answers if each.kind is AnswerKind.PROTOCOL_ERROR), None)
        if odd is not None and not reason:
            reason = f"a concurrent duplicate got neither the receipt nor a conflict: {odd.message}"
        checks = [judged(name, reason)]
        checks += [subject.check_declared(each) for each in answers if each.is_refusal and each is not odd][:1]
    return [*checks, watch.check_effects("concurrent duplicates: one effect", 1)]


def _lost_answer(subject: Subject) -> list[Check]:
    """The effect happens, the answer is lost, the caller tries again."""
    subject.reset()
    arguments, key = subject.fresh_call(), subject.new_key()
    watch = subject.watch()
    lost = subject.call_and_lose(arguments, key)
    again = subject.call(arguments, key)
    name = "lost answer, then retry"
    if not subject.driver.can_lose_answers:
        name += " (the answer was thrown away: there is no connection to cut)"
    if again.kind is AnswerKind.RESULT:
        check = judged(name, "")
        if lost.kind is AnswerKind.RESULT and not contains(again.content, lost.content):
            check = Check(
                name=name, outcome=Outcome.FAILED, reason=f"the retry gave another result: {show(again.content)}"
            )
    else:
        outcome = Outcome.UNVERIFIED if again.kind is AnswerKind.NO_ANSWER else Outcome.FAILED
        check = Check(
            name=name, outcome=outcome, reason=f"the retry did not succeed: {again.message or again.kind.value}"
        )
    return [check, watch.check_effects("lost answer, then retry: one effect", 1)]


def _without_key(subject: Subject) -> list[Check]:
    if subject.key_name and subject.key_is_required:
        if not subject.key_is_argument:
            watch = subject.watch()
            answer = subject.call(subject.fresh_call(), None)
            refused = Outcome.PASSED if answer.is_refusal else Outcome.FAILED
            reason = "" if answer.is_refusal else "a call without the required key was accepted"
            return [
                Check(name="no key: refused", outcome=refused, reason=reason),
                watch.check_nothing("no key: no effect"),
            ]
        return []
    subject.reset()
    arguments = subject.fresh_call()
    watch = subject.watch()
    first, second = subject.call(arguments, None), subject.call(arguments, None)
    name = "no key: the same write twice"
    if first.kind is not AnswerKind.RESULT:
        reason = f"the valid call was not accepted: {first.message or first.kind.value}"
        return [Check(name=name, outcome=Outcome.UNVERIFIED, reason=reason)]
    difference = watch.difference()
    if difference is None:
        if second.is_refusal:
            return [judged(name, "")]
        return [watch.check_effects(name, 1)]
    if difference.effects <= 1:
        return [judged(name, "")]
    if subject.key_name:
        reason = (
            f"wrote twice: {subject.key_name} is optional, so a retry without it repeats the effect. "
            "Make it required, and create it in code once for each intended action"
        )
    else:
        reason = "wrote twice: the contract declares no idempotency key, so a retry repeats the effect"
    return [judged(name, reason)]


def _within_retention(subject: Subject, arguments: Mapping[str, Json], key: str, first: ToolAnswer) -> list[Check]:
    declared = subject.contract.policy.idempotency_key
    retention = declared.get("retention_s") if isinstance(declared, Mapping) else None
    if retention is None:
        return []
    name = f"key is kept for {retention} s"
    if not isinstance(retention, (int, float)) or retention <= 0:
        return [Check(name=name, outcome=Outcome.UNVERIFIED, reason="retention_s is not a number of seconds")]
    wait = min(retention * 0.5, LONGEST_WAIT_S)
    threading.Event().wait(wait)
    repeat = _same_receipt(name, first, subject.call(arguments, key))
    if repeat.outcome is Outcome.PASSED and wait < retention * 0.5:
        return [Check(name=name, outcome=Outcome.PASSED, reason=f"looked at after {wait:g} s only")]
    return [repeat]


def _other_scope(subject: Subject, arguments: Mapping[str, Json], key: str) -> list[Check]:
    declared = subject.contract.policy.idempotency_key
    scope = declared.get("scope") if isinstance(declared, Mapping) else None
    if not isinstance(scope, str):
        return []
    name = f"the same key in another {scope} is another action"
    other = (subject.vary or {}).get(scope)
    if other is None or scope not in arguments:
        return [Check(name=name, outcome=Outcome.SKIPPED, reason=f"no other {scope} is known; give it in `vary`")]
    watch = subject.watch()
    answer = subject.call({**arguments, scope: other}, key)
    if answer.kind is not AnswerKind.RESULT:
        reason = f"it was not carried out: {answer.message or answer.kind.value}"
        return [judged(name, reason)]
    return [judged(name, ""), watch.check_effects(f"{name}: one effect", 1)]


def other_payload(subject: Subject, arguments: Mapping[str, Json]) -> dict[str, Json] | None:
    """Another valid call: as `vary` says, else with one number or choice changed within the schema."""
    declared = subject.contract.policy.idempotency_key
    scope = declared.get("scope") if isinstance(declared, Mapping) else None
    vary = {name: value for name, value in (subject.vary or {}).items() if name != scope}
    if vary:
        return {**arguments, **vary}
    schema = subject.contract.input_schema
    properties = schema.get("properties") if isinstance(schema, dict) else None
    for name, own in (properties or {}).items():
        if name == subject.key_name or name not in arguments or not isinstance(own, dict):
            continue
        for value in _other_values(arguments[name], own):
            changed = {**arguments, name: value}
            try:
                if not find_violations(schema, changed):
                    return changed
            except SchemaUnusable:
                return None
    return None


def _other_values(value: Json, schema: Mapping[str, Json]) -> list[Json]:
    if isinstance(value, bool):
        return [not value]
    if isinstance(value, int):
        return [value + 1, value - 1]
    if isinstance(schema.get("enum"), list):
        return [each for each in schema["enum"] if each != value]
    return []


def _alike(one: Json, other: Json) -> bool:
    return contains(one, other) or contains(other, one)
