"""abs-gate.yaml and its overrides as frozen settings."""
