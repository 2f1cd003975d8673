"""Finds things that have another name by all appearances: arguments of a tool, tools of a set."""

from __future__ import annotations

import re
from collections.abc import Mapping
from difflib import SequenceMatcher

from abs_gate.contracts.keywords import TEXTS, map_subschemas
from abs_gate.contracts.plain import Plain, SchemaReader
from abs_gate.contracts.schemas.values import same
from abs_gate.findings import Json

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_A-Za-z]+")
_MAX_PAIRS = 10_000
"""More pairs of names than this are compared by folded name only."""


def words(name: str) -> tuple[str, ...]:
    """Split a name into words, whatever its case style: `issueNumber`, `issue_number` and `issue-number` are one."""
    return tuple(word.lower() for word in _WORD.findall(name))


def are_similar(left: str, right: str) -> bool:
    """Tell whether two names are one name by case style, word order, prefix, suffix or a slip of the pen."""
    a, b = words(left), words(right)
    if not a or not b:
        return False
    if sorted(a) == sorted(b):
        return True
    short, long = sorted((a, b), key=len)
    if len(short) > 1 and set(short) < set(long) and len(long) - len(short) == 1:
        return True
    joined = "".join(a), "".join(b)
    if min(map(len, joined)) >= 4 and (joined[0] + "s" == joined[1] or joined[1] + "s" == joined[0]):
        return True
    return min(map(len, joined)) >= 5 and SequenceMatcher(a=joined[0], b=joined[1], autojunk=False).ratio() >= 0.85


def without_texts(schema: Json) -> Json:
    """Return a schema without what only readers read, for comparing what it accepts by text."""
    if not isinstance(schema, Mapping):
        return schema
    return map_subschemas({key: value for key, value in schema.items() if key not in TEXTS}, without_texts)


def match_properties(
    old: Plain,
    new: Plain,
    old_reader: SchemaReader,
    new_reader: SchemaReader,
    known: tuple[frozenset[str], frozenset[str]],
) -> dict[str, str]:
    """Pair the properties only the old form has with those only the new one has.

    Names that are alike pair, best first. Where exactly one went and one came, equal schemas pair them too.
    """
    removed = [name for name in old.properties if name not in known[1]]
    added = [name for name in new.properties if name not in known[0]]
    if not removed or not added:
        return {}
    by_words: dict[tuple[str, ...], list[str]] = {}
    for name in added:
        by_words.setdefault(tuple(sorted(words(name))), []).append(name)
    pairs: dict[str, str] = {}
    for name in removed:
        candidates = by_words.get(tuple(sorted(words(name))), [])
        if candidates:
            pairs[name] = candidates.pop(0)
    left = [name for name in removed if name not in pairs]
    right = [name for name in added if name not in pairs.values()]
    if len(left) * len(right) <= _MAX_PAIRS:
        for name in left:
            match = next((other for other in right if are_similar(name, other)), None)
            if match is not None:
                pairs[name] = match
                right.remove(match)
    if not pairs and len(removed) == len(added) == 1:
        schemas = old_reader.raw(old.properties[removed[0]]), new_reader.raw(new.properties[added[0]])
        same_need = (removed[0] in old.required) == (added[0] in new.required)
        if same_need and same(without_texts(schemas[0]), without_texts(schemas[1])):
            pairs[removed[0]] = added[0]
    return pairs
