"""Takes out of a comparison what is judged by convention, so that the engine answers for the rest.

The conventions: a new optional property is no narrowing of an open object; a property that is gone, or has another
name, is reported as such; the bounds of safe integers that generators write bind nobody.
"""

from __future__ import annotations

from typing import Any

from abs_gate.contracts.facts import SchemaPair
from abs_gate.contracts.grafting import grafted
from abs_gate.contracts.matching import ROOT, Matching
from abs_gate.contracts.plain import Plain, Pointer, SchemaReader
from abs_gate.contracts.rules.bounds import is_safe_integer_bound
from abs_gate.contracts.schemas import SchemaDocument
from abs_gate.contracts.schemas.values import same
from abs_gate.findings import Json

_Edits = dict[Pointer, dict[str, Any]]


def align(matching: Matching) -> tuple[SchemaDocument, SchemaDocument]:
    """Return both documents with what is judged by convention evened out; the same ones where there is none."""
    edits_old: _Edits = {}
    edits_new: _Edits = {}
    pairs, judged = _pairs(matching)
    shared = _shared([(pair.old.pointer, pair.new.pointer) for pair in pairs])
    for pair in sorted(pairs, key=lambda pair: _is_part(pair, shared)):
        is_judged = pair.old.pointer in judged
        _align_properties(pair, edits_old, edits_new, is_part=_is_part(pair, shared), is_judged=is_judged)
        _align_bounds(pair, edits_old, edits_new)
    old, new = matching.old.document, matching.new.document
    if edits_new:
        new = SchemaDocument(grafted(new.schema, old.schema, edits_new))
    if edits_old:  # what is given to it refers to definitions as they stand in the evened new document
        old = SchemaDocument(grafted(old.schema, new.schema, edits_old))
    return old, new


def _shared(pairs: list[tuple[Pointer, Pointer]]) -> tuple[set[Pointer], set[Pointer]]:
    """Return the schemas of each side that answer to several of the other: a definition that was split or joined."""
    partners: tuple[dict[Pointer, set[Pointer]], dict[Pointer, set[Pointer]]] = ({}, {})
    for old, new in pairs:
        partners[0].setdefault(old, set()).add(new)
        partners[1].setdefault(new, set()).add(old)
    before, after = ({pointer for pointer, others in side.items() if len(others) > 1} for side in partners)
    return before, after


def _pairs(matching: Matching) -> tuple[list[SchemaPair], set[Pointer]]:
    """List every pair of subschemas that can be reached and may differ, each once.

    And the old ones among them in which a schema around them looks for properties that nothing speaks of: there a
    property that is new changes what is left over.
    """
    seen: set[tuple[Pointer, Pointer]] = {((), ())}
    pairs = [matching.pair(ROOT)]
    parts: dict[Pointer, set[Pointer]] = {}
    judging: list[Pointer] = []
    for pair in pairs:
        if _looks_for_the_rest(pair.old) or _looks_for_the_rest(pair.new):
            judging.append(pair.old.pointer)
        for child in matching.children(pair):
            if child.is_renamed or not matching.differ(child):
                continue
            if child.is_branch:
                parts.setdefault(pair.old.pointer, set()).add(matching.old.read(child.old).pointer)
            if (child.old, child.new) not in seen:
                seen.add((child.old, child.new))
                pairs.append(matching.pair(child))
    judged: set[Pointer] = set()
    while judging:
        found = parts.get(judging.pop(), set()) - judged
        judged |= found
        judging += found
    return pairs, judged


def _looks_for_the_rest(form: Plain) -> bool:
    return "unevaluatedProperties" in form.single or "_unevaluatedProperties" in form.scalars


def _is_part(pair: SchemaPair, shared: tuple[set[Pointer], set[Pointer]]) -> bool:
    """Tell whether the new schema is one of several that an old one was split into."""
    return pair.old.pointer in shared[0] and pair.new.pointer not in shared[1]


def _align_properties(
    pair: SchemaPair, edits_old: _Edits, edits_new: _Edits, *, is_part: bool, is_judged: bool
) -> None:
    if pair.old.is_never or pair.new.is_never:
        return
    added = [name for name in pair.added if not is_judged and _was_free(pair, name)]
    if is_part:
        given = edits_old.get(pair.old.pointer, {}).get("properties", {})
        added = [name for name in added if name not in given or not same(given[name], pair.new_property(name))]
        spared = [name for name in added if name not in pair.new.required and _is_own(pair.new, name)]
        _give(edits_new, pair.new, pair.new_reader, dict.fromkeys(spared), set())
        added = [name for name in added if name not in spared]
    _give(edits_old, pair.old, pair.old_reader, {name: pair.new_property(name) for name in added}, set())
    gone = {name: pair.old_property(name) for name in [*pair.removed, *pair.renames]}
    _give(edits_new, pair.new, pair.new_reader, gone, pair.old.required & gone.keys())
    renamed = {name: pair.new_property(name) for name in pair.renames.values()}
    needed = {after for before, after in pair.renames.items() if before in pair.old.required}
    _give(edits_old, pair.old, pair.old_reader, renamed, needed & pair.new.required)


def _is_own(form: Plain, name: str) -> bool:
    """Tell whether a form declares a property itself, and not by what it refers to."""
    return form.properties[name] == (*form.pointer, "properties", name)


def _was_free(pair: SchemaPair, name: str) -> bool:
    """Tell whether nothing was said of a name before, or it was ruled out: convention C1 speaks of no other."""
    if name in pair.old.required:
        return False
    if "additionalProperties" in pair.old.single or "unevaluatedProperties" in pair.old.single:
        return False
    return not any(_matches(pattern, name) for pattern in pair.old.named.get("patternProperties", {}))


def _matches(pattern: str, name: str) -> bool:
    from abs_gate.sources.patterns import PatternTimeout, compile_pattern  # few schemas need it

    try:
        return compile_pattern(pattern).search(name)
    except (ValueError, PatternTimeout):
        return True


def _give(
    edits: _Edits, form: Plain, reader: SchemaReader, properties: dict[str, Json], required: set[str] | frozenset[str]
) -> None:
    """Note properties that a form shall have besides; None takes one away."""
    if not properties:
        return
    raw = reader.raw(form.pointer)
    written = raw if isinstance(raw, dict) else {}
    edit = edits.setdefault(form.pointer, {})
    edit["properties"] = {**edit.get("properties", {}), **properties}
    if required:
        own_required = written.get("required")
        known = edit.get("required", own_required if isinstance(own_required, list) else [])
        edit["required"] = [*known, *sorted(name for name in required if name not in known)]


def _align_bounds(pair: SchemaPair, edits_old: _Edits, edits_new: _Edits) -> None:
    for keyword in ("minimum", "maximum"):
        before, after = pair.scalar(keyword)
        if before is None and is_safe_integer_bound(pair.new, keyword):
            edits_old.setdefault(pair.old.pointer, {})[keyword] = after
        elif after is None and is_safe_integer_bound(pair.old, keyword):
            edits_new.setdefault(pair.new.pointer, {})[keyword] = before
