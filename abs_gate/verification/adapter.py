"""The adapter as a deterministic consumer: whatever the provider does, one stable, safe result."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping

from abs_gate.findings import Json
from abs_gate.outcomes import Outcome
from abs_gate.verification.cases import check_error, check_leaks
from abs_gate.verification.effects import contains, show
from abs_gate.verification.model import AnswerKind, Bench, CaseResult, Check, ProviderAnswer, ToolAnswer, judged
from abs_gate.verification.outputs import accepted
from abs_gate.verification.script import Ledger, Script, always, read_answer
from abs_gate.verification.subject import Subject, fill_fresh
from abs_gate.verification.suite import AdapterSpec

ELSEWHERE = "/abs-gate-elsewhere"
"""Where a redirect leads: another origin, at which everything succeeds."""
EXTRA_FIELD = "abs_gate_added_later"


class AdapterChecks:
    """Everything that is checked of one adapter, in order."""

    def __init__(self, spec: AdapterSpec, subject: Subject, bench: Bench, prepare: Callable[[], None]) -> None:
        self._spec = spec
        self._subject = subject
        self._bench = bench
        self._prepare = prepare
        self._success: Mapping[str, Json] = bench.scope.resolve(spec.success)
        self._expect: Mapping[str, Mapping[str, Json]] = bench.scope.resolve(spec.expect)

    def run(self) -> Iterator[CaseResult]:
        """One case for each."""
        yield self._case("passes a success on", self._passes_success_on)
        yield self._case("a field added by the provider changes nothing", self._tolerates_fields)
        yield self._case("a duplicate action gives the first receipt", self._duplicate)
        for name, fault in self._timeouts():
            yield self._case(f"{name} is a temporary failure", lambda fault=fault: self._timeout(fault))  # type: ignore[misc]
        if self._spec.ineligible is not None:
            yield self._case("an ineligible action is rejected", self._ineligible)
        for name, answer in self._unknown_shapes():
            yield self._case(f"{name} fails closed", lambda answer=answer: self._unknown(answer))  # type: ignore[misc]
        for name, answer in self._leaking():
            yield self._case(f"nothing leaks from {name}", lambda answer=answer: self._leak(answer))  # type: ignore[misc]

    def _passes_success_on(self) -> list[Check]:
        answer = self._call(Ledger(self._success, key_at=self._spec.key_at))
        return [accepted(answer), self._subject.check_output(answer), self._no_leaks(answer)]

    def _tolerates_fields(self) -> list[Check]:
        plain = self._call(Ledger(self._success, key_at=self._spec.key_at))
        body = self._success.get("body")
        if not isinstance(body, Mapping):
            return [Check(name="tolerated", outcome=Outcome.SKIPPED, reason="the success is no object")]
        extended = {**self._success, "body": {**body, EXTRA_FIELD: {"note": "x"}}}
        answer = self._call(Ledger(extended, key_at=self._spec.key_at))
        checks = [accepted(answer)]
        if answer.kind is AnswerKind.RESULT and plain.kind is AnswerKind.RESULT:
            same = contains(answer.content, plain.content)
            reason = "" if same else f"{show(plain.content)} became {show(answer.content)}"
            checks.append(judged("same result", reason))
        return checks

    def _duplicate(self) -> list[Check]:
        duplicate = None if self._spec.duplicate is None else self._bench.scope.resolve(self._spec.duplicate)
        ledger = Ledger(self._success, duplicate=duplicate, key_at=self._spec.key_at)
        arguments, key = self._arguments(), self._subject.new_key()
        first, second = self._call(ledger, arguments, key), self._call(ledger, arguments, key)
        checks = [accepted(first), accepted(second, "accepted again")]
        if first.kind is AnswerKind.RESULT and second.kind is AnswerKind.RESULT:
            same = contains(second.content, first.content)
            reason = "" if same else f"{show(first.content)}, then {show(second.content)}"
            checks.append(judged("first receipt", reason))
        told = ledger.effects <= 1
        reason = "" if told else f"the provider saw {ledger.effects} actions: the key did not reach it both times"
        checks.append(judged("one action", reason))
        return checks

    def _timeouts(self) -> Iterator[tuple[str, ProviderAnswer]]:
        success = read_answer(self._success)
        if self._spec.hang is not None:
            yield "a silent provider", ProviderAnswer(status=success.status, body=success.body, delay=self._spec.hang)
        yield "a connection cut before the answer", ProviderAnswer(cut="before")
        yield "half an answer", ProviderAnswer(status=success.status, body=success.body, cut="half")
        yield "an overloaded provider", ProviderAnswer(status=503, body={"error": "overloaded"})

    def _timeout(self, fault: ProviderAnswer) -> list[Check]:
        answer = self._call(always(fault))
        return [*self._failure(answer, "timeout", retryable=True), self._no_leaks(answer)]

    def _ineligible(self) -> list[Check]:
        answer = self._call(always(read_answer(self._bench.scope.resolve(self._spec.ineligible))))
        checks = [*self._failure(answer, "ineligible", retryable=False), self._no_leaks(answer)]
        if answer.is_refusal:
            given = bool(answer.message.strip())
            reason = "" if given else "the rejection gives no reason, so the model cannot tell the user why"
            checks.append(judged("reason", reason))
        return checks

    def _unknown_shapes(self) -> Iterator[tuple[str, ProviderAnswer]]:
        status = read_answer(self._success).status
        html = {"Content-Type": "text/html"}
        yield "an empty object", ProviderAnswer(status=status, body={})
        yield "an unknown object", ProviderAnswer(status=status, body={"unexpected": {"state": "?"}})
        yield "a list", ProviderAnswer(status=status, body=[])
        yield "null", ProviderAnswer(status=status, body=None)
        yield "an empty body", ProviderAnswer(status=status, body="")
        yield "a page of HTML", ProviderAnswer(status=status, headers=html, body="<html><h1>It works</h1></html>")
        yield "broken JSON", ProviderAnswer(status=status, body='{"refund_id": ')
        elsewhere = self._bench.stand_in.url.replace("127.0.0.1", "localhost") + ELSEWHERE
        yield "a redirect elsewhere", ProviderAnswer(status=302, headers={"Location": elsewhere}, body="")

    def _unknown(self, answer: ProviderAnswer) -> list[Check]:
        success = read_answer(self._success)
        given = self._call(lambda request: success if request.path.startswith(ELSEWHERE) else answer)
        return [*self._failure(given, "unknown", retryable=None), self._no_leaks(given)]

    def _leaking(self) -> Iterator[tuple[str, ProviderAnswer]]:
        canaries = self._bench.canaries
        planted = dict(canaries.values)
        yield "a stack trace", ProviderAnswer(status=500, body=canaries.stack_trace())
        yield (
            "an error with internals",
            ProviderAnswer(status=500, body={"error": {"message": str(planted), **planted}}),
        )
        yield (
            "a refusal with internals",
            ProviderAnswer(status=422, body={"error": {"code": "E-4711", "detail": f"customer {planted}"}}),
        )
        yield "an unknown shape with internals", ProviderAnswer(status=200, body={"debug": planted})
        body = self._success.get("body")
        if isinstance(body, Mapping):
            extended = {**self._success, "body": {**body, "internal": planted}}
            yield "a success with internals", read_answer(extended)

    def _leak(self, answer: ProviderAnswer) -> list[Check]:
        return [self._no_leaks(self._call(always(answer)))]

    def _failure(self, answer: ToolAnswer, kind: str, *, retryable: bool | None) -> list[Check]:
        """An error as the suite names it; where it names none, one that the contract declares for the purpose."""
        checks = check_error(answer, self._expect.get(kind, True))
        if not answer.is_refusal:
            return checks
        checks.append(self._subject.check_declared(answer))
        self._subject.seen_codes.add(str(self._expect.get(kind, {}).get("code")))
        declared = {error.code for error in self._subject.contract.errors if retryable in (None, error.retryable)}
        if kind not in self._expect and declared and answer.code not in declared:
            word = "any" if retryable is None else "a retryable" if retryable else "a final"
            reason = f"the error is {answer.code}, and {word} declared one was expected: {', '.join(sorted(declared))}"
            checks.append(judged("fitting error", reason))
        return checks

    def _no_leaks(self, answer: ToolAnswer) -> Check:
        return check_leaks([answer], self._bench)

    def _arguments(self) -> dict[str, Json]:
        if self._spec.arguments is None:
            return self._subject.fresh_call()
        return fill_fresh(self._bench.scope.resolve(self._spec.arguments))  # type: ignore[no-any-return]

    def _call(self, script: Script, arguments: Mapping[str, Json] | None = None, key: str | None = None) -> ToolAnswer:
        self._bench.stand_in.play(script)
        key = key or (self._subject.new_key() if self._subject.key_name else None)
        return self._subject.call(self._arguments() if arguments is None else arguments, key)

    def _case(self, name: str, check: Callable[[], list[Check]]) -> CaseResult:
        self._prepare()
        began = time.monotonic()
        checks = check()
        tool = self._subject.contract
        return CaseResult(
            id=f"{tool.tool_id}/adapter/{name}",
            tool_id=tool.tool_id,
            kind="adapter",
            name=name,
            checks=tuple(checks),
            location=self._spec.location,
            duration_ms=round((time.monotonic() - began) * 1000),
        )
