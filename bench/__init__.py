"""Measurements of abs-gate against peers, in ratios taken in one run on one machine."""
