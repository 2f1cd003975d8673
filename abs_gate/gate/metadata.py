"""Metadata of a result that no agent was asked for: imported outcomes, verification alone."""

from __future__ import annotations

from abs_gate import __version__
from abs_gate.gate.result import Metadata


def metadata_without_agent(*, started: str = "", duration_ms: int = 0) -> Metadata:
    """What is known of a run that had no agent, contracts or policy."""
    return {
        "abs_gate_version": __version__,
        "started": started,
        "duration_ms": duration_ms,
        "agent_url": None,
        "agent_format": None,
        "model": None,
        "toolset_fingerprint": None,
        "policy_fingerprint": None,
        "session_hashes": {},
        "commit": None,
        "base": None,
        "agent_calls": 0,
        "usage": {},
        "versions": {},
    }
