"""Sessions that a shard has no case of: other shards run them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from abs_gate.gate.result import SessionRecord


def runs_elsewhere(session: SessionRecord) -> bool:
    """Whether every case of a session falls into other shards of the run."""
    return not session["trials"]["planned"] and bool(session["planned_total"])
