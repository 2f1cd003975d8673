"""Exact statistics of a release gate in plain Python: bounds, thresholds, sequential stopping, comparisons."""
