"""What the engine says of a whole schema where no other rule said it. The comparison itself applies these."""

from __future__ import annotations

from collections.abc import Iterator

from abs_gate.contracts.facts import Fact, SchemaPair
from abs_gate.contracts.rules.registry import BREAKING, REVIEW, Direction, schema_rule

AREA = "whole schema"
_NUMBERS = [{"type": "integer"}, {"type": "number"}]
_OVERLAPPING, _EXCLUSIVE = {"anyOf": _NUMBERS}, {"oneOf": _NUMBERS}
_SAME = {"type": ["integer", "number"]}


@schema_rule(
    "schema_narrowed",
    area=AREA,
    direction=Direction.NARROWS,
    mirror="schema_widened",
    fix="Look at the witness: it was accepted and is refused now.",
    bad=(_OVERLAPPING, _EXCLUSIVE),
    good=(_OVERLAPPING, _SAME),
)
def schema_narrowed(_: SchemaPair) -> Iterator[Fact]:
    """Something that was accepted is refused now, though no single keyword says why.

    Several parts of a schema can narrow it together. A counterexample shows that they do.
    """
    yield from ()


@schema_rule(
    "schema_widened",
    area=AREA,
    direction=Direction.WIDENS,
    mirror="schema_narrowed",
    fix="For results: look at the witness, which the old contract ruled out.",
    bad=(_EXCLUSIVE, _OVERLAPPING),
    good=(_SAME, _OVERLAPPING),
)
def schema_widened(_: SchemaPair) -> Iterator[Fact]:
    """Something that was refused is accepted now, though no single keyword says why.

    Harmless for arguments; consumers meet a result that was ruled out.
    """
    yield from ()


@schema_rule(
    "schema_not_proven",
    area=AREA,
    grades=(REVIEW, REVIEW),
    no_mirror="its own opposite",
    fix="Compare the two schemas by hand, or write the part in simpler keywords.",
    bad=({"type": "string"}, {"$schema": "https://example.com/dialect", "type": "string"}),
    good=({"type": "string"}, {"type": ["string"]}),
)
def schema_not_proven(_: SchemaPair) -> Iterator[Fact]:
    """Neither a proof nor a counterexample was found within the budget.

    What is not proven is never called compatible.
    """
    yield from ()


@schema_rule(
    "schema_invalid",
    area=AREA,
    grades=(BREAKING, BREAKING),
    affects=("provider", "adapter"),
    no_mirror="a schema that is mended breaks nobody",
    fix="Correct the schema: clients drop the tool, and some the whole list.",
    bad=({"type": "string"}, {"$ref": "#/$defs/nowhere"}),
    good=({"type": "string"}, {"$ref": "#/$defs/s", "$defs": {"s": {"type": "string"}}}),
)
def schema_invalid(_: SchemaPair) -> Iterator[Fact]:
    """The schema is none any more: wrong for its dialect, or a reference that leads nowhere or out of the document.

    Clients must not fetch references, so they cannot use the tool.
    """
    yield from ()
