"""Tool contracts: load, canonicalise, fingerprint, lint and diff. Source: "AI agent tool contract testing"."""
