"""Reading single values strictly, from a file's YAML or from the text of a flag, input or environment variable.

Each reader returns the value or raises ValueError with a sentence that says what was found and what to write.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterable, Mapping
from datetime import date
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from urllib.parse import urlsplit

from abs_gate.findings import Json
from abs_gate.sources.suggest import did_you_mean

Read = Callable[[Json], Json]

_RATE_FORMS = "Write a fraction such as 0.9, a percentage such as 90%, or a quotient such as 9/10."
_SECONDS = {"ms": Fraction(1, 1000), "s": Fraction(1), "m": Fraction(60), "h": Fraction(3600)}
_NAME = re.compile(r"[A-Za-z0-9_.\-]+")
_RUNNER_PREFIXES = ("ACTIONS_", "GITHUB_", "INPUT_", "RUNNER_")
"""Variables that the runner sets for every action; a file that a pull request changes could have them sent away."""
_ENVIRONMENT_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_HEADER_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
_LONGEST_NUMBER = 40


class NotShown(ValueError):
    """A problem in words that hold nothing of the value, so that they may be told of a secret as well."""


def shown(value: Json) -> str:
    """A value as an error shows it: one line, bounded."""
    text = value if isinstance(value, str) else json.dumps(value, default=str, ensure_ascii=False)
    line = " ".join(text.split())
    return f'"{line[:60]}…"' if len(line) > 60 else f'"{line}"'


def text(value: Json) -> str:
    """A text that is not empty."""
    if not isinstance(value, str) or not value.strip():
        raise ValueError(f"{shown(value)} is not a text. Write a text that is not empty.")
    return value


def header_value(value: Json) -> str:
    """A text that a header can carry, without the blanks around it. Its errors never show it: it may be a secret."""
    if not isinstance(value, str) or not value.strip():
        raise NotShown("There is no text in it.")
    carried = value.strip()
    if any(ord(char) < 32 or ord(char) == 127 for char in carried):
        raise NotShown(
            "The value holds a line break or another control character, which no HTTP header can carry. "
            "Was a whole file pasted, or a text with a note below it?"
        )
    if any(ord(char) > 255 for char in carried):
        raise NotShown("The value holds a character that no HTTP header can carry. Write ASCII.")
    return carried


def header_name(value: Json) -> str:
    """The name of an HTTP header (RFC 9110, 5.1: a token)."""
    if not isinstance(value, str) or not _HEADER_NAME.fullmatch(value):
        raise NotShown("This is not the name of an HTTP header. Use letters, digits and -, such as X-Api-Key.")
    return value


def boolean(value: Json) -> bool:
    """Only true or false; never yes, on or 1."""
    if isinstance(value, bool):
        return value
    if value in ("true", "false"):
        return bool(value == "true")
    raise ValueError(f"{shown(value)} is not a boolean. Write true or false.")


def whole_number(minimum: int = 0, maximum: int = 10**9) -> Read:
    """A whole number within bounds."""

    def read(value: Json) -> int:
        number = value
        if isinstance(value, str) and re.fullmatch(r"-?[0-9]{1,12}", value.strip()):
            number = int(value)
        if isinstance(number, bool) or not isinstance(number, int):
            raise ValueError(f"{shown(value)} is not a whole number. Write digits only.")
        if not minimum <= number <= maximum:
            raise ValueError(f"{shown(value)} is out of range. Write a whole number from {minimum} to {maximum}.")
        return number

    return read


def rate(value: Json) -> Fraction:
    """A rate from 0 to 1, exact: 0.9, 90% and 9/10 are the same; a bare 90 is refused, as it may mean 0.9 or 0.009."""
    written = _written_number(value)
    percentage = re.fullmatch(r"([0-9.]+)\s*%", written)
    quotient = re.fullmatch(r"([0-9]+)\s*/\s*([0-9]+)", written)
    if percentage:
        number = _decimal(percentage[1], value) / 100
    elif quotient:
        if int(quotient[2]) == 0:
            raise ValueError(f"{shown(value)} divides by zero. {_RATE_FORMS}")
        number = Fraction(int(quotient[1]), int(quotient[2]))
    else:
        number = _decimal(written, value)
        if number > 1:
            raise ValueError(f"{shown(value)} is above 1, and percentages need their sign. {_RATE_FORMS}")
    if not 0 <= number <= 1:
        raise ValueError(f"{shown(value)} is not between 0 and 100 %. {_RATE_FORMS}")
    return number


def open_rate(value: Json) -> Fraction:
    """A rate strictly between 0 and 1, as confidence levels and error rates are."""
    number = rate(value)
    if not 0 < number < 1:
        raise ValueError(f"{shown(value)} must lie strictly between 0 and 1.")
    return number


def amount(value: Json) -> Fraction:
    """A positive number, exact: minutes, money."""
    number = _decimal(_written_number(value), value)
    if number == 0:
        raise ValueError(f"{shown(value)} is not above zero. Write a positive number.")
    return number


def seconds(value: Json) -> float:
    """A duration: a number of seconds, or a number with ms, s, m or h."""
    written = _written_number(value)
    match = re.fullmatch(r"([0-9.]+)\s*(ms|s|m|h)?", written)
    if not match:
        raise ValueError(f"{shown(value)} is not a duration. Write seconds (60) or a unit (500ms, 60s, 2m, 1h).")
    number = _decimal(match[1], value) * _SECONDS[match[2] or "s"]
    if not 0 < number <= 86400:
        raise ValueError(f"{shown(value)} is out of range. Write a duration above zero and up to 24h.")
    return float(number)


def iso_date(value: Json) -> str:
    """A calendar date such as 2027-01-31."""
    try:
        return date.fromisoformat(str(value)).isoformat()
    except ValueError:
        raise ValueError(f"{shown(value)} is not a date. Write year, month and day: 2027-01-31.") from None


def choice(*options: str) -> Read:
    """One of a few words."""

    def read(value: Json) -> str:
        if value not in options or not isinstance(value, str):
            hint = did_you_mean(value, options) if isinstance(value, str) else ""
            raise ValueError(f"{shown(value)} is not one of {', '.join(options)}.{hint}")
        return value

    return read


def texts(value: Json) -> tuple[str, ...]:
    """A list of texts; one text stands for a list of lines or of comma-separated parts."""
    items: Iterable[Json] = re.split(r"[\n,]", value) if isinstance(value, str) else value
    if not isinstance(value, (str, list, tuple)):
        raise ValueError(f"{shown(value)} is not a list of texts.")
    parts = [item.strip() if isinstance(item, str) else item for item in items]
    return tuple(text(part) for part in parts if part != "" or not isinstance(value, str))


def lines(value: Json) -> tuple[str, ...]:
    """A list of texts that may hold commas; one text stands for its lines."""
    items = value.splitlines() if isinstance(value, str) else value
    if not isinstance(items, (list, tuple)):
        raise ValueError(f"{shown(value)} is not a list.")
    return tuple(text(item) for item in items if item != "")


def known_words(*options: str) -> Read:
    """Those of a file's list of words that are known; the schema has already refused the others in better words."""

    def read(value: Json) -> frozenset[str]:
        return frozenset(texts(value)) & frozenset(options)

    return read


