"""Choices, conditions and negations: only the engine can tell what a change of one does."""

from __future__ import annotations

from collections.abc import Iterator

from abs_gate.contracts.facts import Fact, SchemaPair
from abs_gate.contracts.plain import Plain, SchemaReader
from abs_gate.contracts.rules.registry import REVIEW, Direction, schema_rule
from abs_gate.contracts.schemas.values import canonical, same
from abs_gate.contracts.wording import named, show
from abs_gate.findings import Json

AREA = "combinators"
_CHOICE = {"anyOf": [{"type": "string", "maxLength": 9}, {"type": "integer"}]}


def _branch_texts(form: Plain, reader: SchemaReader) -> dict[str, Json]:
    return {canonical(reader.raw(pointer)): reader.raw(pointer) for pointer in form.branches}


def branch_changes(pair: SchemaPair) -> tuple[list[Json], list[Json]]:
    """Return the branches of a choice that are new and those that are gone, compared as written."""
    old, new = _branch_texts(pair.old, pair.old_reader), _branch_texts(pair.new, pair.new_reader)
    return [new[key] for key in new if key not in old], [old[key] for key in old if key not in new]


@schema_rule(
    "branch_added",
    area=AREA,
    direction=Direction.EITHER,
    mirror="branch_removed",
    fix="For arguments in `oneOf`: make sure that no value fits both an old branch and the new one.",
    bad=(_CHOICE, {"anyOf": [*_CHOICE["anyOf"], {"type": "object"}]}),
    good=(_CHOICE, {"anyOf": [*_CHOICE["anyOf"], {"type": "integer", "minimum": 3}]}),
)
def branch_added(pair: SchemaPair) -> Iterator[Fact]:
    """A choice (`anyOf`, `oneOf`) has more branches.

    More is accepted, except in a `oneOf` whose new branch overlaps an old one: what fits both is refused.
    """
    if len(pair.new.branches) > len(pair.old.branches) and pair.old.branches:
        added, _ = branch_changes(pair)
        yield Fact(
            message=f"The choice has {len(pair.new.branches)} branches; it had {len(pair.old.branches)}.",
            after=added,
            keywords=("anyOf", "oneOf"),
        )


@schema_rule(
    "branch_removed",
    area=AREA,
    direction=Direction.EITHER,
    mirror="branch_added",
    fix="Keep the branch until saved work has drained.",
    bad=({"anyOf": [*_CHOICE["anyOf"], {"type": "object"}]}, _CHOICE),
    good=({"anyOf": [*_CHOICE["anyOf"], {"type": "integer", "minimum": 3}]}, _CHOICE),
)
def branch_removed(pair: SchemaPair) -> Iterator[Fact]:
    """A choice (`anyOf`, `oneOf`) has fewer branches.

    What only fitted the missing branch is refused.
    """
    if len(pair.old.branches) > len(pair.new.branches) and pair.new.branches:
        _, removed = branch_changes(pair)
        yield Fact(
            message=f"The choice has {len(pair.new.branches)} branches; it had {len(pair.old.branches)}.",
            before=removed,
            keywords=("anyOf", "oneOf"),
        )


@schema_rule(
    "branches_changed",
    area=AREA,
    direction=Direction.EITHER,
    no_mirror="its own opposite",
    fix="Let every value that fitted a branch fit one still, and exactly one where it is `oneOf`.",
    bad=(_CHOICE, {"anyOf": [_CHOICE["anyOf"][0], {"type": "object"}]}),
    good=(_CHOICE, {"anyOf": [*reversed(_CHOICE["anyOf"])]}),
)
def branches_changed(pair: SchemaPair) -> Iterator[Fact]:
    """Branches of a choice (`anyOf`, `oneOf`) were replaced or changed.

    What only fitted the old form of a branch is refused.
    """
    added, removed = branch_changes(pair)
    if (added or removed) and len(pair.old.branches) == len(pair.new.branches):
        yield Fact(
            message=f"{len(added)} of {len(pair.new.branches)} branches of the choice changed.",
            before=removed,
            after=added,
            keywords=("anyOf", "oneOf"),
        )


