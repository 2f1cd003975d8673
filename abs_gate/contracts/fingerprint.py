"""Content hashes of a tool contract and of a whole tool set."""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Iterable, Mapping

import msgspec

from abs_gate.contracts.canonicalise import canonicalise
from abs_gate.contracts.model import ToolContract
from abs_gate.findings import Json

_MAX_EXACT = 2**53 - 1
"""Largest whole number RFC 8785 writes exactly."""
_TEXTS = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"')
_DIGITS_ALIKE = bytes.maketrans(b"123456789eE", b"000000000..")
_BEYOND_BASIC = re.compile(b"[\xf0-\xf4]")
_ENCODER = msgspec.json.Encoder(order="deterministic")


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
    plain = _plain_canonical_bytes(value)
    if plain is not None:
        return plain
    import rfc8785  # keeps the command line quick to start

    try:
        return rfc8785.dumps(value)
    except (rfc8785.CanonicalizationError, UnicodeError):
        return rfc8785.dumps(_representable(value))


def _plain_canonical_bytes(value: Json) -> bytes | None:
    """Return the RFC 8785 form where it is what `msgspec` writes, as of most contracts and much sooner; else None.

    They differ in fractions, exponents and large numbers, in what is no number, and in the order of keys beyond the
    basic plane, which RFC 8785 sorts by UTF-16 code units.
    """
    try:
        text = _ENCODER.encode(value)
        if b"null" in text:  # which may stand for infinity; refused here
            json.dumps(value, allow_nan=False)
    except (TypeError, ValueError):
        return None
    if not text.isascii() and _BEYOND_BASIC.search(text):
        return None
    return None if _has_unsure_number(text) and _has_unsure_number(_TEXTS.sub(b"", text)) else text


def _has_unsure_number(text: bytes) -> bool:
    """Tell whether a digit stands before a point or an exponent, or before fifteen others."""
    alike = text.translate(_DIGITS_ALIKE)
    return b"0." in alike or b"0" * 16 in alike


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