def url(value: Json) -> str:
    """An http or https address without a user or password in it."""
    address = text(value).strip()
    if "${" in address:
        raise ValueError(
            f"{shown(value)} holds ${{…}}, and nothing is filled in from the environment in this file. "
            "Give the address as a flag, an input or an environment variable."
        )
    try:
        parts = urlsplit(address)
        port_is_readable = parts.port is None or parts.port > 0
    except ValueError:
        raise ValueError("The address cannot be read as a URL.") from None
    if parts.username is not None or parts.password is not None:
        raise ValueError("A URL may not hold a user or password. Use auth with token_env.")
    if parts.scheme not in ("http", "https") or not parts.hostname or not port_is_readable:
        raise ValueError(f"{shown(value)} is not an http or https address.")
    return address


def shard(value: Json) -> tuple[int, int]:
    """A part of a run: 2/8 is the second of eight."""
    match = re.fullmatch(r"([0-9]{1,5})/([0-9]{1,5})", value) if isinstance(value, str) else None
    if not match or not 1 <= int(match[1]) <= int(match[2]):
        raise ValueError(f"{shown(value)} is not a shard. Write its number and how many there are, such as 2/8.")
    return int(match[1]), int(match[2])


def assignments(value: Json) -> Mapping[str, Json]:
    """Variables: a mapping, or texts of name=value (text) and name:=JSON (typed)."""
    if isinstance(value, Mapping):
        return {_name(key): item for key, item in value.items()}
    return dict(_assignment(item) for item in lines(value))


