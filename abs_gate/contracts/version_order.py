"""The order of versions, whatever they are counted in: 3, "3", "1.10.0", "2026-08-01", "1.0.0-rc1"."""

from __future__ import annotations

import re

from abs_gate.findings import Json

_PART = re.compile(r"\d+|[A-Za-z]+")
_END = (1, 0, "")
"""The end of a version sorts above a text (`-rc1`) and below a number (`.1`)."""


def version_key(version: Json) -> tuple[tuple[int, int, str], ...]:
    """Return a sort key; no version sorts below every other."""
    if version is None:
        return ()
    text = str(version).strip().removeprefix("v")
    parts = [(2, int(part), "") if part.isdigit() else (0, 0, part.lower()) for part in _PART.findall(text)]
    return (*parts, _END)
