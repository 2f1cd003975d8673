"""Which part of a new schema answers to which part of the old one."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence

from msgspec import Struct

from abs_gate.contracts.facts import SchemaPair
from abs_gate.contracts.grafting import is_unchanged
from abs_gate.contracts.plain import Plain, Pointer, SchemaReader
from abs_gate.contracts.renames import match_properties, without_texts
from abs_gate.contracts.rules.registry import Side
from abs_gate.contracts.schemas.values import canonical
from abs_gate.findings import Json

_PLAIN_NAME = re.compile(r"[\w$-]+")
_CONDITION = ("if", "then", "else")
_MENTION_DEPTH = 4
"""How deep branches and conditions are searched for the properties they speak of."""
_MAX_PAIRS = 10_000
"""More pairs of branches than this are not compared with one another."""
_ALIKE = 0.5
"""Share of properties two branches have in common to be taken for one."""
_SAME = 9.0
"""Likeness of branches that name the same definition or have the same tags."""
InstancePath = tuple[str | int, ...]
_FURTHER_PROPERTY: InstancePath = ("extra",)
"""A property that few schemas declare: where they do, a witness is found elsewhere or not at all."""


class Child(Struct, frozen=True, kw_only=True):
    """Two subschemas that answer to each other."""

    old: Pointer
    new: Pointer
    step: str
    """What it adds to the path in reports: `.reason`, `[]`."""
    instance: InstancePath | None
    """What it adds to the path through an instance; None where no single step leads there."""
    required: tuple[bool, bool] = (False, False)
    outer: tuple[frozenset[str], frozenset[str]] = (frozenset(), frozenset())
    """Properties that schemas around them declare for the same value."""
    is_renamed: bool = False
    is_branch: bool = False
    """A part that speaks of the same value: a branch, a condition's outcome, a dependency."""


ROOT = Child(old=(), new=(), step="", instance=())


