"""Text of the user's files: where it comes from, and YAML or JSON with its places kept."""
