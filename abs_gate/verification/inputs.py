"""Derived cases: a tool refuses what its contract forbids, before any effect, in words the model can act on."""

from __future__ import annotations

from collections.abc import Iterator

from abs_gate.evaluators.json_schema import SchemaUnusable
from abs_gate.outcomes import Outcome
from abs_gate.verification.derive import FaultyCall, derive_faulty_calls
from abs_gate.verification.effects import show
from abs_gate.verification.model import AnswerKind, CaseResult, Check, ToolAnswer, judged
from abs_gate.verification.subject import Subject, new_token, replace_text

CANNOT_TELL = "no answer came, so it is not known whether it was refused"


def verify_inputs(subject: Subject) -> Iterator[CaseResult]:
    """One case for each derived faulty call."""
    tool = subject.contract
    subject.reset()
    token = new_token()
    valid = subject.call_with(token)
    try:
        faulty = derive_faulty_calls(tool.input_schema, valid)
    except SchemaUnusable as problem:
        yield _case(
            subject, "input schema", "", (Check(name="derive", outcome=Outcome.UNVERIFIED, reason=str(problem)),)
        )
        return
    for call in faulty:
        watch = subject.watch()
        # Each call has values of its own: one that is accepted by mistake must not get in the way of the next.
        arguments = replace_text(call.arguments, token, new_token())
        answer = subject.call_as_given(arguments)
        checks = [_refused(call, answer), watch.check_nothing("refused before any effect")]
        if answer.is_refusal:
            checks += [_names_field(call, answer), _fitting_code(subject, answer)]
        yield _case(subject, call.name, call.fault, tuple(checks))


def _fitting_code(subject: Subject, answer: ToolAnswer) -> Check:
    """The code that the suite gives malformed arguments; where it gives none, any that the contract declares."""
    declared = subject.check_declared(answer)
    if subject.refusal is None or declared.outcome is Outcome.FAILED:
        return declared
    reason = f"malformed arguments get {answer.code or 'no code'}, and {subject.refusal} was expected"
    return judged("error code", "" if answer.code == subject.refusal else reason)


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