@schema_rule(
    "choice_made_exclusive",
    area=AREA,
    direction=Direction.NARROWS,
    mirror="choice_made_inclusive",
    fix="Use `anyOf`, or make the branches disjoint.",
    bad=(
        {"anyOf": [{"type": "integer"}, {"type": "number", "minimum": 0}]},
        {"oneOf": [{"type": "integer"}, {"type": "number", "minimum": 0}]},
    ),
    good=(_CHOICE, {"oneOf": _CHOICE["anyOf"]}),
)
def choice_made_exclusive(pair: SchemaPair) -> Iterator[Fact]:
    """`anyOf` became `oneOf` with branches that overlap.

    A value that fits two branches was accepted and is refused now.
    """
    if (pair.old.branch_keyword, pair.new.branch_keyword) == ("anyOf", "oneOf"):
        yield Fact(
            message="`anyOf` became `oneOf`: a value that fits two branches is refused.",
            before="anyOf",
            after="oneOf",
            keywords=("anyOf", "oneOf"),
        )


@schema_rule(
    "choice_made_inclusive",
    area=AREA,
    direction=Direction.WIDENS,
    mirror="choice_made_exclusive",
    fix="For results: return what fits exactly one branch.",
    bad=(
        {"oneOf": [{"type": "integer"}, {"type": "number", "minimum": 0}]},
        {"anyOf": [{"type": "integer"}, {"type": "number", "minimum": 0}]},
    ),
    good=({"oneOf": _CHOICE["anyOf"]}, _CHOICE),
)
def choice_made_inclusive(pair: SchemaPair) -> Iterator[Fact]:
    """`oneOf` with branches that overlap became `anyOf`.

    Harmless for arguments; consumers may get what fits two branches.
    """
    if (pair.old.branch_keyword, pair.new.branch_keyword) == ("oneOf", "anyOf"):
        yield Fact(
            message="`oneOf` became `anyOf`: a value may fit several branches.",
            before="oneOf",
            after="anyOf",
            keywords=("anyOf", "oneOf"),
        )


@schema_rule(
    "choice_added",
    area=AREA,
    direction=Direction.EITHER,
    mirror="choice_dropped",
    fix="Say the rule in the description and check it in the tool; at the root of a schema providers refuse it.",
    bad=({"type": "object"}, {"type": "object", "anyOf": [{"required": ["a"]}, {"required": ["b"]}]}),
    good=({"type": ["string", "null"]}, {"anyOf": [{"type": "string"}, {"type": "null"}]}),
)
def choice_added(pair: SchemaPair) -> Iterator[Fact]:
    """A choice (`anyOf`, `oneOf`) was added where there was none.

    What fits none of its branches is refused. At the root of an input schema OpenAI and Anthropic refuse the whole
    request.
    """
    if pair.new.branches and not pair.old.branches:
        keyword = pair.new.branch_keyword
        yield Fact(
            message=f"`{keyword}` with {len(pair.new.branches)} branches was added.",
            after=[pair.new_reader.raw(pointer) for pointer in pair.new.branches],
            keywords=("anyOf", "oneOf", "type", "enum", "const"),
        )


@schema_rule(
    "choice_dropped",
    area=AREA,
    direction=Direction.EITHER,
    mirror="choice_added",
    fix="For results: keep to the forms that were promised.",
    bad=({"type": "object", "anyOf": [{"required": ["a"]}, {"required": ["b"]}]}, {"type": "object"}),
    good=({"oneOf": [{"type": "string"}, {"type": "null"}]}, {"type": ["string", "null"]}),
)
def choice_dropped(pair: SchemaPair) -> Iterator[Fact]:
    """A choice (`anyOf`, `oneOf`) is gone.

    Without it more passes, unless what replaced it says less.
    """
    if pair.old.branches and not pair.new.branches:
        keyword = pair.old.branch_keyword
        yield Fact(
            message=f"`{keyword}` with {len(pair.old.branches)} branches was dropped.",
            before=[pair.old_reader.raw(pointer) for pointer in pair.old.branches],
            keywords=("anyOf", "oneOf", "type", "enum", "const"),
        )


@schema_rule(
    "condition_changed",
    area=AREA,
    direction=Direction.EITHER,
    no_mirror="its own opposite",
    fix="Say the condition in the description, and check it in the tool with an error that names the argument.",
    bad=(
        {"type": "object"},
        {"type": "object", "if": {"required": ["a"]}, "then": {"required": ["b"]}},
    ),
    good=({"type": "object"}, {"type": "object", "if": {"required": ["a"]}}),
)
def condition_changed(pair: SchemaPair) -> Iterator[Fact]:
    """`if`, `then`, `else` came, went or changed.

    A conditional demand refuses calls that passed. Models see it badly, and strict modes refuse it.
    """
    keywords = ("if", "then", "else")
    yield from _changed(pair, keywords, "The condition")


