"""Written cases: a call in a known state, and what must be seen of it."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor

from abs_gate.findings import Json
from abs_gate.outcomes import Outcome
from abs_gate.verification.effects import Watch, contains, matches_expectation, show
from abs_gate.verification.model import AnswerKind, Bench, CaseResult, Check, ToolAnswer, judged
from abs_gate.verification.outputs import accepted
from abs_gate.verification.script import answers_in_turn
from abs_gate.verification.subject import Subject, fill_fresh
from abs_gate.verification.suite import CaseSpec


def verify_case(case: CaseSpec, subject: Subject, bench: Bench) -> CaseResult:
    """Make the calls of a written case and check everything it expects. Its state is already there."""
    expect = bench.scope.resolve(case.expect)
    if case.provider:
        bench.stand_in.play(answers_in_turn([bench.scope.resolve(answer) for answer in case.provider]))
    watches = _watches(expect, subject, bench)
    began = time.monotonic()
    answers = _answers(case, subject, bench)
    took_ms = round((time.monotonic() - began) * 1000)
    checks = list(_answer_checks(case, expect, subject, answers))
    if isinstance(expect.get("error"), Mapping) and "code" in expect["error"]:
        subject.seen_codes.add(expect["error"]["code"])
    checks += _effect_checks(expect, subject, watches)
    if expect.get("leaks") == "none" or case.provider:
        checks.append(check_leaks(answers, bench))
    tool = subject.contract
    return CaseResult(
        id=f"{tool.tool_id}/{case.kind}/{case.name}",
        tool_id=tool.tool_id,
        kind=case.kind,
        name=case.name,
        checks=tuple(checks),
        location=case.location,
        duration_ms=took_ms,
    )


def check_leaks(answers: list[ToolAnswer], bench: Bench) -> Check:
    """A check that nothing planted and nothing internal came through to what a model reads."""
    found = {leak: None for answer in answers for leak in bench.canaries.find(f"{answer.raw}\n{answer.message}")}
    reason = f"the answer gives away {', '.join(found)}" if found else ""
    return judged("no leaks", reason)


def check_error(answer: ToolAnswer, expected: Json) -> list[Check]:
    """Checks of an error against what a case expects of it."""
    name = "refused"
    if answer.kind is AnswerKind.NO_ANSWER:
        return [Check(name=name, outcome=Outcome.UNVERIFIED, reason=f"no answer came: {answer.message}")]
    if answer.kind is AnswerKind.RESULT:
        reason = f"it succeeded, and an error was expected: {show(answer.content)}"
        return [judged(name, reason)]
    checks = [judged(name, "")]
    wanted = expected if isinstance(expected, Mapping) else {}
    if "code" in wanted:
        checks.append(_equal("error code", answer.code, wanted["code"]))
    if "retryable" in wanted:
        checks.append(_equal("retryable", answer.retryable, wanted["retryable"]))
    if "message" in wanted:
        text = str(wanted["message"])
        held = text.casefold() in (answer.message or answer.raw).casefold()
        reason = "" if held else f"the message does not hold {show(text)}: {show(answer.message)}"
        checks.append(judged("message", reason))
    return checks


def _answers(case: CaseSpec, subject: Subject, bench: Bench) -> list[ToolAnswer]:
    arguments = subject.fresh_call() if case.arguments is None else fill_fresh(bench.scope.resolve(case.arguments))
    key = None if case.key is None else str(fill_fresh(bench.scope.resolve(case.key)))
    if key is None and case.arguments is None and subject.key_name:
        key = subject.new_key()
    context = bench.scope.resolve(case.context)

    def call() -> ToolAnswer:
        if key is None:
            return subject.driver.call(arguments, context=context)
        return subject.call(arguments, key, context)

    if case.at_once and case.repeat > 1:
        barrier = threading.Barrier(case.repeat)

        def send() -> ToolAnswer:
            barrier.wait()
            return call()

        with ThreadPoolExecutor(case.repeat) as pool:
            return [future.result() for future in [pool.submit(send) for _ in range(case.repeat)]]
    if case.lose_answer:
        if key is None:
            subject.driver.call_and_lose(arguments)
        else:
            subject.call_and_lose(arguments, key)
    return [call() for _ in range(case.repeat)]


def _answer_checks(
    case: CaseSpec, expect: Mapping[str, Json], subject: Subject, answers: list[ToolAnswer]
) -> Iterator[Check]:
    first = answers[0]
    if "error" in expect:
        for answer in answers:
            yield from check_error(answer, expect["error"])
    elif "result" in expect or case.kind not in ("claim", "effect") or expect.get("effects") is None:
        for answer in answers:
            if not (case.at_once and answer.is_refusal and any(each.kind is AnswerKind.RESULT for each in answers)):
                yield accepted(answer)
    if "result" in expect and first.kind is AnswerKind.RESULT:
        wanted = expect["result"]
        for answer in answers:
            if answer.kind is AnswerKind.RESULT and not contains(answer.content, wanted):
                reason = f"the result has to hold {show(wanted)}, and is {show(answer.content)}"
                yield judged("result", reason)
                break
        else:
            yield judged("result", "")
    for answer in answers:
        if answer.kind is AnswerKind.RESULT:
            yield subject.check_output(answer)
            break
    for answer in answers:
        if answer.is_refusal:
            yield subject.check_declared(answer)
            break
    results = [answer for answer in answers if answer.kind is AnswerKind.RESULT]
    if len(answers) > 1 and len(results) > 1 and (case.key is not None or case.arguments is None):
        alike = all(
            contains(each.content, results[0].content) or contains(results[0].content, each.content) for each in results
        )
        reason = "" if alike else f"the repeats gave different results: {show([each.content for each in results])}"
        yield judged("one receipt", reason)


def _watches(expect: Mapping[str, Json], subject: Subject, bench: Bench) -> dict[str, Watch]:
    """By probe; under "" the tool's own."""
    effects = expect.get("effects")
    if isinstance(effects, Mapping) and not effects.keys() & {"added", "removed"}:
        return {name: Watch(bench.probe(name)).start() for name in effects}
    return {"": subject.watch()} if effects is not None or subject.is_read_only else {}


def _effect_checks(expect: Mapping[str, Json], subject: Subject, watches: Mapping[str, Watch]) -> Iterator[Check]:
    effects = expect.get("effects")
    for name, watch in watches.items():
        wanted = effects[name] if name and isinstance(effects, Mapping) else effects
        if wanted is None:
            yield watch.check_nothing("a read-only tool changes nothing")
        else:
            label = f"effects in {name}" if name else "effects"
            yield watch.check(label, lambda difference, wanted=wanted: matches_expectation(difference, wanted))  # type: ignore[misc]


def _equal(name: str, found: Json, wanted: Json) -> Check:
    alike = found is wanted or (found == wanted and isinstance(found, bool) == isinstance(wanted, bool))
    reason = "" if alike else f"{name} is {show(found)}, and {show(wanted)} was expected"
    return judged(name, reason)
