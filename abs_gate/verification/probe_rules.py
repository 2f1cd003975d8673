"""A probe only looks: what would write is refused before anything runs."""

from __future__ import annotations

import re
from collections.abc import Mapping

from abs_gate.findings import Json

_COMMENTS = re.compile(r"--[^\n]*|/\*.*?\*/", re.DOTALL)
_QUOTED = re.compile(r"'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"|`[^`]*`|\[[^\]]*\]")
_WRITES = re.compile(r"\b(insert|update|delete|replace)\s+(?:or\s+\w+\s+)?(?:into|from|\w+\s+set)\b", re.IGNORECASE)


def probe_fault(kind: str, options: Mapping[str, Json]) -> tuple[str, str, str] | None:
    """The option at fault, what is wrong with it, and what to do; None for a probe that only looks."""
    if kind == "http" and str(options.get("method", "GET")).upper() != "GET":
        return "method", f"would write: it asks by {options['method']}.", "A probe asks by GET."
    if kind == "mcp" and ("command" in options) == ("url" in options):
        return "tool", "names no MCP server, or two.", "Give either `command` or `url`."
    if kind == "sqlite":
        return _query_fault(options["query"])
    return None


def _query_fault(query: str) -> tuple[str, str, str] | None:
    bare = _QUOTED.sub("''", _COMMENTS.sub(" ", query)).strip().rstrip(";").strip()
    if ";" in bare:
        return "query", "holds more than one statement.", "A probe is one SELECT."
    first = bare.split(None, 1)[0].lower() if bare else ""
    word = _WRITES.search(bare)
    if first not in ("select", "with", "values") or word is not None:
        shown = (word[1] if word is not None else first or "nothing").upper()
        return "query", f"would write, or is no query: it says {shown}.", "A probe is one SELECT."
    return None
