"""Items of lists."""

from __future__ import annotations

from collections.abc import Iterator

from abs_gate.contracts.facts import Fact, SchemaPair
from abs_gate.contracts.rules.registry import Direction, schema_rule
from abs_gate.contracts.wording import show

AREA = "lists"
_TUPLE = {"type": "array", "prefixItems": [{"type": "string"}]}
_LIST = {"type": "array", "items": {"type": "string"}}


@schema_rule(
    "items_introduced",
    area=AREA,
    of="array",
    direction=Direction.NARROWS,
    mirror="items_dropped",
    fix="Accept every item that was accepted.",
    bad=({"type": "array"}, _LIST),
    good=({"type": "array"}, {"type": "array", "items": True}),
)
def items_introduced(pair: SchemaPair) -> Iterator[Fact]:
    """Items of a list that could hold anything have to follow a schema.

    Lists with other items are refused.
    """
    pointer = pair.new.single.get("items")
    if pointer and "items" not in pair.old.single and "_items" not in pair.old.scalars and not pair.new.prefix:
        schema = pair.new_reader.raw(pointer)
        yield Fact(message=f"Items have to be {show(schema)}.", after=schema, keywords=("items",))


@schema_rule(
    "items_dropped",
    area=AREA,
    of="array",
    direction=Direction.WIDENS,
    mirror="items_introduced",
    fix="Say what the items are: OpenAI refuses a list without `items`.",
    bad=(_LIST, {"type": "array"}),
    good=({"type": "array", "items": {}}, {"type": "array"}),
)
def items_dropped(pair: SchemaPair) -> Iterator[Fact]:
    """Items of a list no longer have to follow a schema.

    Harmless for arguments; consumers meet items of any kind.
    """
    pointer = pair.old.single.get("items")
    if pointer and "items" not in pair.new.single and "_items" not in pair.new.scalars and not pair.old.prefix:
        yield Fact(message="Items may be anything.", before=pair.old_reader.raw(pointer), keywords=("items",))


@schema_rule(
    "tail_closed",
    area=AREA,
    of="array",
    direction=Direction.NARROWS,
    mirror="tail_opened",
    fix="Go on accepting longer lists and ignore the rest.",
    bad=(_TUPLE, {**_TUPLE, "items": False}),
    good=({**_TUPLE, "items": False}, {**_TUPLE, "unevaluatedItems": False}),
)
def tail_closed(pair: SchemaPair) -> Iterator[Fact]:
    """Items beyond the declared positions are refused (`items: false`).

    Longer lists, accepted until now, are refused.
    """
    if _is_closed(pair, new=True) and not _is_closed(pair, new=False):
        yield Fact(message="No further items are accepted.", before=True, after=False, keywords=("items",))


@schema_rule(
    "tail_opened",
    area=AREA,
    of="array",
    direction=Direction.WIDENS,
    mirror="tail_closed",
    fix="For results: keep the number of items.",
    bad=({**_TUPLE, "items": False}, _TUPLE),
    good=({**_TUPLE, "items": {}}, _TUPLE),
)
def tail_opened(pair: SchemaPair) -> Iterator[Fact]:
    """Items beyond the declared positions are accepted.

    Harmless for arguments; consumers may get longer lists.
    """
    if _is_closed(pair, new=False) and not _is_closed(pair, new=True):
        yield Fact(message="Further items are accepted.", before=False, after=True, keywords=("items",))


def _is_closed(pair: SchemaPair, *, new: bool) -> bool:
    form = pair.new if new else pair.old
    return "_items" in form.scalars or "_unevaluatedItems" in form.scalars


@schema_rule(
    "prefix_items_changed",
    area=AREA,
    of="array",
    direction=Direction.EITHER,
    no_mirror="its own opposite",
    fix="Keep the positions as they are; use an object for what may grow.",
    bad=(_TUPLE, {"type": "array", "prefixItems": [{"type": "string"}, {"type": "integer"}]}),
    good=(
        {"$schema": "http://json-schema.org/draft-07/schema#", "type": "array", "items": [{"type": "string"}]},
        _TUPLE,
    ),
)
def prefix_items_changed(pair: SchemaPair) -> Iterator[Fact]:
    """The number of declared positions of a list changed.

    A position added to an open list refuses what stood there before; to a closed one it lets more pass.
    """
    before, after = len(pair.old.prefix), len(pair.new.prefix)
    if before != after:
        yield Fact(
            message=f"The list has {after} declared position{'s' * (after != 1)}; it had {before}.",
            before=before,
            after=after,
            keywords=("prefixItems", "items", "additionalItems"),
        )


@schema_rule(
    "unique_items_added",
    area=AREA,
    of="array",
    direction=Direction.NARROWS,
    mirror="unique_items_dropped",
    fix="Drop repeated items in the tool.",
    bad=(_LIST, {**_LIST, "uniqueItems": True}),
    good=(_LIST, {**_LIST, "uniqueItems": False}),
)
def unique_items_added(pair: SchemaPair) -> Iterator[Fact]:
    """Items have to differ from one another.

    Lists with a repeated item are refused, and models do repeat items.
    """
    before, after = pair.scalar("uniqueItems")
    if after is True and before is not True:
        yield Fact(message="Items have to differ.", before=False, after=True, keywords=("uniqueItems",))


@schema_rule(
    "unique_items_dropped",
    area=AREA,
    of="array",
    direction=Direction.WIDENS,
    mirror="unique_items_added",
    fix="For results: go on returning each item once.",
    bad=({**_LIST, "uniqueItems": True}, _LIST),
    good=({**_LIST, "uniqueItems": False}, _LIST),
)
def unique_items_dropped(pair: SchemaPair) -> Iterator[Fact]:
    """Items no longer have to differ.

    Harmless for arguments; consumers may count an item twice.
    """
    before, after = pair.scalar("uniqueItems")
    if before is True and after is not True:
        yield Fact(message="Items may repeat.", before=True, after=False, keywords=("uniqueItems",))


@schema_rule(
    "contains_added",
    area=AREA,
    of="array",
    direction=Direction.NARROWS,
    mirror="contains_dropped",
    fix="Add the missing item in the tool.",
    bad=(_LIST, {**_LIST, "contains": {"const": "x"}}),
    good=(_LIST, {**_LIST, "contains": {"const": "x"}, "minContains": 0}),
)
def contains_added(pair: SchemaPair) -> Iterator[Fact]:
    """A list has to hold an item that follows a schema.

    Lists without one are refused.
    """
    pointer = pair.new.single.get("contains")
    if pointer and "contains" not in pair.old.single:
        schema = pair.new_reader.raw(pointer)
        keywords = ("contains", "minContains", "maxContains")
        yield Fact(message=f"The list has to hold an item that is {show(schema)}.", after=schema, keywords=keywords)


@schema_rule(
    "contains_dropped",
    area=AREA,
    of="array",
    direction=Direction.WIDENS,
    mirror="contains_added",
    fix="For results: go on returning the item.",
    bad=({**_LIST, "contains": {"const": "x"}}, _LIST),
    good=({**_LIST, "contains": {"const": "x"}, "minContains": 0}, _LIST),
)
def contains_dropped(pair: SchemaPair) -> Iterator[Fact]:
    """A list no longer has to hold an item that follows a schema.

    Harmless for arguments; consumers may miss it.
    """
    pointer = pair.old.single.get("contains")
    if pointer and "contains" not in pair.new.single:
        keywords = ("contains", "minContains", "maxContains")
        schema = pair.old_reader.raw(pointer)
        yield Fact(message=f"The list need not hold an item that is {show(schema)}.", before=schema, keywords=keywords)
