"""How much work a comparison may cost, in counted steps: the same schemas always spend the same."""

from __future__ import annotations

from msgspec import Struct


class Budget(Struct, frozen=True, kw_only=True):
    """Limits for one engine, that is for one tool. Everything is a count, nothing is a time."""

    nodes: int = 50_000
    """Subschemas read, for each document; a subschema reached again through a reference is free."""
    depth: int = 1_000
    """Subschemas nested in one another, references followed."""
    steps: int = 400_000
    """Literals, alternatives and members the prover may look at."""
    states: int = 40_000
    """Automaton states visited for patterns."""
    checks: int = 200_000
    """Keywords evaluated by the library's validators."""
    looks: int = 200_000
    """Nodes held against a part of an instance, to find a counterexample or to make one smaller."""
    samples: int = 150
    """Instances tried by the search for a counterexample, a direction."""


class BudgetExhausted(Exception):
    """Raised inside the engine when a limit is reached; never leaves it."""


class Meter(Struct):
    """What is left of a budget."""

    steps: int
    states: int
    checks: int
    looks: int
    spent: bool = False
    """True once any limit was reached."""

    @classmethod
    def of(cls, budget: Budget) -> Meter:
        """Return a full meter for a budget."""
        return cls(steps=budget.steps, states=budget.states, checks=budget.checks, looks=budget.looks)

    def step(self, count: int = 1) -> None:
        """Count steps of the prover. Raises BudgetExhausted."""
        self.steps -= count
        self._stop_below_zero(self.steps)

    def state(self) -> None:
        """Count one automaton state. Raises BudgetExhausted."""
        self.states -= 1
        self._stop_below_zero(self.states)

    def check(self) -> None:
        """Count one keyword evaluated by the library. Raises BudgetExhausted."""
        self.checks -= 1
        self._stop_below_zero(self.checks)

    def look(self) -> None:
        """Count one node held against a part of an instance. Raises BudgetExhausted."""
        self.looks -= 1
        self._stop_below_zero(self.looks)

    def _stop_below_zero(self, left: int) -> None:
        if left < 0:
            self.spent = True
            raise BudgetExhausted
