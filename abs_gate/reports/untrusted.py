"""Making text of others safe to look at: what is invisible or moves the cursor becomes a visible escape.

Agents, models, contracts and pull requests write most of what a report shows. Every renderer passes such
text through here first and then escapes it for the place it lands in (terminal, XML, Markdown, HTML, log).
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from itertools import chain

_INVISIBLE = frozenset(
    chain(
        (0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x2800, 0x3164, 0xFFA0, 0xFFFC),
        range(0x180B, 0x1810),
        range(0xFE00, 0xFE10),
        range(0xE0100, 0xE01F0),
    )
)
"""Code points that show nothing although Unicode does not count them as controls or formats."""

_HIDDEN_CATEGORIES = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
"""Controls, formats (bidirectional, zero-width, tags), surrogates, and the line and paragraph separators."""

_NEEDS_LOOK = re.compile(r"[^\x20-\x7e]")
_EMOJI_STYLE = "\ufe0f"

CUT = "..."
"""What stands where text was cut."""


@lru_cache(maxsize=4096)
def _is_hidden(char: str) -> bool:
    point = ord(char)
    return (
        point in _INVISIBLE
        or unicodedata.category(char) in _HIDDEN_CATEGORIES
        or (point & 0xFFFE) == 0xFFFE
        or 0xFDD0 <= point <= 0xFDEF
    )


def escape_of(char: str) -> str:
    r"""The visible escape of one character: `\n`, `\x1b`, `\u202e`, `\U000e0041`."""
    named = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}.get(char)
    if named:
        return named
    point = ord(char)
    if point <= 0xFF:
        return f"\\x{point:02x}"
    return f"\\u{point:04x}" if point <= 0xFFFF else f"\\U{point:08x}"


def visible(text: str, *, keep_lines: bool = False) -> str:
    r"""The text with every control, bidirectional, zero-width and otherwise invisible character made visible.

    Args:
        text: Anything, lone surrogates included.
        keep_lines: Line feeds stay (CRLF and CR become LF), tabs become four blanks. Otherwise the
            result is a single line.
    """
    if keep_lines:
        text = text.replace("\r\n", "\n").replace("\r", "\n").replace("\t", "    ")
    if not _NEEDS_LOOK.search(text):
        return text
    parts: list[str] = []
    before = ""
    for char in text:
        is_plain = " " <= char <= "~" or (char == "\n" and keep_lines)
        is_style = char == _EMOJI_STYLE and bool(before) and unicodedata.category(before) == "So"
        parts.append(char if is_plain or is_style or not _is_hidden(char) else escape_of(char))
        before = char
    return "".join(parts)


def cut(text: str, limit: int) -> str:
    """The text, or its beginning with a note of how many characters are missing. Never longer than `limit` + 30."""
    if len(text) <= limit:
        return text
    return f"{text[:limit].rstrip()}{CUT} ({len(text) - limit} more characters)"


def one_line(text: str, limit: int = 300) -> str:
    """The text on one line, blanks collapsed, bounded, safe to look at."""
    flat = " ".join(text[: limit * 8].split())
    short = visible(flat)
    return short if len(short) <= limit and len(text) <= limit * 8 else short[: limit - len(CUT)].rstrip() + CUT


def block(text: str, limit: int = 1500) -> str:
    """The text over several lines, bounded, safe to look at."""
    return cut(visible(text, keep_lines=True).strip("\n"), limit)
