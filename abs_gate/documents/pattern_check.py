"""Checks of regular expressions that stand in documents, before anything runs."""

from __future__ import annotations

from abs_gate.documents.placeholders import split_template
from abs_gate.documents.places import Place, Problems
from abs_gate.sources.excerpt import excerpt
from abs_gate.sources.patterns import compile_pattern

_STAND_IN = "x"
"""Put in for a placeholder: values are escaped when they stand in a pattern, so any text will do."""


def check_pattern(place: Place, problems: Problems) -> None:
    """Note a regular expression that does not compile. Placeholders count as plain text."""
    parts = split_template(place.value)
    if len(parts) == 1 and not isinstance(parts[0], str):
        return  # all of it comes from a variable; checked with the row
    pattern = "".join(part if isinstance(part, str) else _STAND_IN for part in parts)
    try:
        compile_pattern(pattern)
    except ValueError as error:
        problems.error("invalid-pattern", place.location, f"The pattern {excerpt(place.value)} is {error}.")
