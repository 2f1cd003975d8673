"""Whole calls and results that show a broken schema change: accepted before and refused now, or the mirror."""

from __future__ import annotations

from functools import cached_property

from abs_gate.contracts.facts import Fact, SchemaPair
from abs_gate.contracts.grafting import grafted
from abs_gate.contracts.keywords import subschemas
from abs_gate.contracts.matching import Child, InstancePath
from abs_gate.contracts.rules.registry import Side
from abs_gate.contracts.schemas import Comparison, Engine, Inclusion, SchemaDocument
from abs_gate.contracts.schemas.document import SchemaView
from abs_gate.findings import Json

_MOST_READ = 100_000
"""Subschemas read for the witnesses of single facts of one side; the others are shown by the witness of the whole."""


class Witnesses:
    """Finds witnesses for one side of one tool.

    For input a witness is a call the old schema accepts and the new one refuses; for output a result the new schema
    allows and the old one forbids. It is looked for with only the fact in question changed, then with the whole
    part changed, then anywhere.
    """

    def __init__(self, side: Side, old: SchemaDocument, new: SchemaDocument, *, engine: Engine) -> None:
        self._side = side
        self._old = old
        self._new = new
        self._engine = engine
        self._left = _MOST_READ

    @cached_property
    def written(self) -> Comparison:
        """How the schemas compare as they were written, nothing evened out."""
        return self._engine.compare(self._old.view(), self._new.view())

    def find(
        self, pair: SchemaPair, fact: Fact, child: Child, path: InstancePath | None, *, is_convention: bool
    ) -> Inclusion | None:
        """Return a checked witness for a fact, None where none was found within the budget.

        What holds by convention is shown by itself or not at all: other changes say nothing of it.
        """
        if path is not None:
            for value in fact.shown_by:
                if (shown := self._put(value, path)) is not None:
                    return shown
        if path is not None and self._left > 0:
            self._left -= self._size
            old, new = self._old.view(*child.old), self._new.view(*child.new)
            alone = self._with_only(pair, fact, child)
            for view in [*([alone] if alone else []), *([] if is_convention else [new])]:
                lifted = self._lifted(old, view, path)
                if lifted is not None:
                    return lifted
        return None if is_convention or child.is_renamed else self._of_the_whole()

    @cached_property
    def _size(self) -> int:
        """Subschemas of both documents: what looking for the witness of one fact costs."""
        return _count(self._old.schema) + _count(self._new.schema)

    def whole(self, inclusion: Inclusion) -> Inclusion | None:
        """Return the witness of a comparison of the whole, when it is one for the schemas as they were written."""
        if not inclusion.has_witness:
            return self._of_the_whole()
        return self._put(inclusion.witness, ()) or self._of_the_whole()

    def _with_only(self, pair: SchemaPair, fact: Fact, child: Child) -> SchemaView | None:
        """Return the old schema with only the fact in question changed."""
        raw = pair.new_reader.raw(pair.new.pointer)
        edit: dict[str, Json] = {key: raw.get(key) for key in fact.keywords} if isinstance(raw, dict) else {}
        if fact.requires or fact.frees:
            edit["required"] = sorted((pair.old.required | set(fact.requires)) - set(fact.frees))
        if fact.properties:
            edit["properties"] = fact.properties
        if not edit:
            return None
        document = SchemaDocument(grafted(self._old.schema, self._new.schema, {pair.old.pointer: edit}))
        return document.view(*child.old)

    def _lifted(self, old: SchemaView, new: SchemaView, path: InstancePath) -> Inclusion | None:
        comparison = self._engine.compare(old, new)
        inclusion = comparison.old_in_new if self._side is Side.INPUT else comparison.new_in_old
        if not inclusion.has_witness:
            return None
        if not (path or old.pointer or new.pointer) and new.document.equals(self._new):
            return inclusion
        return self._put(inclusion.witness, path)

    def _put(self, value: Json, path: InstancePath) -> Inclusion | None:
        """Return a value at its place in a whole call or result, where that is a witness."""
        accepted, refused = self._sides()
        lifted = self._engine.lift(value, path, accepted=accepted, refused=refused)
        return lifted if lifted is not None and lifted.has_witness else None

    def _sides(self) -> tuple[SchemaView, SchemaView]:
        """Return the schema that accepts a witness and the one that refuses it."""
        old, new = self._old.view(), self._new.view()
        return (old, new) if self._side is Side.INPUT else (new, old)

    def _of_the_whole(self) -> Inclusion | None:
        anywhere = self.written.old_in_new if self._side is Side.INPUT else self.written.new_in_old
        return anywhere if anywhere.has_witness else None


def _count(schema: Json) -> int:
    found = 0
    queue = [schema]
    while queue:
        found += 1
        part = queue.pop()
        queue += subschemas(part) if isinstance(part, dict) else ()
    return found
