"""Renderers from the result document to text. Pure."""
