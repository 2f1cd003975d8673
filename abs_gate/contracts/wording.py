"""How values and lists are put into sentences: one line, bounded."""

from __future__ import annotations

import json
from collections.abc import Iterable

from abs_gate.findings import Json

_WIDTH = 80


def show(value: Json, width: int = _WIDTH) -> str:
    """Return a value as JSON between backquotes, cut to a width."""
    try:
        text = json.dumps(value, ensure_ascii=False, default=str)
    except (ValueError, RecursionError):
        text = "..."
    text = clean(text)
    return f"`{text if len(text) <= width else text[: width - 1] + '…'}`"


def named(name: str, width: int = _WIDTH) -> str:
    """Return a name (of a tool, an argument, an error) between backquotes, cut to a width."""
    text = clean(str(name))
    return f"`{text if len(text) <= width else text[: width - 1] + '…'}`"


def show_all(values: Iterable[Json], limit: int = 6) -> str:
    """Return values as a list in words: the first few, and how many more there are."""
    shown = list(values)
    words = [show(value, 40) for value in shown[:limit]]
    more = f" and {len(shown) - limit} more" if len(shown) > limit else ""
    return ", ".join(words) + more


def clean(text: str) -> str:
    """Return a text on one line, with characters that do not print written as escapes."""
    return "".join(
        char if char.isprintable() else " " if char in "\n\r\t" else f"\\u{ord(char):04x}" for char in text
    ).replace("`", "'")
