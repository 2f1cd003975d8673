"""Patterns, formats and encodings of texts."""

from __future__ import annotations

from collections.abc import Iterator

from abs_gate.contracts.facts import Fact, SchemaPair
from abs_gate.contracts.rules.registry import BREAKING, COMPATIBLE, REVIEW, Direction, schema_rule
from abs_gate.contracts.wording import show

AREA = "strings"
_ALL = ("model_arguments", "saved_runs", "adapter", "consumers")


@schema_rule(
    "pattern_added",
    area=AREA,
    of="string",
    direction=Direction.NARROWS,
    mirror="pattern_dropped",
    fix="Say the form in the description first, and demand it in a new tool version.",
    bad=({"type": "string"}, {"type": "string", "pattern": "^a"}),
    good=({"type": "string"}, {"type": "string", "pattern": ""}),
)
def pattern_added(pair: SchemaPair) -> Iterator[Fact]:
    """The text has to match a regular expression.

    Texts in another form, such as identifiers of an older system, are refused.
    """
    before, after = pair.scalar("pattern")
    if before is None and after is not None:
        yield Fact(message=f"The text has to match {show(after)}.", after=after, keywords=("pattern",))


@schema_rule(
    "pattern_dropped",
    area=AREA,
    of="string",
    direction=Direction.WIDENS,
    mirror="pattern_added",
    fix="Keep the pattern: it turns invented identifiers into errors the model can mend.",
    bad=({"type": "string", "pattern": "^a"}, {"type": "string"}),
    good=({"type": "string", "pattern": "^a"}, {"type": "string", "pattern": "^a"}),
)
def pattern_dropped(pair: SchemaPair) -> Iterator[Fact]:
    """The text no longer has to match a regular expression.

    Harmless for arguments; consumers may get texts they cannot parse.
    """
    before, after = pair.scalar("pattern")
    if before is not None and after is None:
        yield Fact(message=f"The text no longer has to match {show(before)}.", before=before, keywords=("pattern",))


@schema_rule(
    "pattern_changed",
    area=AREA,
    of="string",
    direction=Direction.EITHER,
    no_mirror="its own opposite",
    fix="Let the new pattern match everything the old one did: `old|new`.",
    bad=({"type": "string", "pattern": "^a"}, {"type": "string", "pattern": "^b"}),
    good=({"type": "string", "pattern": "^a"}, {"type": "string", "pattern": "^a.*"}),
)
def pattern_changed(pair: SchemaPair) -> Iterator[Fact]:
    """The regular expression changed. It is searched for, not matched whole, unless it is anchored.

    Breaking unless it is proven that everything the old one matched still matches.
    """
    before, after = pair.scalar("pattern")
    if before is not None and after is not None and before != after:
        yield Fact(
            message=f"The pattern changed from {show(before)} to {show(after)}.",
            before=before,
            after=after,
            keywords=("pattern",),
        )


@schema_rule(
    "format_added",
    area=AREA,
    grades=(REVIEW, REVIEW),
    affects=("model_arguments", "provider"),
    mirror="format_dropped",
    fix="Say the format in the description too, and check that every provider in use knows it.",
    bad=({"type": "string"}, {"type": "string", "format": "date"}),
    good=({"type": "string", "format": "date"}, {"type": ["string"], "format": "date"}),
)
def format_added(pair: SchemaPair) -> Iterator[Fact]:
    """A `format` was added.

    In 2020-12 it says nothing by default, yet many validators check it, models obey it and OpenAI strict mode
    refuses some (`uri`).
    """
    before, after = pair.annotation("format")
    if before is None and after is not None:
        yield Fact(message=f"`format` {show(after)} was added.", after=after)


@schema_rule(
    "format_dropped",
    area=AREA,
    grades=(COMPATIBLE, REVIEW),
    affects=("model_arguments", "consumers"),
    mirror="format_added",
    fix="For results: go on returning that format, and say so.",
    bad=({"type": "string", "format": "uri"}, {"type": "string"}),
    good=({"type": "string", "format": "uri"}, {"type": "string", "format": "uri"}),
)
def format_dropped(pair: SchemaPair) -> Iterator[Fact]:
    """A `format` was dropped.

    Arguments are checked less; consumers that parse the result by it may fail.
    """
    before, after = pair.annotation("format")
    if before is not None and after is None:
        yield Fact(message=f"`format` {show(before)} was dropped.", before=before)


@schema_rule(
    "format_changed",
    area=AREA,
    grades=(BREAKING, BREAKING),
    affects=_ALL,
    no_mirror="its own opposite",
    fix="Accept both formats, or add a new argument for the new one.",
    bad=({"type": "string", "format": "date"}, {"type": "string", "format": "date-time"}),
    good=({"type": "string", "format": "date"}, {"format": "date", "type": "string"}),
)
def format_changed(pair: SchemaPair) -> Iterator[Fact]:
    """One `format` was replaced by another.

    Models and adapters write what it says, even where validators do not check it.
    """
    before, after = pair.annotation("format")
    if before is not None and after is not None and before != after:
        yield Fact(message=f"`format` changed from {show(before)} to {show(after)}.", before=before, after=after)


@schema_rule(
    "content_encoding_changed",
    area=AREA,
    grades=(BREAKING, BREAKING),
    affects=_ALL,
    no_mirror="its own opposite",
    fix="Keep the encoding, or add a new argument for the new one.",
    bad=({"type": "string", "contentEncoding": "base64"}, {"type": "string", "contentEncoding": "base16"}),
    good=({"type": "string", "contentEncoding": "base64"}, {"type": "string", "contentEncoding": "base64"}),
)
def content_encoding_changed(pair: SchemaPair) -> Iterator[Fact]:
    """`contentEncoding` or `contentMediaType` changed.

    The same text means something else to whoever decodes it.
    """
    for keyword in ("contentEncoding", "contentMediaType"):
        before, after = pair.annotation(keyword)
        if before != after:
            yield Fact(message=f"`{keyword}` changed from {show(before)} to {show(after)}.", before=before, after=after)
