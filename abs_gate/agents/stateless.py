"""The connection of agents that keep nothing between turns: each request carries the whole conversation."""

from __future__ import annotations

from collections.abc import Callable
from types import TracebackType
from typing import Self

from abs_gate.conversation import AgentRequest, AgentTurn


class StatelessConnection:
    """One conversation with nothing to open or close."""

    def __init__(self, ask: Callable[[AgentRequest], AgentTurn]) -> None:
        self._ask = ask

    def reply(self, request: AgentRequest) -> AgentTurn:
        return self._ask(request)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None, /
    ) -> None:
        pass
