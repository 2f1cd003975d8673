"""What JSON Schemas accept, relative to each other: normal form, proofs of inclusion, checked witnesses.

    old, new = SchemaDocument(old_schema), SchemaDocument(new_schema)
    engine = Engine()
    comparison = engine.compare(old.view(), new.view())
    nested = engine.compare(old.view("properties", "reason"), new.view("properties", "reason"))

Pure: no file, no network; a reference out of the document is a problem, never a fetch.
"""

from __future__ import annotations

from abs_gate.contracts.schemas.budget import Budget
from abs_gate.contracts.schemas.comparison import Comparison, Inclusion, Problem, ProblemKind, Proof, Relation
from abs_gate.contracts.schemas.dialects import Dialect
from abs_gate.contracts.schemas.document import SchemaDocument, SchemaView
from abs_gate.contracts.schemas.engine import Engine

__all__ = [
    "Budget",
    "Comparison",
    "Dialect",
    "Engine",
    "Inclusion",
    "Problem",
    "ProblemKind",
    "Proof",
    "Relation",
    "SchemaDocument",
    "SchemaView",
]
