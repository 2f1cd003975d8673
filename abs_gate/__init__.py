"""abs-gate: gates releases of AI agents on behavior sessions and tool contracts."""

__version__ = "0.1.0"
