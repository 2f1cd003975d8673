"""Which part of a new schema answers to which part of the old one."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence

from msgspec import Struct

from abs_gate.contracts.facts import SchemaPair
from abs_gate.contracts.grafting import is_unchanged
from abs_gate.contracts.plain import Plain, Pointer, SchemaReader
from abs_gate.contracts.renames import match_properties
from abs_gate.contracts.rules.registry import Side
from abs_gate.contracts.schemas.values import canonical
from abs_gate.findings import Json

_PLAIN_NAME = re.compile(r"[\w$-]+")
_MENTION_DEPTH = 4
"""How deep branches and conditions are searched for the properties they speak of."""
_MAX_PAIRS = 10_000
"""More pairs of branches than this are not compared with one another."""
_ALIKE = 0.5
"""Share of properties two branches have in common to be taken for one."""
InstancePath = tuple[str | int, ...]


class Child(Struct, frozen=True, kw_only=True):
    """Two subschemas that answer to each other."""

    old: Pointer
    new: Pointer
    step: str
    """What it adds to the path in reports: `.reason`, `[]`."""
    instance: InstancePath | None
    """What it adds to the path through an instance; None where no single step leads there."""
    required: tuple[bool, bool] = (False, False)
    is_renamed: bool = False
    is_branch: bool = False


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

    def pair(self, old: Pointer, new: Pointer, required: tuple[bool, bool] = (False, False)) -> SchemaPair:
        """Return the pair of the schemas at two pointers."""
        old_form, new_form = self.old.read(old), self.new.read(new)
        known = _mentioned(self.old, old_form), _mentioned(self.new, new_form)
        return SchemaPair(
            side=self.side,
            old=old_form,
            new=new_form,
            old_reader=self.old,
            new_reader=self.new,
            old_names=known[0],
            new_names=known[1],
            renames=match_properties(old_form, new_form, self.old, self.new, known),
            required=required,
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
            for name in added_names(pair):
                step = property_step(name)
                yield Child(old=further, new=new.properties[name], step=step, instance=(name,))
        for index, (before, after) in enumerate(zip(old.prefix, new.prefix, strict=False)):
            yield Child(old=before, new=after, step=f"[{index}]", instance=(index,))
        for keyword, step, instance in (
            ("additionalProperties", ".*", None),
            ("propertyNames", ".*", None),
            ("items", "[]", (0,)),
            ("contains", "[]", None),
            ("unevaluatedProperties", ".*", None),
            ("unevaluatedItems", "[]", None),
        ):
            if keyword in old.single and keyword in new.single:
                at = instance if not old.prefix else None
                yield Child(old=old.single[keyword], new=new.single[keyword], step=step, instance=at)
        patterns = old.named.get("patternProperties", {}), new.named.get("patternProperties", {})
        for pattern in patterns[0].keys() & patterns[1].keys():
            step = property_step(pattern)
            yield Child(old=patterns[0][pattern], new=patterns[1][pattern], step=step, instance=None)
        for before, after in self._branches(old.branches, new.branches):
            yield Child(old=before, new=after, step="", instance=(), is_branch=True, required=pair.required)
        if len(old.all_of) == len(new.all_of):
            for before, after in zip(old.all_of, new.all_of, strict=True):
                yield Child(old=before, new=after, step="", instance=(), is_branch=True, required=pair.required)

    def _branches(self, old: Sequence[Pointer], new: Sequence[Pointer]) -> Iterator[tuple[Pointer, Pointer]]:
        """Pair branches that have the same text, then those that are alike."""
        free = list(new)
        left: list[Pointer] = []
        by_text: dict[str, list[Pointer]] = {}
        for pointer in new:
            by_text.setdefault(canonical(self.new.raw(pointer)), []).append(pointer)
        for pointer in old:
            same = by_text.get(canonical(self.old.raw(pointer)))
            if same:
                match = same.pop(0)
                free.remove(match)
                yield pointer, match
            else:
                left.append(pointer)
        for pointer in left if len(left) * len(free) <= _MAX_PAIRS else []:
            alike = next((other for other in free if self._are_alike(pointer, other)), None)
            if alike is not None:
                free.remove(alike)
                yield pointer, alike

    def _are_alike(self, old: Pointer, new: Pointer) -> bool:
        before, after = self.old.read(old), self.new.read(new)
        if before.definitions and before.definitions[:1] == after.definitions[:1]:
            return True
        tags = _tags(self.old, before), _tags(self.new, after)
        if tags[0] and tags[1]:
            return tags[0] == tags[1]
        names = set(before.properties), set(after.properties)
        union = names[0] | names[1]
        if union:
            return len(names[0] & names[1]) >= _ALIKE * len(union)
        return before.types is not None and before.types == after.types


def added_names(pair: SchemaPair) -> list[str]:
    """Return the properties only the new form speaks of, without those that were renamed."""
    renamed = set(pair.renames.values())
    return [name for name in pair.new.properties if name not in pair.old_names and name not in renamed]


def removed_names(pair: SchemaPair) -> list[str]:
    """Return the properties only the old form speaks of, without those that were renamed."""
    return [name for name in pair.old.properties if name not in pair.new_names and name not in pair.renames]


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
        inner += [form.single[key] for key in ("if", "then", "else") if key in form.single]
        for pointer in inner:
            names |= _mentioned(reader, reader.read(pointer), depth - 1)
    return frozenset(names)
