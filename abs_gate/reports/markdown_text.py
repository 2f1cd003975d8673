"""Markdown building blocks in which text of others is inert, and a page that is cut at whole rows.

Untrusted text stands only inside code spans and fences longer than any run of backticks in it, but for plain
words. There it can be no link, image, mention, issue reference, table cell, HTML or comment marker, whatever it holds.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from msgspec import Struct

from abs_gate.reports.untrusted import block, one_line

MARKER = "abs-gate:comment"
"""What the hidden marker of our comment begins with; never let through from untrusted text."""

_MARKER_LIKE = re.compile(re.escape(MARKER), re.IGNORECASE)
_BACKTICKS = re.compile(r"`+")
_QUOTED = r"""\(?"(?:[^"\\]|\\.)*(?:"[,;.:?)]*(?= |\Z)|\\?\Z)"""  # one that was cut is open to the end
_PIECE = re.compile(rf"{_QUOTED}|\S+")
_PIECE_WITH_SPANS = re.compile(rf"\(?`[^`]*`[,;.:?)]*(?= |\Z)|{_QUOTED}|\S+")
_AROUND = re.compile(r"(\(?)(.*?)([,;.:?)]*)", re.DOTALL)
_PLAIN = re.compile(r"(?!(?i:[0-9a-f]{7}))(?:[A-Za-z]+(?:['-][A-Za-z]+)*|-?\d{1,6}(?:[.,]\d{1,3})*%?|%)")


def _longest_run(text: str) -> int:
    return max((len(run) for run in _BACKTICKS.findall(text)), default=0)


def _without_marker(text: str) -> str:
    return _MARKER_LIKE.sub(lambda found: found[0].replace(":", " "), text)


def code(text: str, limit: int = 200) -> str:
    """A code span of untrusted text on one line, bounded. Safe anywhere but in a table cell."""
    inner = _without_marker(one_line(text, limit))
    if not inner:
        return "(empty)"
    ticks = "`" * (_longest_run(inner) + 1)
    pad = " " if inner.startswith("`") or inner.endswith("`") else ""
    return f"{ticks}{pad}{inner}{pad}{ticks}"


def sentence(text: str, limit: int = 500) -> str:
    """A sentence of ours: plain words and numbers as text; names, quotations and all else in it as code spans.

    Nothing that Markdown or GitHub gives a meaning is a plain word: it has no sign but `,;.:?()` around it, could not
    be a commit's hash, and begins no list. What stands in backticks or double quotes is a code span whatever it is.
    """
    shown = one_line(text, limit)
    has_pairs = _longest_run(shown) == 1 and shown.count("`") % 2 == 0
    parts: list[str] = []
    odd: list[str] = []
    for piece in (_PIECE_WITH_SPANS if has_pairs else _PIECE).findall(shown):
        lead, core, tail = _AROUND.fullmatch(piece).groups()  # type: ignore[union-attr]  # it matches any piece
        if _PLAIN.fullmatch(core) and not (tail and core.isdigit() and not parts):
            parts += [*_spans(odd), piece]
        elif has_pairs and core.startswith("`") and core.endswith("`"):
            parts += [*_spans(odd), f"{lead}{code(core.strip('`'), limit)}{tail}"]
        elif core and (lead or tail):
            parts += [*_spans(odd), f"{lead}{code(core, limit)}{tail}"]
        else:
            odd.append(piece)
    return " ".join([*parts, *_spans(odd)]) or code("")


def _spans(odd: list[str]) -> list[str]:
    """What is no plain word, side by side in one code span; the list is emptied."""
    spans = [code(" ".join(odd), 10_000)] if odd else []
    odd.clear()
    return spans


def cell(text: str, limit: int = 160) -> str:
    """A code span for a table cell: as `code`, with `|` escaped as tables need it."""
    return code(text, limit).replace("|", "\\|")


def sentence_cell(text: str, limit: int = 300) -> str:
    """A sentence for a table cell."""
    return sentence(text, limit).replace("|", "\\|")


def fence(text: str, language: str = "text", limit: int = 3000) -> str:
    """A fenced block of untrusted text, bounded. Begins and ends on lines of its own."""
    inner = _without_marker(block(text, limit))
    ticks = "`" * max(3, _longest_run(inner) + 1)
    return f"{ticks}{language}\n{inner}\n{ticks}"


def details(summary: str, body: str) -> str:
    """A collapsed part. `summary` is our own text only."""
    return f"<details><summary>{summary}</summary>\n\n{body}\n\n</details>"


class Section(Struct, frozen=True, kw_only=True):
    """A part of a page that can be cut between rows.

    `head` and `tail` stand around the rows (a heading and table header, the end of a collapsed part).
    """

    head: str
    rows: Sequence[str] = ()
    tail: str = ""
    separator: str = "\n"
    noun: str = "row"
    left: int = 0
    """How many things were already left out when the section was built."""


def size_of(text: str) -> int:
    """Size as the strictest reader might count it: UTF-8 bytes, a line end as two."""
    return len(text.encode("utf-8", "replace")) + text.count("\n")


def fit(sections: Sequence[Section], limit: int, more_in: str, footer: str) -> str:
    """The page, at most `limit` in `size_of`, cut at the end of a row or before a section.

    Args:
        sections: In order of importance. One without rows is kept whole or left out.
        limit: See `size_of`.
        more_in: Where the rest can be read: `the job summary`.
        footer: Always the last paragraph.
    """
    parts: list[str] = []
    dropped = 0
    room = limit - size_of(footer) - size_of(_left_line(10**6, "section", more_in)) - 8
    for section in sections:
        text = _fit_section(section, room, more_in)
        if text is None:
            dropped += 1
            continue
        parts.append(text)
        room -= size_of(text) + 4
    if dropped:
        parts.append(_left_line(dropped, "section", more_in))
    return "\n\n".join([*parts, footer]) + "\n"


def _fit_section(section: Section, room: int, more_in: str) -> str | None:
    rows = list(section.rows)
    frame = size_of(section.head) + size_of(section.tail) + 8
    reserve = size_of(_left_line(10**6, section.noun, more_in)) + 4
    taken = 0
    used = frame
    for row in rows:
        cost = size_of(row) + 2 * len(section.separator)
        if used + cost + reserve > room:
            break
        used += cost
        taken += 1
    if used > room or (rows and not taken):
        return None
    left = len(rows) - taken + section.left
    gap = "\n" if section.separator == "\n" else "\n\n"
    body = section.separator.join(rows[:taken])
    parts = [section.head + gap + body if body else section.head]
    if left:
        parts.append(_left_line(left, section.noun, more_in))
    if section.tail:
        parts.append(section.tail)
    return "\n\n".join(parts)


def _left_line(number: int, noun: str, more_in: str) -> str:
    return f"_{number:,} more {noun if number == 1 else noun + 's'} in {more_in}._"
