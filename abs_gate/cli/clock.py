"""The real clock."""

from __future__ import annotations

import datetime
import time


class SystemClock:
    """Time of this machine, in UTC."""

    def monotonic(self) -> float:
        return time.monotonic()

    def now(self) -> str:
        return datetime.datetime.now(datetime.UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")

    def today(self) -> str:
        return datetime.datetime.now(datetime.UTC).date().isoformat()
