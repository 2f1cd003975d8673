"""Agents under test, by protocol."""
