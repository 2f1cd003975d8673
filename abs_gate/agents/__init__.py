"""The ways to reach an agent: HTTP, a command, a Python callable, a recording."""

from abs_gate.agents.build import AGENTS, OpenAgent, build_agent

__all__ = ["AGENTS", "OpenAgent", "build_agent"]
