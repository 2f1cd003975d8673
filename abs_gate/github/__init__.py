"""GitHub: events, REST, comments, checks, outputs."""
