"""Reads a schema of any dialect into its normal form, references followed, nothing skipped in silence."""

from __future__ import annotations

import hashlib
import json
from functools import cached_property

from msgspec import Struct

from abs_gate.contracts.schemas import build
from abs_gate.contracts.schemas.applicators import APPLICATORS, Reading
from abs_gate.contracts.schemas.budget import Budget
from abs_gate.contracts.schemas.comparison import Problem, ProblemKind
from abs_gate.contracts.schemas.dialects import ANNOTATIONS, Dialect
from abs_gate.contracts.schemas.document import SchemaDocument
from abs_gate.contracts.schemas.facts import FACTS, Malformed
from abs_gate.contracts.schemas.nodes import Node, Recursion
from abs_gate.contracts.schemas.references import Pointer, References, UnresolvedReference, step
from abs_gate.contracts.schemas.tasks import Task, run
from abs_gate.contracts.schemas.unevaluated import UNEVALUATED, TooManyCases
from abs_gate.contracts.schemas.values import same
from abs_gate.findings import Json

_DYNAMIC = frozenset({"$dynamicRef", "$recursiveRef"})


class NormalForm(Struct, frozen=True, kw_only=True):
    """A subschema as it was read."""

    node: Node
    problems: tuple[Problem, ...]
    """Of everything that was read to know the node."""
    unfolded: int | None
    """Subschemas that speak about one instance, counted as often as they are reached; None is without end."""


