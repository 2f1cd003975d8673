"""The YAML 1.2 core schema: what an unquoted scalar means.

Digits with a leading zero stay text (order numbers lose nothing); dates, `no`, `on` and `12:30` are text because
YAML 1.2 knows no such types. Source: YAML 1.2.2, chapter 10.3.
"""

from __future__ import annotations

import math
import re

from abs_gate.findings import Json

_CONSTANTS: dict[str, Json] = {
    "": None,
    "~": None,
    **dict.fromkeys(("null", "Null", "NULL")),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
_INTEGER = re.compile(r"[-+]?(?:0|[1-9][0-9]*)", re.ASCII)
_BASED = re.compile(r"0o[0-7]+|0x[0-9a-fA-F]+", re.ASCII)
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|(?:0|[1-9][0-9]*)(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?", re.ASCII)
_NOT_FINITE = re.compile(r"[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)")
_FIRST = frozenset("-+.0123456789")
MAX_NUMBER_LENGTH = 1_000
"""Characters in one number; longer ones are refused rather than computed."""


def resolve_plain(text: str) -> Json:
    """The value of an unquoted scalar.

    Raises:
        ValueError: infinity, not-a-number, or a number that no JSON reader could hold.
    """
    if text in _CONSTANTS:
        return _CONSTANTS[text]
    if text[0] not in _FIRST:
        return text
    if _NOT_FINITE.fullmatch(text):
        raise ValueError("Infinity and NaN are not JSON values.")
    if not (_INTEGER.fullmatch(text) or _BASED.fullmatch(text) or _FLOAT.fullmatch(text)):
        return text
    return parse_number(text)


def parse_number(text: str) -> int | float:
    """The value of a number as YAML 1.2 or JSON writes it.

    Raises:
        ValueError: too long, or beyond what a double holds.
    """
    if len(text) > MAX_NUMBER_LENGTH:
        raise ValueError(f"A number of {len(text)} characters is too long; quote it if it is text.")
    if _INTEGER.fullmatch(text):
        return int(text)
    if _BASED.fullmatch(text):
        return int(text[2:], 8 if text[1] == "o" else 16)
    number = float(text)
    if not math.isfinite(number):
        raise ValueError("The number is too large to be held; quote it if it is text.")
    return number