@schema_rule(
    "negation_changed",
    area=AREA,
    direction=Direction.EITHER,
    no_mirror="its own opposite",
    fix="List what is accepted rather than what is not.",
    bad=({"type": "string"}, {"type": "string", "not": {"const": ""}}),
    good=({"type": "string"}, {"type": "string", "not": False}),
)
def negation_changed(pair: SchemaPair) -> Iterator[Fact]:
    """`not` came, went or changed.

    What it rules out is refused.
    """
    yield from _changed(pair, ("not",), "The negation")


@schema_rule(
    "conjunction_changed",
    area=AREA,
    direction=Direction.EITHER,
    no_mirror="its own opposite",
    fix="Demand no more than before.",
    bad=(
        {"type": "string", "allOf": [{"pattern": "a"}, {"pattern": "b"}]},
        {"type": "string", "allOf": [{"pattern": "a"}, {"pattern": "c"}]},
    ),
    good=({"allOf": [{"type": "string"}, {"minLength": 3}]}, {"type": "string", "minLength": 3}),
)
def conjunction_changed(pair: SchemaPair) -> Iterator[Fact]:
    """A member of `allOf` came, went or changed.

    Every member is one more demand.
    """
    old = {canonical(pair.old_reader.raw(pointer)) for pointer in pair.old.all_of}
    new = {canonical(pair.new_reader.raw(pointer)) for pointer in pair.new.all_of}
    if old != new:
        yield Fact(
            message="What has to hold at once (`allOf`) changed.",
            before=len(old),
            after=len(new),
            keywords=("allOf",),
        )


@schema_rule(
    "unevaluated_changed",
    area=AREA,
    direction=Direction.EITHER,
    no_mirror="its own opposite",
    fix="Leave open what was open.",
    bad=(
        {"type": "array", "prefixItems": [{"type": "string"}]},
        {"type": "array", "prefixItems": [{"type": "string"}], "unevaluatedItems": {"type": "string"}},
    ),
    good=({"type": "object"}, {"type": "object", "unevaluatedProperties": True}),
)
def unevaluated_changed(pair: SchemaPair) -> Iterator[Fact]:
    """`unevaluatedProperties` or `unevaluatedItems` came or went.

    They bind whatever no other part of the schema speaks of, through every `allOf`, `anyOf` and `$ref`.
    """
    keywords = ("unevaluatedProperties", "unevaluatedItems")
    on_one_side = tuple(key for key in keywords if (key in pair.old.single) != (key in pair.new.single))
    yield from _changed(pair, on_one_side, "What no other part speaks of")


def _changed(pair: SchemaPair, keywords: tuple[str, ...], what: str) -> Iterator[Fact]:
    before = {key: pair.old_reader.raw(pair.old.single[key]) for key in keywords if key in pair.old.single}
    after = {key: pair.new_reader.raw(pair.new.single[key]) for key in keywords if key in pair.new.single}
    if not same(before, after):
        verb = "was added" if not before else "was dropped" if not after else "changed"
        yield Fact(
            message=f"{what} {verb}: {show(after or before)}.",
            before=before or None,
            after=after or None,
            keywords=keywords,
        )


@schema_rule(
    "keyword_not_understood",
    area=AREA,
    grades=(REVIEW, REVIEW),
    affects=("adapter", "provider"),
    no_mirror="its own opposite",
    fix="Say it in standard keywords, or look at it: what it means for callers is not known here.",
    bad=({"type": "string"}, {"type": "string", "x-secret-level": 3}),
    good=({"type": "string", "x-level": 3}, {"x-level": 3.0, "type": "string"}),
)
def keyword_not_understood(pair: SchemaPair) -> Iterator[Fact]:
    """A keyword outside the JSON Schema vocabularies came, went or changed.

    Whoever gave it a meaning may now behave otherwise. What is not understood is never called compatible.
    """
    for keyword in sorted(pair.old.unknown.keys() | pair.new.unknown.keys()):
        before, after = pair.old.unknown.get(keyword), pair.new.unknown.get(keyword)
        if not same(before, after):
            yield Fact(
                message=f"{named(keyword)}, which is not understood, went from {show(before)} to {show(after)}.",
                before=before,
                after=after,
            )
