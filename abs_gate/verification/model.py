"""Frozen values of deterministic verification, and the ports it calls tools through. Source: seed 2 and seed 3."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType
from typing import Protocol

from abs_gate.findings import Json, Location
from abs_gate.outcomes import Outcome


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


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolAnswer:
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


class ToolDriver(Protocol):
    """A way to call one tool. Thread-safe: concurrent duplicates are sent from several threads."""

    def call(self, arguments: Mapping[str, Json], *, key: str | None = None) -> ToolAnswer:
        """Call the tool. `key` is an idempotency key that travels beside the arguments (in a header).

        Never raises for what the tool does; raises CannotVerify when it cannot be reached at all.
        """
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One thing that was looked at."""

    name: str
    outcome: Outcome
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseResult:
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
