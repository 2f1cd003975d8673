"""What a trial needs to know besides its case and the agent."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from types import MappingProxyType

from msgspec import Struct, field

from abs_gate.conversation import ToolOffer
from abs_gate.documents.variables import Scope
from abs_gate.evaluators.judged import JudgePanel
from abs_gate.findings import Json
from abs_gate.trace import ToolNames

MAX_ROUNDS = 16
"""Requests with tool results in one turn before the agent counts as stuck."""
SESSION_TIMEOUT_S = 300.0
"""Seconds for one trial."""


class RunOptions(Struct, frozen=True, kw_only=True):
    """How trials of a case are run. The same for all trials but for `trial_key`."""

    scope: Scope = field(default_factory=Scope)
    """Every source of variables but the case's own row."""
    aliases: Mapping[str, tuple[str, ...]] = field(default_factory=lambda: MappingProxyType({}))
    """Target to the tool names that stand for it."""
    handoff_tools: frozenset[str] = frozenset()
    judges: JudgePanel | None = None
    tools: tuple[ToolOffer, ...] = ()
    """Tools offered to a raw model endpoint."""
    example_results: Mapping[str, Json] = field(default_factory=lambda: MappingProxyType({}))
    """Tool name to the result its contract gives as an example."""
    write_tools: frozenset[str] = frozenset()
    """Names of tools that change something: a second identical call of one is a fault."""
    unexpected_calls: str = "allow"
    """`allow` shows calls that no behavior consumed, `fail` fails the trial for them."""
    max_rounds: int = MAX_ROUNDS
    session_timeout_s: float = SESSION_TIMEOUT_S
    trial_key: str = "trial"
    """The same for a trial of a case in every run: recordings are found again by it."""
    run_id: str = ""
    """Differs from run to run: with the trial's key it makes the idempotency keys of requests."""
    clock: Callable[[], float] = time.monotonic

    @property
    def names(self) -> ToolNames:
        """The names tools go by."""
        return ToolNames(aliases=self.aliases, handoff_tools=self.handoff_tools)
