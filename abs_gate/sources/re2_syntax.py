"""Python's pattern syntax in RE2's terms, and notes on where the two would still differ."""

from __future__ import annotations

import re

from msgspec import Struct

_SPACES = r"\t-\r\x1c-\x20\x{85}\x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}"
"""What Python's `\\s` matches, as the inside of a class."""
_NO_SPACES = (
    r"\x00-\x08\x0e-\x1b\x21-\x{84}\x{86}-\x{9f}\x{a1}-\x{167f}\x{1681}-\x{1fff}\x{200b}-\x{2027}"
    r"\x{202a}-\x{202e}\x{2030}-\x{205e}\x{2060}-\x{2fff}\x{3001}-\x{10ffff}"
)
_NO_WORD = (
    r"\p{M}\p{S}\p{Z}\p{C}\p{Pd}\p{Ps}\p{Pe}\p{Pi}\p{Pf}\p{Po}"
    r"\x{203f}\x{2040}\x{2054}\x{fe33}\x{fe34}\x{fe4d}-\x{fe4f}\x{ff3f}"
)
_OUTSIDE = {
    "d": r"\p{Nd}",
    "D": r"\P{Nd}",
    "w": r"[\p{L}\p{N}_]",
    "W": r"[^\p{L}\p{N}_]",
    "s": f"[{_SPACES}]",
    "S": f"[^{_SPACES}]",
    "Z": r"\z",
}
_INSIDE = {"d": r"\p{Nd}", "D": r"\P{Nd}", "w": r"\p{L}\p{N}_", "W": _NO_WORD, "s": _SPACES, "S": _NO_SPACES}
_ANYTHING = frozenset((r"[\s\S]", r"[\S\s]", r"[\w\W]", r"[\W\w]", r"[\d\D]", r"[\D\d]"))
_OTHERWISE = frozenset("CQE")
"""Escapes that RE2 reads in a way of its own."""
_TOKEN = re.compile(
    r"""
    \\u(?P<u4>[0-9a-fA-F]{4}) | \\U(?P<u8>[0-9a-fA-F]{8})
  | \\(?P<escape>[\s\S])
  | (?P<class> \[\^?\]? (?: \\[\s\S] | \[:\^?[a-z]+:\] | [^\]\\] )*+ \] )
  | (?P<upto> \{,[0-9]+\} )
  | (?P<comment> \(\?\#[^)]*\) )
  | (?P<end> \$ )
  | [^\\\[{($]+ | [\s\S]
    """,
    re.VERBOSE,
)
_ESCAPE = re.compile(r"\\(?:u(?P<u4>[0-9a-fA-F]{4})|U(?P<u8>[0-9a-fA-F]{8})|(?P<letter>[\s\S]))")


class Translation(Struct, frozen=True, kw_only=True):
    """A pattern in RE2's syntax."""

    text: str
    has_word_boundary: bool
    """Holds `\\b` or `\\B`, which RE2 decides for ASCII letters only."""
    has_end_anchor: bool
    """Holds `$`, which in Python also stands before a last line break."""


def translate(pattern: str) -> Translation | None:
    """The pattern for RE2, or None when RE2 would not read it as Python does.

    Syntax that RE2 refuses by itself (look-around, back-references, `(?x)`) is passed on unchanged.
    """
    parts: list[str] = []
    has_word_boundary = has_end_anchor = False
    for match in _TOKEN.finditer(pattern):
        kind, text = match.lastgroup, match[0]
        if kind == "upto" or (kind == "escape" and match[kind] in _OTHERWISE):
            return None
        if kind in ("u4", "u8"):
            text = f"\\x{{{match[kind]}}}"
        elif kind == "escape":
            has_word_boundary |= match[kind] in "bB"
            text = _OUTSIDE.get(match[kind], text)
        elif kind == "class":
            inside = _translate_class(text)
            if inside is None:
                return None
            text = inside
        elif kind == "comment":
            text = ""
        has_end_anchor |= kind == "end"
        parts.append(text)
    return Translation(text="".join(parts), has_word_boundary=has_word_boundary, has_end_anchor=has_end_anchor)


def _translate_class(text: str) -> str | None:
    if text in _ANYTHING:
        return "(?s:.)"
    letters = {match["letter"] for match in _ESCAPE.finditer(text)}
    if letters & _OTHERWISE:
        return None

    def replace(match: re.Match[str]) -> str:
        code = match["u4"] or match["u8"]
        return f"\\x{{{code}}}" if code else _INSIDE.get(match["letter"], match[0])

    return _ESCAPE.sub(replace, text)
