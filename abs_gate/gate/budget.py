"""The budget of a run: calls, minutes, tokens and money, counted as they are spent."""

from __future__ import annotations

from fractions import Fraction
from threading import Lock

from abs_gate.conversation import Usage
from abs_gate.errors import BudgetSpent
from abs_gate.settings.model import Budget

_MILLION = 1_000_000


class BudgetMeter:
    """Counts what a run spends, from any thread. Times are seconds of a monotonic clock."""

    def __init__(self, budget: Budget, *, started: float) -> None:
        self._budget = budget
        self._started = started
        self._lock = Lock()
        self.agent_calls = 0
        self.usage = Usage()

    def charge_call(self, now: float) -> None:
        """Count one call to the agent that is about to be made.

        Raises:
            BudgetSpent: no call is left, or another limit is reached. The call must not be made.
        """
        with self._lock:
            reason = self._reason(now)
            if reason:
                raise BudgetSpent(reason, hint="Raise it under budget:, or run fewer trials.")
            self.agent_calls += 1

    def charge_usage(self, usage: Usage) -> None:
        """Count the tokens of one reply."""
        with self._lock:
            self.usage += usage

    def stop_reason(self, now: float) -> str:
        """Which limit is reached, in words; empty while there is room for another trial."""
        with self._lock:
            return self._reason(now)

    @property
    def cost(self) -> Fraction:
        """Money spent on tokens, in the unit of the prices; 0 without prices."""
        prices = self._budget.prices
        if not prices:
            return Fraction(0)
        tokens_in = self.usage.input_tokens * Fraction(prices["input_per_million"])
        tokens_out = self.usage.output_tokens * Fraction(prices["output_per_million"])
        return (tokens_in + tokens_out) / _MILLION

    def _reason(self, now: float) -> str:
        budget = self._budget
        if budget.max_agent_calls is not None and self.agent_calls >= budget.max_agent_calls:
            return f"The budget of {budget.max_agent_calls:,} agent calls is spent."
        if budget.max_minutes is not None and now - self._started >= budget.max_minutes * 60:
            return f"The budget of {float(budget.max_minutes):g} minutes is spent."
        tokens = self.usage.input_tokens + self.usage.output_tokens
        if budget.max_tokens is not None and tokens >= budget.max_tokens:
            return f"The budget of {budget.max_tokens:,} tokens is spent ({tokens:,} were used)."
        if budget.max_cost is not None and self.cost >= budget.max_cost:
            return f"The budget of {float(budget.max_cost):g} is spent ({float(self.cost):.2f} were)."
        return ""
