"""An agent whose every call is counted against the run's budget before it is made."""

from __future__ import annotations

from types import TracebackType
from typing import Self

from abs_gate.app.ports import Clock
from abs_gate.conversation import Agent, AgentRequest, AgentTurn, Connection
from abs_gate.errors import AgentUnavailable, BudgetSpent
from abs_gate.gate.budget import BudgetMeter


class MeteredAgent:
    """Wraps an agent; thread-safe as the agent is."""

    def __init__(self, agent: Agent, meter: BudgetMeter, clock: Clock) -> None:
        self._agent = agent
        self._meter = meter
        self._clock = clock

    def connect(self, session_key: str) -> Connection:
        return _MeteredConnection(self._agent.connect(session_key), self._meter, self._clock)


class _MeteredConnection:
    def __init__(self, connection: Connection, meter: BudgetMeter, clock: Clock) -> None:
        self._connection = connection
        self._meter = meter
        self._clock = clock

    def reply(self, request: AgentRequest) -> AgentTurn:
        try:
            self._meter.charge_call(self._clock.monotonic())
        except BudgetSpent as spent:
            raise AgentUnavailable(spent.message, hint=spent.hint) from spent
        turn = self._connection.reply(request)
        self._meter.charge_usage(turn.usage)
        return turn

    def __enter__(self) -> Self:
        self._connection.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None, /
    ) -> None:
        self._connection.__exit__(kind, error, trace)
