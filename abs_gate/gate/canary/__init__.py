"""Comparing the execution records of a small release with those of the version it is to replace."""
