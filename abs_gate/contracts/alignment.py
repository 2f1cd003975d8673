"""Takes out of a comparison what is judged by convention, so that the engine answers for the rest.

The conventions: a new optional property is no narrowing of an open object; a property that is gone, or has another
name, is reported as such; the bounds of safe integers that generators write bind nobody.
"""

from __future__ import annotations

from typing import Any

from abs_gate.contracts.facts import SchemaPair
from abs_gate.contracts.grafting import grafted
from abs_gate.contracts.matching import Child, Matching, added_names, removed_names
from abs_gate.contracts.plain import Plain, Pointer, SchemaReader
from abs_gate.contracts.rules.bounds import is_safe_integer_bound
from abs_gate.contracts.schemas import SchemaDocument
from abs_gate.findings import Json


class _Edits:
    """What one document takes over from the other, by the pointer of the schema that takes it."""

    def __init__(self) -> None:
        self.keywords: dict[Pointer, dict[str, Any]] = {}
        self.properties: dict[Pointer, dict[str, Json]] = {}

    def apply(self, host: SchemaDocument, donor: SchemaDocument) -> SchemaDocument:
        """Return the document with all of it; the same one where there is nothing."""
        if not self.keywords and not self.properties:
            return host
        return SchemaDocument(grafted(host.schema, donor.schema, self.keywords, self.properties))


def align(matching: Matching) -> tuple[SchemaDocument, SchemaDocument]:
    """Return both documents with what is judged by convention evened out; the same ones where there is none."""
    for_old, for_new = _Edits(), _Edits()
    for pair in _pairs(matching):
        _align_properties(pair, for_old, for_new)
        _align_bounds(pair, for_old, for_new)
    old, new = matching.old.document, matching.new.document
    return for_old.apply(old, new), for_new.apply(new, old)


def _pairs(matching: Matching) -> list[SchemaPair]:
    """List every pair of subschemas that can be reached, each once."""
    seen: set[tuple[Pointer, Pointer]] = {((), ())}
    pairs = [matching.pair((), ())]
    for pair in pairs:
        for child in matching.children(pair):
            if (child.old, child.new) not in seen and not child.is_renamed:
                seen.add((child.old, child.new))
                pairs.append(_pair_of(matching, child))
    return pairs


def _pair_of(matching: Matching, child: Child) -> SchemaPair:
    return matching.pair(child.old, child.new, child.required)


def _align_properties(pair: SchemaPair, for_old: _Edits, for_new: _Edits) -> None:
    if pair.old.is_never or pair.new.is_never:
        return
    added = [name for name in added_names(pair) if _was_free(pair, name)]
    _give(for_old, pair.old, pair.old_reader, {name: pair.new_property(name) for name in added}, set())
    removed = removed_names(pair)
    gone = {name: pair.old_property(name) for name in [*removed, *pair.renames]}
    _give(for_new, pair.new, pair.new_reader, gone, pair.old.required & gone.keys())
    renamed = {name: pair.new_property(name) for name in pair.renames.values()}
    needed = {after for before, after in pair.renames.items() if before in pair.old.required}
    _give(for_old, pair.old, pair.old_reader, renamed, needed & pair.new.required)


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
    if not properties:
        return
    edits.properties.setdefault(form.pointer, {}).update(properties)
    if required:
        raw = reader.raw(form.pointer)
        own = raw.get("required") if isinstance(raw, dict) else None
        edit = edits.keywords.setdefault(form.pointer, {})
        known = edit.get("required", own if isinstance(own, list) else [])
        edit["required"] = [*known, *sorted(required - {name for name in known if isinstance(name, str)})]


def _align_bounds(pair: SchemaPair, for_old: _Edits, for_new: _Edits) -> None:
    for keyword in ("minimum", "maximum"):
        before, after = pair.scalar(keyword)
        if before is None and is_safe_integer_bound(pair.new, keyword):
            for_old.keywords.setdefault(pair.old.pointer, {})[keyword] = after
        elif after is None and is_safe_integer_bound(pair.old, keyword):
            for_new.keywords.setdefault(pair.new.pointer, {})[keyword] = before
