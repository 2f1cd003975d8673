"""Derived cases: a tool refuses what its contract forbids, before any effect, in words the model can act on."""

from __future__ import annotations

from collections.abc import Iterator

from abs_gate.evaluators.json_schema import SchemaUnusable
from abs_gate.outcomes import Outcome
from abs_gate.verification.derive import FaultyCall, derive_faulty_calls
from abs_gate.verification.effects import show
from abs_gate.verification.model import AnswerKind, CaseResult, Check, ToolAnswer, judged
from abs_gate.verification.subject import Subject

CANNOT_TELL = "no answer came, so it is not known whether it was refused"


def verify_inputs(subject: Subject) -> Iterator[CaseResult]:
    """One case for each derived faulty call."""
    tool = subject.contract
    subject.reset()
    valid = subject.fresh_call()
    if subject.key_is_argument and subject.key_name not in valid:
        valid[str(subject.key_name)] = subject.new_key()
    try:
        faulty = derive_faulty_calls(tool.input_schema, valid)
    except SchemaUnusable as problem:
        yield _case(
            subject, "input schema", "", (Check(name="derive", outcome=Outcome.UNVERIFIED, reason=str(problem)),)
        )
        return
    for call in faulty:
        watch = subject.watch()
        answer = subject.call_as_given(call.arguments)
        checks = [_refused(call, answer), watch.check_nothing("refused before any effect")]
        if answer.is_refusal:
            checks += [_names_field(call, answer), subject.check_declared(answer)]
        yield _case(subject, call.name, call.fault, tuple(checks))


def _refused(call: FaultyCall, answer: ToolAnswer) -> Check:
    if answer.is_refusal:
        return judged("refused", "")
    if answer.kind is AnswerKind.NO_ANSWER:
        return Check(name="refused", outcome=Outcome.UNVERIFIED, reason=CANNOT_TELL)
    reason = f"{show(dict(call.arguments))} was accepted, although its schema forbids it: {call.why}"
    return judged("refused", reason)


def _names_field(call: FaultyCall, answer: ToolAnswer) -> Check:
    name = "message names the field"
    if not call.field:
        return Check(name=name, outcome=Outcome.SKIPPED, reason="more than one field would do")
    text = f"{answer.message}\n{answer.raw}"
    if call.field.casefold() in text.casefold():
        return judged(name, "")
    shown = answer.message or answer.raw or "(nothing)"
    return Check(
        name=name,
        outcome=Outcome.FAILED,
        reason=f"the message does not say that {call.field} is wrong, so the model cannot mend it: {show(shown)}",
    )


def _case(subject: Subject, name: str, fault: str, checks: tuple[Check, ...]) -> CaseResult:
    tool = subject.contract
    return CaseResult(
        id=f"{tool.tool_id}/input/{name}",
        tool_id=tool.tool_id,
        kind="input",
        name=name if not fault else f"refuses {name}",
        checks=checks,
        location=tool.location,
    )
