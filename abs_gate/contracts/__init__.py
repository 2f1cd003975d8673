"""Tool contracts: load, canonicalise, fingerprint, lint and diff. Source: seed 3 (AI agent tool contract testing)."""
