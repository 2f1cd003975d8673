"""Compares what schemas accept: the entry point of the package."""

from __future__ import annotations

from collections.abc import Sequence

from abs_gate.contracts.schemas.budget import Budget, Meter
from abs_gate.contracts.schemas.comparison import Comparison, Inclusion, Proof
from abs_gate.contracts.schemas.document import SchemaView
from abs_gate.contracts.schemas.values import same
from abs_gate.findings import Json


class Engine:
    """Compares schemas within one budget. Use one for each tool: what it proves once it does not prove again."""

    def __init__(self, budget: Budget | None = None) -> None:
        self._meter = Meter.of(budget or Budget())

    @property
    def budget_spent(self) -> bool:
        """True once any limit was reached; answers may be `not proven` because of it."""
        return self._meter.spent

    def compare(self, old: SchemaView, new: SchemaView) -> Comparison:
        """Return how the accepted sets of two subschemas relate. Never raises."""
        if same(old.schema, new.schema):
            proved = Inclusion(included=True, proof=Proof.PROVED)
            return Comparison(old_in_new=proved, new_in_old=proved)
        unknown = Inclusion(included=None, proof=Proof.NOT_PROVEN)
        return Comparison(old_in_new=unknown, new_in_old=unknown)

    def lift(
        self, value: Json, path: Sequence[str | int], *, accepted: SchemaView, refused: SchemaView
    ) -> Inclusion | None:
        """Return the smallest instance that holds `value` at `path`, `accepted` accepts and `refused` refuses.

        `path` leads through the instance: property names, and item indexes (0 for "some item"). None when no such
        instance was found.
        """
        return None
