"""ABS documents: text to flat sessions. Pure; see `load` for the way in."""
