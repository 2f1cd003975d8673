"""Listed values: `enum` and `const`."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from abs_gate.contracts.facts import Fact, SchemaPair
from abs_gate.contracts.rules.registry import REVIEW, Direction, Side, schema_rule
from abs_gate.contracts.schemas.values import canonical
from abs_gate.contracts.wording import show_all
from abs_gate.findings import Json

AREA = "values"
_OPEN_MARKS = ("x-extensible-enum", "x-open-enum", "x-ms-enum-extensible")
_KEYWORDS = ("enum", "const", "type", "anyOf", "oneOf")


def values_changed(pair: SchemaPair) -> tuple[list[Json], list[Json]] | None:
    """Return the values removed and added, compared as JSON (`1` is `1.0`, not `true`); None without two lists.

    Null is left out where other values stay: whether null is accepted is a question of its own.
    """
    if pair.old.enum is None or pair.new.enum is None:
        return None
    old = {canonical(value): value for value in pair.old.enum}
    new = {canonical(value): value for value in pair.new.enum}
    removed = [value for key, value in old.items() if key not in new]
    added = [value for key, value in new.items() if key not in old]
    return removed, added


def _folded(value: Json) -> str:
    return value.casefold().replace("-", "_").replace(" ", "_") if isinstance(value, str) else canonical(value)


def _said(pair: SchemaPair, message: str) -> Fact:
    old, new = pair.old.enum, pair.new.enum
    return Fact(
        message=message,
        before=None if old is None else list(old),
        after=None if new is None else list(new),
        keywords=_KEYWORDS,
    )


@schema_rule(
    "enum_value_removed",
    area=AREA,
    direction=Direction.NARROWS,
    mirror="enum_value_added",
    fix="Keep the value and treat it as what replaces it, or remove it in a new tool version.",
    bad=({"enum": ["a", "b"]}, {"enum": ["a"]}),
    good=({"enum": ["a", "b", "a"]}, {"enum": ["b", "a"]}),
)
def enum_value_removed(pair: SchemaPair) -> Iterator[Fact]:
    """A listed value is no longer accepted or returned.

    Saved calls carry it, and models that saw it in examples or earlier turns send it again.
    """
    change = values_changed(pair)
    if change and change[0] and not change[1]:
        yield _said(pair, f"No longer among the values: {show_all(change[0])}.")


@schema_rule(
    "enum_value_added",
    area=AREA,
    direction=Direction.WIDENS,
    mirror="enum_value_removed",
    fix="For results: let consumers handle unknown values first, then add the value.",
    bad=({"enum": ["a"]}, {"enum": ["a", "b"]}),
    good=({"enum": ["a", 1]}, {"enum": [1.0, "a"]}),
)
def enum_value_added(pair: SchemaPair) -> Iterator[Fact]:
    """A value was added to the list.

    Harmless for arguments, unless it selects an effect (see `dispatch_value_added`). Consumers that handle each
    listed result value meet one they do not know; where the old list was marked `x-extensible-enum: true` they were
    told, and it is for review.
    """
    change = values_changed(pair)
    if change and change[1] and not change[0]:
        is_open = pair.side is Side.OUTPUT and any(pair.old.unknown.get(mark) is True for mark in _OPEN_MARKS)
        yield replace(_said(pair, f"Added to the values: {show_all(change[1])}."), grade=REVIEW if is_open else None)


@schema_rule(
    "enum_values_replaced",
    area=AREA,
    direction=Direction.EITHER,
    no_mirror="its own opposite",
    fix="Accept the old values besides the new ones until saved work has drained.",
    bad=({"enum": ["a", "b"]}, {"enum": ["a", "c"]}),
    good=({"enum": ["a", "b"]}, {"oneOf": [{"const": "b"}, {"const": "a", "title": "A"}]}),
)
def enum_values_replaced(pair: SchemaPair) -> Iterator[Fact]:
    """Some listed values went and others came.

    Saved calls carry the old values; consumers meet new ones.
    """
    change = values_changed(pair)
    if change and change[0] and change[1] and not _is_respelled(*change) and not _is_constant(pair):
        yield _said(pair, f"Values replaced: {show_all(change[0])} went, {show_all(change[1])} came.")


@schema_rule(
    "enum_case_changed",
    area=AREA,
    direction=Direction.EITHER,
    no_mirror="its own opposite",
    fix="Compare without regard to case in the tool, or list both spellings.",
    bad=({"enum": ["asc", "desc"]}, {"enum": ["ASC", "DESC"]}),
    good=({"enum": ["asc", "desc"]}, {"enum": ["desc", "asc"]}),
)
def enum_case_changed(pair: SchemaPair) -> Iterator[Fact]:
    """Values are spelled in another letter case, or with other separators.

    To JSON Schema these are different values: every saved call with the old spelling is refused.
    """
    change = values_changed(pair)
    if change and change[0] and change[1] and _is_respelled(*change) and not _is_constant(pair):
        yield _said(pair, _spelling_text(*change))


def _spelling_text(removed: list[Json], added: list[Json]) -> str:
    """Return a sentence for the values that are spelled otherwise, and others for those that went or came."""
    both = {_folded(value) for value in removed} & {_folded(value) for value in added}
    (before, gone), (after, come) = (
        ([value for value in side if _folded(value) in both], [value for value in side if _folded(value) not in both])
        for side in (removed, added)
    )
    text = f"The spelling of values changed: {show_all(before)} became {show_all(after)}."
    text += f" Gone besides: {show_all(gone)}." if gone else ""
    return text + (f" New besides: {show_all(come)}." if come else "")


def _is_respelled(removed: list[Json], added: list[Json]) -> bool:
    return bool({_folded(value) for value in removed} & {_folded(value) for value in added})


def _is_constant(pair: SchemaPair) -> bool:
    return len(pair.old.enum or ()) == 1 and len(pair.new.enum or ()) == 1


@schema_rule(
    "const_changed",
    area=AREA,
    direction=Direction.EITHER,
    no_mirror="its own opposite",
    fix="Accept both constants until saved work has drained.",
    bad=({"const": 1}, {"const": 2}),
    good=({"const": 1}, {"enum": [1.0]}),
)
def const_changed(pair: SchemaPair) -> Iterator[Fact]:
    """The one accepted value is another one.

    No old call is accepted any more.
    """
    change = values_changed(pair)
    if change and change[0] and change[1] and _is_constant(pair):
        yield _said(pair, f"The constant changed from {show_all(change[0])} to {show_all(change[1])}.")


@schema_rule(
    "enum_introduced",
    area=AREA,
    direction=Direction.NARROWS,
    mirror="enum_dropped",
    fix="List the values in the description, or list them in a new tool version.",
    bad=({"type": "string"}, {"type": "string", "enum": ["a", "b"]}),
    good=({"type": "boolean"}, {"enum": [True, False]}),
)
def enum_introduced(pair: SchemaPair) -> Iterator[Fact]:
    """A free value has to be one of a list.

    Whatever else callers sent is refused. Some diff tools call this additive; it is not.
    """
    if pair.old.enum is None and pair.new.enum is not None and not pair.old.is_never:
        yield _said(pair, f"The value has to be one of {show_all(pair.new.enum)}; it was free.")


@schema_rule(
    "enum_dropped",
    area=AREA,
    direction=Direction.WIDENS,
    mirror="enum_introduced",
    fix="Keep the list: models that choose from one do not invent values.",
    bad=({"type": "string", "enum": ["a"]}, {"type": "string"}),
    good=({"enum": [None]}, {"type": "null"}),
)
def enum_dropped(pair: SchemaPair) -> Iterator[Fact]:
    """A listed value became free.

    Harmless for arguments, though models start to invent values. Consumers meet results outside the list.
    """
    if pair.old.enum is not None and pair.new.enum is None and not pair.new.is_never:
        yield _said(pair, f"The value is free; it had to be one of {show_all(pair.old.enum)}.")