def headers(value: Json) -> Mapping[str, str]:
    """HTTP headers: a mapping, or texts of Name=value."""
    if isinstance(value, Mapping):
        for key, item in value.items():
            if isinstance(item, str) and "${" in item:
                raise ValueError(f"The value of {shown(key)} holds ${{…}}, and nothing is filled in. Use headers_env.")
        return {header_name(key): header_value(item) for key, item in value.items()}
    pairs = [line.partition("=") for line in lines(value)]
    for name, equals, content in pairs:
        if not equals or not name.strip() or not content:
            raise NotShown("A header is written Name=value.")
    return {header_name(name.strip()): header_value(content) for name, _, content in pairs}


def filters(value: Json) -> tuple[tuple[str, str], ...]:
    """Dataset filters: a mapping, or texts of column:value."""
    if isinstance(value, Mapping):
        return tuple((_name(key), item if isinstance(item, str) else json.dumps(item)) for key, item in value.items())
    pairs = [line.partition(":") for line in lines(value)]
    for name, colon, _ in pairs:
        if not colon or not name.strip():
            raise ValueError(f"{shown(name)} is not a filter. Write column:value.")
    return tuple((name.strip(), content.strip()) for name, _, content in pairs)


def environment_name(value: Json) -> str:
    """The name of an environment variable."""
    if not isinstance(value, str) or not _ENVIRONMENT_NAME.fullmatch(value):
        raise ValueError("This is not the name of an environment variable. Write its name, never the secret itself.")
    if value.upper().startswith(_RUNNER_PREFIXES):
        raise ValueError(
            f"{value[:80]} is the workflow's own and not for files to name. "
            "Pass the secret to the step under another name."
        )
    return value


def as_is(value: Json) -> Json:
    """Whatever stands there; its shape is checked by the configuration's schema."""
    return value


def _assignment(line: str) -> tuple[str, Json]:
    name, equals, content = line.partition("=")
    if not equals:
        raise ValueError(f"{shown(line)} gives no value. Write name=value, or name:=JSON for a number or an object.")
    if not name.endswith(":"):
        return _name(name.strip()), content
    try:
        return _name(name[:-1].strip()), json.loads(content, parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        raise ValueError(f"The value of {shown(name[:-1])} is not JSON. Use name=value for a text.") from None


def _name(value: Json) -> str:
    if not isinstance(value, str) or not _NAME.fullmatch(value):
        raise ValueError(f"{shown(value)} is not a name. Use letters, digits, _, . and -.")
    return value


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


def _written_number(value: Json) -> str:
    """The number as it was written: the shortest decimal that reads back the same, for one that YAML has parsed."""
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        raise ValueError(f"{shown(value)} is not a number.")
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError(f"{shown(value)} is not a number.")
    return value.strip() if isinstance(value, str) else repr(value)


def _decimal(written: str, value: Json) -> Fraction:
    if len(written) > _LONGEST_NUMBER or not re.fullmatch(r"[0-9]*\.?[0-9]+(e-?[0-9]{1,2})?", written):
        raise ValueError(f"{shown(value)} is not a positive number that can be used here.")
    try:
        return Fraction(Decimal(written))
    except (InvalidOperation, ValueError):
        raise ValueError(f"{shown(value)} is not a positive number that can be used here.") from None
