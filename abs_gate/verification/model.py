"""Frozen values of deterministic verification, and the ports it calls tools through."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Protocol

from msgspec import Struct, field

from abs_gate.documents.variables import Scope
from abs_gate.findings import Json, Location
from abs_gate.outcomes import Outcome
from abs_gate.verification.canaries import Canaries
from abs_gate.verification.suite import Means


class AnswerKind(StrEnum):
    """What a call of a tool came to."""

    RESULT = "result"
    """The tool says that it did what it was asked."""
    TOOL_ERROR = "tool_error"
    """The tool refused or failed, in its own words."""
    PROTOCOL_ERROR = "protocol_error"
    """The request itself was refused, or the answer is not one (an unknown tool, HTML, a stack trace)."""
    NO_ANSWER = "no_answer"
    """Nothing came: timeout, cut connection. Whether the effect happened is not known."""


class ToolAnswer(Struct, frozen=True, kw_only=True):
    """One answer of a tool, in one form for every driver."""

    kind: AnswerKind
    content: Json = None
    """The result, or the error's body as far as it is JSON."""
    code: str | None = None
    """The error's stable code, where it has one."""
    message: str = ""
    """The error's text, as the model would read it."""
    retryable: bool | None = None
    raw: str = ""
    """Everything that came back, as text, bounded: where leaks are looked for."""

    @property
    def is_refusal(self) -> bool:
        """Whether the call was turned down, as a tool error or as a protocol error."""
        return self.kind in (AnswerKind.TOOL_ERROR, AnswerKind.PROTOCOL_ERROR)


NO_CONTEXT: Mapping[str, Json] = MappingProxyType({})


class ToolDriver(Protocol):
    """A way to call one tool. Thread-safe: concurrent duplicates are sent from several threads."""

    def call(
        self, arguments: Mapping[str, Json], *, key: str | None = None, context: Mapping[str, Json] = NO_CONTEXT
    ) -> ToolAnswer:
        """Call the tool. `key` is an idempotency key that travels beside the arguments (in a header).

        `context` is what the call carries besides: headers, `_meta`, keyword arguments, as the driver has it.
        Never raises for what the tool does; raises CannotVerify when it cannot be reached at all.
        """
        ...

    @property
    def is_concurrent(self) -> bool:
        """Whether calls from several threads reach the tool at the same moment."""
        ...

    @property
    def can_lose_answers(self) -> bool:
        """Whether `call_and_lose` cuts a real connection."""
        ...

    def call_and_lose(self, arguments: Mapping[str, Json], *, key: str | None = None) -> ToolAnswer:
        """Let the call reach the tool and take effect, and lose the answer on its way back."""
        ...


class Probe(Protocol):
    """A read-only look at the system of record."""

    def read(self) -> Json:
        """Raises CannotVerify."""
        ...


class ProviderRequest(Struct, frozen=True, kw_only=True):
    """What an adapter sent to the stand-in."""

    method: str
    path: str
    """With its query."""
    headers: Mapping[str, str]
    """Lower-cased names."""
    body: Json
    """As JSON where it is some, else as text."""


class ProviderAnswer(Struct, frozen=True, kw_only=True):
    """What the stand-in answers."""

    status: int = 200
    headers: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    body: Json = None
    """A text is sent as it is, anything else as JSON."""
    delay: float = 0.0
    """Seconds of silence before it."""
    cut: str | None = None
    """`before`: the connection is closed instead of an answer; `half`: in the middle of its body."""


class StandIn(Protocol):
    """A provider that answers as it is told, on loopback."""

    @property
    def url(self) -> str: ...

    def play(self, answer: Callable[[ProviderRequest], ProviderAnswer]) -> None:
        """Answer every request from now on like this. Called from several threads at once."""
        ...


class Bench(Protocol):
    """Everything that a suite runs on, opened and started."""

    @property
    def scope(self) -> Scope:
        """Values of the suite's variables."""
        ...

    @property
    def stand_in(self) -> StandIn: ...

    @property
    def canaries(self) -> Canaries: ...

    def driver(self, tool_id: str) -> ToolDriver: ...

    def probe(self, name: str) -> Probe: ...

    def do(self, step: Means) -> None:
        """One step of a provider state. Raises CannotVerify: it failed."""
        ...


class Check(Struct, frozen=True, kw_only=True):
    """One thing that was looked at."""

    name: str
    outcome: Outcome
    reason: str = ""


def judged(name: str, wrong: str) -> Check:
    """A check that was made: failed where something is wrong with what it looked at, else passed."""
    return Check(name=name, outcome=Outcome.FAILED if wrong else Outcome.PASSED, reason=wrong)


class CaseResult(Struct, frozen=True, kw_only=True):
    """What one case came to."""

    id: str
    tool_id: str
    kind: str
    """input, output, provider, retry, adapter, effect or claim."""
    name: str
    checks: tuple[Check, ...]
    location: Location | None = None
    duration_ms: int = 0
    details: Mapping[str, Json] = field(default_factory=lambda: MappingProxyType({}))

    @property
    def outcome(self) -> Outcome:
        """The worst of its checks; nothing checked is unverified."""
        order = (Outcome.FAILED, Outcome.UNVERIFIED, Outcome.INCONCLUSIVE, Outcome.PASSED, Outcome.SKIPPED)
        outcomes = {check.outcome for check in self.checks}
        return next((outcome for outcome in order if outcome in outcomes), Outcome.UNVERIFIED)

    @property
    def reason(self) -> str:
        """The first check that decided the outcome."""
        if self.outcome is Outcome.PASSED:
            return ""
        return next((check.reason or check.name for check in self.checks if check.outcome is self.outcome), "")
