"""Compares the schemas of one side of a tool: rules explain, the engine confirms, broken changes carry a witness."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from abs_gate.contracts.alignment import align
from abs_gate.contracts.facts import Fact, SchemaPair
from abs_gate.contracts.grafting import without
from abs_gate.contracts.matching import ROOT, Child, InstancePath, Matching, property_step
from abs_gate.contracts.model import Change, Classification, ToolContract
from abs_gate.contracts.places import PartPath, steps_to
from abs_gate.contracts.plain import Pointer, SchemaReader
from abs_gate.contracts.rules import rule, rules_of
from abs_gate.contracts.rules.registry import (
    BREAKING,
    COMPATIBLE,
    UNCHANGED,
    Direction,
    Kind,
    Rule,
    Side,
    schema_affects,
)
from abs_gate.contracts.schemas import Comparison, Engine, Inclusion, Problem, ProblemKind, Proof, SchemaDocument
from abs_gate.contracts.schemas.pointing import pointed
from abs_gate.contracts.schemas.values import TYPES, same
from abs_gate.contracts.witnesses import Witnesses
from abs_gate.findings import Json, Location

_MAX_PAIRS = 20_000
"""Pairs of subschemas looked at for one side of one tool; what lies beyond is left to the engine's verdict."""


_OUTLINES = frozenset({"branches_changed", "condition_changed"})
"""Rules that say that parts changed which are looked into besides."""


_BREAKING_WAY = {Side.INPUT: Direction.NARROWS, Side.OUTPUT: Direction.WIDENS}


class _At(Struct, frozen=True, kw_only=True):
    """Where the walk stands."""

    child: Child
    path: str
    instance: InstancePath | None
    narrowed: bool | None
    """Whether less is accepted here, as far as anything above lets it through; None: not proven."""
    widened: bool | None
    definitions: tuple[str, ...] = ()
    choices: tuple[str, ...] = ()
    """Paths of the choices whose branches lead here."""

    def says_all_of(self, other: _At) -> bool:
        """Tell whether what became of the set at another use of the same subschemas shows here too."""
        is_hidden = (self.narrowed is False and other.narrowed is not False) or (
            self.widened is False and other.widened is not False
        )
        return not is_hidden


class _Found(Struct, frozen=True, kw_only=True):
    """A fact with the rule that found it and where."""

    rule: Rule
    fact: Fact
    pair: SchemaPair
    at: _At


