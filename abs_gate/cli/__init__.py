"""The command line: options, wiring, effects."""
