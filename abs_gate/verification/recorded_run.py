"""A recorded run of an agent: its calls against schemas, retries and the system of record."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from msgspec import Struct

from abs_gate.evaluators.json_schema import SchemaUnusable, find_violations
from abs_gate.findings import Json, Location
from abs_gate.outcomes import Outcome
from abs_gate.verification.effects import Difference, Watch, contains
from abs_gate.verification.model import AnswerKind, Bench, CaseResult, Check, ToolAnswer, judged
from abs_gate.verification.subject import Subject, fill_fresh
from abs_gate.verification.suite import RunCall, RunSpec, Said


class _Made(Struct, frozen=True, kw_only=True):
    call: RunCall
    subject: Subject
    arguments: Mapping[str, Json]
    answer: ToolAnswer
    difference: Difference | None


def verify_run(run: RunSpec, subjects: Mapping[str, Subject], bench: Bench) -> Iterator[CaseResult]:
    """Make the calls in order against the tools, and check them, their repeats and what was said of them."""
    ledger = Watch(None if run.probe is None else bench.probe(run.probe)).start()
    made = {call.id: _make(call, subjects[call.tool], bench) for call in run.calls}
    for each in made.values():
        yield _case(each, "input", f"{each.call.id} {each.subject.contract.name}", _schema_check(each))
    for each in made.values():
        if each.call.retries is not None:
            yield _retry(each, made[each.call.retries])
    whole = ledger.difference()
    for said in run.said:
        yield _claim(said, run.unit, whole)
    for each in made.values():
        if each.subject.is_read_only:
            yield _case(each, "effect", f"{each.call.id} {each.subject.contract.name} changed nothing", _nothing(each))


def _make(call: RunCall, subject: Subject, bench: Bench) -> _Made:
    arguments = fill_fresh(bench.scope.resolve(call.arguments))
    watch = subject.watch()
    answer = subject.driver.call(arguments) if call.key is None else subject.call(arguments, call.key)
    return _Made(call=call, subject=subject, arguments=arguments, answer=answer, difference=watch.difference())


def _schema_check(made: _Made) -> Check:
    """What the agent asked for against the tool's schema; and that the tool itself refuses what is against it."""
    try:
        violations = find_violations(made.subject.contract.input_schema, dict(made.arguments))
    except SchemaUnusable as problem:
        return Check(name="arguments", outcome=Outcome.UNVERIFIED, reason=str(problem))
    if not violations:
        return judged("arguments", "")
    reason = "; ".join(violations)
    if made.answer.kind is AnswerKind.RESULT:
        reason += "; the tool carried it out all the same"
    return judged("arguments", reason)


def _retry(made: _Made, first: _Made) -> CaseResult:
    key_name = made.subject.key_name
    key = made.call.key or (made.arguments.get(key_name) if key_name else None)
    name = f"{made.call.id} retries {first.call.id}, {f'key {key}' if key else 'no key'}"
    if first.answer.kind is not AnswerKind.RESULT:
        check = Check(name="one effect", outcome=Outcome.UNVERIFIED, reason="the first call did not succeed")
    elif made.difference is None:
        check = Check(name="one effect", outcome=Outcome.UNVERIFIED, reason="no probe looks at what this tool changes")
    elif made.difference.effects:
        need = "required" if made.subject.key_is_required else "optional"
        hint = f": {key_name} is {need}, and was not sent" if key_name and not key else ""
        check = Check(name="one effect", outcome=Outcome.FAILED, reason=f"wrote twice{hint}")
    else:
        check = Check(name="one effect", outcome=Outcome.PASSED, reason="deduplicated")
    return _case(made, "retry", name, check)


def _nothing(made: _Made) -> Check:
    name = "a read-only tool changes nothing"
    if made.difference is None:
        return Check(name=name, outcome=Outcome.UNVERIFIED, reason="no probe looks at what this tool changes")
    reason = str(made.difference) if made.difference.is_changed else ""
    return judged(name, reason)


def _claim(said: Said, unit: str, whole: Difference | None) -> CaseResult:
    told = f"{said.about} said {count_of(said.count, unit)}"
    if whole is None:
        check = Check(name="claim", outcome=Outcome.UNVERIFIED, reason="no probe shows what was done")
        return _claim_case(told, said.location, check)
    shown = sum(contains(entry, said.where) for entry in whole.added)
    reason = compare_claim(said.count, shown)
    outcome = Outcome.FAILED if reason else Outcome.PASSED
    return _claim_case(f"{told}, ledger {shown}", said.location, Check(name="claim", outcome=outcome, reason=reason))


def compare_claim(said: int, shown: int) -> str:
    """What is wrong with a claim, in the words of the field; "" for one that holds."""
    if said == shown:
        return ""
    if shown < said:
        return "claimed, not done" if shown == 0 else f"claimed {said}, done {shown}"
    return "duplicate: done more often than said" if said else "done, but not said"


def count_of(number: int, unit: str) -> str:
    """`1 refund`, `0 refunds`."""
    return f"{number} {unit}" if number == 1 else f"{number} {unit}s"


def _claim_case(name: str, location: Location, check: Check) -> CaseResult:
    return CaseResult(
        id=f"run/claim/{name}", tool_id="run", kind="claim", name=name, checks=(check,), location=location
    )


def _case(made: _Made, kind: str, name: str, check: Check) -> CaseResult:
    return CaseResult(
        id=f"run/{kind}/{name}",
        tool_id=made.subject.contract.tool_id,
        kind=kind,
        name=name,
        checks=(check,),
        location=made.call.location,
    )
