"""Use cases: what a command does, over ports."""
