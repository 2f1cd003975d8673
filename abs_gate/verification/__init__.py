"""Deterministic verification of tools, providers and adapters."""
