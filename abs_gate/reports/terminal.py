"""Laying out terminal text: display width, wrapping with a hanging indent, and colour."""

from __future__ import annotations

import re
import unicodedata

from msgspec import Struct

from abs_gate.reports.untrusted import visible

_CODES = {"bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33", "magenta": "35"}
_OUTCOME_COLORS = {
    "passed": "green",
    "failed": "red",
    "unverified": "yellow",
    "cancelled": "yellow",
    "inconclusive": "yellow",
    "skipped": "dim",
}
_BREAKS = re.compile(" (?!%)")
"""Blanks a line may end at: not the one between a number and its percent sign."""
MIN_WIDTH = 40
"""Below this many columns nothing gets narrower."""


def display_width(text: str) -> int:
    """Columns a terminal gives the text: wide characters count two, combining marks none."""
    if text.isascii():
        return len(text)
    return sum(
        0 if unicodedata.combining(char) else 2 if unicodedata.east_asian_width(char) in "WF" else 1 for char in text
    )


def _take(text: str, width: int) -> str:
    """The longest beginning that fits a number of columns."""
    used = 0
    for position, char in enumerate(text):
        used += display_width(char)
        if used > width:
            return text[:position]
    return text


def wrap(text: str, width: int, *, first: str = "", rest: str | None = None) -> list[str]:
    """Lines of at most `width` columns; the first begins with `first`, the others with `rest`.

    The text is made safe here: line ends in it survive, everything invisible becomes an escape.
    """
    rest = " " * display_width(first) if rest is None else rest
    lines: list[str] = []
    lead = first
    for paragraph in visible(text, keep_lines=True).split("\n"):
        current = lead
        filled = False
        for word in _BREAKS.split(paragraph.rstrip()):
            piece = word
            if filled and display_width(current) + 1 + display_width(piece) > width:
                lines.append(current)
                current, filled = rest, False
            while display_width(current) + (1 if filled else 0) + display_width(piece) > width:
                head = _take(piece, max(width - display_width(current) - (1 if filled else 0), 1))
                lines.append(current + (" " if filled else "") + head)
                piece = piece[len(head) :]
                current, filled = rest, False
            current += (" " if filled else "") + piece
            filled = True
        lines.append(current)
        lead = rest
    return [line.rstrip() for line in lines]


class Paint(Struct, frozen=True, kw_only=True):
    """Colour, or nothing when it is not wanted."""

    enabled: bool

    def __call__(self, text: str, *styles: str) -> str:
        """The text in one or more styles."""
        if not self.enabled or not styles:
            return text
        return f"\x1b[{';'.join(_CODES[style] for style in styles)}m{text}\x1b[0m"

    def outcome(self, outcome: str, text: str | None = None) -> str:
        """An outcome or verdict in its colour."""
        return self(outcome if text is None else text, _OUTCOME_COLORS.get(outcome, "bold"))