class SchemaDiff:
    """One side of one tool, old against new."""

    def __init__(self, side: Side, old: Json, new: Json, *, engine: Engine, root: str = "") -> None:
        self._side = side
        self._root = root or side.value
        self._engine = engine
        self._documents = pointed(SchemaDocument(old)), pointed(SchemaDocument(new))
        self._matching = Matching(side, *(SchemaReader(document) for document in self._documents))
        self._witnesses = Witnesses(side, *self._documents, engine=engine)

    def changes(self, tool: ToolContract | None = None) -> tuple[Change, ...]:
        """Return the classified changes, those of the whole schema last."""
        old, new = self._documents
        if old.equals(new):
            return ()
        self._aligned = align(self._matching)
        whole = self._engine.compare(*(document.view() for document in self._aligned))
        problems = _new_problems(*(self._engine.problems(document.view()) for document in self._documents))
        if problems:
            return (self._invalid(problems, tool),)
        found = _without_echoes(list(self._walk(whole)))
        changes = [self._change(item, tool) for item in _one_for_null_and_constraint(found)]
        changes += self._unexplained(whole, found, tool)
        return tuple(replace(change, notes=(*change.notes, *self._limits(whole))) for change in changes)

    def _walk(self, whole: Comparison) -> Iterator[_Found]:
        start = _At(
            child=ROOT,
            path=self._root,
            instance=(),
            narrowed=_negated(whole.old_in_new.included),
            widened=_negated(whole.new_in_old.included),
        )
        seen: dict[tuple[Pointer, Pointer], list[_At]] = {}
        stack = [start]
        while stack and len(seen) < _MAX_PAIRS:
            at = stack.pop()
            uses = seen.setdefault((at.child.old, at.child.new), [])
            if any(use.says_all_of(at) for use in uses):
                continue
            uses.append(at)
            pair = self._matching.pair(at.child)
            yield from self._facts(pair, at)
            differing = [child for child in self._matching.children(pair) if self._differs(child)]
            stack += [self._below(at, pair, child, siblings=len(differing) - 1) for child in reversed(differing)]

    def _differs(self, child: Child) -> bool:
        return child.required[0] != child.required[1] or self._matching.differ(child)

    def _below(self, at: _At, pair: SchemaPair, child: Child, *, siblings: int) -> _At:
        instance = None if at.instance is None or child.instance is None else (*at.instance, *child.instance)
        narrowed, widened = at.narrowed, at.widened
        is_decided = (narrowed is False and widened is False) or (not siblings and self._is_all(pair, child))
        if child.is_renamed or not is_decided:
            documents = self._documents if child.is_renamed else self._aligned
            views = documents[0].view(*child.old), documents[1].view(*child.new)
            inner = self._engine.compare(*views, polished=False)
            mine = _negated(inner.old_in_new.included), _negated(inner.new_in_old.included)
            narrowed = mine[0] if child.is_renamed else _both(narrowed, mine[0])
            widened = mine[1] if child.is_renamed else _both(widened, mine[1])
        names = dict.fromkeys((*at.definitions, *pair.new.definitions))
        return _At(
            child=child,
            path=at.path + child.step,
            instance=instance,
            narrowed=narrowed,
            widened=widened,
            definitions=tuple(names),
            choices=(*at.choices, at.path) if child.is_branch else at.choices,
        )

    def _is_all(self, pair: SchemaPair, child: Child) -> bool:
        """Tell whether a child is all that differs here: what became of the whole then became of the child."""
        places = (pair.old.pointer, child.old), (pair.new.pointer, child.new)
        steps = [inner[len(outer) :] for outer, inner in places if inner[: len(outer)] == outer]
        if len(steps) < 2 or steps[0] != steps[1] or not steps[0]:
            return False
        old, new = self._matching.old.raw(pair.old.pointer), self._matching.new.raw(pair.new.pointer)
        return same(without(old, steps[0]), without(new, steps[1]))

    def _facts(self, pair: SchemaPair, at: _At) -> Iterator[_Found]:
        subjects = {None, *(kind for kind in TYPES if pair.old.allows(kind) and pair.new.allows(kind))}
        directions: dict[Direction | None, bool] = {
            None: True,
            Direction.NARROWS: at.narrowed is not False,
            Direction.WIDENS: at.widened is not False,
            Direction.EITHER: at.narrowed is not False or at.widened is not False,
        }
        for each in rules_of(Kind.SCHEMA):
            if each.of in subjects and directions[each.direction]:
                for fact in each.find(pair):
                    yield _Found(rule=each, fact=fact, pair=pair, at=at)

    def _change(self, found: _Found, tool: ToolContract | None) -> Change:
        each, fact, at = found.rule, found.fact, found.at
        classification, proof = self._grade(found)
        witness = None
        if classification.rank >= BREAKING.rank:
            is_convention = each.direction is None
            witness = self._witnesses.find(found.pair, fact, at.child, at.instance, is_convention=is_convention)
            if witness is not None:
                proof = "witness"
            elif each.direction is not None and self._is_ruled_out(_BREAKING_WAY[self._side]):
                classification, proof = COMPATIBLE, Proof.PROVED.value
            elif each.direction is not None:
                proof = Proof.NOT_PROVEN.value
        names = tuple(dict.fromkeys((*at.definitions, *found.pair.new.definitions)))
        notes = (*fact.notes, *([f"In the definition `{name}`." for name in names[:1]]))
        affects = each.affects[self._side]
        if classification is not each.grades[self._side]:
            affects = schema_affects(self._side, classification)
        return Change(
            path=at.path + (property_step(fact.name) if fact.name else ""),
            kind=each.id,
            classification=classification,
            affects=affects,
            message=fact.message,
            before=fact.before,
            after=fact.after,
            proof=proof,
            witness=witness.witness if witness else None,
            has_witness=witness is not None,
            location=_place(tool, self._part(found)),
            notes=notes,
        )

    def _grade(self, found: _Found) -> tuple[Classification, str]:
        """Return the classification, and what it rests on before a witness is looked for."""
        each, fact, at = found.rule, found.fact, found.at
        if each.direction is None:
            return fact.grade or each.grades[self._side], "convention"
        if each.direction is not Direction.EITHER:
            return fact.grade or each.grades[self._side], Proof.PROVED.value
        is_broken = at.narrowed if self._side is Side.INPUT else at.widened
        if is_broken is False:
            return COMPATIBLE, Proof.PROVED.value
        return BREAKING, Proof.NOT_PROVEN.value

    def _part(self, found: _Found) -> PartPath:
        pointer = found.pair.new.pointer
        if found.fact.name in found.pair.new.properties:
            pointer = found.pair.new.properties[found.fact.name]
        return (self._root, *steps_to(self._documents[1].schema, pointer))

    def _unexplained(self, whole: Comparison, found: list[_Found], tool: ToolContract | None) -> Iterator[Change]:
        """Report what the engine says of the whole where no rule said it."""
        explained = set[Direction]().union(*map(_says, found))
        answers = {Direction.NARROWS: whole.old_in_new, Direction.WIDENS: whole.new_in_old}
        left = [way for way, answer in answers.items() if answer.included is not True and way not in explained]
        left = [way for way in left if not self._is_ruled_out(way)]
        if len(left) > 1 and all(answers[way].included is None for way in left):
            left = left[:1]
        for way in left:
            yield self._whole_change(way, answers[way], tool)

    def _is_ruled_out(self, direction: Direction) -> bool:
        """Tell whether the schemas as they were written are proven not to differ in a direction.

        What was evened out in one of them may be read with definitions that were evened out in the other.
        """
        if self._aligned == self._documents:
            return False
        written = self._witnesses.written
        answer = written.old_in_new if direction is Direction.NARROWS else written.new_in_old
        return answer.included is True

    def _whole_change(self, direction: Direction, inclusion: Inclusion, tool: ToolContract | None) -> Change:
        verb = "narrowed" if direction is Direction.NARROWS else "widened"
        each = rule("schema_not_proven" if inclusion.included is None else f"schema_{verb}")
        classification = each.grades[self._side]
        shown = self._witnesses.whole(inclusion) if classification is BREAKING else None
        return Change(
            path=self._root,
            kind=each.id,
            classification=classification,
            affects=schema_affects(self._side, classification),
            message=each.explanation.partition("\n")[0],
            proof=_proof(classification, shown).value,
            witness=shown.witness if shown else None,
            has_witness=shown is not None,
            location=_place(tool, (self._root,)),
            notes=(inclusion.reason,) if inclusion.reason else (),
        )

    def _invalid(self, problems: list[str], tool: ToolContract | None) -> Change:
        each = rule("schema_invalid")
        return Change(
            path=self._root,
            kind=each.id,
            classification=each.grades[self._side],
            affects=each.affects[self._side],
            message=problems[0],
            location=_place(tool, (self._root,)),
            notes=tuple(problems[1:6]),
        )

    def _limits(self, whole: Comparison) -> tuple[str, ...]:
        return ("The search budget for this tool was spent.",) if whole.budget_spent else ()


