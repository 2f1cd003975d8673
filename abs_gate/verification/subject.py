"""One tool under verification with everything that is needed to call and watch it."""

from __future__ import annotations

import itertools
import secrets
from collections.abc import Callable, Mapping

from msgspec import Struct, field

from abs_gate.contracts.model import Effect, SourceFormat, ToolContract
from abs_gate.evaluators.json_schema import SchemaUnusable, find_violations
from abs_gate.findings import Json
from abs_gate.outcomes import Outcome
from abs_gate.verification.effects import Watch, show
from abs_gate.verification.model import NO_CONTEXT, AnswerKind, Check, Probe, ToolAnswer, ToolDriver, judged

FRESH = "{{fresh}}"
"""In an argument: a value that no other call has."""
_RUN = secrets.token_hex(4)
_numbers = itertools.count(1)


class Subject(Struct, frozen=True, kw_only=True):
    """A tool, how it is called, and how its effects are seen."""

    contract: ToolContract
    driver: ToolDriver
    probe: Probe | None = None
    valid: Mapping[str, Json] | None = None
    """A call that must be accepted; may hold `{{fresh}}`."""
    vary: Mapping[str, Json] | None = None
    """What another payload says instead."""
    refusal: str | None = None
    """Code of the error that malformed arguments get."""
    seen_codes: set[str] = field(default_factory=set)
    """Declared error codes that a case looked for or that were brought about."""
    reset: Callable[[], None] = lambda: None
    """Brings the provider into the state that derived cases start from. Raises CannotVerify."""

    @property
    def is_read_only(self) -> bool:
        """Whether the tool says that it changes nothing."""
        if self.contract.policy.effect is not None:
            return self.contract.policy.effect is Effect.READ_ONLY
        return self.contract.annotations.get("readOnlyHint") is True

    @property
    def key_name(self) -> str | None:
        """Name of the argument or header that carries the idempotency key; None where none is declared."""
        declared = self.contract.policy.idempotency_key
        if isinstance(declared, Mapping):
            declared = declared.get("name")
        return declared if isinstance(declared, str) and declared else None

    @property
    def key_is_argument(self) -> bool:
        """Whether the key is one of the arguments, rather than a header beside them."""
        schema = self.contract.input_schema
        properties = schema.get("properties") if isinstance(schema, dict) else None
        return self.key_name is not None and isinstance(properties, dict) and self.key_name in properties

    @property
    def key_is_required(self) -> bool:
        """Whether a call without the key is against the contract."""
        schema = self.contract.input_schema
        required = schema.get("required") if isinstance(schema, dict) else None
        if self.key_is_argument:
            return isinstance(required, list) and self.key_name in required
        declared = self.contract.policy.idempotency_key
        return isinstance(declared, Mapping) and declared.get("required") is True

    def fresh_call(self) -> dict[str, Json]:
        """The valid call, with values of its own where it asks for them."""
        return fill_fresh(dict(self.valid or {}))  # type: ignore[no-any-return]

    def call_with(self, token: str) -> dict[str, Json]:
        """The valid call with this token for every fresh value, its idempotency key included."""
        call: dict[str, Json] = replace_text(dict(self.valid or {}), FRESH, token)
        if self.key_is_argument and self.key_name is not None and self.key_name not in call:
            call[self.key_name] = f"abs-gate-{token}"
        return call

    def call_as_given(self, arguments: Mapping[str, Json]) -> ToolAnswer:
        """Call with the arguments as they are, and where the key travels beside them, with a new one."""
        beside = self.new_key() if self.key_name and not self.key_is_argument else None
        return self.driver.call(arguments, key=beside)

    def new_key(self) -> str:
        """An idempotency key that was never used."""
        return f"abs-gate-{secrets.token_hex(8)}"

    def call(
        self, arguments: Mapping[str, Json], key: str | None, context: Mapping[str, Json] = NO_CONTEXT
    ) -> ToolAnswer:
        """Call with a key where the contract puts it."""
        placed, header = self._placed(arguments, key)
        return self.driver.call(placed, key=header, context=context)

    def call_and_lose(self, arguments: Mapping[str, Json], key: str | None) -> ToolAnswer:
        """As `call`, with the answer lost on its way."""
        placed, header = self._placed(arguments, key)
        return self.driver.call_and_lose(placed, key=header)

    def watch(self) -> Watch:
        """A look at the system of record, to be compared with a later one."""
        return Watch(self.probe).start()

    def check_output(self, answer: ToolAnswer) -> Check:
        """Whether a success is what the output schema promises; what it does not promise is not looked at."""
        name = "result conforms to the output schema"
        if self.contract.output_schema is None:
            return Check(name=name, outcome=Outcome.SKIPPED, reason="the contract declares no output schema")
        if answer.kind is not AnswerKind.RESULT:
            return Check(name=name, outcome=Outcome.INCONCLUSIVE, reason="there is no result")
        try:
            violations = find_violations(self.contract.output_schema, answer.content)
        except SchemaUnusable as problem:
            return Check(name=name, outcome=Outcome.UNVERIFIED, reason=str(problem))
        outcome = Outcome.FAILED if violations else Outcome.PASSED
        return Check(name=name, outcome=outcome, reason="; ".join(violations[:3]))

    def check_declared(self, answer: ToolAnswer) -> Check:
        """Whether an error's code is one that the contract declares: callers handle no other."""
        name = "declared error code"
        declared = {error.code: error for error in self.contract.errors}
        if not answer.code and declared:
            return judged(name, "the refusal carries no code, and callers tell the declared errors apart by theirs")
        if not answer.code:
            return Check(name=name, outcome=Outcome.SKIPPED, reason="the contract declares no errors")
        if not declared and self.contract.source is not SourceFormat.NATIVE:
            reason = f"this form of contract declares no errors ({answer.code} was given)"
            return Check(name=name, outcome=Outcome.SKIPPED, reason=reason)
        if answer.code in declared:
            self.seen_codes.add(answer.code)
        else:
            known = ", ".join(sorted(declared)) or "none"
            return Check(
                name=name,
                outcome=Outcome.FAILED,
                reason=f"the error {answer.code} is not declared in the contract (declared: {known})",
            )
        wanted = declared[answer.code].retryable
        if wanted is not None and answer.retryable is not None and wanted is not answer.retryable:
            return Check(
                name=name,
                outcome=Outcome.FAILED,
                reason=f"{answer.code} says retryable is {show(answer.retryable)}, the contract {show(wanted)}",
            )
        return judged(name, "")

    def _placed(self, arguments: Mapping[str, Json], key: str | None) -> tuple[dict[str, Json], str | None]:
        placed = dict(arguments)
        if not self.key_is_argument:
            return placed, key
        assert self.key_name is not None
        if key is None:
            placed.pop(self.key_name, None)
        else:
            placed[self.key_name] = key
        return placed, None


def fill_fresh(value: Json) -> Json:
    """The value with one text that no other call has for every `{{fresh}}` in it."""
    return replace_text(value, FRESH, new_token())


def new_token() -> str:
    """A text that no other call has."""
    return f"{_RUN}-{next(_numbers):04}"


def replace_text(value: Json, old: str, new: str) -> Json:
    """The value with one text put for another in every text of it."""
    if isinstance(value, str):
        return value.replace(old, new)
    if isinstance(value, list):
        return [replace_text(item, old, new) for item in value]
    if isinstance(value, Mapping):
        return {name: replace_text(item, old, new) for name, item in value.items()}
    return value
