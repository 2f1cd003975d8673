"""Content hashes of a tool contract and of a whole tool set."""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Iterable, Mapping

from abs_gate.contracts.canonicalise import canonicalise
from abs_gate.contracts.model import ToolContract
from abs_gate.findings import Json

_MAX_EXACT = 2**53 - 1
"""Largest whole number RFC 8785 writes exactly."""
_TEXTS = re.compile(r'"(?:[^"\\]|\\.)*+"')
_UNSURE_NUMBER = re.compile(r"\d[.eE]|\d{16}")
_BEYOND_BASIC = re.compile("[\ud800-\udfff\U00010000-\U0010ffff]")


def fingerprint_tool(tool: ToolContract) -> str:
    """Return `sha256:...` over the RFC 8785 form of the normalised contract."""
    return _digest(canonicalise(tool))


def fingerprint_content(tool: ToolContract) -> str:
    """Return the fingerprint without the version number: equal when only the number moved."""
    content = canonicalise(tool)
    content.pop("version", None)
    return _digest(content)


def fingerprint_set(tools: Iterable[ToolContract], instructions: str | None = None) -> str:
    """Return `sha256:...` over the sorted tool fingerprints, and the server's instructions where there are any."""
    fingerprints = sorted(tool.fingerprint for tool in tools)
    return _digest(fingerprints if instructions is None else {"instructions": instructions, "tools": fingerprints})


def canonical_bytes(value: Json) -> bytes:
    """Return the RFC 8785 form of a JSON value. What JSON cannot hold exactly is written as a marked text."""
    plain = _plain_canonical_text(value)
    if plain is not None:
        return plain.encode()
    import rfc8785  # keeps the command line quick to start

    try:
        return rfc8785.dumps(value)
    except (rfc8785.CanonicalizationError, UnicodeError):
        return rfc8785.dumps(_representable(value))


def _plain_canonical_text(value: Json) -> str | None:
    """Return the RFC 8785 form where it is what `json` writes, as of most contracts and many times sooner; else None.

    They differ in fractions, exponents and large numbers, and in the order of keys beyond the basic plane,
    which RFC 8785 sorts by UTF-16 code units.
    """
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False, sort_keys=True, separators=(",", ":"))
    except (TypeError, ValueError):
        return None
    if not text.isascii() and _BEYOND_BASIC.search(text):
        return None
    return None if _UNSURE_NUMBER.search(_TEXTS.sub("", text)) else text


def _digest(value: Json) -> str:
    return f"sha256:{hashlib.sha256(canonical_bytes(value)).hexdigest()}"


def _representable(value: Json) -> Json:
    if isinstance(value, bool) or value is None:
        return value
    if isinstance(value, int):
        return value if abs(value) <= _MAX_EXACT else f"number:{value}"
    if isinstance(value, float):
        return value if math.isfinite(value) else f"number:{value}"
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode()
    if isinstance(value, Mapping):
        return {_representable(str(key)): _representable(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_representable(item) for item in value]
    return str(value)
