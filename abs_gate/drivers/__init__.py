"""Ways to call a tool under verification, and stand-ins for its provider."""
