"""HTML building blocks: every text is escaped here, and fragments stop at a budget of bytes."""

from __future__ import annotations

import html
from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from abs_gate.reports.untrusted import block, one_line

Item = TypeVar("Item")


def esc(text: str, limit: int = 300) -> str:
    """Text on one line for an element or a quoted attribute: bounded, invisible characters shown, escaped."""
    return html.escape(one_line(text, limit), quote=True)


def esc_block(text: str, limit: int = 2000) -> str:
    """Text over several lines for a `pre` or `pre-wrap` element."""
    return html.escape(block(text, limit), quote=True)


def code(text: str, limit: int = 200) -> str:
    """A `code` element of others' text."""
    return f"<code>{esc(text, limit)}</code>"


def prose(text: str, limit: int = 800) -> str:
    """A sentence on one line; what stands between two backticks in it becomes a `code` element."""
    parts = esc(text, limit).split("`")
    if len(parts) % 2 == 0:
        return "`".join(parts)
    return "".join(f"<code>{part}</code>" if number % 2 else part for number, part in enumerate(parts))


def badge(outcome: str, text: str) -> str:
    """A small label in the colour of an outcome; the words carry the meaning."""
    return f'<span class="badge {outcome}">{html.escape(text)}</span>'


def item(tag: str, outcome: str, body: str, *, attributes: str = "") -> str:
    """An element that the filter at the top of the page can hide."""
    return f'<{tag} class="item {outcome}" data-outcome="{outcome}"{attributes}>{body}</{tag}>'


def within(items: Sequence[Item], render: Callable[[Item], str], budget: int) -> tuple[list[str], int]:
    """Fragments of the first items, as many as fit a budget of bytes, and how many items were left out."""
    made: list[str] = []
    spent = 0
    for position, one in enumerate(items):
        fragment = render(one)
        spent += len(fragment.encode())
        if spent > budget and made:
            return made, len(items) - position
        made.append(fragment)
    return made, 0


def joined(fragments: Iterable[str]) -> str:
    """Fragments one a line."""
    return "\n".join(fragments)
