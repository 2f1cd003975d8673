"""One module for each command; each holds `command`."""
