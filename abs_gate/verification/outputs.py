"""Derived cases of a success: what the contract promises of it, and nothing more."""

from __future__ import annotations

import time
from collections.abc import Iterator

from abs_gate.findings import Json
from abs_gate.outcomes import Outcome
from abs_gate.verification.model import AnswerKind, CaseResult, Check, ToolAnswer, judged
from abs_gate.verification.subject import Subject

_DEADLINES = {"deadline_ms": 1, "timeout_ms": 1, "deadline_s": 1000, "timeout_s": 1000}


def verify_output(subject: Subject) -> CaseResult:
    """The valid call: accepted, conforming, in time, and with no other effect than the tool declares."""
    tool = subject.contract
    subject.reset()
    watch = subject.watch()
    began = time.monotonic()
    key = subject.new_key() if subject.key_name else None
    answer = subject.call(subject.fresh_call(), key)
    took_ms = round((time.monotonic() - began) * 1000)
    checks = [accepted(answer), subject.check_output(answer)]
    if answer.is_refusal:
        checks.append(subject.check_declared(answer))
    if subject.is_read_only:
        checks.append(watch.check_nothing("a read-only tool changes nothing"))
    elif answer.kind is AnswerKind.RESULT:
        checks.append(watch.check_effects("a write has one effect", 1))
    checks += _in_time(tool.runtime, took_ms)
    return CaseResult(
        id=f"{tool.tool_id}/output",
        tool_id=tool.tool_id,
        kind="provider",
        name="the valid call succeeds as declared",
        checks=tuple(checks),
        location=tool.location,
        duration_ms=took_ms,
    )


def verify_errors(subject: Subject) -> Iterator[CaseResult]:
    """One case for each declared error that nothing brought about: it is a promise nobody looked at."""
    tool = subject.contract
    for error in tool.errors:
        if error.code in subject.seen_codes:
            continue
        reason = f"no case brings {error.code} about: write one with `expect: {{error: {{code: {error.code}}}}}`"
        yield CaseResult(
            id=f"{tool.tool_id}/errors/{error.code}",
            tool_id=tool.tool_id,
            kind="provider",
            name=f"declared error {error.code}",
            checks=(Check(name="brought about", outcome=Outcome.UNVERIFIED, reason=reason),),
            location=tool.places.get(("errors", error.code), tool.location),
        )


def accepted(answer: ToolAnswer, name: str = "accepted") -> Check:
    """A check that a call succeeded."""
    if answer.kind is AnswerKind.RESULT:
        return judged(name, "")
    if answer.kind is AnswerKind.NO_ANSWER:
        return Check(name=name, outcome=Outcome.UNVERIFIED, reason=f"no answer came: {answer.message}")
    said = answer.message or answer.code or answer.kind.value
    return Check(name=name, outcome=Outcome.FAILED, reason=f"a valid call was refused: {said}")


def _in_time(runtime: Json, took_ms: int) -> list[Check]:
    for key, factor in _DEADLINES.items():
        declared = runtime.get(key)
        if isinstance(declared, int | float) and not isinstance(declared, bool) and declared > 0:
            limit = declared * factor
            reason = f"it took {took_ms:,} ms, the contract promises {limit:g} ms" if took_ms > limit else ""
            outcome = Outcome.FAILED if reason else Outcome.PASSED
            return [Check(name="answered within the declared deadline", outcome=outcome, reason=reason)]
    return []
