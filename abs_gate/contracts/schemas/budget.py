"""How much work a comparison may cost, in counted steps: the same schemas always spend the same."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """Limits for one engine, that is for one tool. Everything is a count, nothing is a time."""

    nodes: int = 100_000
    """Subschemas read, for each document; a subschema reached again through a reference is free."""
    depth: int = 1_000
    """Subschemas nested in one another, references followed."""
    goals: int = 20_000
    """Questions ("is there a value that satisfies all of these?") the prover may open."""
    states: int = 20_000
    """Automaton states visited for patterns."""
    samples: int = 300
    """Instances tried by the search for a counterexample, a direction."""


class BudgetExhausted(Exception):  # a signal between the parts of the engine, never an error of the user's
    """Raised inside the engine when a limit is reached; never leaves it."""


@dataclass(slots=True)
class Meter:
    """What is left of a budget."""

    goals: int
    states: int
    spent: bool = False
    """True once any limit was reached."""

    @classmethod
    def of(cls, budget: Budget) -> Meter:
        """Return a full meter for a budget."""
        return cls(goals=budget.goals, states=budget.states)

    def goal(self) -> None:
        """Count one goal. Raises BudgetExhausted."""
        self.goals -= 1
        if self.goals < 0:
            self.spent = True
            raise BudgetExhausted

    def state(self) -> None:
        """Count one automaton state. Raises BudgetExhausted."""
        self.states -= 1
        if self.states < 0:
            self.spent = True
            raise BudgetExhausted
