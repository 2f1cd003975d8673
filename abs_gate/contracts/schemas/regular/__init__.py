"""Patterns as regular languages: the ECMA-262 dialect JSON Schema uses, as far as it is regular."""
