"""Types and nullability."""

from __future__ import annotations

from collections.abc import Iterator

from abs_gate.contracts.facts import Fact, SchemaPair
from abs_gate.contracts.plain import Plain, has_type
from abs_gate.contracts.rules.registry import REVIEW, Direction, schema_rule
from abs_gate.contracts.wording import named, show

AREA = "types"
_KEYWORDS = ("type", "enum", "const", "anyOf", "oneOf")
_KINDS = ("null", "boolean", "integer", "number", "string", "array", "object")
_ALL = frozenset({"null", "boolean", "number", "string", "array", "object"})


def _types(plain: Plain) -> frozenset[str]:
    """Return the accepted types; those of the values where values are listed."""
    if plain.enum is not None:
        kinds = {next(kind for kind in _KINDS if has_type(value, frozenset({kind}))) for value in plain.enum}
        return frozenset(kinds - ({"integer"} if "number" in kinds else set()))
    return _ALL if plain.types is None else plain.types


def _words(types: frozenset[str]) -> str:
    return " or ".join(f"`{kind}`" for kind in sorted(types))


def _lost(old: frozenset[str], new: frozenset[str]) -> frozenset[str]:
    """Return the types no longer accepted; `number` to `integer` loses part of `number`."""
    return frozenset(kind for kind in old - new if not (kind == "integer" and "number" in new))


def _are_listed(pair: SchemaPair) -> bool:
    """Where a side lists its values the rules on values speak."""
    return pair.old.enum is not None or pair.new.enum is not None or pair.old.is_never or pair.new.is_never


def _change(pair: SchemaPair) -> tuple[frozenset[str], frozenset[str], frozenset[str], frozenset[str]] | None:
    """Return the types on both sides, those that went and those that came; None where types are not what changed."""
    if pair.old.is_never or pair.new.is_never or (pair.old.enum is not None and pair.new.enum is not None):
        return None
    if any(form.enum is None and form.types is None for form in (pair.old, pair.new)):
        return None
    old, new = _types(pair.old), _types(pair.new)
    return old, new, _lost(old, new), _lost(new, old)


def _said(message: str, old: frozenset[str], new: frozenset[str]) -> Fact:
    return Fact(message=message, before=sorted(old), after=sorted(new), keywords=_KEYWORDS)


@schema_rule(
    "type_narrowed",
    area=AREA,
    direction=Direction.NARROWS,
    mirror="type_widened",
    fix="Keep accepting the old types, or ask for the new one in a new tool version.",
    bad=({"type": ["string", "integer"]}, {"type": "string"}),
    good=({"type": ["string", "integer"]}, {"type": ["integer", "string"]}),
)
def type_narrowed(pair: SchemaPair) -> Iterator[Fact]:
    """Fewer types are accepted, `number` became `integer` included.

    Models that learned the old type from the schema, recorded calls and typed adapters go on sending it.
    """
    change = _change(pair)
    if change is None or pair.new.enum is not None:
        return
    old, new, lost, gained = change
    if lost - {"null"} and not gained:
        yield _said(f"The type went from {_words(old)} to {_words(new)}.", old, new)


@schema_rule(
    "type_widened",
    area=AREA,
    direction=Direction.WIDENS,
    mirror="type_narrowed",
    fix="For results: keep the old type, or add a new property for the new one.",
    bad=({"type": "integer"}, {"type": "number"}),
    good=({"type": "number"}, {"type": ["number", "integer"]}),
)
def type_widened(pair: SchemaPair) -> Iterator[Fact]:
    """More types are accepted or returned.

    Harmless for arguments. A consumer of results meets a type it was told would not come.
    """
    change = _change(pair)
    if change is None or pair.old.enum is not None:
        return
    old, new, lost, gained = change
    if gained - {"null"} and not lost:
        yield _said(f"The type went from {_words(old)} to {_words(new)}.", old, new)


@schema_rule(
    "type_changed",
    area=AREA,
    direction=Direction.EITHER,
    no_mirror="its own opposite",
    fix="Keep the old type and add a new argument or property for the new one.",
    bad=({"type": "string"}, {"type": "integer"}),
    good=({"type": "string"}, {"anyOf": [{"type": "string"}]}),
)
def type_changed(pair: SchemaPair) -> Iterator[Fact]:
    """The type was replaced: some types went, others came.

    Every recorded call, every adapter and every consumer that knows the old type breaks.
    """
    change = _change(pair)
    if change is None:
        return
    old, new, lost, gained = change
    if lost and gained:
        yield _said(f"The type changed from {_words(old)} to {_words(new)}.", old, new)


@schema_rule(
    "type_introduced",
    area=AREA,
    direction=Direction.NARROWS,
    mirror="type_dropped",
    fix="Give the type in a new tool version, or list every type that was in use.",
    bad=({}, {"type": "string"}),
    good=({}, {"type": ["string", "number", "boolean", "null", "array", "object"]}),
)
def type_introduced(pair: SchemaPair) -> Iterator[Fact]:
    """A value that could be of any type has to be of a given one.

    What models and saved calls sent in other types is refused.
    """
    if not _are_listed(pair) and pair.old.types is None and pair.new.types is not None and not pair.old.branches:
        yield _said(f"The type has to be {_words(pair.new.types)}; any was accepted.", frozenset(), pair.new.types)