class Matching:
    """Pairs the parts of two documents on one side of a contract."""

    def __init__(self, side: Side, old: SchemaReader, new: SchemaReader) -> None:
        self.side = side
        self.old = old
        self.new = new
        self._differing: dict[tuple[Pointer, Pointer], bool] = {}

    def differ(self, child: Child) -> bool:
        """Tell whether two subschemas may say different things: they are written differently, or refer elsewhere."""
        places = child.old, child.new
        if places not in self._differing:
            self._differing[places] = not is_unchanged(self.old.raw(child.old), self.new.raw(child.new))
        return self._differing[places]

    def pair(self, child: Child) -> SchemaPair:
        """Return two subschemas that answer to each other in plain form."""
        old_form, new_form = self.old.read(child.old), self.new.read(child.new)
        known = _mentioned(self.old, old_form) | child.outer[0], _mentioned(self.new, new_form) | child.outer[1]
        return SchemaPair(
            side=self.side,
            old=old_form,
            new=new_form,
            old_reader=self.old,
            new_reader=self.new,
            old_names=known[0],
            new_names=known[1],
            renames=match_properties(old_form, new_form, self.old, self.new, known),
            outer=child.outer,
            required=child.required,
        )

    def children(self, pair: SchemaPair) -> Iterator[Child]:
        """Yield the subschemas of a pair that answer to each other, in a stable order."""
        old, new = pair.old, pair.new
        for name in old.properties:
            other = pair.renames.get(name, name)
            if other in new.properties:
                yield Child(
                    old=old.properties[name],
                    new=new.properties[other],
                    step=property_step(other),
                    instance=(other,),
                    required=(name in old.required, other in new.required),
                    is_renamed=name in pair.renames,
                )
        further = old.single.get("additionalProperties")
        if further is not None:
            for name in pair.added:
                step = property_step(name)
                yield Child(old=further, new=new.properties[name], step=step, instance=(name,))
        for index, (before, after) in enumerate(zip(old.prefix, new.prefix, strict=False)):
            yield Child(old=before, new=after, step=f"[{index}]", instance=(index,))
        further_item = (max(len(old.prefix), len(new.prefix)),)
        for keyword, step, instance in (
            ("additionalProperties", ".*", _FURTHER_PROPERTY),
            ("propertyNames", ".*", None),
            ("items", "[]", further_item),
            ("contains", "[]", (0,)),
            ("unevaluatedProperties", ".*", _FURTHER_PROPERTY),
            ("unevaluatedItems", "[]", further_item),
        ):
            if keyword in old.single and keyword in new.single:
                yield Child(old=old.single[keyword], new=new.single[keyword], step=step, instance=instance)
        patterns = old.named.get("patternProperties", {}), new.named.get("patternProperties", {})
        for pattern in patterns[0].keys() & patterns[1].keys():
            step = property_step(pattern)
            yield Child(old=patterns[0][pattern], new=patterns[1][pattern], step=step, instance=None)
        outer = pair.outer[0] | old.properties.keys(), pair.outer[1] | new.properties.keys()
        for before, after in self._in_place(old, new):
            yield Child(
                old=before, new=after, step="", instance=(), is_branch=True, required=pair.required, outer=outer
            )

    def _in_place(self, old: Plain, new: Plain) -> Iterator[tuple[Pointer, Pointer]]:
        """Pair the parts that speak of the same value."""
        yield from self._branches(old.branches, new.branches)
        if len(old.all_of) == len(new.all_of):
            yield from zip(old.all_of, new.all_of, strict=True)
        outcomes = [{key for key in _CONDITION if key in form.single} for form in (old, new)]
        if outcomes[0] and outcomes[0] == outcomes[1] and self._has_same(old, new, "if"):
            yield from ((old.single[key], new.single[key]) for key in sorted(outcomes[0] - {"if"}))
        demands = old.named.get("dependentSchemas", {}), new.named.get("dependentSchemas", {})
        yield from ((pointer, demands[1][name]) for name, pointer in demands[0].items() if name in demands[1])

    def _has_same(self, old: Plain, new: Plain, keyword: str) -> bool:
        """Tell whether a subschema is written alike on both sides."""
        return canonical(self.old.raw(old.single[keyword])) == canonical(self.new.raw(new.single[keyword]))

    def _branches(self, old: Sequence[Pointer], new: Sequence[Pointer]) -> Iterator[tuple[Pointer, Pointer]]:
        """Pair branches that are written alike, then those that only readers tell apart, then those that are alike."""
        left, free = list(old), list(new)
        for said in (_as_written, without_texts):
            by_text: dict[str, list[Pointer]] = {}
            for pointer in free:
                by_text.setdefault(canonical(said(self.new.raw(pointer))), []).append(pointer)
            for pointer in tuple(left):
                alike = by_text.get(canonical(said(self.old.raw(pointer))))
                if alike:
                    match = alike.pop(0)
                    left.remove(pointer)
                    free.remove(match)
                    yield pointer, match
        likeness = [
            (likeness, old_index, new_index)
            for old_index, before in enumerate(left if len(left) * len(free) <= _MAX_PAIRS else [])
            for new_index, after in enumerate(free)
            if (likeness := self._likeness(before, after)) is not None
        ]
        taken: tuple[set[int], set[int]] = set(), set()
        for _, old_index, new_index in sorted(likeness, key=lambda found: (-found[0], *found[1:])):
            if old_index not in taken[0] and new_index not in taken[1]:
                taken[0].add(old_index)
                taken[1].add(new_index)
                yield left[old_index], free[new_index]

    def _likeness(self, old: Pointer, new: Pointer) -> float | None:
        """Return how much two branches have in common, None where they are not taken for one."""
        before, after = self.old.read(old), self.new.read(new)
        if before.definitions and before.definitions[:1] == after.definitions[:1]:
            return _SAME
        tags = _tags(self.old, before), _tags(self.new, after)
        if tags[0] and tags[1]:
            return _SAME if tags[0] == tags[1] else None
        names = set(before.properties), set(after.properties)
        union = names[0] | names[1]
        if not union:
            return self._likeness_of_values(before, after) if before.types and before.types == after.types else None
        shared = names[0] & names[1]
        if len(shared) < _ALIKE * len(union):
            return None
        equal = [self._says_the_same(before.properties[name], after.properties[name]) for name in shared]
        return len(shared) / len(union) + sum(equal) / len(union) + (before.required == after.required) / 2

    def _likeness_of_values(self, old: Plain, new: Plain) -> float:
        equal = [old.scalars == new.scalars, old.all_texts == new.all_texts, old.required == new.required]
        items = list(zip(old.prefix, new.prefix, strict=False))
        if "items" in old.single and "items" in new.single:
            items.append((old.single["items"], new.single["items"]))
        return sum(equal) / len(equal) + sum(self._says_the_same(*each) for each in items)

    def _says_the_same(self, old: Pointer, new: Pointer) -> bool:
        """Tell whether two properties are of one kind, as far as can be told at a glance."""
        before, after = self.old.read(old), self.new.read(new)
        return (before.types, before.enum) == (after.types, after.enum)


def _as_written(schema: Json) -> Json:
    return schema


def property_step(name: str) -> str:
    """Return how a property is written in a path: `.name`, or `["odd name"]`."""
    return (
        f".{name}" if name.replace("_", "a").replace("-", "a").replace("$", "a").isalnum() else f"[{json.dumps(name)}]"
    )


def _tags(reader: SchemaReader, form: Plain) -> dict[str, Json]:
    """Return the properties whose one value tells a branch from its siblings."""
    tags = {}
    for name, pointer in form.properties.items():
        enum = reader.read(pointer).enum
        if enum is not None and len(enum) == 1:
            tags[name] = canonical(enum[0])
    return tags


def _mentioned(reader: SchemaReader, form: Plain, depth: int = _MENTION_DEPTH) -> frozenset[str]:
    """Return the properties a form speaks of, in its branches and conditions too."""
    names = set(form.properties)
    if depth > 0:
        inner = [*form.branches, *form.all_of, *form.named.get("dependentSchemas", {}).values()]
        inner += [form.single[key] for key in _CONDITION if key in form.single]
        for pointer in inner:
            names |= _mentioned(reader, reader.read(pointer), depth - 1)
    return frozenset(names)
