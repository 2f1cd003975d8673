"""Compares what schemas accept: the entry point of the package."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import islice

from msgspec import Struct

from abs_gate.contracts.schemas import build
from abs_gate.contracts.schemas.answers import Answer, Empty, Found
from abs_gate.contracts.schemas.budget import Budget, BudgetExhausted, Meter
from abs_gate.contracts.schemas.comparison import Comparison, Inclusion, Problem, ProblemKind, Proof
from abs_gate.contracts.schemas.document import SchemaDocument, SchemaView
from abs_gate.contracts.schemas.hints import Hints
from abs_gate.contracts.schemas.membership import accepts
from abs_gate.contracts.schemas.nodes import ItemCount, Node
from abs_gate.contracts.schemas.prover import Prover
from abs_gate.contracts.schemas.reader import NormalForm, Reader
from abs_gate.contracts.schemas.search import Boundaries, variants
from abs_gate.contracts.schemas.validation import Validation
from abs_gate.contracts.schemas.values import ARRAY, OBJECT
from abs_gate.contracts.schemas.witnesses import polish
from abs_gate.findings import Json

_LARGEST_WITNESS = 20_000
"""Values in one witness."""
_MOST_UNFOLDED = 20_000
"""Subschemas about one instance, references unfolded, with which the library is trusted to come to an end."""
_LARGEST_BASE = 200
"""Values in an instance the search starts from."""
_PROVED = Inclusion(included=True, proof=Proof.PROVED)


class _Side:
    """One document as the engine knows it."""

    def __init__(self, document: SchemaDocument, budget: Budget, meter: Meter, first: _Side | None) -> None:
        self.document = document
        self.reader: Reader = Reader(document, budget, first.reader if first else None)
        self.validation = Validation(document.schema, document.dialect, meter)


class _Question(Struct, frozen=True):
    """Whether there is an instance that one subschema accepts and another refuses."""

    accepted: SchemaView
    refused: SchemaView
    accepting: Node
    refusing: Node
    meter: Meter

    def is_answered_by(self, value: Json) -> bool:
        """Return whether a value is such an instance, as the engine reads the two. False when nothing is left."""
        try:
            return (
                accepts(self.accepting, value, self.meter) is True
                and accepts(self.refusing, value, self.meter) is False
            )
        except BudgetExhausted:
            return False

    def may_be_answered_by(self, value: Json) -> bool:
        """Return whether nothing that is understood says otherwise. Raises BudgetExhausted."""
        return (
            accepts(self.accepting, value, self.meter) is not False
            and accepts(self.refusing, value, self.meter) is not True
        )


class Engine:
    """Compares schemas within one budget. Use one for each tool: what it proves once it does not prove again."""

    def __init__(self, budget: Budget | None = None) -> None:
        self._budget = budget or Budget()
        self._meter = Meter.of(self._budget)
        self._prover = Prover(self._meter)
        self._sides: dict[int, _Side] = {}
        self._inclusions: dict[tuple[bytes, bytes, bool], Inclusion] = {}

    @property
    def budget_spent(self) -> bool:
        """True once any limit was reached; answers may be `not proven` because of it."""
        return self._meter.spent

    def compare(self, old: SchemaView, new: SchemaView, *, polished: bool = True) -> Comparison:
        """Return how the accepted sets of two subschemas relate. Never raises.

        Witnesses are made small and readable unless that is not wanted, which is much quicker.
        """
        if old.pointer == new.pointer and old.document.equals(new.document):
            return Comparison(old_in_new=_PROVED, new_in_old=_PROVED)
        before, after = self._read(old), self._read(new)
        problems = (*before.problems, *after.problems)
        if before.node.key == after.node.key:
            old_in_new = new_in_old = _PROVED
        else:
            lost = _Question(old, new, before.node, after.node, self._meter)
            gained = _Question(new, old, after.node, before.node, self._meter)
            old_in_new = self._inclusion(lost, problems, polished=polished)
            new_in_old = self._inclusion(gained, problems, polished=polished)
        return Comparison(
            old_in_new=old_in_new,
            new_in_old=new_in_old,
            old_problems=before.problems,
            new_problems=after.problems,
            budget_spent=self._meter.spent or any(problem.kind is ProblemKind.OVER_BUDGET for problem in problems),
        )

    def problems(self, view: SchemaView) -> tuple[Problem, ...]:
        """Return what is wrong with a subschema and all it refers to, or is not understood. Never raises."""
        return self._read(view).problems

    def accepts(self, view: SchemaView, instance: Json) -> bool | None:
        """Return whether the library's validator of the document accepts an instance; None when it cannot tell."""
        return self._validates(view, instance)

    def lift(
        self, value: Json, path: Sequence[str | int], *, accepted: SchemaView, refused: SchemaView
    ) -> Inclusion | None:
        """Return a smallest instance that holds `value` at `path`, that `accepted` accepts and `refused` refuses.

        `path` leads through the instance: member names and item indexes. None when no such instance was found.
        """
        try:
            place = _placed(value, path)
        except (RecursionError, TypeError, ValueError):
            return None
        accepting = build.every([self._read(accepted).node, place])
        refusing = self._read(refused).node
        question = _Question(accepted, refused, accepting, refusing, self._meter)
        return self._witness(question, self._prover.find([accepting], [refusing]))

    def _inclusion(self, question: _Question, problems: Sequence[Problem], *, polished: bool) -> Inclusion:
        key = question.accepting.key, question.refusing.key, polished
        if key not in self._inclusions:
            inclusion = self._decide(question, problems, polished=polished)
            if inclusion.included is None:
                return inclusion
            self._inclusions[key] = inclusion
        return self._inclusions[key]

    def _decide(self, question: _Question, problems: Sequence[Problem], *, polished: bool) -> Inclusion:
        answer = self._prover.find([question.accepting], [question.refusing])
        if isinstance(answer, Empty):
            return _PROVED
        witness = self._witness(question, answer, polished=polished) or self._search(question, answer)
        if witness is not None:
            return witness
        return Inclusion(included=None, proof=Proof.NOT_PROVEN, reason=self._reason(problems, answer))

    def _witness(self, question: _Question, answer: Answer, *, polished: bool = True) -> Inclusion | None:
        if not isinstance(answer, Found) or answer.size > _LARGEST_WITNESS:
            return None
        values = [answer.value]
        if polished:
            try:
                values.insert(0, polish(answer.value, question.is_answered_by, self._hints(question)))
            except RecursionError:  # nested too deep to be written out
                return None
        for value in values:
            if self._confirmed(question, value):
                return Inclusion(included=False, proof=Proof.WITNESS, witness=value, has_witness=True)
        return None

    def _search(self, question: _Question, answer: Answer) -> Inclusion | None:
        """Try instances until one is a witness; where the engine cannot tell, the library decides alone."""
        if not (self._askable(question.accepted) and self._askable(question.refused)):
            return None
        hints = self._hints(question)
        bases = [value for source in hints for value in source.at(())]
        for start in (answer, self._prover.find([question.accepting], [])):
            if isinstance(start, Found) and start.size <= _LARGEST_BASE:
                bases.append(start.value)
        boundaries = Boundaries([_raw(question.accepted), _raw(question.refused)])
        try:
            for value in islice(variants(bases or [{}], boundaries), self._budget.samples):
                if question.may_be_answered_by(value) and self._confirmed(question, value):
                    smaller = polish(value, partial(self._confirmed, question), [])
                    return Inclusion(included=False, proof=Proof.WITNESS, witness=smaller, has_witness=True)
        except BudgetExhausted:
            return None
        return None

    def _hints(self, question: _Question) -> list[Hints]:
        return [Hints(self._side(view).reader, view.pointer) for view in (question.accepted, question.refused)]

    def _confirmed(self, question: _Question, value: Json) -> bool:
        return self._validates(question.accepted, value) is True and self._validates(question.refused, value) is False

    def _askable(self, view: SchemaView) -> bool:
        unfolded = self._read(view).unfolded
        return unfolded is not None and unfolded <= _MOST_UNFOLDED

    def _validates(self, view: SchemaView, value: Json) -> bool | None:
        if not self._askable(view):
            return None
        return self._side(view).validation.accepts(view.pointer, value)

    def _reason(self, problems: Sequence[Problem], answer: Answer) -> str:
        if self._meter.spent:
            return "The budget for this tool was spent before a proof or a counterexample was found."
        if problems:
            return problems[0].message
        if isinstance(answer, Found) and answer.size > _LARGEST_WITNESS:
            return "There seems to be a counterexample, but it is too large to be written out and checked."
        return "Neither a proof nor a counterexample was found."

    def _side(self, view: SchemaView) -> _Side:
        side = self._sides.get(id(view.document))
        if side is None:
            first = next(iter(self._sides.values()), None)
            side = self._sides[id(view.document)] = _Side(view.document, self._budget, self._meter, first)
            self._prover.sources.append(view.document.schema)
        return side

    def _read(self, view: SchemaView) -> NormalForm:
        return self._side(view).reader.read(view.pointer)


def _raw(view: SchemaView) -> Json:
    try:
        return view.schema
    except KeyError:
        return None


def _placed(value: Json, path: Sequence[str | int]) -> Node:
    """Return the node of all instances that hold a value at a path."""
    node = build.constants([value])
    for token in reversed(path):
        if isinstance(token, str):
            node = build.every([build.kinds(frozenset({OBJECT})), build.has(token), build.member(token, node)])
        else:
            long_enough = build.sized(ItemCount, token + 1, None)
            node = build.every([build.kinds(frozenset({ARRAY})), long_enough, build.item(token, node)])
    return node
