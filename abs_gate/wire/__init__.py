"""Provider wire formats: pure codecs between the neutral conversation and HTTP bodies."""