class Reader:
    """Reads the subschemas of one document, each once.

    What stands at the same place of a document read before, in the same words, is not read again where the words alone
    decide what it accepts.
    """

    def __init__(self, document: SchemaDocument, budget: Budget, before: Reader | None = None) -> None:
        self._document = document
        self._root = document.schema
        self.dialect = document.dialect or Dialect.DRAFT2020
        self._budget = budget
        self._before = before if before is not None and before.dialect is self.dialect else None
        self._facts = {keyword: FACTS[keyword] for keyword in FACTS.keys() & self.dialect.keywords}
        self._references = References(self._root, self.dialect)
        self._values: dict[Pointer, Json] = {(): self._root}
        self._forms: dict[Pointer, NormalForm] = {}
        self._read: dict[Pointer, Node] = {}
        self._open: set[Pointer] = set()
        self._problems: dict[Pointer, list[Problem]] = {}
        self._below: dict[Pointer, list[Pointer]] = {}
        """What each subschema is made of, to know whose problems are its own."""
        self._in_place: dict[Pointer, list[Pointer]] = {}
        """The part of `_below` that speaks about the same instance."""
        self._independent: set[Pointer] = set()
        """Subschemas in which nothing refers, chooses or is not understood: their words alone decide."""

    def read(self, pointer: Pointer) -> NormalForm:
        """Return the normal form of a subschema. Never raises."""
        known = self._forms.get(pointer)
        if known is None:
            known = self._forms[pointer] = self._form(pointer)
        return known

    def _form(self, pointer: Pointer) -> NormalForm:
        node = run(self.subschema(pointer, 0))
        if self._document.dialect is None:
            self._report_dialect(pointer, self._declared)
            node = self.opaque("$schema", [self._declared, self.raw(pointer)])
        problems: list[Problem] = []
        seen = {pointer}
        pending = [pointer]
        while pending:
            place = pending.pop()
            problems.extend(self._problems.get(place, ()))
            for child in self._below.get(place, ()):
                if child not in seen:
                    seen.add(child)
                    pending.append(child)
        unfolded = self._unfolded(seen)
        if unfolded is None:
            message = "A reference leads back to where it stands without going into the value."
            problem = Problem(kind=ProblemKind.INVALID, pointer=pointer, keyword="$ref", message=message)
            return NormalForm(
                node=build.opaque("$ref", self.identity, *pointer), problems=(*problems, problem), unfolded=None
            )
        return NormalForm(node=node, problems=tuple(problems), unfolded=unfolded)

    def subschema(
        self, pointer: Pointer, depth: int, parent: Pointer | None = None, *, in_place: bool = False
    ) -> Task[Node]:
        """Read a subschema as a part of another one."""
        if parent is not None:
            self._below.setdefault(parent, []).append(pointer)
            if in_place:
                self._in_place.setdefault(parent, []).append(pointer)
        known = self._read.get(pointer)
        if known is not None:
            return known
        node = self._read_before(pointer)
        if node is not None:
            self._read[pointer] = node
            return node
        if pointer in self._open:
            return Recursion(build.digest("recursion", self.identity, *pointer), lambda: self._read[pointer])
        self._open.add(pointer)
        if len(self._read) + len(self._open) > self._budget.nodes or depth > self._budget.depth:
            self.report(
                pointer, ProblemKind.OVER_BUDGET, "", "The schema is too large or too deep to be read to its end."
            )
            node = build.opaque("", self.identity, *pointer)
        else:
            node = yield from self._keywords(pointer, depth)
        self._open.discard(pointer)
        self._read[pointer] = node
        is_plain = pointer not in self._problems and pointer not in self._in_place
        if is_plain and self._independent.issuperset(self._below.get(pointer, ())):
            self._independent.add(pointer)
        return node

    def _read_before(self, pointer: Pointer) -> Node | None:
        """Return the node of the same subschema as it was read in the document before."""
        if self._before is None or pointer not in self._before._independent:
            return None
        try:
            is_same = same(self.raw(pointer), self._before.raw(pointer))
        except (RecursionError, TypeError, ValueError):
            return None
        if is_same:
            self._independent.add(pointer)
        return self._before._read[pointer] if is_same else None

    def _keywords(self, pointer: Pointer, depth: int) -> Task[Node]:
        schema = self.raw(pointer)
        if isinstance(schema, bool):
            return build.EVERYTHING if schema else build.NOTHING
        if not isinstance(schema, dict):
            self.report(pointer, ProblemKind.INVALID, "", "A schema must be an object, or true or false.")
            return self.opaque("", schema)
        if "$ref" in schema and self.dialect.ignores_ref_siblings:
            return (yield from self._reference(schema, pointer, depth))
        parts: list[Node] = []
        if "$ref" in schema:
            parts.append((yield from self._reference(schema, pointer, depth)))
        reading = Reading(reader=self, schema=schema, pointer=pointer, depth=depth)
        for keyword in schema:
            if keyword == "$ref":
                continue
            try:
                fact = self._facts.get(keyword)
                part = fact(schema, self.dialect) if fact else (yield from self._keyword(reading, keyword))
                parts.append(part)
            except Malformed as error:
                self.report(pointer, ProblemKind.INVALID, str(keyword), f'"{str(keyword)[:60]}" must be {error}.')
                parts.append(self.opaque(str(keyword), schema[keyword]))
        return build.every(parts)

    def _keyword(self, reading: Reading, keyword: str) -> Task[Node]:
        if keyword in self.dialect.keywords:
            if keyword in APPLICATORS:
                return (yield from APPLICATORS[keyword](reading))
            if keyword in UNEVALUATED:
                try:
                    return (yield from UNEVALUATED[keyword](reading))
                except TooManyCases:
                    pass
        elif keyword == "$schema":
            return self._declaration(reading)
        elif keyword in ANNOTATIONS or (isinstance(keyword, str) and keyword.lower().startswith("x-")):
            return build.EVERYTHING
        elif keyword == "additionalItems" and not _has_positions(reading.schema):
            return build.EVERYTHING  # in no dialect it says anything without them
        self.report(
            reading.pointer,
            ProblemKind.NOT_UNDERSTOOD,
            str(keyword),
            f'"{str(keyword)[:60]}" is not a keyword of {self.dialect} that is understood.',
        )
        return self.opaque(str(keyword), reading.schema[keyword])
        yield  # pragma: no cover  # makes this a task whichever way it returns

    def _declaration(self, reading: Reading) -> Node:
        """Read `$schema`: below the root it may only repeat what the root says."""
        declared = reading.schema["$schema"]
        if not reading.pointer or declared == self._declared:
            return build.EVERYTHING
        self._report_dialect(reading.pointer, declared)
        return self.opaque("$schema", declared)

    @property
    def _declared(self) -> Json:
        return self._root.get("$schema") if isinstance(self._root, dict) else None

    def _report_dialect(self, pointer: Pointer, declared: Json) -> None:
        message = f'"{str(declared)[:80]}" is not a dialect that is understood here.'
        self.report(pointer, ProblemKind.NOT_UNDERSTOOD, "$schema", message)

    def _reference(self, schema: dict[str, Json], pointer: Pointer, depth: int) -> Task[Node]:
        reference = schema["$ref"]
        try:
            target = self.target(reference, pointer)
        except UnresolvedReference as error:
            self.report(pointer, ProblemKind.INVALID, "$ref", str(error))
            return self.opaque("$ref", reference)
        node: Node = yield self.subschema(target, depth + 1, pointer, in_place=True)
        return node

    def target(self, reference: Json, pointer: Pointer) -> Pointer:
        """Return where a reference in a subschema leads. Raises UnresolvedReference."""
        if not isinstance(reference, str):
            raise UnresolvedReference("A reference must be a string.")
        return self._references.resolve(reference, pointer)

    def raw(self, pointer: Pointer) -> Json:
        """Return a subschema as written; None when there is none."""
        known = len(pointer)
        while pointer[:known] not in self._values:
            known -= 1
        value = self._values[pointer[:known]]
        try:
            for token in pointer[known:]:
                value = step(value, token)
        except KeyError:
            return None
        self._values[pointer] = value
        return value

    def report(self, pointer: Pointer, kind: ProblemKind, keyword: str, message: str) -> None:
        """Note what was not understood."""
        problem = Problem(kind=kind, pointer=pointer, keyword=keyword, message=message)
        self._problems.setdefault(pointer, []).append(problem)

    def opaque(self, keyword: str, value: Json) -> Node:
        """Return the node for a keyword that was not understood: equal only to the same one.

        Where the meaning may lie elsewhere in the document, equal only to the same one in an equal document.
        """
        try:
            text = json.dumps(value, sort_keys=True)
        except (RecursionError, TypeError, ValueError):
            return build.opaque(keyword, self.identity, str(id(value)))
        if keyword in _DYNAMIC or '"$ref"' in text:
            return build.opaque(keyword, text, self.identity)
        return build.opaque(keyword, text)

    @cached_property
    def identity(self) -> str:
        """A text that only equal documents share."""
        text = self._document.text
        if text is None:
            return f"document {id(self._document)}"
        return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()

    def _unfolded(self, places: set[Pointer]) -> int | None:
        """Return how many subschemas, counted as often as they are reached, speak about one instance at most.

        None when a subschema stands for itself: nothing can be valid or invalid against it.
        """
        sizes: dict[Pointer, int] = {}
        for first in places:
            if first in sizes or first not in self._in_place:
                continue
            path = {first: iter(self._in_place[first])}
            while path:
                place, children = next(reversed(path.items()))
                child = next(children, None)
                if child is None:
                    sizes[place] = 1 + sum(sizes[inner] for inner in self._in_place.get(place, ()))
                    del path[place]
                elif child in path:
                    return None
                elif child not in sizes:
                    path[child] = iter(self._in_place.get(child, ()))
        return max(sizes.values(), default=1)


def _has_positions(schema: dict[str, Json]) -> bool:
    return "prefixItems" in schema or isinstance(schema.get("items"), list)
