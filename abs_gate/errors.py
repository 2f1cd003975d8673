"""Everything abs-gate raises on purpose, with the exit code each kind ends in.

    AbsGateError (70)            an internal fault when raised bare
    ├── ConfigurationError (2)   the user's files, flags or inputs are wrong; carries every finding
    ├── CannotVerify (3)         something needed for a verdict could not be had
    │   ├── AgentUnavailable     the agent could not be reached, or its answer is not an answer
    │   ├── JudgeUnavailable     no judge, a failing judge, an unreadable judgement
    │   ├── BaseUnavailable      the base version of a contract could not be read
    │   │   └── PathNotThere     its revision is there, and has no such path
    │   └── BudgetSpent          a call, time, token or money budget ran out
    ├── DeliveryFailed (0)       a report could not be posted; never changes the verdict
    └── Interrupted (130/143)    Ctrl-C or SIGTERM

Messages are for people: what happened, why it matters, what to do. `hint` is the last of these.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from abs_gate.findings import Finding


class AbsGateError(Exception):
    """The root of the tree; raised bare only for an internal fault."""

    exit_code: ClassVar[int] = 70

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message} {self.hint}".strip()


class ConfigurationError(AbsGateError):
    """The user's input is wrong. Carries all findings of one load, never only the first."""

    exit_code = 2

    def __init__(self, message: str = "", *, findings: Iterable[Finding] = (), hint: str = "") -> None:
        self.findings: tuple[Finding, ...] = tuple(findings)
        super().__init__(message or "\n".join(str(finding) for finding in self.findings), hint=hint)


class CannotVerify(AbsGateError):
    """A verdict needs something that could not be had: fail closed, told apart from a failure."""

    exit_code = 3


class AgentUnavailable(CannotVerify):
    """The agent could not be reached, timed out, or its answer is not an answer."""


class JudgeUnavailable(CannotVerify):
    """No judge, a judge that errs, or a judgement that cannot be read."""


class BaseUnavailable(CannotVerify):
    """The base version of the contracts could not be read."""


class PathNotThere(BaseUnavailable):
    """The base revision is there, and has no such path."""


class BudgetSpent(CannotVerify):
    """A budget of calls, minutes, tokens or money ran out."""


class DeliveryFailed(AbsGateError):
    """A report could not be delivered. The verdict stands."""

    exit_code = 0


class Interrupted(AbsGateError):
    """The run was cancelled by a signal."""

    exit_code = 130

    def __init__(self, message: str = "cancelled", *, signal_number: int = 2) -> None:
        super().__init__(message)
        self.signal_exit_code = 128 + signal_number
