"""What a comparison of two schemas says: set relation, proof and witness for each direction."""

from __future__ import annotations

from enum import StrEnum

from msgspec import Struct

from abs_gate.findings import Json


class Relation(StrEnum):
    """How the instances accepted by the new schema relate to those accepted by the old one."""

    EQUAL = "equal"
    NARROWER = "narrower"
    WIDER = "wider"
    INCOMPARABLE = "incomparable"
    UNKNOWN = "unknown"


class Proof(StrEnum):
    """What an answer about one direction rests on."""

    PROVED = "proved"
    """Every accepted instance is accepted by the other side: shown by the structural rules."""
    WITNESS = "witness"
    """It is not: an instance checked with the validators of both sides shows it."""
    NOT_PROVEN = "not proven"
    """Neither was found within the budget."""


class ProblemKind(StrEnum):
    """Why a part of a schema could not be taken at its word."""

    INVALID = "schema_invalid"
    """Not a schema of its dialect, or a reference that leads nowhere or out of the document."""
    NOT_UNDERSTOOD = "not_understood"
    """A keyword or dialect the engine has no rules for."""
    OVER_BUDGET = "over_budget"
    """Too large or too deep to be read."""


class Problem(Struct, frozen=True, kw_only=True):
    """One part of a schema that was not understood; it is never silently skipped."""

    kind: ProblemKind
    pointer: tuple[str, ...]
    """Tokens of the JSON pointer to the subschema, from the document's root."""
    keyword: str = ""
    message: str = ""
    """A whole sentence."""


class Inclusion(Struct, frozen=True, kw_only=True):
    """Whether every instance one side accepts is accepted by the other."""

    included: bool | None
    """None when neither a proof nor a witness was found."""
    proof: Proof
    witness: Json = None
    """Accepted by the first side and refused by the second; only with `has_witness`."""
    has_witness: bool = False
    """Tells a null witness from none."""
    reason: str = ""
    """Why nothing was proven: a budget, or the parts that were not understood."""


class Comparison(Struct, frozen=True, kw_only=True):
    """The set relation of two schemas, each direction with what it rests on."""

    old_in_new: Inclusion
    """Is what the old schema accepts still accepted? Decides for inputs."""
    new_in_old: Inclusion
    """Was what the new schema accepts accepted before? Decides for outputs."""
    old_problems: tuple[Problem, ...] = ()
    """Parts of the compared old schema that were not understood, changed or not; equal documents are not read."""
    new_problems: tuple[Problem, ...] = ()
    budget_spent: bool = False

    @property
    def relation(self) -> Relation:
        """The new accepted set as seen from the old one."""
        match self.old_in_new.included, self.new_in_old.included:
            case True, True:
                return Relation.EQUAL
            case False, True:
                return Relation.NARROWER
            case True, False:
                return Relation.WIDER
            case False, False:
                return Relation.INCOMPARABLE
            case _:
                return Relation.UNKNOWN
