"""`{{name}}` in texts: where placeholders stand and what they name. Knows no values."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from msgspec import Struct

from abs_gate.findings import Json

_BRACES = re.compile(r"\{\{([^{}]*)\}\}")
_NAME = re.compile(r"[\w.-]+")
OPENING = "{{"


class Placeholder(Struct, frozen=True):
    """One pair of double braces in a text."""

    name: str
    """The name between the braces, blanks removed; empty when there is no valid name."""
    text: str
    """As written, bounded."""

    @property
    def is_valid(self) -> bool:
        """False for braces that are not closed or hold no name: nothing can stand for them."""
        return bool(self.name)


@lru_cache(maxsize=4096)
def split_template(text: str) -> tuple[str | Placeholder, ...]:
    """A text as literal parts and placeholders, in order. Braces that are no placeholder come out as invalid ones."""
    parts: list[str | Placeholder] = []
    end = 0
    for match in _BRACES.finditer(text):
        parts.extend(_literal(text[end : match.start()]))
        name = match[1].strip()
        valid = _NAME.fullmatch(name) is not None
        parts.append(Placeholder(name=name if valid else "", text=match[0][:80]))
        end = match.end()
    parts.extend(_literal(text[end:]))
    return tuple(parts)


def _literal(text: str) -> Iterator[str | Placeholder]:
    opening = text.find(OPENING)
    if opening >= 0:
        yield Placeholder(name="", text=text[opening : opening + 40])
    elif text:
        yield text


def find_placeholders(value: Json) -> list[Placeholder]:
    """Every placeholder in a value, at any depth, keys of mappings included, in order."""
    found: list[Placeholder] = []
    pending = [value]
    while pending:
        current = pending.pop()
        if isinstance(current, str):
            if OPENING in current:
                found.extend(part for part in split_template(current) if isinstance(part, Placeholder))
        elif isinstance(current, list | tuple):
            pending.extend(reversed(current))
        elif hasattr(current, "items"):
            for key, child in reversed(list(current.items())):
                pending.extend((child, key))
    return found


def has_placeholder(value: Json) -> bool:
    """True for a text that holds double braces."""
    return isinstance(value, str) and OPENING in value


def is_variable_name(name: str) -> bool:
    """Letters, digits, `_`, `.` and `-`."""
    return _NAME.fullmatch(name) is not None
