"""When a request may be sent again, and how long to wait first.

Only where the server cannot have acted: the connection was refused, or it answered 429 or 503. A timeout
or a cut connection is ambiguous (the agent may have run its tools) and is never repeated.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from email.utils import parsedate_to_datetime

RETRIED_STATUSES = frozenset({429, 503})
MAX_WAIT_S = 60.0
"""A server that asks for a longer wait is not waited for."""
_FIRST_WAIT_S = 0.5
_LONGEST_BACKOFF_S = 8.0


def wait_before(attempt: int, headers: Mapping[str, str]) -> float:
    """Seconds to wait before attempt number `attempt` (from 1): what the server asks for, else 0.5, 1, 2, ..."""
    asked = parse_retry_after(headers.get("retry-after", ""))
    if asked is not None:
        return asked
    return min(_FIRST_WAIT_S * 2.0 ** (attempt - 1), _LONGEST_BACKOFF_S)


def parse_retry_after(value: str, *, now: float | None = None) -> float | None:
    """Seconds meant by a Retry-After header, which is a number or a date (RFC 9110 section 10.2.3); else None."""
    value = value.strip()
    if not value:
        return None
    if value.isascii() and value.replace(".", "", 1).isdigit():
        return float(value[:20])
    try:
        moment = parsedate_to_datetime(value)
    except (TypeError, ValueError, IndexError, OverflowError):
        return None
    return max(0.0, moment.timestamp() - (time.time() if now is None else now))
