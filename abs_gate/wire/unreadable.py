"""The error for an answer that is not one: what was expected, what came instead, bounded and on one line."""

from __future__ import annotations

import html
import re

from abs_gate.errors import AgentUnavailable
from abs_gate.findings import Json
from abs_gate.wire.base import HttpResponse
from abs_gate.wire.json_text import to_text

EXCERPT_CHARS = 160
_MARKUP = re.compile(r"<(script|style)\b.{0,8000}?</\1\s*>|<[^<>]{0,500}>", re.IGNORECASE | re.DOTALL)


def unreadable(expected: str, why: str, hint: str = "") -> AgentUnavailable:
    """An answer that cannot be read as `expected` (the format in words)."""
    return AgentUnavailable(f"The answer is not {expected}: {why}.", hint=hint)


def unreadable_body(expected: str, response: HttpResponse, why: str) -> AgentUnavailable:
    """A body that is not JSON at all; HTML pages are named as such."""
    said = excerpt_of(response)
    if not response.body.strip():
        return unreadable(expected, "it is empty", "See the agent's own log.")
    if is_page(response):
        return unreadable(
            expected,
            f"it is an HTML page ({said})",
            "Check the address: a login page or a web interface may stand there.",
        )
    return unreadable(expected, f"{why}; it begins with {said}", "Check agent.format and the address.")


def is_page(response: HttpResponse) -> bool:
    """Whether a body is HTML or XML, by its content type or its first character."""
    return "html" in response.headers.get("content-type", "") or response.body[:64].lstrip()[:1] == b"<"


def excerpt_of(response: HttpResponse, limit: int = EXCERPT_CHARS) -> str:
    """The beginning of a body in words: markup taken out, one line, bounded."""
    text = response.body[: limit * 50].decode("utf-8", "replace")
    if is_page(response):
        text = html.unescape(_MARKUP.sub(" ", text))
    return one_line(text, limit)


def one_line(value: Json, limit: int = EXCERPT_CHARS) -> str:
    """Anything as a short line: control and invisible characters out, cut with an ellipsis."""
    shown = (char if char.isprintable() else " " for char in to_text(value)[: limit * 20])
    text = " ".join("".join(shown).split())
    return text if len(text) <= limit else text[: limit - 1] + "…"


def provider_error(error: Json) -> str:
    """What a provider's error object says: its message, with its type or code."""
    if isinstance(error, dict):
        message = error.get("message") or error.get("detail") or error.get("error") or error
        kinds = (error.get(name) for name in ("type", "code", "status"))
        kind = next((kind for kind in kinds if kind and kind != "error"), None)
        return one_line(message) + (f" ({one_line(kind, 60)})" if kind and message is not error else "")
    return one_line(error)
