"""What a reader may ask of a report."""

from __future__ import annotations

from msgspec import Struct


class ReportOptions(Struct, frozen=True, kw_only=True):
    """Options of every renderer; each uses those that mean something to it."""

    color: bool = False
    """ANSI colours in terminal text. The caller looks at NO_COLOR and the terminal."""
    width: int = 100
    """Columns of terminal text."""
    verbose: bool = False
    """Every case and transcript in terminal text."""
    quiet: bool = False
    """Only the verdict, its reasons and one line for each failure in terminal text."""
    directory: str = ""
    """Where in the repository the paths of the result begin, `services/refunds`; empty for its root."""
