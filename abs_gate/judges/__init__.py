"""Judges: models behind an API that answer a prompt, and functions or commands that score."""

from abs_gate.judges.build import JUDGES, build_panel

__all__ = ["JUDGES", "build_panel"]
