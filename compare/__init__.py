"""Compares abs-gate's verdicts on tool changes with those of other tools, on the same cases."""