@schema_rule(
    "type_dropped",
    area=AREA,
    direction=Direction.WIDENS,
    mirror="type_introduced",
    fix="Say which types are meant: a value without a type is filled in by guesswork, and some providers refuse it.",
    bad=({"type": "string"}, {}),
    good=({"type": "string"}, {"type": ["string"]}),
)
def type_dropped(pair: SchemaPair) -> Iterator[Fact]:
    """A value that had to be of a given type can be of any.

    Consumers of results can no longer rely on it; models no longer know what to send.
    """
    if not _are_listed(pair) and pair.old.types is not None and pair.new.types is None and not pair.new.branches:
        yield _said(f"Any type is accepted; it had to be {_words(pair.old.types)}.", pair.old.types, frozenset())


@schema_rule(
    "null_removed",
    area=AREA,
    direction=Direction.NARROWS,
    mirror="null_added",
    fix="Keep accepting null: it is how models under strict schemas say that a value is absent.",
    bad=({"type": ["string", "null"]}, {"type": "string"}),
    good=({"type": ["string", "null"]}, {"anyOf": [{"type": "string"}, {"type": "null"}]}),
)
def null_removed(pair: SchemaPair) -> Iterator[Fact]:
    """Null is no longer accepted, in whichever spelling it was.

    Strict modes make models send null for what they leave out; those calls are refused now.
    """
    old, new = _types(pair.old), _types(pair.new)
    if not pair.new.is_never and "null" in old and "null" not in new and _is_said(pair.old, pair.new, old, new):
        yield Fact(message="Null is no longer accepted.", before=True, after=False, shown_by=(None,))


@schema_rule(
    "null_added",
    area=AREA,
    direction=Direction.WIDENS,
    mirror="null_removed",
    fix="For results: leave the property out instead of returning null, or announce it in a new version.",
    bad=({"type": "string"}, {"anyOf": [{"type": "string"}, {"type": "null"}]}),
    good=({"type": ["null", "string"]}, {"oneOf": [{"type": "string"}, {"const": None}]}),
)
def null_added(pair: SchemaPair) -> Iterator[Fact]:
    """Null is accepted or returned besides.

    Harmless for arguments. A consumer that reads the result without a check for null fails.
    """
    old, new = _types(pair.old), _types(pair.new)
    if not pair.old.is_never and "null" in new and "null" not in old and _is_said(pair.new, pair.old, new, old):
        yield Fact(message="Null is accepted besides.", before=False, after=True, shown_by=(None,))


def _is_said(with_null: Plain, without: Plain, wide: frozenset[str], narrow: frozenset[str]) -> bool:
    """Tell whether null is what the types say, other types staying; between two lists the rules on values speak."""
    is_listed = with_null.enum is not None
    is_said = bool(with_null.types) or (is_listed and without.enum is None)
    return is_said and any(_lost(frozenset({kind}), narrow) != {kind} for kind in wide - {"null"})


@schema_rule(
    "property_forbidden",
    area=AREA,
    direction=Direction.NARROWS,
    mirror="property_allowed",
    fix="Keep accepting the argument and ignore it, or retire it in a new tool version.",
    bad=({"type": "string"}, False),
    good=({"type": "string"}, {"type": ["string"], "title": "Text"}),
)
def property_forbidden(pair: SchemaPair) -> Iterator[Fact]:
    """Nothing is accepted here any more (`false`, or `not: {}`).

    Every call that still carries the value is refused.
    """
    if pair.new.is_never and not pair.old.is_never:
        yield Fact(message="No value is accepted here any more.", before=True, after=False)
    for name in sorted(pair.new.forbidden - pair.old_names) if not pair.old.is_closed else ():
        yield Fact(
            message=f"{named(name)} may not be given any more.",
            before=True,
            after=False,
            properties={name: False},
            name=name,
        )


@schema_rule(
    "property_allowed",
    area=AREA,
    direction=Direction.WIDENS,
    mirror="property_forbidden",
    fix="For results: consumers that rely on its absence have to be told.",
    bad=(False, {"type": "string"}),
    good=(False, {"not": {}}),
)
def property_allowed(pair: SchemaPair) -> Iterator[Fact]:
    """A value that was forbidden is accepted.

    Harmless for arguments; a result may hold what it promised not to.
    """
    if pair.old.is_never and not pair.new.is_never:
        yield Fact(message="A value is accepted where none was.", before=False, after=True)
    for name in sorted(pair.old.forbidden - pair.new_names) if not pair.new.is_closed else ():
        yield Fact(
            message=f"{named(name)} may be given.",
            before=False,
            after=True,
            properties={name: None},
            name=name,
            in_old=True,
        )


@schema_rule(
    "nullable_keyword_changed",
    area=AREA,
    grades=(REVIEW, REVIEW),
    affects=("adapter", "provider"),
    no_mirror="its own opposite",
    fix='Say null in JSON Schema: `"type": ["string", "null"]`.',
    bad=({"type": "string", "nullable": True}, {"type": "string"}),
    good=({"type": "string", "nullable": True}, {"type": "string", "nullable": True}),
)
def nullable_keyword_changed(pair: SchemaPair) -> Iterator[Fact]:
    """OpenAPI's `nullable` came or went.

    It is no JSON Schema keyword, so validators ignore it, while OpenAPI-minded adapters and Gemini obey it.
    """
    before, after = (value is True for value in pair.annotation("nullable"))
    if before != after:
        yield Fact(
            message=f"`nullable` went from {show(before)} to {show(after)}, which some adapters obey.",
            before=before,
            after=after,
        )