def _new_problems(old: Sequence[Problem], new: Sequence[Problem]) -> list[str]:
    """Return, as sentences, what makes the new schema none, where the old one was none the worse for it."""
    known = {problem.message for problem in old}
    messages = [problem.message for problem in new if problem.kind is ProblemKind.INVALID]
    return [message for message in messages if message not in known]


def _without_echoes(found: list[_Found]) -> list[_Found]:
    """Drop what says nothing on this side, and choices and conditions whose parts were looked into and said it all."""
    within: dict[str, set[Direction]] = {}
    for item in found:
        for path in item.at.choices:
            within.setdefault(path, set()).update(_says(item))
    return [
        item
        for item in found
        if _grade_of(item) is not UNCHANGED
        and not (item.rule.id in _OUTLINES and _says(item) <= within.get(item.at.path, set()))
    ]


def _says(item: _Found) -> set[Direction]:
    """Return what a fact says of the accepted set where it stands; nothing for what holds by convention.

    A keyword that is not understood says whatever is not proven there.
    """
    if item.rule.id == "keyword_not_understood":
        proven = {Direction.NARROWS: item.at.narrowed, Direction.WIDENS: item.at.widened}
        return {direction for direction, answer in proven.items() if answer is None}
    if item.rule.direction is None or item.at.child.is_renamed:
        return set()
    both: set[Direction] = {Direction.NARROWS, Direction.WIDENS}
    said = both if item.rule.direction is Direction.EITHER else {item.rule.direction}
    ruled_out = {Direction.NARROWS: item.at.narrowed is False, Direction.WIDENS: item.at.widened is False}
    return {direction for direction in said if not ruled_out[direction]}


def _one_for_null_and_constraint(found: list[_Found]) -> list[_Found]:
    """A value that became nullable and narrower in one go is one finding: the one that breaks the side."""
    nullable = {item.at.path for item in found if item.rule.id == "null_added"}
    if not nullable:
        return found
    narrower = {item.at.path for item in found if item.rule.direction is Direction.NARROWS}
    merged: list[_Found] = []
    for item in found:
        is_both = item.at.path in nullable & narrower
        is_null = item.rule.id == "null_added"
        is_breaking = is_null is (item.pair.side is Side.OUTPUT)
        if not is_both or (not is_null and item.rule.direction is not Direction.NARROWS):
            merged.append(item)
        elif is_breaking:
            note = "Narrower besides." if is_null else "Null is accepted besides."
            merged.append(replace(item, fact=replace(item.fact, notes=(*item.fact.notes, note))))
    return merged


def _grade_of(item: _Found) -> Classification:
    return item.fact.grade or item.rule.grades[item.pair.side]


def _place(tool: ToolContract | None, part: PartPath) -> Location | None:
    return None if tool is None else tool.places.get(part, tool.location)


def _proof(classification: Classification, witness: Inclusion | None) -> Proof:
    if witness is not None:
        return Proof.WITNESS
    return Proof.PROVED if classification is COMPATIBLE else Proof.NOT_PROVEN


def _negated(included: bool | None) -> bool | None:
    return None if included is None else not included


def _both(outer: bool | None, inner: bool | None) -> bool | None:
    if outer is False or inner is False:
        return False
    return True if outer and inner else None
