"""The formats of JSON Schema (2020-12, Validation, section 7.3) as checks on text.

Our own, because the ones jsonschema ships depend on optional packages and silently pass without them.
Each check returns True for what is not text: `format` speaks of strings only.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date
from functools import wraps
from ipaddress import AddressValueError, IPv4Address, IPv6Address
from types import MappingProxyType
from typing import Any

from abs_gate.sources.patterns import compile_pattern

_TIME = re.compile(r"(\d\d):(\d\d):(\d\d)(?:\.\d+)?(?:z|([+-])(\d\d):(\d\d))", re.IGNORECASE | re.ASCII)
_DATE = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)
_DURATION = re.compile(
    r"P(?:\d+W|(?=[\dT])(?:\d+Y(?:\d+M(?:\d+D)?)?|\d+M(?:\d+D)?|\d+D)?"
    r"(?:T(?=\d)(?:\d+H(?:\d+M(?:\d+S)?)?|\d+M(?:\d+S)?|\d+S))?)",
    re.ASCII,
)
_LABEL = re.compile(r"(?!-)[A-Za-z0-9-]{1,63}(?<!-)", re.ASCII)
_IDN_LABEL = re.compile(r"(?!-)[\w-]{1,63}(?<!-)")
_LOCAL_PART = re.compile(r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+(?:\.[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+)*", re.ASCII)
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE | re.ASCII)
_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*:", re.IGNORECASE | re.ASCII)
_URI_TEXT = re.compile(r"(?:[A-Za-z0-9._~:/?#\[\]@!$&'()*+,;=-]|%[0-9A-Fa-f]{2})*", re.ASCII)
_IRI_TEXT = re.compile(r"(?:[^\x00-\x20\x7f<>\"{}|\\^`%]|%[0-9A-Fa-f]{2})*")
_TEMPLATE = re.compile(r"(?:[^\x00-\x20\x7f<>\"'{}|\\^`%]|%[0-9A-Fa-f]{2}|\{[+#./;?&=,!@|]?[\w.,:*%]+\})*")
_POINTER = re.compile(r"(?:/(?:[^~/]|~[01])*)*")
_RELATIVE_POINTER = re.compile(r"(?:0|[1-9]\d*)(?:#|(?:/(?:[^~/]|~[01])*)*)", re.ASCII)


def _on_text(check: Callable[[str], bool]) -> Callable[[Any], bool]:
    @wraps(check)
    def run(value: Any) -> bool:
        return not isinstance(value, str) or check(value)

    return run


def _is_date(text: str) -> bool:
    try:
        return _DATE.fullmatch(text) is not None and date.fromisoformat(text) is not None
    except ValueError:
        return False


def _is_time(text: str) -> bool:
    match = _TIME.fullmatch(text)
    if match is None:
        return False
    hour, minute, second = (int(match[group]) for group in (1, 2, 3))
    offset_hour, offset_minute = int(match[5] or 0), int(match[6] or 0)
    if hour > 23 or minute > 59 or offset_hour > 23 or offset_minute > 59:
        return False
    if second < 60:
        return True
    offset = (offset_hour * 60 + offset_minute) * (-1 if match[4] == "-" else 1)
    return second == 60 and (hour * 60 + minute - offset) % (24 * 60) == 23 * 60 + 59


def _is_date_time(text: str) -> bool:
    return len(text) > 11 and text[10] in "Tt" and _is_date(text[:10]) and _is_time(text[11:])


def _is_hostname(text: str, label: re.Pattern[str] = _LABEL) -> bool:
    return 0 < len(text) <= 253 and all(label.fullmatch(part) for part in text.split("."))


def _is_email(text: str) -> bool:
    local, at, host = text.rpartition("@")
    if not at or len(local) > 64:
        return False
    quoted = len(local) > 2 and local[0] == local[-1] == '"'
    literal = host.startswith("[") and host.endswith("]")
    return (quoted or _LOCAL_PART.fullmatch(local) is not None) and (literal or _is_hostname(host))


def _is_ip(kind: type[IPv4Address] | type[IPv6Address]) -> Callable[[str], bool]:
    def check(text: str) -> bool:
        try:
            return "%" not in text and kind(text) is not None
        except AddressValueError:
            return False

    return check


def _is_absolute(pattern: re.Pattern[str]) -> Callable[[str], bool]:
    return lambda text: _SCHEME.match(text) is not None and pattern.fullmatch(text) is not None


def _fits(pattern: re.Pattern[str]) -> Callable[[str], bool]:
    return lambda text: pattern.fullmatch(text) is not None


def _is_regex(text: str) -> bool:
    compile_pattern(text)
    return True


FORMATS: MappingProxyType[str, Callable[[Any], bool]] = MappingProxyType(
    {
        name: _on_text(check)
        for name, check in {
            "date": _is_date,
            "time": _is_time,
            "date-time": _is_date_time,
            "duration": lambda text: text not in ("P", "PT") and _DURATION.fullmatch(text) is not None,
            "email": _is_email,
            "idn-email": lambda text: 0 < text.find("@") < len(text) - 1,
            "hostname": _is_hostname,
            "idn-hostname": lambda text: _is_hostname(text, _IDN_LABEL),
            "ipv4": _is_ip(IPv4Address),
            "ipv6": _is_ip(IPv6Address),
            "uri": _is_absolute(_URI_TEXT),
            "uri-reference": _fits(_URI_TEXT),
            "iri": _is_absolute(_IRI_TEXT),
            "iri-reference": _fits(_IRI_TEXT),
            "uri-template": _fits(_TEMPLATE),
            "uuid": _fits(_UUID),
            "json-pointer": _fits(_POINTER),
            "relative-json-pointer": _fits(_RELATIVE_POINTER),
            "regex": _is_regex,
        }.items()
    }
)
"""Format name to its check, which returns False (or raises ValueError) for a text that is not one."""
