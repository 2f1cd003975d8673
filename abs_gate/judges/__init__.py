"""Judges, by provider."""
